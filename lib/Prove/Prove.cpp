//===- Prove.cpp - One proof for every number of micro-batches ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prove/Prove.h"

#include "Driver/Figures.h"
#include "Prove/Family.h"
#include "Prove/PatternProof.h"
#include "Simulation/Memory.h"

#include "llvm/ADT/STLExtras.h"

#include <numeric>

using namespace llvm;

namespace pipec {

namespace {

/// The rounds of the blocks of the lists in which a period is looked for.
constexpr uint64_t roundsTried[] = {60, 240, 720};
/// The largest number of micro-batches per round.
constexpr int64_t mostPerRound = 64;
/// The number of families whose times are tried, and whose lists.
constexpr unsigned mostTimesTried = 3, mostListsTried = 200;
/// The number of residues that are proven besides the first.
constexpr unsigned mostResidues = 2;

class Prover {
public:
  explicit Prover(const ProofRequest &request)
      : request(request), family(request), code(request) {}

  FailureOr<ProofResult> run();

private:
  LogicalResult findHeader();
  bool checkUse();
  LogicalResult checkSizes();
  bool tryStep(int64_t step);
  void proveResidues();
  bool tryFamily(int64_t first, int64_t step, ArrayRef<Word> words);
  bool trySettled(Peeling peeling);
  std::optional<ProvenTimes> proveRest(Peeling peeling);
  bool conclude(Peeling peeling, int64_t proven, int64_t rate);
  int64_t makespanAt(int64_t microbatches) {
    return member(microbatches)->run->makespan();
  }
  const Family::Member *member(int64_t microbatches);
  /// How far a proof came before it failed.
  enum class Stage { Sizes, Lists, Times };
  bool fail(std::string why, Stage at = Stage::Times) {
    if (undecided.empty() || at >= reached) {
      undecided = std::move(why);
      reached = at;
    }
    return false;
  }

