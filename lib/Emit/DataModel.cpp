//===- DataModel.cpp - A schedule as data for templates -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/DataModel.h"

#include "Emit/SendBudget.h"
#include "StepText/StepPrinter.h"
#include "Support/Words.h"
#include "Waiting/Waiting.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/Unicode.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Names that a C++ source can have
//===----------------------------------------------------------------------===//

static constexpr StringLiteral keywords =
    "alignas alignof and and_eq asm auto bitand bitor bool break case catch "
    "char char16_t char32_t char8_t class co_await co_return co_yield compl "
    "concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do double dynamic_cast else enum explicit export extern "
    "false float for friend goto if inline int long mutable namespace new "
    "noexcept not not_eq nullptr operator or or_eq private protected public "
    "register reinterpret_cast requires return short signed sizeof static "
    "static_assert static_cast struct switch template this thread_local throw "
    "true try typedef typeid typename union unsigned using virtual void "
    "volatile wchar_t while xor xor_eq";

/// Plain words that the headers of C and POSIX declare or define, as far as a
/// schedule may have such a name.
static constexpr StringLiteral libraryWords =
    "abort abs accept access alarm atexit bind bsearch calloc ceil clock clone "
    "close connect cos creat daemon daylight div dup environ errno error exec "
    "exit exp fabs fcntl floor fma fmod fork free ftw gamma getc getenv getpid "
    "glob index ioctl j0 j1 jn kill labs linux link listen log longjmp lseek "
    "main major malloc memcpy minor mmap modf mount nice open pause pipe poll "
    "pow printf profil putc puts qsort raise rand random read realloc recv "
    "regex remove rename revoke rewind rint round scanf select send setjmp "
    "setup signal signgam sin sleep socket splice sqrt stat stderr stdin "
    "stdout swab symlink sync syscall syslog system tan tee time times "
    "timezone tm trunc truncate umask unix unlink unshare usleep utime vfork "
    "wait write y0 y1 yn";

static constexpr StringLiteral otherWords = "pipec std";

/// True for a name that is likely to mean something already in a source that
/// includes the runtime, and with it the headers of C. Names without a small
/// letter are left to macros, names in `_t` to types, and those with a `_` at
/// their beginning to the implementation.
static bool isTaken(StringRef name) {
  if (none_of(name, isLower) || name.ends_with("_t") || name.starts_with("_"))
    return true;
  return any_of(
      ArrayRef({keywords, libraryWords, otherWords}),
      [&](StringRef words) { return is_contained(split(words, ' '), name); });
}

/// `name` with other characters than letters, digits and `_` replaced by `_`.
static std::string identifierPart(StringRef name) {
  std::string result;
  for (char c : name)
    result += isAlnum(c) ? c : '_';
  return result;
}

/// The namespace of the executor of the schedule called `name`: `schedule_` and
/// the name, in which characters that C++ does not allow become `_`. Neither
/// the language nor a header has such a name, so it can be used for every
/// schedule.
static std::string cppNamespace(StringRef name) {
  return "schedule_" + identifierPart(name);
}

/// A short alias of that namespace: the name of the schedule. Empty when C++, a
/// header of C or a macro is likely to have it already. Names that this misses
/// are caught in the generated source, see templates/executor-foot.mustache.
static std::string cppShortName(StringRef name) {
  std::string result = identifierPart(name);
  if (result.empty() || isDigit(result[0]))
    result = "s" + result;
  return isTaken(result) ? std::string() : result;
}

/// The include guard of the executor. Differs for schedules whose names differ,
/// even when their namespaces do not: two of them in one program are an error
/// of the compiler, and the second is not skipped.
static std::string cppGuard(StringRef name) {
  std::string result = "PIPEC_SCHEDULE_";
  for (char c : name) {
    if (isAlnum(c) || c == '_')
      result += c;
    else
      result += "_" + utohexstr(uint8_t(c), /*LowerCase=*/false, /*Width=*/2);
  }
  return result + "_H";
}

/// The size of the visible character that `text` begins with, in bytes; 0 when
/// it begins with anything else.
static size_t visibleSize(StringRef text) {
  const auto *begin = reinterpret_cast<const UTF8 *>(text.begin());
  const auto *end = reinterpret_cast<const UTF8 *>(text.end());
  const UTF8 *at = begin;
  UTF32 character = 0;
  if (convertUTF8Sequence(&at, end, &character, strictConversion) !=
          conversionOK ||
      !sys::unicode::isPrintable(int(character)))
    return 0;
  return size_t(at - begin);
}

