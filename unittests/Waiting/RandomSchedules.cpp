//===- RandomSchedules.cpp - Small schedules for tests --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Waiting/RandomSchedules.h"
#include "IR/StagePeers.h"
#include "IR/StepPlaces.h"

#include <set>
#include <tuple>

using namespace llvm;

namespace pipec::test {

namespace {

using Key = std::tuple<StepKind, unsigned, unsigned>;

/// Draws the steps of one schedule.
class Drawing {
public:
  Drawing(Rng &rng, const RandomOptions &options, Schedule &schedule)
      : rng(rng), options(options), schedule(schedule) {
    splits.resize(options.stages * options.microbatches);
    for (size_t i = 0; i != splits.size(); ++i)
      splits[i] = options.split && oneIn(rng, 2);
  }

  void run() {
    while (true) {
      std::vector<Step> open = available();
      if (open.empty())
        return;
      Step first = open[pick(rng, open.size())];
      std::vector<Step> group = {first};
      if (options.overlaps && oneIn(rng, 3))
        addPartner(open, group);
      emit(group);
    }
  }

private:
  bool isDone(StepKind kind, unsigned stage, unsigned m) const {
    return done.count({kind, stage, m});
  }
  bool gradientDone(unsigned stage, unsigned m) const {
    return isDone(StepKind::B, stage, m) || isDone(StepKind::I, stage, m);
  }

  std::vector<Step> available() const {
    std::vector<Step> result;
    for (unsigned s = 0; s != options.stages; ++s)
      for (unsigned m = 0; m != options.microbatches; ++m) {
        StepKind backward =
            splits[s * options.microbatches + m] ? StepKind::I : StepKind::B;
        if (!isDone(StepKind::F, s, m)) {
          if (s == 0 || isDone(StepKind::F, s - 1, m))
            result.push_back(Step(StepKind::F, s, m));
        } else if (!gradientDone(s, m)) {
          if (s + 1 == options.stages || gradientDone(s + 1, m))
            result.push_back(Step(backward, s, m));
        } else if (backward == StepKind::I && !isDone(StepKind::W, s, m)) {
          result.push_back(Step(StepKind::W, s, m));
        }
      }
    return result;
  }

  void addPartner(const std::vector<Step> &open, std::vector<Step> &group) {
    Step first = group[0];
    unsigned rank = schedule.rankOf(first.stage(), first.unit());
    if (first.kind() == StepKind::F && schedule.isLastStage(first.stage()) &&
        oneIn(rng, 2)) {
      bool split = splits[first.stage() * options.microbatches + first.unit()];
      group.push_back(
          Step(split ? StepKind::I : StepKind::B, first.stage(), first.unit()));
      return;
    }
    for (Step other : open)
      if (!other.sameAction(first) &&
          schedule.rankOf(other.stage(), other.unit()) == rank) {
        group.push_back(other);
        return;
      }
  }

  void emit(std::vector<Step> group) {
    unsigned rank = schedule.rankOf(group[0].stage(), group[0].unit());
    for (size_t i = 0; i != group.size(); ++i) {
      group[i].setJoined(i + 1 != group.size());
      schedule.ranks[rank].push_back(group[i]);
      done.insert({group[i].kind(), group[i].stage(), group[i].unit()});
    }
    if (!options.transfers)
      return;
    for (Step step : group) {
      if (step.kind() == StepKind::W)
        continue;
      bool forward = step.kind() == StepKind::F;
      Step send(forward ? StepKind::SendF : StepKind::SendB, step.stage(),
                step.unit());
      if (!test::hasPeer(schedule, send) ||
          test::peerOf(schedule, send) == rank)
        continue;
      schedule.ranks[rank].push_back(send);
      schedule.ranks[test::peerOf(schedule, send)].push_back(
          Step(forward ? StepKind::RecvF : StepKind::RecvB,
               test::peerStage(schedule, send), step.unit()));
    }
  }

  Rng &rng;
  const RandomOptions &options;
  Schedule &schedule;
  std::vector<bool> splits;
  std::set<Key> done;
};

/// The P2P steps of a schedule that are not joined.
std::vector<std::pair<unsigned, size_t>> loneP2P(const Schedule &schedule) {
  std::vector<std::pair<unsigned, size_t>> result;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    for (size_t i = 0; i != list.size(); ++i)
      if (isP2P(list[i].kind()) && !list[i].joined() &&
          (i == 0 || !list[i - 1].joined()))
        result.push_back({rank, i});
  }
  return result;
}

/// A place of `list` that is not inside a group.
size_t placeIn(Rng &rng, const StepList &list) {
  while (true) {
    size_t place = pick(rng, list.size() + 1);
    if (place == 0 || !list[place - 1].joined())
      return place;
  }
}

} // namespace

