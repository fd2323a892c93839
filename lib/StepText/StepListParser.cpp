//===- StepListParser.cpp - Phases, steps and groups of step IR -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepText/StepParserDetail.h"

#include "IR/StepPlaces.h"
#include "Support/Diagnostics/StepTextDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

// Parses a phase label or a step, without the line break.
bool StepsParser::parseLine() {
  if (*p == '"')
    return parsePhase();
  const char *begin = p;
  StringRef first = word();
  if (*p == ':') {
    p = begin;
    return parsePhase();
  }
  if (first.empty()) {
    return expected("a step, a phase label or `}`");
  }
  if (phase == maxPhases && !phaseReported) {
    unlabelled = true;
    if (!schedule.phases.empty()) {
      (void)diags.report(rangeOf(first), diag::StepsNoPhase);
      phaseReported = true;
    }
  }
  size_t firstStep = schedule.ranks.back().size();
  if (first == "overlap" || first == "batch") {
    if (!parseGroup(first))
      return false;
  } else if (!parseStep(first, /*joined=*/false)) {
    return false;
  }
  skipBlanks();
  if (*p == '@' || !schedule.times.empty())
    return parseTime(firstStep);
  return true;
}

bool StepsParser::parsePhase() {
  const char *begin = p;
  std::string label;
  if (!name(label, "the name of a phase") || !expect(":"))
    return false;
  if (unlabelled && schedule.phases.empty() && !phaseReported) {
    (void)diags.report(rangeOf(since(begin)), diag::StepsPhaseLate);
    phaseReported = true;
  }
  auto known = llvm::find(schedule.phases, label);
  phase = known - schedule.phases.begin();
  if (known != schedule.phases.end())
    return true;
  if (phase == maxPhases) {
    (void)diags.report(rangeOf(since(begin)), diag::StepsPhaseLimit, maxPhases);
    phase = 0;
    return false;
  }
  schedule.phases.push_back(std::move(label));
  return true;
}

// Parses `overlap F s0 m2 & B s0 m1` or `batch SEND_F ..., RECV_B ...` after
// the keyword.
bool StepsParser::parseGroup(StringRef group) {
  StepList &list = schedule.ranks.back();
  size_t firstStep = list.size();
  bool overlap = group == "overlap";
  bool good = true;
  do {
    StringRef member = word();
    if (member.empty()) {
      expected("a step");
      good = false;
      break;
    }
    if (!parseStep(member, /*joined=*/true)) {
      good = false;
      break;
    }
    StepKind kind = list.back().kind();
    if (overlap ? !computesUnit(kind) : !isP2P(kind)) {
      (void)diags.report(rangeOf(member), diag::StepsGroupMember, member,
                         group);
      good = false;
    }
  } while (consume(overlap ? '&' : ','));
  if (good && list.size() == firstStep + 1) {
    (void)diags.report(rangeOf(group), diag::StepsGroupOfOne, group);
    good = false;
  }
  if (list.size() != firstStep)
    list.back().setJoined(false);
  return good;
}

// The kind of `word`. Its length and one byte select the only candidate.
static std::optional<StepKind> kindOf(StringRef word) {
  switch (word.size()) {
  case 1:
    switch (word[0]) {
    case 'F':
      return StepKind::F;
    case 'B':
      return StepKind::B;
    case 'I':
      return StepKind::I;
    case 'W':
      return StepKind::W;
    case 'R':
      return StepKind::R;
    }
    return std::nullopt;
  case 6:
    if (word == "SEND_F")
      return StepKind::SendF;
    if (word == "RECV_F")
      return StepKind::RecvF;
    if (word == "SEND_B")
      return StepKind::SendB;
    if (word == "RECV_B")
      return StepKind::RecvB;
  }
  return parseStepKind(word);
}

static std::string textOf(Step step, unsigned slices) {
  std::string text;
  raw_string_ostream os(text);
  os << stepKindName(step.kind()) << " s" << step.stage() << " m";
  printUnit(os, step.unit(), slices);
  return text;
}

// Parses one step after its word.
bool StepsParser::parseStep(StringRef word, bool joined) {
  std::optional<StepKind> kind = kindOf(word);
  if (!kind)
    return fail(word, diag::StepsUnknownStep, word.take_front(40));
  unsigned stage = 0;
  unsigned unit = 0;
  if (hasStage(*kind) && !parseStage(stage))
    return false;
  // The number of a group has the place of a stage.
  if (streamOf(*kind) == Stream::Tied && !parseTiedGroup(stage))
    return false;
  if (hasUnit(*kind) && !parseUnit(unit))
    return false;
  Step step(*kind, stage, unit, phase == maxPhases ? 0 : phase,
            sourceOf(word.begin()), joined);
  if (isP2P(*kind) && !parsePeer(step, word.begin()))
    return false;
  if (isSendWait(*kind) && flow && !flow->isChain() &&
      !parseWaitPeer(step, word.begin()))
    return false;
  schedule.ranks.back().push_back(step);
  return true;
}

