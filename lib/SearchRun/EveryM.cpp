//===- EveryM.cpp - One schedule for every number of micro-batches --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/EveryM.h"

#include "Driver/Figures.h"
#include "Prove/Prove.h"
#include "Search/Paths.h"
#include "Search/Writers.h"
#include "Support/Diagnostics/SearchDiags.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace pipec {

std::string EveryM::sizes(int64_t first) const {
  return seriesText(first, step * period);
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

namespace {

/// What some of the first (last) steps of a rank are left out for: all others
/// start at least `gain` and the time of those later than 0 (end so much before
/// the last end).
struct End {
  search::Ticks gain = 0;
  /// By letter, how many steps are left out.
  std::vector<uint32_t> without;
};

} // namespace

/// The best of all choices of first steps; `headOf(letter, j)` is the least
/// start of a step, and is the same for any larger number of micro-batches.
static End bestEnd(const search::Problem &problem, unsigned rank,
                   function_ref<search::Ticks(unsigned, uint32_t)> headOf) {
  unsigned letters = problem.numLetters();
  uint32_t m = problem.microbatches;
  // Further micro-batches start after these.
  search::Ticks known = search::Problem::maxTicks;
  std::vector<std::pair<search::Ticks, unsigned>> all;
  for (unsigned letter = 0; letter != letters; ++letter) {
    known = std::min(known, headOf(letter, m - 1));
    for (uint32_t j = 0; j != m; ++j)
      all.push_back({headOf(letter, j), letter});
  }
  llvm::sort(all);
  End best;
  best.gain = -1;
  std::vector<uint32_t> without(letters);
  search::Ticks work = 0;
  for (auto [head, letter] : all) {
    if (head > known)
      break;
    // Those that start before are left out.
    if (head - work > best.gain)
      best = {head - work, without};
    ++without[letter];
    work += problem.info(rank, letter).time;
  }
  return best;
}

namespace {

/// Lower bounds for every number of micro-batches.
class LineBounds {
public:
  explicit LineBounds(const search::Model &model)
      : model(model), problem(model.problem), paths(problem),
        windows(paths.open(far)) {
    paths.narrow(windows);
  }

  void addRanks();
  void addCycles();

  Line bound;
  int64_t from = 1;
  /// The best bound of a rank.
  LineBound ofRank;

private:
  static constexpr search::Ticks far = search::Problem::maxTicks * 4;

  search::Ticks head(unsigned rank, unsigned letter, uint32_t j) const {
    return windows.starts[problem.base(rank, letter) + j];
  }
  /// From the end of a step to the end of all, `j` micro-batches before the
  /// last.
  search::Ticks tail(unsigned rank, unsigned letter, uint32_t j) const {
    return far -
           windows
               .ends[problem.base(rank, letter) + problem.microbatches - 1 - j];
  }
  /// True if the line is the best one so far.
  bool take(const Line &line, int64_t first) {
    if (line.rate < bound.rate ||
        (line.rate == bound.rate && line.base <= bound.base))
      return false;
    bound = line;
    from = first;
    return true;
  }

  const search::Model &model;
  const search::Problem &problem;
  search::Paths paths;
  search::StepWindows windows;
};

} // namespace

/// The work of a rank: without some of its first and last steps, the rest lies
/// between the least start and the least time after it. Starts of the first
/// micro-batches, and times after the last ones, do not depend on the number of
/// micro-batches.
void LineBounds::addRanks() {
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    search::Ticks work = 0;
    for (unsigned letter = 0; letter != problem.numLetters(); ++letter)
      work += problem.info(rank, letter).time;
    End first = bestEnd(problem, rank, [&](unsigned letter, uint32_t j) {
      return head(rank, letter, j);
    });
    End last = bestEnd(problem, rank, [&](unsigned letter, uint32_t j) {
      return tail(rank, letter, j);
    });
    int64_t least = 1;
    for (auto [a, b] : zip_equal(first.without, last.without))
      least = std::max<int64_t>(least, int64_t(a) + b + 1);
    if (!take({model.time(work), model.time(first.gain + last.gain)}, least))
      continue;
    ofRank = {rank, {}};
    for (unsigned letter = 0; letter != problem.numLetters(); ++letter)
      if (uint32_t x = first.without[letter], y = last.without[letter];
          x || y) {
        const search::Letter &own = problem.info(rank, letter);
        if (!model.isIdle(own.stage))
          ofRank.letters.push_back({kindsOfUnits(problem.split)[own.kind],
                                    own.stage - model.numIdle, x, y});
      }
  }
}

