//===- StepPlaces.cpp - Steps and their places in messages ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/StepPlaces.h"

#include "Support/Words.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

std::string sizesText(const Schedule &schedule) {
  std::string text = countText(schedule.numRanks, "rank") + ", " +
                     countText(schedule.numStages, "stage") + ", " +
                     countText(schedule.numMicrobatches(), "micro-batch", "es");
  if (schedule.numSlices > 1)
    text += " of " + countText(schedule.numSlices, "slice");
  return text;
}

void printUnit(raw_ostream &os, unsigned unit, unsigned slices) {
  if (slices == 1)
    os << unit;
  else
    os << unit / slices << '.' << unit % slices;
}

static void printWithoutPeer(raw_ostream &os, Step step, unsigned slices) {
  os << stepKindName(step.kind());
  if (hasStage(step.kind()))
    os << " s" << step.stage();
  else if (step.stream() == Stream::Tied)
    os << " t" << step.stage();
  if (hasUnit(step.kind()))
    printUnit(os << " m", step.unit(), slices);
}

/// True for steps whose text may name the other end of a transfer.
static bool hasPeer(StepKind kind) { return isP2P(kind) || isSendWait(kind); }

void printStep(raw_ostream &os, const DataFlow &flow, Step step) {
  printWithoutPeer(os, step, flow.numSlices());
  if (!hasPeer(step.kind()))
    return;
  StringRef arrow = isRecv(step.kind()) ? " <- " : " -> ";
  if (std::optional<unsigned> other = flow.otherStage(step))
    os << arrow << 's' << *other;
  else if (const DataFlow::Port *port = flow.transfer(step);
           port && isP2P(step.kind()))
    os << arrow << 'r' << port->rank;
}

std::string stepText(const DataFlow &flow, Step step) {
  std::string text;
  raw_string_ostream os(text);
  printStep(os, flow, step);
  return text;
}

std::string stepText(const Schedule &schedule, Step step) {
  if (hasPeer(step.kind()))
    return stepText(DataFlow(schedule), step);
  std::string text;
  raw_string_ostream os(text);
  printWithoutPeer(os, step, schedule.numSlices);
  return text;
}

unsigned StepPlaces::position(unsigned rank, size_t index) {
  const StepList &list = schedule.ranks[rank];
  assert(index < list.size());
  if (marks.empty())
    marks.resize(schedule.ranks.size());
  std::vector<unsigned> &positions = marks[rank];
  if (positions.empty()) {
    unsigned position = 0;
    for (size_t i = 0; i != list.size(); ++i) {
      if (i % stride == 0)
        positions.push_back(position);
      position += !list[i].joined();
    }
  }
  unsigned position = positions[index / stride];
  for (size_t i = index / stride * stride; i != index; ++i)
    position += !list[i].joined();
  return position;
}

std::string StepPlaces::text(Step step) const {
  if (!hasPeer(step.kind()))
    return stepText(schedule, step);
  if (!flow)
    flow.emplace(schedule);
  return stepText(*flow, step);
}

StepPlace StepPlaces::name(unsigned rank, size_t index) {
  Step step = schedule.ranks[rank][index];
  return {rank, position(rank, index), text(step), uint8_t(step.kind())};
}

std::string StepPlaces::groupText(unsigned rank, size_t index) const {
  const StepList &list = schedule.ranks[rank];
  while (index != 0 && list[index - 1].joined())
    --index;
  std::string whole = text(list[index]);
  while (list[index].joined()) {
    whole += isCompute(list[index].kind()) ? " & " : ", ";
    whole += text(list[++index]);
  }
  return whole;
}

std::string StepPlaces::eventText(unsigned rank, size_t index) const {
  Step step = schedule.ranks[rank][index];
  return isP2P(step.kind()) ? text(step) : groupText(rank, index);
}

} // namespace pipec
