//===- CsvReader.cpp - Step IR from PyTorch's schedule CSV ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rows of the file are the ranks, and its cells are the steps; CsvHeader
// infers the sizes and the map, and ListGraph the stage graph.
//
// PyTorch's reader accepts text that begins like a step (`2F0xyz`); this one
// only accepts steps, with optional blanks. PyTorch stops at the first error,
// this one continues with the next cell.
//
// The file is read in place in one pass. The separators of a row are counted
// first, so that its list is allocated once. Apart from the steps, memory only
// holds one record per stage, and the pages of a mapped file are released
// during the pass.
//
//===----------------------------------------------------------------------===//

#include "Import/CsvHeader.h"
#include "Import/ListGraph.h"
#include "Import/Readers.h"
#include "Support/Diagnostics/ImportDiags.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cstring>

using namespace llvm;

namespace pipec {

namespace {

/// The number of commas and semicolons in `line`. Sums of blocks fit a byte,
/// which allows the compiler to vectorize the comparison.
size_t countSeparators(StringRef line) {
  constexpr size_t block = 128;
  size_t count = 0;
  while (!line.empty()) {
    StringRef part = line.take_front(block);
    uint8_t sum = 0;
    for (char c : part)
      sum += uint8_t(c == ',') + uint8_t(c == ';');
    count += sum;
    line = line.drop_front(part.size());
  }
  return count;
}

/// The characters that Python's `strip` removes: those in ASCII, and the others
/// in UTF-8.
constexpr StringLiteral blanks = " \t\v\f\r\x1c\x1d\x1e\x1f";
constexpr StringLiteral wideBlanks[] = {
    // U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F
    // and U+3000
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80",
    "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83", "\xE2\x80\x84",
    "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88",
    "\xE2\x80\x89", "\xE2\x80\x8A", "\xE2\x80\xA8", "\xE2\x80\xA9",
    "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80",
};

bool mayBeBlank(unsigned char c) { return c <= ' ' || c >= 0x80; }

/// Removes the blanks at the beginning of `text`.
StringRef trimFront(StringRef text) {
  while (!text.empty() && mayBeBlank(text.front())) {
    StringRef trimmed = text.ltrim(blanks);
    for (StringRef blank : wideBlanks)
      trimmed.consume_front(blank);
    if (trimmed.size() == text.size())
      break;
    text = trimmed;
  }
  return text;
}

/// The same for those at the end.
StringRef trimBack(StringRef text) {
  while (!text.empty() && mayBeBlank(text.back())) {
    StringRef trimmed = text.rtrim(blanks);
    for (StringRef blank : wideBlanks)
      trimmed.consume_back(blank);
    if (trimmed.size() == text.size())
      break;
    text = trimmed;
  }
  return text;
}

/// The text of a cell without blanks around it. As for Python's csv module, a
/// quote directly after a comma begins a quoted cell. The quotes of one that
/// contains commas or quotes are left, so that it is not a step.
StringRef unquoted(StringRef cell) {
  if (cell.starts_with("\"")) {
    StringRef inner = trimBack(cell).drop_front();
    if (inner.consume_back("\"") && !inner.contains('"'))
      cell = inner;
  }
  return trimBack(trimFront(cell));
}

/// Detects the CSV of PyTorch 2.5 (`CsvDialect::Torch25`): it has a `BW`, or as
/// many `W` as `B` and no `I`, which is not a valid schedule in the current
/// format.
struct OldBackwards {
  struct Cell {
    StringRef text;
    unsigned row = 0, column = 0;
  };
  /// The first cell of each kind.
  Cell half, whole;
  uint64_t halves = 0, weights = 0;
  bool inputs = false;

  bool found() const {
    return !whole.text.empty() || (halves == weights && halves && !inputs);
  }
};

class CsvReader {
public:
  CsvReader(StringRef text, const ListOptions &options, DiagEngine &diags)
      : text(text), options(options), diags(diags),
        base(diags.sourceFiles()
                 .compress(SMLoc::getFromPointer(text.begin()))
                 .offset) {}

