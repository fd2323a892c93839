//===- Phases.cpp - Time of every phase per step --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs each phase of the compiler separately, on interleaved 1F1B of the
// library. `ns/step` is per step of the resulting list, or of the input list if
// there is no result.
//
//   pipec-benchmarks --size=small     p=64 v=4 m=512: 262 144 compute steps
//   pipec-benchmarks --size=large     p=256 v=4 m=4096: 8.4 M compute steps,
//                                     25 M with communication
//   pipec-benchmarks --size=P,V,M
//
//===----------------------------------------------------------------------===//

#include "Frameworks/FrameworkFormats.h"
#include "IRGen/IRGen.h"
#include "Import/Readers.h"
#include "Parse/Parser.h"
#include "Pass/PassManager.h"
#include "Sema/Sema.h"
#include "Simulation/Memory.h"
#include "StepText/StepParser.h"
#include "StepText/StepPrinter.h"
#include "Support/DiagPrinter.h"
#include "Support/FatalErrors.h"
#include "Transforms/Passes.h"
#include "Verify/Verifier.h"

#include "llvm/ADT/StringExtras.h"

#include <benchmark/benchmark.h>

using namespace llvm;

namespace pipec {
namespace {

struct Sizes {
  int64_t ranks = 64;
  int64_t chunks = 4;
  int64_t microbatches = 512;
};

/// Everything that a phase needs in addition to its input; one object per
/// measured run.
struct Session {
  SourceFiles files;
  DiagPrinter printer{errs(), files, "pipec-benchmarks"};
  DiagEngine diags{files, [this](const Diagnostic &d) { printer(d); }};
};

[[noreturn]] void stop() {
  errs() << "pipec-benchmarks: a phase failed\n";
  exit(1);
}

Schedule lowerLibrary(StringRef name, Sizes sizes) {
  Session session;
  std::string path = (PIPEC_SCHEDULES "/" + name + ".pipe").str();
  Expected<StringRef> text = session.files.open(path);
  if (!text)
    stop();
  ast::Context context;
  auto module = parsePipe(path, *text, context, session.diags);
  if (failed(module))
    stop();
  auto program = checkProgram(**module, context, session.diags);
  if (failed(program))
    stop();
  LowerOptions options;
  options.params = {{"ranks", sizes.ranks},
                    {"chunks", sizes.chunks},
                    {"microbatches", sizes.microbatches}};
  auto schedule =
      lower(*program, program->schedules[0], options, session.diags);
  if (failed(schedule))
    stop();
  return std::move(*schedule);
}

void runPasses(Schedule &schedule, StringRef passes) {
  Session session;
  auto pipeline = parsePipeline(passes, allPasses(), session.diags);
  if (failed(pipeline) ||
      failed(PassManager(std::move(*pipeline)).run(schedule, session.diags)))
    stop();
}

/// Runs `phase` on fresh copies of `input`; only the phase is timed.
void measurePhase(benchmark::State &state, const Schedule &input,
                  function_ref<void(Schedule &)> phase) {
  size_t steps = 0;
  for (auto _ : state) {
    state.PauseTiming();
    Schedule schedule = input;
    state.ResumeTiming();
    phase(schedule);
    state.PauseTiming();
    steps += schedule.numSteps();
    {
      Schedule gone = std::move(schedule);
    }
    state.ResumeTiming();
  }
  state.counters["ns/step"] =
      benchmark::Counter(double(steps) * 1e-9, benchmark::Counter::kIsRate |
                                                   benchmark::Counter::kInvert);
  state.counters["steps"] = double(steps) / state.iterations();
}

/// Times a simulation.
void measureSimulation(const std::string &name, const Schedule &input,
                       std::optional<WaitModel> model) {
  auto run = [&input, model](benchmark::State &state) {
    Session session;
    size_t steps = input.numSteps();
    for (auto _ : state) {
      auto simulation = simulate(input, model, session.diags);
      if (failed(simulation))
        stop();
      benchmark::DoNotOptimize(simulation->makespan());
    }
    state.counters["ns/step"] = benchmark::Counter(
        double(steps) * double(state.iterations()) * 1e-9,
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
    state.counters["steps"] = double(steps);
  };
  benchmark::RegisterBenchmark(name.c_str(), run)
      ->Unit(benchmark::kMillisecond);
}

/// Discards all output.
class NullStream final : public raw_ostream {
  uint64_t written = 0;
  void write_impl(const char *, size_t size) override { written += size; }
  uint64_t current_pos() const override { return written; }
};

void registerAll(Sizes sizes) {
  benchmark::RegisterBenchmark("lower", [=](benchmark::State &state) {
    size_t steps = 0;
    for (auto _ : state)
      steps += lowerLibrary("interleaved", sizes).numSteps();
    state.counters["ns/step"] = benchmark::Counter(
        double(steps) * 1e-9,
        benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
  })->Unit(benchmark::kMillisecond);

  // The phases share these and take copies.
  static Schedule computes = lowerLibrary("interleaved", sizes);
  static Schedule lowered = computes;
  runPasses(lowered, "inject-fsdp,insert-p2p");

  auto phase = [](const char *name, const Schedule &input,
                  void (*run)(Schedule &)) {
    benchmark::RegisterBenchmark(name, [&input, run](benchmark::State &state) {
      measurePhase(state, input, run);
    })->Unit(benchmark::kMillisecond);
  };
  auto pass = [](const std::string &passes, const Schedule &input) {
    benchmark::RegisterBenchmark(passes.c_str(), [&input, passes](
                                                     benchmark::State &state) {
      measurePhase(state, input, [&](Schedule &s) { runPasses(s, passes); });
    })->Unit(benchmark::kMillisecond);
  };

  phase("verify/compute", computes, [](Schedule &s) {
    Session session;
    if (failed(verify(s, session.diags)))
      stop();
  });
  phase("verify/lowered", lowered, [](Schedule &s) {
    Session session;
    if (failed(verify(s, session.diags)))
      stop();
  });
  for (const char *passes :
       {"strip-bubbles", "align-bubbles", "align-bubbles{mode=lockstep}",
        "split-backward", "merge-backward", "pair-overlap", "unpair",
        "inject-fsdp", "insert-p2p", "insert-p2p{order=timed}"})
    pass(passes, computes);
  static Schedule placed = computes;
  runPasses(placed, "insert-p2p");
  for (const char *passes :
       {"batch-p2p", "detect-deadlock{model=stream}",
        "detect-deadlock{model=buffered,require=buffered}"})
    pass(passes, placed);

  measureSimulation("simulate/free", computes, std::nullopt);
  for (WaitModel model : allWaitModels)
    measureSimulation("simulate/" + waitModelName(model).str(), lowered, model);
  // All parts of the cost model together.
  auto costly = [](Schedule schedule) {
    CostSettings &costs = schedule.costs;
    costs.set(Figure::P2P, *Rational::make(1, 10));
    costs.set(Figure::Occupancy, *Rational::make(1, 20));
    costs.set(Figure::P2P, 1, {FigureScope::Nodes, 8});
    costs.set(Figure::Factor, *Rational::make(6, 5), {FigureScope::Rank, 1});
    costs.set(Figure::Factor, *Rational::make(3, 2),
              {FigureScope::Microbatch, 0});
    for (Figure figure : {Figure::Unshard, Figure::Reshard, Figure::ReduceGrad})
      costs.set(figure, *Rational::make(1, 4));
    return schedule;
  };
  static Schedule costlyComputes = costly(computes);
  static Schedule costlyLowered = costly(lowered);
  measureSimulation("simulate/free/all-costs", costlyComputes, std::nullopt);
  measureSimulation("simulate/edge/all-costs", costlyLowered, WaitModel::Edge);
  phase("memory", lowered, [](Schedule &s) {
    Session session;
    auto model = MemoryModel::make(s, session.diags);
    if (failed(model))
      stop();
    for (unsigned rank = 0; rank != s.numRanks; ++rank)
      benchmark::DoNotOptimize(model->peaks(rank));
  });

  phase("print/steps", lowered, [](Schedule &s) {
    NullStream os;
    printSteps(s, os);
  });
  phase("print/csv", lowered, [](Schedule &s) {
    Session session;
    NullStream os;
    if (failed(emitCsv(s, os, session.diags)))
      stop();
  });

  static std::string stepsText;
  raw_string_ostream stepsStream(stepsText);
  printSteps(lowered, stepsStream);
  static std::string csvText;
  raw_string_ostream csvStream(csvText);
  Session session;
  if (failed(emitCsv(lowered, csvStream, session.diags)))
    stop();
  phase("read/steps", lowered, [](Schedule &s) {
    Session session;
    auto text =
        session.files.add(MemoryBuffer::getMemBuffer(stepsText, "list.steps"));
    if (!text || failed(parseSteps(*text, session.diags)))
      stop();
  });
  phase("read/csv", lowered, [](Schedule &s) {
    Session session;
    auto text =
        session.files.add(MemoryBuffer::getMemBuffer(csvText, "list.csv"));
    if (!text || failed(importCsv(*text, {}, session.diags)))
      stop();
  });
}

} // namespace
} // namespace pipec

int main(int argc, char **argv) {
  pipec::useLargePages();
  pipec::Sizes sizes;
  std::vector<char *> rest = {argv[0]};
  for (int i = 1; i != argc; ++i) {
    StringRef argument = argv[i];
    if (!argument.consume_front("--size=")) {
      rest.push_back(argv[i]);
    } else if (argument == "large") {
      sizes = {256, 4, 4096};
    } else if (argument != "small") {
      SmallVector<StringRef, 3> numbers;
      argument.split(numbers, ',');
      if (numbers.size() != 3 || !llvm::to_integer(numbers[0], sizes.ranks) ||
          !llvm::to_integer(numbers[1], sizes.chunks) ||
          !llvm::to_integer(numbers[2], sizes.microbatches)) {
        errs() << "pipec-benchmarks: --size is small, large or P,V,M\n";
        return 1;
      }
    }
  }
  int count = rest.size();
  benchmark::Initialize(&count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(count, rest.data()))
    return 1;
  pipec::registerAll(sizes);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
