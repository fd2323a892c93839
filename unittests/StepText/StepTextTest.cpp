//===- StepTextTest.cpp - Reading and printing step IR --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StepText/StepParser.h"
#include "StepText/StepPrinter.h"
#include "Waiting/RandomSchedules.h"

#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;
using namespace pipec::test;

namespace {

std::string print(const Schedule &schedule) {
  std::string text;
  raw_string_ostream os(text);
  printSteps(schedule, os);
  return text;
}

/// A text and the result of reading it.
struct Reading {
  explicit Reading(StringRef text)
      : diags(files, [this](const Diagnostic &d) { first = d.message; }) {
    auto added = files.add(MemoryBuffer::getMemBufferCopy(text, "f"));
    EXPECT_TRUE(bool(added));
    if (added)
      schedule = parseSteps(*added, diags);
  }
  SourceFiles files;
  std::string first;
  DiagEngine diags;
  FailureOr<Schedule> schedule = failure();
};

std::string randomName(Rng &rng) {
  std::string name;
  for (unsigned n = pick(rng, 6); n != 0; --n)
    name.push_back(oneIn(rng, 2) ? char('a' + pick(rng, 26))
                                 : char(pick(rng, 256)));
  return name;
}

Rational randomRational(Rng &rng) {
  int64_t numerator = oneIn(rng, 8) ? INT64_MIN + int64_t(pick(rng, 3))
                                    : int64_t(pick(rng, 200)) - 100;
  int64_t denominator = oneIn(rng, 8) ? INT64_MAX : int64_t(pick(rng, 9)) + 1;
  return *Rational::make(numerator, denominator);
}

Rational magnitude(Rational value) {
  return value.isNegative() ? Rational::sub(0, value).value_or(1) : value;
}

/// Sets the parts of a schedule that its steps do not need.
void decorate(Rng &rng, Schedule &schedule) {
  schedule.name = randomName(rng);
  schedule.forwardOnly = oneIn(rng, 2);
  for (unsigned n = pick(rng, 4); n != 0; --n)
    schedule.params.push_back({randomName(rng) + std::to_string(n),
                               oneIn(rng, 4) ? INT64_MIN : int64_t(rng())});
  // Every figure in every place that may have it.
  for (const FigureInfo &info : allFigures())
    for (const ScopeInfo &scope : allScopes()) {
      if (!info.isIn(scope.scope) || scope.scope == FigureScope::Overlap ||
          !oneIn(rng, 3))
        continue;
      Place place{scope.scope};
      if (scope.scope == FigureScope::Nodes)
        place.number = 1 + pick(rng, 4);
      else if (scope.numbers)
        place.number = pick(rng, countOf(scope.scope, schedule.sizes()));
      if (scope.scope == FigureScope::Edge)
        place.to = pick(rng, schedule.numRanks);
      if (scope.scope == FigureScope::StageMicrobatch) {
        place.number = pick(rng, schedule.numStages);
        place.to = pick(rng, schedule.numMicrobatches());
      }
      if (scope.scope == FigureScope::Edge && place.to == place.number)
        continue;
      Rational value = randomRational(rng);
      FigureSet &figures = info.block == FigureBlock::Cost
                               ? static_cast<FigureSet &>(schedule.costs)
                               : schedule.memory;
      figures.set(info.figure, info.refuses(value) ? magnitude(value) : value,
                  place);
    }
  auto overlap = [&](ArrayRef<StepKind> members, bool isFactor) {
    if (oneIn(rng, 2))
      schedule.costs.set({SmallVector<StepKind, 2>(members),
                          magnitude(randomRational(rng)), isFactor});
  };
  overlap({StepKind::F, StepKind::B}, false);
  overlap({StepKind::I, StepKind::F, StepKind::W}, false);
  overlap({StepKind::B, StepKind::F}, true);
  if (oneIn(rng, 2)) {
    FsdpSettings &fsdp = schedule.fsdp.emplace();
    if (oneIn(rng, 2)) {
      fsdp.stages.emplace();
      for (unsigned s = 0; s != schedule.numStages; ++s)
        if (oneIn(rng, 2))
          fsdp.stages->push_back(s);
    }
    if (oneIn(rng, 2))
      fsdp.maxActive = 1 + pick(rng, 5);
    if (oneIn(rng, 2))
      fsdp.prefetch = pick(rng, 5);
  }
  for (unsigned n = pick(rng, 4); n != 0; --n) {
    Expectation e{};
    e.metric = Expectation::Metric(pick(rng, 6));
    e.relation = Expectation::Relation(pick(rng, 6));
    if (e.metric == Expectation::Metric::Idle ||
        e.metric == Expectation::Metric::Peak ||
        e.metric == Expectation::Metric::Host)
      e.rank = pick(rng, schedule.numRanks);
    e.value = randomRational(rng);
    schedule.expectations.push_back(e);
  }
  schedule.phases.clear();
  if (oneIn(rng, 3))
    return;
  for (StepList &list : schedule.ranks) {
    unsigned phase = pick(rng, 3);
    for (size_t i = 0; i != list.size(); ++i) {
      while (schedule.phases.size() <= phase)
        schedule.phases.push_back(randomName(rng) +
                                  std::to_string(schedule.phases.size()));
      list[i].setPhase(phase);
      if (!list[i].joined() && oneIn(rng, 4))
        phase = pick(rng, 4);
    }
  }
}

void addTimes(Rng &rng, Schedule &schedule) {
  schedule.times.resize(schedule.numRanks);
  bool any = false;
  for (unsigned rank = 0; rank != schedule.numRanks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    std::optional<Rational> time;
    for (size_t i = 0; i != list.size(); ++i) {
      if (i == 0 || !list[i - 1].joined())
        time =
            oneIn(rng, 2) ? std::optional(randomRational(rng)) : std::nullopt;
      schedule.times[rank].push_back(time);
      any |= time.has_value();
    }
  }
  if (!any)
    schedule.times.clear();
}

void expectEqual(const Schedule &a, const Schedule &b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.numRanks, b.numRanks);
  EXPECT_EQ(a.numStages, b.numStages);
  EXPECT_EQ(a.numUnits, b.numUnits);
  EXPECT_EQ(a.forwardOnly, b.forwardOnly);
  EXPECT_EQ(a.placement, b.placement);
  EXPECT_EQ(a.params, b.params);
  EXPECT_EQ(a.costs, b.costs);
  EXPECT_EQ(a.memory, b.memory);
  EXPECT_EQ(a.fsdp, b.fsdp);
  ASSERT_EQ(a.expectations.size(), b.expectations.size());
  for (size_t i = 0; i != a.expectations.size(); ++i) {
    EXPECT_EQ(a.expectations[i].metric, b.expectations[i].metric);
    EXPECT_EQ(a.expectations[i].relation, b.expectations[i].relation);
    EXPECT_EQ(a.expectations[i].rank, b.expectations[i].rank);
    EXPECT_EQ(a.expectations[i].value, b.expectations[i].value);
  }
  EXPECT_TRUE(a.times == b.times);
  ASSERT_EQ(a.ranks.size(), b.ranks.size());
  auto phase = [](const Schedule &s, Step step) {
    return s.phases.empty() ? "" : s.phases[step.phase()];
  };
  for (size_t r = 0; r != a.ranks.size(); ++r) {
    ASSERT_EQ(a.ranks[r].size(), b.ranks[r].size());
    for (size_t i = 0; i != a.ranks[r].size(); ++i) {
      EXPECT_TRUE(a.ranks[r][i].sameAction(b.ranks[r][i]));
      EXPECT_EQ(phase(a, a.ranks[r][i]), phase(b, b.ranks[r][i]));
    }
  }
}