/// Text of the user, such as a name, as part of a `//` comment: on one line,
/// with control characters, invisible ones (those that change the direction of
/// text, too), backslashes and bytes that are not UTF-8 escaped as in step IR.
/// The character after `coding` is escaped as well if the text would otherwise
/// declare the encoding of a Python file (PEP 263).
static std::string cppComment(StringRef text) {
  std::string result;
  while (!text.empty()) {
    size_t size = visibleSize(text);
    // In older dialects `??/` is another way to write a backslash.
    bool trigraph = text.front() == '?' && StringRef(result).ends_with("?");
    // The text after the name may begin with `:`.
    bool coding = (StringRef(":=").contains(text.front()) &&
                   StringRef(result).ends_with("coding")) ||
                  (text == "g" && StringRef(result).ends_with("codin"));
    if (size == 0 || text.front() == '\\' || trigraph || coding) {
      result += "\\" + utohexstr(uint8_t(text.front()), /*LowerCase=*/false, 2);
      size = 1;
    } else {
      result += text.take_front(size);
    }
    text = text.drop_front(size);
  }
  return result;
}

/// Any text as a string literal, quotes included.
static std::string cppLiteral(StringRef text) {
  std::string escaped;
  raw_string_ostream os(escaped);
  os.write_escaped(text, /*UseHexEscapes=*/false);
  std::string result = "\"";
  for (char c : escaped) {
    // Two of them may begin a trigraph.
    if (c == '?' && result.back() == '?')
      result += '\\';
    result += c;
  }
  return result + '"';
}

/// The units with an R, in ascending order of stages and units.
static std::vector<RecomputedUnits> findRecomputed(const Schedule &schedule) {
  std::vector<std::pair<unsigned, unsigned>> units;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      if (step.kind() == StepKind::R)
        units.emplace_back(step.stage(), step.unit());
  sort(units);
  std::vector<RecomputedUnits> runs;
  for (auto [stage, unit] : units) {
    RecomputedUnits *run = runs.empty() ? nullptr : &runs.back();
    if (!run || run->stage != stage ||
        (run->count > 1 && unit != run->first + run->count * run->stride)) {
      runs.push_back({stage, unit, 1, 1});
      continue;
    }
    if (run->count++ == 1)
      run->stride = unit - run->first;
  }
  return runs;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

DataModel::DataModel(const Schedule &schedule, const SourceFiles &files,
                     bool impliesWaits)
    : schedule(schedule), flow(schedule), lines(schedule, files),
      nameText(cppComment(schedule.name)),
      sourceText(cppComment(lines.fileName())),
      cppNamespace(pipec::cppNamespace(schedule.name)),
      cppGuard(pipec::cppGuard(schedule.name)),
      cppShortName(pipec::cppShortName(schedule.name)),
      quotedName(cppLiteral(schedule.name)),
      quotedSource(cppLiteral(lines.fileName())),
      mostSends(sendBudget(schedule)), impliesWaits(impliesWaits) {
  for (const std::string &phase : schedule.phases)
    phaseTexts.push_back(cppComment(phase));
  for (const auto &[name, value] : schedule.params)
    paramTexts.push_back(cppComment(name));
  for (const std::vector<unsigned> &group : schedule.ties)
    tieTexts.push_back(listText(group));
  for (const std::string &name : schedule.streams.names)
    streamTexts.push_back(cppLiteral(name));
  layout = layoutText(schedule.layers);
  recomputed = findRecomputed(schedule);
  sharded.resize(schedule.numStages);
  reduced.resize(schedule.numStages);
  for (const StepList &list : schedule.ranks)
    for (Step step : list) {
      hasSteps |= step.kind() != StepKind::Bubble;
      if (step.kind() == StepKind::ReduceGrad)
        reducesGradients = true;
      if (step.kind() != StepKind::Unshard && step.kind() != StepKind::Reshard)
        continue;
      sharded[step.stage()] = true;
      isSharded = true;
    }
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    reduced[stage] =
        reducesGradients && (!schedule.fsdp || schedule.fsdp->reduces(stage));
  if (!schedule.graph.isChain())
    schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
      edges.push_back(edge);
    });
  waitsForSends = schedule.hasSendWaits();
  waitsForReductions = schedule.hasReduceWaits();
}

DataNode DataModel::root() const { return listOf(DataType::Schedule, 1); }

uint64_t DataModel::numObjects() const {
  return schedule.numSteps() + schedule.numRanks + 2ull * schedule.numStages;
}