  FailureOr<Schedule> read();

private:
  void readRow(StringRef row, StepList &steps);
  void readOverlap(StringRef cell, StepList &steps);
  bool readStep(StringRef cell, const char *&cursor, const char *end,
                Step &step);
  bool readNumber(StringRef cell, const char *&cursor, const char *end,
                  unsigned limit, StringRef what, unsigned &value);
  /// Adds `step` to the list of the current rank.
  void add(Step step, StringRef cell, StepList &steps) {
    if (isTied(step.kind()))
      header.noteTied(step);
    else
      header.note(step, rank);
    if (peer)
      graph.note(step, rank, steps.size(), *peer);
    steps.push_back(step);
    if (step.kind() == StepKind::B) {
      if (old.halves++ == 0)
        old.half = {cell, row, column};
    } else {
      old.weights += step.kind() == StepKind::W;
      old.inputs |= step.kind() == StepKind::I;
    }
  }
  LogicalResult checkBackwards();
  LogicalResult placeRows();
  bool isOld() const { return options.dialect == CsvDialect::Torch25; }
  void joinHalves(StepList &steps) const;

  SourceLoc locOf(const char *place) const {
    return {base + uint32_t(place - text.begin())};
  }
  /// The minimum number of bytes to release in one system call.
  static constexpr size_t releasedAtOnce = size_t(64) << 20;

  /// A cell in the form shown in messages: printable, and at most as long as a
  /// line.
  static std::string shown(StringRef cell);
  /// Reports `kind` at `range`. Its first arguments are the current row and
  /// column.
  template <typename Kind, typename... Args>
  InFlightDiagnostic report(StringRef range, Kind kind, Args &&...args) {
    broken = true;
    return diags.report(rangeOf(range), kind, row, column,
                        std::forward<Args>(args)...);
  }

  StringRef text;
  const ListOptions &options;
  DiagEngine &diags;
  uint32_t base;

