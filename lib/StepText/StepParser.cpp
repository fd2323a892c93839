//===- StepParser.cpp - Step IR from text ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the text in one pass, line by line. Nearly all lines of a real file
// are single steps in the form of the printer; `quickStep` handles only these,
// and leaves all other lines to the complete parser in StepListParser.cpp.
// Sizes in the header are compared with the actual lists; no memory is reserved
// for them.
//
//===----------------------------------------------------------------------===//

#include "StepText/StepParser.h"
#include "StepText/StepParserDetail.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/LoweringDiags.h"
#include "Support/Diagnostics/StepTextDiags.h"

#include <cstring>

using namespace llvm;

namespace pipec {

/// The length of a step: up to the end of its line, the next member of its
/// group, its time or a comment.
static size_t stepLength(StringRef rest) {
  StringRef step = rest.take_until(
      [](char c) { return StringRef("\r\n,&@{}").contains(c); });
  return step.take_front(step.find("//")).rtrim(" \t").size();
}

FailureOr<Schedule> parseSteps(StringRef text, DiagEngine &diags) {
  diags.sourceFiles().setItems(text, stepLength);
  return StepsParser(text, diags).parse();
}

StepsParser::StepsParser(StringRef text, DiagEngine &diags)
    : StepsCursor(text, diags), text(text),
      base(diags.sourceFiles().compress(SMLoc::getFromPointer(text.begin()))),
      errorsBefore(diags.numErrors()) {}

FailureOr<Schedule> StepsParser::parse() {
  if (!parseOpening())
    return failure();
  mapsKnown = true;
  for (skipLines(); !atEnd() && *p != '}' && !atRank(); skipLines())
    parseHeaderEntry();
  if (maps.empty()) {
    (void)diags.report(rangeOf({scheduleOpened, 1}), diag::StepsNoMap);
    mapsKnown = false;
  }
  mapsKnown &= schedule.numRanks && schedule.numStages;
  mapsKnown &= schedule.numUnits != 0;
  checkSections();
  if (graph && mapsKnown) {
    if (FailureOr<StageGraph> made = graph->finish(); succeeded(made))
      schedule.graph = std::move(*made);
    else
      mapsKnown = false;
    if (maps.size() == 2) {
      (void)diags.report(rangeOf({scheduleOpened, 1}), diag::GraphBidirectional,
                         seenGraph ? "graph" : "connect");
      mapsKnown = false;
    }
  }
  if (ties && mapsKnown && maps.size() == 2) {
    (void)diags.report(rangeOf({scheduleOpened, 1}), diag::GraphBidirectional,
                       "tie");
    mapsKnown = false;
  }
  if (ties)
    schedule.ties = ties->take();
  if (mapsKnown) {
    schedule.placement = Placement(std::move(maps));
    flow.emplace(schedule);
  }
  parseRanks();
  // Steps after the last one with a time.
  if (!schedule.times.empty())
    for (unsigned r = 0; r != schedule.ranks.size(); ++r)
      schedule.times[r].resize(schedule.ranks[r].size());
  if (diags.numErrors() != errorsBefore)
    return failure();
  return std::move(schedule);
}

bool StepsParser::numberBelow(unsigned size, unsigned limit, StringRef what,
                              StringRef sizeOf, unsigned &value) {
  skipBlanks();
  const char *begin = p;
  unsigned quick = 0;
  for (; *p >= '0' && *p <= '9' && p - begin < 9; ++p)
    quick = quick * 10 + (*p - '0');
  if (quick < size && p != begin && !isWordByte(*p)) {
    value = quick;
    return true;
  }
  p = begin;
  uint64_t wide = 0;
  if (!number(wide, ("a " + what).str()))
    return false;
  bool sizeKnown = size != 0;
  if (wide >= (sizeKnown ? size : limit))
    return fail(since(begin), diag::StepsOutOfRange, what, wide,
                sizeKnown ? (Twine(size) + " " + sizeOf).str()
                          : ("at most " + Twine(limit) + " " + sizeOf).str());
  value = wide;
  return true;
}

//===----------------------------------------------------------------------===//
// Ranks
//===----------------------------------------------------------------------===//

void StepsParser::parseRanks() {
  for (skipLines(); !atEnd() && *p != '}' && !diags.atErrorLimit();
       skipLines()) {
    if (atRank()) {
      beginRank();
      parseRankBody();
      continue;
    }
    StringRef entry = word();
    if (entry.empty())
      expected("`rank` or `}`");
    else
      (void)diags.report(rangeOf(entry), diag::StepsEntryLate,
                         entry.take_front(40));
    skipLine();
  }
  if (diags.atErrorLimit())
    return;
  if (!consume('}')) {
    (void)diags.report(loc(), diag::StepsUnclosed, "schedule")
        .note(SMLoc::getFromPointer(scheduleOpened), diag::NoteOpenedHere);
    return;
  }
  if (schedule.numRanks && schedule.ranks.size() < schedule.numRanks)
    (void)diags.report(SMLoc::getFromPointer(p - 1), diag::StepsRanksMissing,
                       schedule.ranks.size(), schedule.numRanks);
  skipLines();
  if (!atEnd())
    (void)diags.report(loc(), diag::StepsTrailing);
}

// Parses `rank N {`. Begins the next list, whatever the number is.
void StepsParser::beginRank() {
  word();
  rank = schedule.ranks.size();
  skipBlanks();
  const char *begin = p;
  unsigned written = rank;
  bool good =
      numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", written);
  if (good && written != rank) {
    (void)diags.report(rangeOf(since(begin)), diag::StepsRankOrder, written,
                       rank);
    rank = written;
  }
  // Bound the number of lists in malformed input.
  if (schedule.ranks.size() < maxRanks)
    schedule.ranks.emplace_back();
  if (!schedule.times.empty())
    schedule.times.resize(schedule.ranks.size());
  skipBlanks();
  rankOpened = p;
  if (!expect("{") || !endLine())
    skipLine();
}

void StepsParser::parseRankBody() {
  phase = maxPhases;
  for (;;) {
    if (quickStep())
      continue;
    skipLines();
    if (*p == '}' && p != end) {
      ++p;
      if (!endLine())
        skipLine();
      return;
    }
    if (atEnd() || atRank()) {
      (void)diags
          .report(loc(), diag::StepsUnclosed, ("rank " + Twine(rank)).str())
          .note(SMLoc::getFromPointer(rankOpened), diag::NoteOpenedHere);
      return;
    }
    if (!parseLine() || !endLine()) {
      if (diags.atErrorLimit()) {
        p = end;
        return;
      }
      skipLine();
    }
  }
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// Reads digits at `q` into `value`. Returns false if there are none, or more
/// than any limit has.
static bool quickNumber(const char *&q, unsigned &value) {
  unsigned digit = uint8_t(*q) - '0';
  if (digit > 9)
    return false;
  unsigned sum = digit;
  const char *begin = q;
  while ((digit = uint8_t(*++q) - '0') <= 9)
    sum = sum * 10 + digit;
  value = sum;
  return q - begin < 9;
}

// Parses a line that consists of one compute or P2P step in the form of the
// printer. Requires that the header has no errors and that the text continues
// for at least one long line, so that words can be compared directly.
bool StepsParser::quickStep() {
  const char *q = p;
  if (end - q < 64 || !flow || !schedule.times.empty() ||
      (phase == maxPhases && !schedule.phases.empty()))
    return false;
  const char *lastStart = q + 16;
  while (*q == ' ' && q != lastStart)
    ++q;
  const char *begin = q;
  StepKind kind = StepKind::F;
  switch (*q) {
  case 'F':
    break;
  case 'B':
    kind = StepKind::B;
    break;
  case 'I':
    kind = StepKind::I;
    break;
  case 'W':
    kind = StepKind::W;
    if (q[1] == ' ')
      break;
    if (std::memcmp(q, "WAIT_SEND_F", 11) == 0)
      kind = StepKind::WaitSendF;
    else if (std::memcmp(q, "WAIT_SEND_B", 11) == 0)
      kind = StepKind::WaitSendB;
    else
      return false;
    q += 10;
    break;
  case 'S':
    if (std::memcmp(q, "SEND_F", 6) == 0)
      kind = StepKind::SendF;
    else if (std::memcmp(q, "SEND_B", 6) == 0)
      kind = StepKind::SendB;
    else
      return false;
    q += 5;
    break;
  case 'R':
    if (std::memcmp(q, "RECV_F", 6) == 0)
      kind = StepKind::RecvF;
    else if (std::memcmp(q, "RECV_B", 6) == 0)
      kind = StepKind::RecvB;
    else
      return false;
    q += 5;
    break;
  default:
    return false;
  }
  unsigned stage = 0;
  unsigned unit = 0;
  if (q[1] != ' ' || q[2] != 's' || !quickNumber(q += 3, stage) ||
      stage >= schedule.numStages || q[0] != ' ' || q[1] != 'm' ||
      !quickNumber(q += 2, unit) || unit >= schedule.numUnits)
    return false;
  if (unsigned slices = schedule.numSlices; slices != 1) {
    unsigned slice = 0;
    if (*q != '.' || !quickNumber(++q, slice) || slice >= slices ||
        unit >= schedule.numUnits / slices)
      return false;
    unit = unit * slices + slice;
  }
  Step step(kind, stage, unit, phase == maxPhases ? 0 : phase, sourceOf(begin));
  if (isP2P(kind)) {
    if (!flow->isChain())
      return false;
    unsigned peer = 0;
    if (std::memcmp(q, isSend(kind) ? " -> r" : " <- r", 5) != 0 ||
        !quickNumber(q += 5, peer))
      return false;
    const DataFlow::Port *port = flow->transfer(step);
    if (!port || port->rank != peer)
      return false;
  }
  // A wait may name the stage at the other end.
  if (*q != '\n' || (isSendWait(kind) && !flow->isChain()))
    return false;
  p = q + 1;
  unlabelled |= phase == maxPhases;
  schedule.ranks.back().push_back(step);
  return true;
}

} // namespace pipec