TEST(StepText, ThereAndBack) {
  Rng rng(5);
  for (unsigned i = 0; i != 3000; ++i) {
    RandomOptions options;
    options.ranks = 1 + pick(rng, 4);
    options.stages = options.ranks + pick(rng, 4);
    options.microbatches = 1 + pick(rng, 4);
    options.split = oneIn(rng, 2);
    options.overlaps = oneIn(rng, 2);
    options.transfers = oneIn(rng, 2);
    options.twoWays = oneIn(rng, 3);
    Schedule schedule = randomSchedule(rng, options);
    if (options.transfers && oneIn(rng, 2))
      mutate(rng, schedule);
    decorate(rng, schedule);
    if (oneIn(rng, 3))
      addTimes(rng, schedule);
    std::string text = print(schedule);
    Reading reading(text);
    ASSERT_TRUE(succeeded(reading.schedule)) << reading.first << "\n" << text;
    expectEqual(schedule, *reading.schedule);
    EXPECT_EQ(print(*reading.schedule), text);
    if (HasFailure())
      FAIL() << text;
  }
}

// The source of every step is its own text.
TEST(StepText, Sources) {
  StringRef text = "pipec-steps 1\n"
                   "schedule @a { ranks 1 stages 1 microbatches 2\n"
                   "  map 0\n"
                   "  rank 0 {\n"
                   "    F s0 m0\n"
                   "    overlap F s0 m1 & B s0 m0\n"
                   "    B s0 m1 }\n"
                   "    B s0 m1\n"
                   "  }\n"
                   "}\n";
  Reading bad(text);
  EXPECT_TRUE(failed(bad.schedule));
  EXPECT_EQ(bad.first, "expected the end of the line, found `}`");
  std::string mended = text.str();
  mended.erase(mended.find("    B s0 m1 }\n"), 14);
  Reading reading(mended);
  ASSERT_TRUE(succeeded(reading.schedule));
  const StepList &list = reading.schedule->ranks[0];
  ASSERT_EQ(list.size(), 4u);
  for (auto [index, line, column] :
       {std::tuple(0, 5, 5), {1, 6, 13}, {2, 6, 23}, {3, 7, 5}}) {
    LineColumn at =
        reading.files.lineColumn(reading.files.expand(list[index].source()));
    EXPECT_EQ(at.line, unsigned(line));
    EXPECT_EQ(at.column, unsigned(column));
  }
  LineColumn at =
      reading.files.lineColumn(reading.files.expand(reading.schedule->source));
  EXPECT_EQ(at.line, 2u);
  EXPECT_EQ(at.column, 10u);
}