  Schedule schedule;
  CsvHeader header;
  ListGraph graph;
  /// The current cell, counted from 1, and its rank.
  unsigned row = 0, column = 0, rank = 0;
  /// The stage that the current step names as the other end of a transfer.
  std::optional<unsigned> peer;
  bool broken = false;
  OldBackwards old;
};

std::string CsvReader::shown(StringRef cell) {
  std::string result;
  raw_string_ostream os(result);
  for (unsigned char c : cell.take_front(40))
    if (isPrint(c))
      os << c;
    else
      os << "\\x" << hexdigit(c >> 4) << hexdigit(c & 15);
  if (cell.size() > 40)
    os << "...";
  return result;
}

/// Reads a number below `limit` at `cursor`. Messages call it `what`.
bool CsvReader::readNumber(StringRef cell, const char *&cursor, const char *end,
                           unsigned limit, StringRef what, unsigned &value) {
  const char *begin = cursor;
  uint64_t number = 0;
  for (; cursor != end && isDigit(*cursor); ++cursor)
    number = number * 10 + (*cursor - '0');
  if (cursor - begin > 18) // may have wrapped
    number = limit;
  if (*begin == '0' && cursor - begin > 1) {
    (void)report(cell, diag::CsvLeadingZero, shown(cell));
    return false;
  }
  if (number >= limit) {
    (void)report(cell, diag::CsvNumberTooLarge, what, shown(cell), limit - 1);
    return false;
  }
  value = number;
  return true;
}

/// Reads one step at `cursor` and advances it past the step; messages show
/// `cell`. Returns false after reporting an error if there is no step.
bool CsvReader::readStep(StringRef cell, const char *&cursor, const char *end,
                         Step &step) {
  const char *begin = cursor;
  unsigned stage = 0, microbatch = 0;
  bool tied = cursor != end && *cursor == 't';
  cursor += tied;
  if (cursor == end || !isDigit(*cursor)) {
    (void)report(cell, diag::CsvUnknownStep, shown(cell));
    return false;
  }
  if (!readNumber(cell, cursor, end, maxStages, tied ? "group" : "stage",
                  stage))
    return false;
  // `0>3SEND_F2`, `3<0RECV_F2`
  peer.reset();
  const char *arrow = cursor;
  if (cursor != end && (*cursor == '>' || *cursor == '<')) {
    if (++cursor == end || !isDigit(*cursor)) {
      (void)report(cell, diag::CsvUnknownStep, shown(cell));
      return false;
    }
    if (!readNumber(cell, cursor, end, maxStages, "stage", peer.emplace()))
      return false;
  }
  const char *name = cursor;
  while (cursor != end &&
         ((*cursor >= 'A' && *cursor <= 'Z') || *cursor == '_'))
    ++cursor;
  StringRef word(name, cursor - name);
  std::optional<StepKind> kind = parseStepKind(word);
  if (isOld() && kind == StepKind::I) {
    (void)report(cell, diag::CsvDialectStep, shown(cell));
    return false;
  }
  // Until all is read, each `B` of the old dialect is half of a backward.
  if (isOld() && kind == StepKind::B)
    kind = StepKind::I;
  if (word == "BW") {
    kind = StepKind::B;
    if (old.whole.text.empty())
      old.whole = {cell, row, column};
  }
  if (kind && peer &&
      (*arrow == '<' ? !isRecv(*kind) : !isSend(*kind) && !isSendWait(*kind)))
    kind = std::nullopt;
  if (!kind || isTied(*kind) != tied) {
    (void)report(cell, diag::CsvUnknownStep, shown(cell));
    return false;
  }
  if (hasMicrobatch(*kind)) {
    if (cursor == end || !isDigit(*cursor)) {
      (void)report(cell, diag::CsvNoMicrobatch, shown(cell));
      return false;
    }
    if (!readNumber(cell, cursor, end, maxMicrobatches, "micro-batch",
                    microbatch))
      return false;
  }
  step = Step(*kind, stage, microbatch, 0, locOf(begin));
  return true;
}

/// Parses `(0F7;7B3)OVERLAP_F_B`, whose members are in issue order. The name is
/// OVERLAP_B_F if the first member is a backward; PyTorch only accepts
/// OVERLAP_F_B, and then runs any members in their order.
void CsvReader::readOverlap(StringRef cell, StepList &steps) {
  const char *cursor = cell.begin() + 1, *end = cell.end();
  SmallVector<Step, 4> members;
  auto skipBlanks = [&] {
    cursor = trimFront({cursor, size_t(end - cursor)}).begin();
  };
  while (true) {
    skipBlanks();
    const char *begin = cursor;
    Step step;
    if (!readStep(cell, cursor, end, step))
      return;
    if (!isCompute(step.kind())) {
      (void)report({begin, size_t(cursor - begin)}, diag::CsvOverlapMember,
                   shown({begin, size_t(cursor - begin)}));
      return;
    }
    members.push_back(step);
    skipBlanks();
    if (cursor == end || *cursor != ';')
      break;
    ++cursor;
  }
  if (cursor == end || *cursor != ')') {
    (void)report(cell, diag::CsvUnknownStep, shown(cell));
    return;
  }
  StringRef name(cursor + 1, end - cursor - 1);
  if (!name.consume_front("OVERLAP_F_B") &&
      !name.consume_front("OVERLAP_B_F")) {
    (void)report(cell, diag::CsvUnknownStep, shown(cell));
    return;
  }
  if (!name.empty()) {
    (void)report(cell, diag::CsvTrailingText, shown(cell), shown(name));
    return;
  }
  if (members.size() < 2) {
    (void)report(cell, diag::CsvOverlapTooShort, shown(cell));
    return;
  }
  if (cell.ends_with("B_F") && members.front().kind() == StepKind::F) {
    (void)report(cell, diag::CsvOverlapOrder, shown(cell));
    return;
  }
  for (Step &member : members) {
    member.setSource(locOf(cell.begin()));
    member.setJoined(&member != &members.back());
    add(member, cell, steps);
  }
}

void CsvReader::readRow(StringRef line, StepList &steps) {
  line.consume_back("\r");
  // Python's csv module ends a row there, which hardly anybody means.
  if (size_t at = line.find('\r'); at != StringRef::npos) {
    column += line.take_front(at).count(',');
    (void)report(line.substr(at, 1), diag::CsvCarriageReturn);
    return;
  }
  steps.reserve(1 + countSeparators(line));
  size_t errors = diags.numErrors();
  bool anyStep = false;
  for (const char *cursor = line.begin(); !diags.atErrorLimit();) {
    const char *comma = static_cast<const char *>(
        std::memchr(cursor, ',', line.end() - cursor));
    const char *end = comma ? comma : line.end();
    StringRef cell = unquoted({cursor, size_t(end - cursor)});
    if (cell.empty()) {
      steps.push_back(Step(StepKind::Bubble, 0, 0, 0, locOf(cursor)));
    } else if (cell.front() == '(') {
      readOverlap(cell, steps);
      anyStep = true;
    } else {
      Step step;
      anyStep = true;
      cursor = cell.begin();
      if (readStep(cell, cursor, cell.end(), step)) {
        if (cursor == cell.end())
          add(step, cell, steps);
        else
          (void)report(cell, diag::CsvTrailingText, shown(cell),
                       shown({cursor, size_t(cell.end() - cursor)}));
      }
    }
    if (!comma)
      break;
    cursor = comma + 1;
    ++column;
  }
  if (!anyStep && errors == diags.numErrors()) {
    broken = true;
    (void)diags.report(SMLoc::getFromPointer(line.begin()), diag::CsvIdleRow,
                       row, rank);
  }
}

/// Makes whole backwards of the halves of stages that have no `W`, in the list
/// of a file without any `BW`.
void CsvReader::joinHalves(StepList &steps) const {
  DenseSet<unsigned> split;
  for (Step step : steps)
    if (step.kind() == StepKind::W)
      split.insert(step.stage());
  for (Step &step : steps)
    if (step.kind() == StepKind::I && !split.contains(step.stage()))
      step.setKind(StepKind::B);
}

LogicalResult CsvReader::checkBackwards() {
  if (isOld()) {
    if (old.whole.text.empty())
      for_each(schedule.ranks, [&](StepList &steps) { joinHalves(steps); });
    return success();
  }
  if (!old.found())
    return success();
  const OldBackwards::Cell &cell =
      old.whole.text.empty() ? old.half : old.whole;
  row = cell.row;
  column = cell.column;
  return report(cell.text, diag::CsvOldBackward, shown(cell.text))
      .note(SMLoc::getFromPointer(cell.text.begin()), diag::NoteCsvOldBackward);
}

/// Moves the rows of a file with some ranks only to their ranks.
LogicalResult CsvReader::placeRows() {
  ArrayRef<unsigned> present = options.present;
  if (present.empty())
    return success();
  if (schedule.ranks.size() != present.size())
    return diags.report(schedule.source, diag::PresentListCount,
                        schedule.ranks.size(), present.size());
  std::vector<StepList> rows =
      std::exchange(schedule.ranks, std::vector<StepList>(*options.ranks));
  for (auto [rank, steps] : zip_equal(present, rows))
    schedule.ranks[rank] = std::move(steps);
  return success();
}

FailureOr<Schedule> CsvReader::read() {
  schedule.name = options.name.str();
  schedule.source = locOf(text.begin());
  if (!options.present.empty()) {
    if (!options.ranks)
      return diags.report(schedule.source, diag::PresentRanksUnknown);
    for (unsigned rank : options.present)
      if (rank >= *options.ranks)
        return diags.report(schedule.source, diag::PresentRank, rank,
                            *options.ranks);
  }
  if (text.trim(", \t\v\f\r\n\"").empty())
    return diags.report(SMLoc::getFromPointer(text.begin()), diag::CsvNoSteps);
  const char *released = text.begin();
  for (const char *cursor = text.begin(); cursor != text.end();) {
    const char *newline = static_cast<const char *>(
        std::memchr(cursor, '\n', text.end() - cursor));
    const char *end = newline ? newline : text.end();
    if (schedule.ranks.size() == maxRanks)
      return diags.report(SMLoc::getFromPointer(cursor), diag::CsvTooManyRows,
                          schedule.ranks.size() + 1, maxRanks);
    schedule.ranks.emplace_back();
    rank = row < options.present.size() ? options.present[row] : row;
    ++row;
    column = 1;
    readRow({cursor, size_t(end - cursor)}, schedule.ranks.back());
    if (diags.atErrorLimit())
      return failure();
    cursor = newline ? newline + 1 : end;
    if (size_t(cursor - released) >= releasedAtOnce) {
      diags.sourceFiles().releaseBefore(SMLoc::getFromPointer(cursor));
      released = cursor;
    }
  }
  if (failed(checkBackwards()) || broken || failed(placeRows()) ||
      failed(header.infer(schedule, text, options, diags)) ||
      failed(graph.apply(schedule, options, diags)))
    return failure();
  return std::move(schedule);
}

} // namespace

/// The length of a cell without trailing blanks.
static size_t cellLength(StringRef rest) {
  StringRef cell =
      rest.take_until([](char c) { return StringRef(",\r\n").contains(c); });
  cell = trimBack(cell);
  // The closing quote of a quoted cell.
  if (!cell.starts_with("\""))
    cell.consume_back("\"");
  return cell.size();
}

FailureOr<Schedule> importCsv(StringRef text, const ListOptions &options,
                              DiagEngine &diags) {
  diags.sourceFiles().setItems(text, cellLength);
  return CsvReader(text, options, diags).read();
}

} // namespace pipec