/// Paths from a step to the same step `lag` micro-batches later, which repeat:
/// where memory is short, they are longer than the work of a rank.
void LineBounds::addCycles() {
  constexpr uint32_t most = 16;
  uint32_t lags = std::min(most, problem.microbatches / 2);
  for (unsigned rank = 0; rank != problem.ranks; ++rank) {
    // An F waits for memory on each of them.
    unsigned letter = 0;
    constexpr search::Ticks late = search::Problem::maxTicks * 2;
    search::StepWindows from = paths.open(far);
    from.starts[problem.base(rank, letter)] = late;
    paths.narrow(from);
    for (uint32_t lag = 1; lag <= lags; ++lag) {
      search::Ticks length =
          from.starts[problem.base(rank, letter) + lag] - late;
      std::optional<Rational> rate =
          Rational::div(model.time(length), Rational(lag));
      if (!rate || *rate < bound.rate)
        continue;
      // For each residue of the number of micro-batches.
      std::optional<Rational> base;
      int64_t least = 1;
      for (uint32_t rest = 0; rest != lag; ++rest) {
        std::optional<Rational> best;
        int64_t own = 1;
        for (uint32_t i = 0; i != lags; ++i)
          for (uint32_t j = 0; j != lags; ++j) {
            if ((1 + i + j) % lag != rest)
              continue;
            search::Ticks ends = head(rank, letter, i) +
                                 problem.info(rank, letter).time +
                                 tail(rank, letter, j);
            std::optional<Rational> less =
                Rational::mul(*rate, Rational(1 + i + j));
            less = less ? Rational::sub(model.time(ends), *less) : less;
            if (less && (!best || *less > *best)) {
              best = less;
              own = 1 + i + j;
            }
          }
        if (!best)
          return;
        base = base ? std::min(*base, *best) : best;
        least = std::max(least, own);
      }
      take({*rate, *base}, least);
    }
  }
}

//===----------------------------------------------------------------------===//
// The program and its proof
//===----------------------------------------------------------------------===//

namespace {

class EveryMaker {
public:
  EveryMaker(const FoundSchedule &found, const SearchPath &path,
             DiagEngine &diags)
      : found(found), path(path), diags(diags) {}

  FailureOr<EveryM> run();

private:
  LogicalResult fail(const Twine &why) {
    return diags.report(DiagLoc(), diag::SearchEvery, why.str());
  }
  LogicalResult load();
  LogicalResult prove();
  std::optional<Rational> makespanAt(int64_t microbatches);
  void extend();
  void write();

  const FoundSchedule &found;
  const SearchPath &path;
  DiagEngine &diags;
  EveryM every;
  search::EveryProgram program;
  std::unique_ptr<ScheduleSource> source;
};

} // namespace

void EveryMaker::write() {
  every.program.clear();
  raw_string_ostream os(every.program);
  search::writeEveryProgram(found.model, found.words, *found.blocks, program,
                            os);
}

/// Compiles the program.
LogicalResult EveryMaker::load() {
  write();
  Expected<StringRef> text = diags.sourceFiles().add(
      MemoryBuffer::getMemBufferCopy(every.program, "<every-m>"));
  if (!text)
    return fail(toString(text.takeError()));
  OpenedInput input{"<every-m>", *text, InputKind::Program, "<every-m>"};
  return store(ScheduleSource::load(input, path, diags), source);
}