// Every prefix of a valid text is refused without a crash.
TEST(StepText, Prefixes) {
  Rng rng(6);
  RandomOptions options;
  options.overlaps = options.transfers = true;
  Schedule schedule = randomSchedule(rng, options);
  decorate(rng, schedule);
  addTimes(rng, schedule);
  std::string text = print(schedule);
  ASSERT_TRUE(succeeded(Reading(text).schedule));
  for (size_t n = 0; n + 1 < text.size(); ++n)
    EXPECT_TRUE(failed(Reading(StringRef(text).take_front(n)).schedule)) << n;
  // Only the last line break is optional.
  EXPECT_TRUE(succeeded(Reading(StringRef(text).drop_back()).schedule));
}

// One byte is changed at a time. The text is refused, or the result can be
// printed and read back.
TEST(StepText, ChangedBytes) {
  Rng rng(7);
  RandomOptions options;
  options.overlaps = options.transfers = true;
  Schedule schedule = randomSchedule(rng, options);
  decorate(rng, schedule);
  std::string text = print(schedule);
  static constexpr char bytes[] = "\0 \n\r\t09azF@&,-><:{}\"\\/\x80\xff";
  for (size_t i = 0; i != text.size(); ++i)
    for (char byte : StringRef(bytes, sizeof bytes - 1)) {
      std::string changed = text;
      changed[i] = byte;
      Reading reading(changed);
      if (failed(reading.schedule)) {
        EXPECT_FALSE(reading.first.empty());
        continue;
      }
      std::string again = print(*reading.schedule);
      Reading second(again);
      ASSERT_TRUE(succeeded(second.schedule)) << again;
      EXPECT_EQ(print(*second.schedule), again);
    }
}

TEST(StepText, LongLinesAndManyErrors) {
  std::string head = "pipec-steps 1\n"
                     "schedule @a { ranks 1 stages 1 microbatches 2\n"
                     "  map 0\n  rank 0 {\n";
  Reading blank(head + std::string(10'000'000, ' ') + "F s0 m0\n  }\n}\n");
  EXPECT_TRUE(succeeded(blank.schedule));
  Reading digits(head + "F s0 m" + std::string(10'000'000, '1') + "\n  }\n}\n");
  EXPECT_TRUE(failed(digits.schedule));
  EXPECT_EQ(digits.first,
            "the number `" + std::string(40, '1') + "` does not fit");
  std::string wrong;
  for (unsigned i = 0; i != 1'000'000; ++i)
    wrong += "F\n";
  Reading many(head + wrong);
  EXPECT_TRUE(failed(many.schedule));
  // The rest of the file is skipped once no further errors are shown.
  EXPECT_LT(many.diags.numErrors(), 30u);
}

} // namespace