// Skips the letter before a number.
bool StepsParser::skipLetter(char letter, const char *what) {
  skipBlanks();
  if (*p != letter || p[1] < '0' || p[1] > '9')
    return expected(what);
  ++p;
  return true;
}

bool StepsParser::parseStage(unsigned &stage) {
  return skipLetter('s', "a stage such as `s0`") &&
         numberBelow(schedule.numStages, maxStages, "stage", "stages", stage);
}

bool StepsParser::parseTiedGroup(unsigned &group) {
  uint64_t number = 0;
  if (!skipLetter('t', "a group of tied stages such as `t0`"))
    return false;
  const char *begin = p - 1;
  if (!this->number(number, "a group"))
    return false;
  if (number >= schedule.ties.size()) {
    (void)diags.report(
        rangeOf(since(begin)), diag::StepsOutOfRange, "group", number,
        countText(schedule.ties.size(), "group") + " of tied stages");
    return false;
  }
  group = number;
  return true;
}

// Parses `m3`, or with slices `m3.1`.
bool StepsParser::parseUnit(unsigned &unit) {
  if (!skipLetter('m', "a micro-batch such as `m0`") ||
      !numberBelow(schedule.numMicrobatches(), maxUnits, "micro-batch",
                   "micro-batches", unit))
    return false;
  unsigned slices = schedule.numSlices, slice = 0;
  if (slices == 1)
    return true;
  if (*p != '.' || p[1] < '0' || p[1] > '9')
    return expected("a slice such as `.0` after the micro-batch");
  ++p;
  if (!numberBelow(slices, maxUnits, "slice", "slices", slice))
    return false;
  unit = unit * slices + slice;
  return true;
}

// Parses `-> r1` after a send or `<- r1` after a receive: a transfer to or from
// a neighbouring stage; or `-> s3`, `<- s3`: any other. The step starts at
// `begin`.
bool StepsParser::parsePeer(Step &step, const char *begin) {
  StringRef before = since(begin);
  if (!expect(isSend(step.kind()) ? "->" : "<-"))
    return false;
  skipBlanks();
  if (*p == 's')
    return parseOtherStage(step, begin);
  if (!useNeighbour(step, before))
    return false;
  const DataFlow::Port *port = flow ? flow->transfer(step) : nullptr;
  const char *peerBegin = p;
  unsigned peer = 0;
  if (!skipLetter('r', "a rank such as `r0`") ||
      !numberBelow(schedule.numRanks, maxRanks, "rank", "ranks", peer))
    return false;
  if (port && port->rank != peer)
    return fail(since(peerBegin), diag::StepsWrongPeer,
                textOf(step, schedule.numSlices), port->rank, peer);
  return true;
}

// Parses `-> s3` after a wait for a send. It is omitted if the send goes to
// the next stage.
bool StepsParser::parseWaitPeer(Step &step, const char *begin) {
  skipBlanks();
  if (*p != '-')
    return useNeighbour(step, since(begin));
  if (!expect("->"))
    return false;
  skipBlanks();
  return parseOtherStage(step, begin);
}

// Sets the port of a transfer to or from a neighbouring stage. `text` is the
// step without its peer.
bool StepsParser::useNeighbour(Step &step, StringRef text) {
  if (!flow)
    return true;
  std::optional<unsigned> port = flow->portOfChain(step.kind(), step.stage());
  if (!port)
    return fail(text, diag::StepsNoNeighbour, stepKindName(step.kind()),
                step.stage());
  step.setPort(*port);
  return true;
}

// Parses `s3`, the stage at the other end of a transfer.
bool StepsParser::parseOtherStage(Step &step, const char *begin) {
  unsigned other = 0;
  if (!parseStage(other))
    return false;
  if (!flow)
    return true;
  std::optional<unsigned> port = flow->portTo(step.kind(), step.stage(), other);
  if (!port)
    return fail(since(begin), diag::StepsNoEdge, stepKindName(step.kind()),
                step.stage(), other);
  step.setPort(*port);
  return true;
}

// Parses `@7/2`, which is optional. `times` is created at
// the first time of the file; `firstStep` is the first step of this line.
bool StepsParser::parseTime(size_t firstStep) {
  std::optional<Rational> time;
  if (consume('@')) {
    Rational value;
    if (!rational(value))
      return false;
    time = value;
  }
  if (schedule.times.size() != schedule.ranks.size())
    schedule.times.resize(schedule.ranks.size());
  std::vector<std::optional<Rational>> &times = schedule.times.back();
  times.resize(firstStep);
  times.resize(schedule.ranks.back().size(), time);
  return true;
}

} // namespace pipec
