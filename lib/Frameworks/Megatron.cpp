//===- Megatron.cpp - The schedules of Megatron-LM ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frameworks/Megatron.h"

#include "Cost/LayerLayout.h"
#include "IR/RegularPlacements.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

bool MegatronSettings::isAccepted() const {
  if (chunks == 1)
    return true;
  unsigned last = microbatches % group;
  return group >= ranks && group <= microbatches &&
         (last == 0 || last >= ranks);
}

std::string MegatronSettings::text() const {
  if (chunks == 1)
    return "1F1B";
  return (overlaps ? "overlapped groups of " : "groups of ") +
         countText(group, "micro-batch", "es");
}

std::vector<std::string>
MegatronSettings::flags(ArrayRef<std::string> layout) const {
  std::vector<std::string> flags = {"--pipeline-model-parallel-size",
                                    std::to_string(ranks)};
  StageLayers stages = layout.vec();
  bool isNamed = !stages.empty() && !onlyDecoders(stages);
  if (onlyDecoders(stages) && !all_equal(stages)) {
    stages.front().insert(0, "E");
    stages.back() += 'L';
    isNamed = true;
  }
  // The number of chunks follows from a layout.
  if (isNamed)
    append_values(flags, "--pipeline-model-parallel-layout",
                  layoutText(stages));
  else if (chunks != 1)
    append_values(flags, "--num-virtual-stages-per-pipeline-rank",
                  std::to_string(chunks));
  if (chunks != 1)
    append_values(flags, "--microbatch-group-size-per-virtual-pipeline-stage",
                  std::to_string(group));
  if (overlaps)
    flags.push_back("--overlap-moe-expert-parallel-comm");
  return flags;
}

std::string MegatronSettings::commandLine(ArrayRef<std::string> layout) const {
  std::string line;
  for (StringRef word : flags(layout))
    line += (line.empty() ? "" : " ") + shellWord(word);
  return line;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

namespace {

/// The compute steps of one rank of Megatron-LM.
class RankOrder {
public:
  RankOrder(const MegatronSettings &settings, unsigned rank)
      : settings(settings), rank(rank),
        all(size_t(settings.microbatches) * settings.chunks) {
    size_t after = settings.ranks - rank - 1;
    warmup = settings.chunks == 1
                 ? after
                 : 2 * after + (settings.chunks - 1) * size_t(settings.group) +
                       settings.overlaps;
    warmup = std::min(warmup, all);
  }

  size_t size() const { return 2 * all; }

  Step at(size_t index) const {
    if (index < warmup)
      return forward(index);
    // Forwards and backwards in turn, then backwards alone.
    size_t pair = index - warmup;
    if (pair >= 2 * (all - warmup))
      return backward(index - all);
    return pair % 2 == 0 ? forward(warmup + pair / 2) : backward(pair / 2);
  }

private:
  Step make(StepKind kind, size_t number, bool joined) const {
    // All groups are full except the last one, which may be smaller.
    size_t group =
        settings.chunks == 1 ? settings.microbatches : settings.group;
    size_t first = number / (group * settings.chunks) * group;
    size_t size = std::min(group, settings.microbatches - first);
    size_t within = number - first * settings.chunks;
    unsigned chunk = within / size;
    if (kind == StepKind::B)
      chunk = settings.chunks - 1 - chunk;
    return Step(kind, chunk * settings.ranks + rank, first + within % size,
                /*phase=*/0, SourceLoc(), joined);
  }
  Step forward(size_t number) const {
    return make(StepKind::F, number, settings.overlaps && number >= warmup);
  }
  Step backward(size_t number) const {
    return make(StepKind::B, number, /*joined=*/false);
  }

  const MegatronSettings &settings;
  unsigned rank;
  /// The number of forwards, and of those before the first backward.
  size_t all, warmup;
};

} // namespace

/// The first difference between the computes of the schedule and the order of
/// Megatron-LM; none if they are equal.
static std::optional<MegatronMismatch>
compare(const Schedule &schedule, const MegatronSettings &settings) {
  MegatronMismatch mismatch = {MegatronMismatch::Order};
  mismatch.nearest = settings;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    RankOrder order(settings, rank);
    size_t number = 0;
    for (size_t index = 0; index != list.size(); ++index) {
      if (!isCompute(list[index].kind()))
        continue;
      mismatch.place = {rank, uint32_t(index)};
      if (number == order.size())
        return mismatch;
      Step expected = order.at(number++);
      if (list[index].sameAction(expected))
        continue;
      mismatch.expected = expected;
      return mismatch;
    }
    if (number == order.size())
      continue;
    mismatch.place = {rank, uint32_t(list.size())};
    mismatch.expected = order.at(number);
    return mismatch;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

/// The first stage with another place than in a loop.
static std::optional<unsigned> stageElsewhere(const Schedule &schedule) {
  ArrayRef<uint32_t> map = schedule.placement.map(0);
  unsigned off = firstStageOff(map, schedule.numRanks, rankInLoop);
  if (off != map.size() || map.size() % schedule.numRanks != 0)
    return off;
  return std::nullopt;
}

static std::optional<StepRef> firstHalf(const Schedule &schedule) {
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank)
    for (const auto &[index, step] : enumerate(schedule.ranks[rank]))
      if (step.kind() == StepKind::I || step.kind() == StepKind::W)
        return StepRef{rank, uint32_t(index)};
  return std::nullopt;
}

/// The step of rank 0 after its first forwards of stage 0, and their number.
static std::pair<StepRef, unsigned> firstGroup(const Schedule &schedule) {
  unsigned number = 0;
  uint32_t index = 0;
  for (Step step : schedule.ranks[0]) {
    if (isCompute(step.kind())) {
      if (step.kind() != StepKind::F || step.stage() != 0)
        break;
      ++number;
    }
    ++index;
  }
  return {StepRef{0, index}, number};
}

std::variant<MegatronSettings, MegatronMismatch>
recogniseMegatron(const Schedule &schedule) {
  if (std::optional<unsigned> stage = stageElsewhere(schedule))
    return MegatronMismatch{MegatronMismatch::Placement, *stage};
  if (std::optional<StepRef> half = firstHalf(schedule))
    return MegatronMismatch{MegatronMismatch::Half, 0, *half};
  auto [afterGroup, group] = firstGroup(schedule);
  MegatronSettings settings = {schedule.numRanks, schedule.numUnits,
                               schedule.numStages / schedule.numRanks,
                               std::max(group, 1u)};
  std::optional<MegatronMismatch> mismatch = compare(schedule, settings);
  if (mismatch && settings.chunks != 1) {
    settings.overlaps = true;
    std::optional<MegatronMismatch> other = compare(schedule, settings);
    auto place = [](const MegatronMismatch &of) {
      return std::pair(of.place.rank, of.place.index);
    };
    if (!other || place(*other) > place(*mismatch))
      mismatch = other;
  }
  if (mismatch)
    return *mismatch;
  if (!settings.isAccepted())
    return MegatronMismatch{MegatronMismatch::Group, 0, afterGroup,
                            std::nullopt, settings};
  return settings;
}

} // namespace pipec