  const ProofRequest &request;
  Family family;
  FamilyCode code;
  unsigned ranks = 0;
  /// The least number of micro-batches of a proof.
  int64_t base = 0;
  /// The numbers of micro-batches are multiples of this.
  int64_t unitsPerSize = 1;
  unsigned listsTried = 0;
  std::optional<Schedule> header;
  /// The first and the step of the numbers of micro-batches.
  int64_t first = 0, step = 1;
  std::vector<RankShape> shapes;
  ScheduleProof proof;
  /// Why there is no proof, from the trial that came furthest.
  std::string undecided;
  Stage reached = Stage::Sizes;
  /// A number of micro-batches at which the schedule is wrong.
  std::optional<int64_t> wrong;
};

} // namespace

/// The schedule of a size of the family; null after noting why there is none.
const Family::Member *Prover::member(int64_t microbatches) {
  const Family::Member *found = family.at(microbatches);
  if (!found && !family.isRefused(microbatches))
    wrong = microbatches;
  return found;
}

/// Finds a size of the schedule. Reports if there is none, or if the next ones
/// are wrong.
LogicalResult Prover::findHeader() {
  const CheckedSchedule &checked = request.schedule;
  for (const auto &[name, value] : request.lowering.params)
    if (checked.ranks->name.text == name || checked.ranks->label.text == name)
      base = value;
  if (base == 0) {
    // The default of the program.
    LowerOptions options = request.lowering;
    options.expectations = false;
    FailureOr<Schedule> schedule =
        lower(request.program, checked, options, request.diags);
    if (failed(schedule))
      return failure();
    base = schedule->numRanks;
  }
  ranks = unsigned(std::min<int64_t>(std::max<int64_t>(base, 1), maxRanks));
  base = 6 * int64_t(ranks) + 8;
  // Without a parameter for slices, the program counts them.
  if (request.lowering.slices && !checked.slices)
    unitsPerSize = *request.lowering.slices;
  base = (base + unitsPerSize - 1) / unitsPerSize * unitsPerSize;
  int64_t scanned = base + (2 * int64_t(ranks) + 8) * unitsPerSize;
  // Those that are known to complete are not wrong.
  for (int64_t m = base;
       m != scanned && !wrong && !(header && request.completes);
       m += unitsPerSize)
    if (const Family::Member *found = member(m); found && !header)
      header = found->schedule;
  if (wrong) {
    int64_t least = unitsPerSize;
    while (family.at(least) || family.isRefused(least))
      least += unitsPerSize;
    wrong = least;
    family.report(*wrong);
    return failure();
  }
  if (!header) {
    family.report(base);
    return failure();
  }
  return success();
}

/// False for schedules that are not proven whatever their lists are.
bool Prover::checkUse() {
  FailureOr<TickCosts> costs = TickCosts::make(*header, request.diags);
  if (failed(costs))
    return fail("its times are too large");
  std::string why = unprovableCosts(*header, *costs);
  if (request.model &&
      (waitModelInfo(*request.model).holds != WaitHolds::None ||
       request.model == WaitModel::Buffered))
    why = "its ranks wait for transfers, or sends are buffered";
  return why.empty() || fail(std::move(why));
}

//===----------------------------------------------------------------------===//
// Families
//===----------------------------------------------------------------------===//

/// True if the peak of a rank is linear in x >= `least`. `levels` are the most
/// live activations by group in the list for x = 2. Those of each group in the
/// first and the last repetition of its block are linear in x, and no other
/// repetition has more: one of them has to be the largest everywhere.
static bool hasLinearPeak(const RankPattern &pattern, ArrayRef<int64_t> levels,
                          int64_t least) {
  // The growth with x, and the level for x = 2.
  std::vector<std::pair<int64_t, int64_t>> lines;
  int64_t growth = 0;
  for (auto [repeats, begin, end] : pattern.parts) {
    size_t groups =
        count_if(ArrayRef(pattern.steps).slice(begin, end - begin),
                 [](const PatternStep &step) { return !step.step.joined(); });
    if (levels.size() < groups * (1 + repeats))
      return false;
    int64_t own =
        repeats && groups ? levels[2 * groups - 1] - levels[groups - 1] : 0;
    for (bool last : {false, true})
      if (last <= repeats) {
        for (int64_t level : levels.take_front(groups))
          lines.push_back({growth + last * own, level});
        levels = levels.drop_front(groups);
      }
    growth += own;
  }
  auto [rate, level] = *llvm::max_element(lines);
  return levels.empty() && llvm::all_of(lines, [&](const auto &line) {
           return level + rate * (least - 2) >=
                  line.second + line.first * (least - 2);
         });
}

/// Proves the residue `peeling.rest` of a family.
std::optional<ProvenTimes> Prover::proveRest(Peeling peeling) {
  family.clear();
  std::array<Instance, 3> instances;
  std::array<const Family::Member *, 3> members;
  for (uint64_t i = 0; i != 3; ++i) {
    uint64_t x = 2 + i;
    members[i] = member(first + step * int64_t(peeling.rounds(x)));
    if (!members[i])
      return std::nullopt;
    instances[i] = {x, &members[i]->schedule, &*members[i]->run};
  }
  const Schedule &one = *instances[0].schedule, &two = *instances[1].schedule;
  int64_t growth = int64_t(two.numUnits) - one.numUnits;
  Pattern pattern{&one,
                  &instances[0].run->costs(),
                  request.model,
                  {int64_t(one.numUnits) - 2 * growth, growth},
                  {}};
  for (unsigned rank = 0; rank != ranks; ++rank) {
    std::optional<RankShape> shape = peel(shapes[rank], peeling);
    if (request.model)
      shape = withTransfers(*shape, one.ranks[rank], instances[0].x);
    std::optional<RankPattern> found =
        shape ? fitPattern(*shape, rank, instances) : std::nullopt;
    if (!found) {
      fail("its times do not become periodic");
      return std::nullopt;
    }
    pattern.ranks.push_back(std::move(*found));
  }
  if (std::string why = proveCover(pattern); !why.empty()) {
    fail("it has " + why);
    return std::nullopt;
  }
  std::string why;
  std::optional<ProvenTimes> times = proveTimes(pattern, why);
  if (!times || !(times->completes || request.completes)) {
    fail(times ? "some of its steps take no time" : "it has " + why);
    return std::nullopt;
  }
  FailureOr<MemoryModel> memory = MemoryModel::make(one, request.diags);
  for (unsigned rank = 0; rank != ranks; ++rank)
    proof.hasPeaks &= succeeded(memory) && !request.model &&
                      hasLinearPeak(pattern.ranks[rank],
                                    memory->groupLevels(rank), times->least);
  int64_t slices = one.numSlices;
  Affine microbatches(pattern.units.a / slices, pattern.units.b / slices);
  proof.certificate.perUnit = pattern.costs->perUnit();
  proof.certificate.families.push_back(
      {microbatches, pattern.units, times->least, std::move(pattern.ranks)});
  return times;
}

/// Proves all residues of the period, and finds the least size for which the
/// result holds.
bool Prover::trySettled(Peeling peeling) {
  int64_t proven = 0;
  std::optional<int64_t> rate;
  proof.certificate.families.clear();
  proof.hasPeaks = true;
  for (peeling.rest = 0; peeling.rest != peeling.period; ++peeling.rest) {
    std::optional<ProvenTimes> times = proveRest(peeling);
    if (!times)
      return false;
    if (rate && *rate != times->makespan.b)
      return fail("its makespan grows differently from other sizes on");
    rate = times->makespan.b;
    proven =
        std::max(proven, first + step * int64_t(peeling.rounds(times->least)));
  }
  return conclude(peeling, proven, *rate);
}

bool Prover::conclude(Peeling peeling, int64_t proven, int64_t rate) {
  family.clear();
  int64_t period = peeling.period;
  auto grows = [&](int64_t m, int64_t rounds, int64_t by) {
    const Family::Member *small = member(m);
    const Family::Member *large = member(m + step * rounds);
    return small && large &&
           large->run->makespan() - small->run->makespan() == by;
  };
  // A part of the period, if that is one: it is for a whole period.
  for (int64_t part = 1; part != period; ++part) {
    if (period % part != 0 || rate * part % period != 0)
      continue;
    auto holds = [&] {
      for (int64_t i = 0; i != period; ++i)
        if (!grows(proven + step * i, part, rate * part / period))
          return false;
      return true;
    };
    if (!holds())
      continue;
    rate = rate * part / period;
    period = part;
    break;
  }
  int64_t from = proven;
  while (from - step >= first && grows(from - step, period, rate))
    from -= step;
  if (wrong)
    return false;
  const Family::Member *start = member(from);
  std::array<std::vector<Rational>, 2> peaks;
  std::array<const Family::Member *, 2> members = {
      start, member(from + step * period)};
  for (auto [i, one] : enumerate(members)) {
    FailureOr<std::vector<Rational>> peak =
        peakMemory(one->schedule, request.diags);
    if (failed(peak))
      return fail("its sizes are too large");
    peaks[i] = std::move(*peak);
  }
  proof.from = from;
  proof.linearFrom = proven;
  proof.linearPeriod = peeling.period;
  proof.step = step;
  proof.period = period;
  proof.makespan = start->run->time(start->run->makespan());
  proof.rate = start->run->time(rate);
  proof.peaks = peaks[0];
  for (auto [before, after] : zip_equal(peaks[0], peaks[1]))
    proof.peakRates.push_back(Rational::sub(after, before).value_or(0));
  for (unsigned rank = 0; rank != ranks; ++rank) {
    int64_t more = members[1]->run->ranks()[rank].work -
                   members[0]->run->ranks()[rank].work;
    std::optional<Rational> work =
        Rational::div(start->run->time(more), Rational(step * period));
    if (work && proof.work < *work)
      proof.work = *work;
  }
  return true;
}

/// The compute steps of a list.
static StepList computeSteps(const StepList &list) {
  StepList steps;
  for (size_t i : computesOf(list))
    steps.push_back(list[i]);
  return steps;
}

/// Tries to prove the schedules with `from` + `by` n micro-batches, whose lists
/// are `words`.
bool Prover::tryFamily(int64_t from, int64_t by, ArrayRef<Word> words) {
  first = from;
  step = by;
  for (uint64_t rounds : roundsTried) {
    const Family::Member *large = member(first + step * int64_t(rounds));
    const Family::Member *small =
        member(first + step * int64_t(rounds / 2 + 1));
    if (!large || !small)
      return fail("the program refuses some of its sizes");
    if (large->schedule.numStages != header->numStages ||
        !(large->schedule.graph == header->graph))
      return fail("its stages depend on the number of micro-batches");
    shapes.clear();
    for (unsigned rank = 0; rank != ranks; ++rank) {
      std::optional<RankShape> shape = matchWord(
          words[rank], computeSteps(large->schedule.ranks[rank]), rounds);
      std::optional<RankShape> other =
          matchWord(words[rank], computeSteps(small->schedule.ranks[rank]),
                    rounds / 2 + 1);
      if (!shape || shape != other)
        return fail("its numbers of weight gradients differ from block to "
                    "block");
      shapes.push_back(std::move(*shape));
    }
    std::vector<std::vector<size_t>> places;
    for (const StepList &list : large->schedule.ranks)
      places.push_back(computesOf(list));
    std::optional<Peeling> peeling = findPeriod(
        shapes,
        [&](unsigned rank, size_t index) {
          return large->run->start(rank, places[rank][index]);
        },
        rounds);
    if (!peeling) {
      fail("its times do not become periodic");
      continue;
    }
    for (unsigned longer : {0u, 2u, 8u, 24u}) {
      Peeling tried = *peeling;
      tried.ramp += longer;
      if (trySettled(tried))
        return true;
      if (wrong)
        return false;
    }
  }
  return false;
}

/// Proves the other residues of a proof that are wanted. `from` and the period
/// are then those of all.
void Prover::proveResidues() {
  ScheduleProof whole = std::move(proof);
  std::vector<int64_t> wanted;
  for (int64_t m = first + 1; m != first + step; ++m)
    if (!code.checkSizes(ranks, m, step).refused) {
      whole.open.insert(m % step);
      if (request.isWanted(m))
        wanted.push_back(m);
    }
  if (wanted.size() > mostResidues)
    wanted.clear();
  for (int64_t m : wanted) {
    proof = {};
    const Family::Member *one = family.at(m);
    FamilyCode::Outcome lists;
    if (one)
      lists = code.evaluate(one->schedule, m, step);
    if (!one || !lists.undecided.empty() || !tryFamily(m, step, lists.words))
      break;
    whole.from = std::max(whole.from, proof.from);
    whole.linearFrom = std::max(whole.linearFrom, proof.linearFrom);
    whole.period = std::lcm(whole.period, proof.period);
    whole.linearPeriod = std::lcm(whole.linearPeriod, proof.linearPeriod);
    whole.hasPeaks &= proof.hasPeaks;
    whole.open.erase(m % step);
  }
  proof = std::move(whole);
}

/// Tries to prove the schedules whose micro-batches grow by `by`.
bool Prover::tryStep(int64_t by) {
  // A larger first size may decide more.
  for (int64_t more : {0, 1, 3})
    for (int64_t rest = 0; rest != by; rest += unitsPerSize) {
      int64_t start = base + rest + more * by * ((base + by - 1) / by);
      FamilyCode::Outcome sizes = code.checkSizes(ranks, start, by);
      if (!sizes.undecided.empty())
        fail(sizes.undecided, Stage::Sizes);
      if (sizes.refused || !sizes.undecided.empty())
        continue;
      const Family::Member *member = family.at(start);
      if (!member || ++listsTried > mostListsTried)
        continue;
      FamilyCode::Outcome lists = code.evaluate(member->schedule, start, by);
      if (!lists.undecided.empty())
        fail(lists.undecided, Stage::Lists);
      if (!lists.refused && lists.undecided.empty())
        return tryFamily(start, by, lists.words);
    }
  return false;
}

FailureOr<ProofResult> Prover::run() {
  if (failed(findHeader()))
    return failure();
  ProofResult result;
  result.name = header->name;
  result.params = {{"ranks", ranks}};
  append_range(result.params, furtherParams(request.schedule, *header));
  bool proven = false;
  if (checkUse()) {
    unsigned left = mostTimesTried;
    for (int64_t by = 1; !proven && !wrong && left && by <= mostPerRound;
         ++by) {
      proven = tryStep(by * unitsPerSize);
      left -= reached == Stage::Times;
    }
  }
  if (proven && request.isWanted)
    proveResidues();
  if (wrong) {
    family.report(*wrong);
    return failure();
  }
  if (proven)
    result.what = std::move(proof);
  else
    result.what = std::move(undecided);
  result.schedule = std::move(*header);
  return result;
}

std::string seriesText(int64_t first, int64_t each) {
  return std::to_string(first) + " + " +
         (each == 1 ? "" : std::to_string(each) + " ") + "n";
}

FailureOr<ProofResult> prove(const ProofRequest &request) {
  return Prover(request).run();
}

} // namespace pipec