/// The makespan of a verified schedule of the program; empty for a wrong
/// schedule, or for too much memory.
std::optional<Rational> EveryMaker::makespanAt(int64_t microbatches) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  LowerOptions options;
  options.params = {{"m", microbatches}};
  FailureOr<Schedule> schedule =
      source->lower(source->schedules().front(), options, diags);
  if (failed(schedule) || failed(verify(*schedule, diags)))
    return std::nullopt;
  if (schedule->memory.hasLimit()) {
    FailureOr<std::vector<Rational>> totals = totalsOf(*schedule, diags);
    if (failed(totals) || !areWithin(*totals, schedule->memory))
      return std::nullopt;
  }
  return makespanOf(*schedule, diags);
}

LogicalResult EveryMaker::prove() {
  FailureOr<ProofResult> result =
      pipec::prove({source->checkedProgram(), source->schedules().front(),
                    LowerOptions(), diags});
  if (failed(result))
    return failure();
  const ScheduleProof *proof = result->proof();
  if (!proof)
    return fail(result->undecided());
  if (proof->step % every.step != 0)
    return fail("its proof is of other numbers of micro-batches");
  if (any_of(proof->peakRates, [](Rational rate) { return !rate.isZero(); }))
    return fail("its memory grows with the number of micro-batches");
  every.from = proof->from;
  every.period = proof->step / every.step * proof->period;
  auto line = lineThrough(every.from, proof->makespan,
                          every.step * every.period, proof->rate);
  if (!line || makespanAt(every.from) != proof->makespan)
    return fail("its figures are too large");
  every.makespan = *line;
  every.proof = proof->certificate;
  return success();
}

/// Finds the least number of micro-batches from which on the line holds, and
/// from which on it is optimal.
void EveryMaker::extend() {
  int64_t each = every.step * every.period;
  while (every.from - each >= every.least &&
         makespanAt(every.from - each) == every.makespan.at(every.from - each))
    every.from -= each;
  if (every.makespan != every.bound)
    return;
  int64_t from = every.from;
  while (from < every.boundFrom)
    from += each;
  every.optimalFrom = from;
}

FailureOr<EveryM> EveryMaker::run() {
  if (!found.blocks)
    return fail("no block of steps that repeats was found");
  if (!found.start.empty() || !found.memoryBy.empty())
    return fail("the best schedule has no words of its own");
  every.step = found.blocks->batch;
  every.least =
      search::leastOf(found.model.problem, found.words, *found.blocks);
  program = {uint32_t(every.least), uint32_t(every.step),
             "For every number of micro-batches " + every.sizes(every.least) +
                 "."};
  if (failed(load()) || failed(prove()))
    return failure();
  LineBounds bounds(found.model);
  bounds.addRanks();
  FailureOr<TickCosts> costs = TickCosts::make(found.schedule, diags);
  if (failed(costs))
    return failure();
  // The proof has other paths through memory, with which it may be better to
  // leave out nothing.
  for (LineBound one : {bounds.ofRank, LineBound{bounds.ofRank.rank, {}}}) {
    std::string why;
    auto proven = proveLine(one, found.schedule, *costs, why);
    if (!proven ||
        (every.proof.bound && proven->line.base <= every.proven.line.base))
      continue;
    assert(proven->line.rate == bounds.bound.rate &&
           proven->line.base <= bounds.bound.base);
    every.proof.bound = std::move(one);
    every.proven = *proven;
  }
  bounds.addCycles();
  every.bound = bounds.bound;
  every.boundFrom = bounds.from;
  extend();
  std::string condition = "if m >= " + std::to_string(every.from);
  if (every.period != 1)
    condition += " && (m - " + std::to_string(every.from) + ") % " +
                 std::to_string(every.step * every.period) + " == 0";
  std::string peak;
  raw_string_ostream(peak) << *llvm::max_element(found.peaks);
  program.clauses = {
      "makespan == " + lineText(every.makespan, /*asCode=*/true) + " " +
          condition,
      "peak(rank) <= " + peak};
  if (every.optimalFrom)
    program.comment += " No schedule is shorter, with " +
                       every.sizes(*every.optimalFrom) + " micro-batches.";
  write();
  return std::move(every);
}

FailureOr<EveryM> makeEveryM(const FoundSchedule &found, const SearchPath &path,
                             DiagEngine &diags) {
  return EveryMaker(found, path, diags).run();
}

} // namespace pipec