RandomOptions randomOptions(Rng &rng) {
  RandomOptions options;
  options.ranks = 1 + pick(rng, 4);
  options.stages = options.ranks + pick(rng, 5);
  options.microbatches = 1 + pick(rng, 4);
  options.split = oneIn(rng, 2);
  options.overlaps = oneIn(rng, 2);
  return options;
}

Schedule randomSchedule(Rng &rng, const RandomOptions &options) {
  Schedule schedule;
  schedule.name = "random";
  schedule.numRanks = options.ranks;
  schedule.numStages = options.stages;
  schedule.numUnits = options.microbatches;
  std::vector<uint32_t> map(options.stages);
  for (unsigned stage = 0; stage != options.stages; ++stage)
    map[stage] = stage < options.ranks ? stage : pick(rng, options.ranks);
  std::shuffle(map.begin(), map.end(), rng);
  std::vector<std::vector<uint32_t>> maps = {map};
  if (options.twoWays) {
    for (uint32_t &rank : map)
      rank = options.ranks - 1 - rank;
    maps.push_back(map);
  }
  schedule.placement = Placement(std::move(maps));
  schedule.phases = {"all"};
  schedule.ranks.resize(options.ranks);
  Drawing(rng, options, schedule).run();
  return schedule;
}

void mutate(Rng &rng, Schedule &schedule) {
  auto places = loneP2P(schedule);
  if (places.empty())
    return;
  auto [rank, index] = places[pick(rng, places.size())];
  StepList &list = schedule.ranks[rank];
  bool nextIsAlone = index + 1 != list.size() &&
                     isP2P(list[index + 1].kind()) && !list[index + 1].joined();
  switch (pick(rng, 8)) {
  case 0:
  case 1:
  case 2:
    if (nextIsAlone)
      std::swap(list[index], list[index + 1]);
    break;
  case 3:
  case 4: {
    Step step = list[index];
    list.erase(list.begin() + index);
    list.insert(list.begin() + placeIn(rng, list), step);
    break;
  }
  case 5:
  case 6: {
    size_t end = index;
    while (end + 1 != list.size() && isP2P(list[end + 1].kind()) &&
           !list[end].joined() && (end == index || oneIn(rng, 2)))
      list[end++].setJoined(true);
    break;
  }
  default:
    if (oneIn(rng, 2))
      list.erase(list.begin() + index);
    else
      list.insert(list.begin() + placeIn(rng, list), list[index]);
  }
}

Schedule randomTransfers(Rng &rng, unsigned size, unsigned maxErrors) {
  RandomOptions options;
  options.ranks = 1 + pick(rng, 4);
  options.stages = options.ranks + pick(rng, size);
  options.microbatches = 1 + pick(rng, size);
  options.split = oneIn(rng, 4);
  options.overlaps = oneIn(rng, 3);
  options.transfers = true;
  Schedule schedule = randomSchedule(rng, options);
  for (unsigned n = pick(rng, maxErrors + 1); n != 0; --n)
    mutate(rng, schedule);
  return schedule;
}

static Rational randomCost(Rng &rng) {
  static constexpr int64_t denominators[] = {1, 1, 2, 3, 4, 10};
  return *Rational::make(pick(rng, 7), denominators[pick(rng, 6)]);
}

void randomCosts(Rng &rng, Schedule &schedule) {
  for (Figure figure : {Figure::F, Figure::B, Figure::I, Figure::W})
    if (oneIn(rng, 2))
      schedule.costs.set(figure, randomCost(rng));
  for (unsigned stage = 0; stage != schedule.numStages; ++stage)
    if (oneIn(rng, 3))
      schedule.costs.set(Figure(pick(rng, 4)), randomCost(rng),
                         {FigureScope::Stage, stage});
  if (oneIn(rng, 2))
    schedule.costs.overlaps.push_back(
        {{StepKind::F, StepKind::B}, randomCost(rng)});
}

unsigned countP2P(const Schedule &schedule) {
  unsigned count = 0;
  for (const StepList &list : schedule.ranks)
    for (Step step : list)
      count += isP2P(step.kind());
  return count;
}

std::string listing(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  DataFlow flow(schedule);
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    os << "rank " << rank << ":";
    for (Step step : schedule.ranks[rank]) {
      os << "  ";
      printStep(os, flow, step);
      os << (step.joined() ? " &" : "");
    }
    os << "\n";
  }
  return text;
}

} // namespace pipec::test
