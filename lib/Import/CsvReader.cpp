//===- CsvReader.cpp - Step IR from PyTorch's schedule CSV ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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

#include "Import/CsvText.h"
#include "Import/Lists.h"
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
  bool readOverlap(StringRef cell, StepList &steps);
  bool readStep(StringRef cell, StringRef &rest, Step &step);
  bool readNumber(StringRef cell, StringRef &rest, unsigned limit,
                  StringRef what, unsigned &value);
  LLVM_ATTRIBUTE_NOINLINE bool unknownStep(StringRef cell) {
    return refuse(cell, diag::CsvUnknownStep, shown(cell));
  }
  /// Adds `step` to the list of the current rank.
  void add(Step step, StringRef cell, StepList &steps) {
    if (step_facts::has(step_facts::kindsOn(Stream::Tied), step.kind()))
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
  /// The same. Returns false. Not inlined: its callers run for each step.
  template <typename... Args>
  LLVM_ATTRIBUTE_NOINLINE bool refuse(StringRef range, Args &&...args) {
    (void)report(range, std::forward<Args>(args)...);
    return false;
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

/// Reads a number below `limit` at the beginning of `rest`. Messages call it
/// `what`.
bool CsvReader::readNumber(StringRef cell, StringRef &rest, unsigned limit,
                           StringRef what, unsigned &value) {
  if (rest.empty() || !isDigit(rest.front()))
    return unknownStep(cell);
  const char *cursor = rest.begin();
  uint64_t number = 0;
  for (; cursor != rest.end() && isDigit(*cursor); ++cursor)
    number = number * 10 + (*cursor - '0');
  size_t size = cursor - rest.begin();
  if (rest.front() == '0' && size > 1)
    return refuse(cell, diag::CsvLeadingZero, shown(cell));
  // Longer numbers may have wrapped.
  if (number >= limit || size > 18)
    return refuse(cell, diag::CsvNumberTooLarge, what, shown(cell), limit - 1);
  rest = rest.drop_front(size);
  value = number;
  return true;
}

/// Reads one step at the beginning of `rest` and removes it; messages show
/// `cell`. Returns false after reporting an error if there is no step.
bool CsvReader::readStep(StringRef cell, StringRef &rest, Step &step) {
  const char *begin = rest.begin();
  unsigned stage = 0, microbatch = 0;
  bool tied = rest.consume_front("t");
  if (!readNumber(cell, rest, maxStages, tied ? "group" : "stage", stage))
    return false;
  // `0>3SEND_F2`, `3<0RECV_F2`
  peer.reset();
  char arrow = rest.empty() ? 0 : rest.front();
  if (arrow == '>' || arrow == '<') {
    rest = rest.drop_front();
    if (!readNumber(cell, rest, maxStages, "stage", peer.emplace()))
      return false;
  }
  size_t length = 0;
  while (length != rest.size() &&
         ((rest[length] >= 'A' && rest[length] <= 'Z') || rest[length] == '_'))
    ++length;
  StringRef word = rest.take_front(length);
  rest = rest.drop_front(length);
  std::optional<StepKind> kind = parseStepKind(word);
  if (isOld() && kind == StepKind::I)
    return refuse(cell, diag::CsvDialectStep, shown(cell));
  // Until all is read, each `B` of the old dialect is half of a backward.
  if (isOld() && kind == StepKind::B)
    kind = StepKind::I;
  if (word == "BW") {
    kind = StepKind::B;
    if (old.whole.text.empty())
      old.whole = {cell, row, column};
  }
  if (!kind || (streamOf(*kind) == Stream::Tied) != tied ||
      (peer &&
       (arrow == '<' ? !isRecv(*kind) : !isSend(*kind) && !isSendWait(*kind))))
    return unknownStep(cell);
  if (hasUnit(*kind)) {
    if (rest.empty() || !isDigit(rest.front()))
      return refuse(cell, diag::CsvNoMicrobatch, shown(cell));
    if (!readNumber(cell, rest, maxUnits, "micro-batch", microbatch))
      return false;
  }
  step = Step(*kind, stage, microbatch, 0, locOf(begin));
  return true;
}

/// Parses `(0F7;7B3)OVERLAP_F_B`, whose members are in issue order. The name is
/// OVERLAP_B_F if the first member is a backward; PyTorch only accepts
/// OVERLAP_F_B, and then runs any members in their order.
bool CsvReader::readOverlap(StringRef cell, StepList &steps) {
  StringRef rest = cell.drop_front();
  SmallVector<Step, 4> members;
  do {
    rest = trimmedFront(rest);
    StringRef member = rest;
    if (!readStep(cell, rest, members.emplace_back()))
      return false;
    member = member.drop_back(rest.size());
    if (!computesUnit(members.back().kind()))
      return refuse(member, diag::CsvOverlapMember, shown(member));
    rest = trimmedFront(rest);
  } while (rest.consume_front(";"));
  if (!rest.consume_front(")") || (!rest.consume_front("OVERLAP_F_B") &&
                                   !rest.consume_front("OVERLAP_B_F")))
    return unknownStep(cell);
  if (!rest.empty())
    return refuse(cell, diag::CsvTrailingText, shown(cell), shown(rest));
  if (members.size() < 2)
    return refuse(cell, diag::CsvOverlapTooShort, shown(cell));
  if (cell.ends_with("B_F") && members.front().kind() == StepKind::F)
    return refuse(cell, diag::CsvOverlapOrder, shown(cell));
  for (Step &member : members) {
    member.setSource(locOf(cell.begin()));
    member.setJoined(&member != &members.back());
    add(member, cell, steps);
  }
  return true;
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
    StringRef cell = cellText({cursor, size_t(end - cursor)});
    if (cell.empty()) {
      steps.push_back(Step(StepKind::Bubble, 0, 0, 0, locOf(cursor)));
    } else if (anyStep = true; cell.front() == '(') {
      readOverlap(cell, steps);
    } else {
      Step step;
      StringRef rest = cell;
      if (readStep(cell, rest, step)) {
        if (rest.empty())
          add(step, cell, steps);
        else
          refuse(cell, diag::CsvTrailingText, shown(cell), shown(rest));
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

FailureOr<Schedule> importCsv(StringRef text, const ListOptions &options,
                              DiagEngine &diags) {
  diags.sourceFiles().setItems(text, csvCellLength);
  return CsvReader(text, options, diags).read();
}

} // namespace pipec