DataNode DataModel::item(const DataNode &list, uint32_t index) const {
  DataNode node = list;
  node.index = index;
  if (DataType(list.type) != DataType::Node)
    return node;
  node.b = list.b + index;
  // By BodyNode::Sort.
  constexpr DataType types[] = {DataType::Loop, DataType::Group,
                                DataType::Step};
  node.type = uint16_t(types[families().bodies[node.a].nodes[node.b].sort]);
  return node;
}

const DataModel::Families &DataModel::families() const {
  if (made)
    return *made;
  made = std::make_unique<Families>();
  auto lineOf = [&](Step step) { return lines(step); };
  for (const StepList &list : schedule.ranks) {
    made->trees.push_back(
        findLoops(impliesWaits && mostSends ? withoutSendWaits(list) : list));
    made->trees.back().nameOthers(flow);
  }
  mergeTrees(made->trees, lineOf);
  made->families = findFamilies(made->trees, lineOf);
  made->places.assign(schedule.numRanks, {noFamily, 0});
  for (auto [i, family] : enumerate(made->families)) {
    made->bodies.push_back(
        makeFamilyBody(made->trees[family.ranks.front()], lineOf));
    std::string typeName = family.name;
    typeName[0] = toUpper(typeName[0]);
    made->typeNames.push_back(std::move(typeName));
    for (auto [row, rank] : enumerate(family.ranks))
      made->places[rank] = {uint32_t(i), uint32_t(row)};
  }
  return *made;
}

const DataModel::Communication &DataModel::communication() const {
  if (communicates)
    return *communicates;
  communicates = std::make_unique<Communication>();
  auto &pairs = communicates->pairs;
  // A rank has few peers, and as a rule the same one many times in a row.
  SmallVector<unsigned> peers;
  for (auto [rank, list] : enumerate(schedule.ranks)) {
    peers.clear();
    for (Step step : list)
      if (isP2P(step.kind()))
        if (const DataFlow::Port *port = flow.transfer(step))
          if (!is_contained(peers, port->rank))
            peers.push_back(port->rank);
    for (unsigned peer : peers)
      pairs.push_back(std::minmax(unsigned(rank), peer));
  }
  sort(pairs);
  pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());

  WaitOutcomes ends = endsUnder(schedule, Transfers(schedule));
  constexpr std::pair<WaitModel, StringLiteral> kinds[] = {
      {WaitModel::Stream, "one"},
      {WaitModel::Pair, "pair"},
      {WaitModel::Edge, "edge"}};
  for (const auto &[model, name] : kinds)
    if (ends[model]) {
      communicates->communicators = name;
      break;
    }
  return *communicates;
}

StringRef DataModel::digest() const {
  if (digestText.empty()) {
    std::string text;
    raw_string_ostream os(text);
    printSteps(schedule, os);
    auto hash = SHA256::hash(arrayRefFromStringRef(text));
    digestText = toHex(ArrayRef(hash).take_front(8), /*LowerCase=*/true);
  }
  return digestText;
}

ArrayRef<Step> DataModel::stepsOf(unsigned rank) const {
  if (stepsRank != rank)
    steps = stepsToWrite(schedule.ranks[rank]);
  stepsRank = rank;
  return steps;
}

Step DataModel::stepOf(const DataNode &object) const {
  if (object.a == noFamily)
    return stepsOf(object.b)[object.index];
  const RankFamily &family = families().families[object.a];
  const BodyNode &node = families().bodies[object.a].nodes[object.b];
  return families().trees[family.ranks.front()].steps[node.begin];
}

/// The micro-batch of a step: `3`, `i + 3`, `4 * i + j + n.first`, `7 - i`.
SmallVector<DataModel::Term, 4>
DataModel::termsOf(const DataNode &object) const {
  if (object.a == noFamily)
    return {{.number = int64_t(object.b)}};
  const FamilyBody &body = families().bodies[object.a];
  const BodyNode &node = body.nodes[object.b];
  FamilyNumber base = families().families[object.a].numbers[node.number + 1];
  SmallVector<Term, 4> rising, falling;
  uint32_t at = node.parent;
  for (unsigned depth = node.depth; depth-- != 0; at = body.nodes[at].parent) {
    int64_t growth = body.nodes[at].growth;
    (growth < 0 ? falling : rising)
        .push_back({.minus = growth < 0,
                    .loop = int(depth),
                    .factor = std::abs(growth)});
  }
  SmallVector<Term, 4> terms(rising.rbegin(), rising.rend());
  if (terms.empty() || base.column >= 0 || base.value != 0)
    terms.push_back({.column = base.column, .number = base.value});
  terms.append(falling.rbegin(), falling.rend());
  return terms;
}

} // namespace pipec
