//===- Explainer.h - Explaining why a rank waits ----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Explains the state of a rank at a given time, or when a step runs, and why
// not earlier: a line with the answer, a note with the source position for each
// link of the chain of causes, latest first, and the memory of the rank.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Explain/Causes.h"
#include "Explain/IdleGaps.h"
#include "IR/StepPlaces.h"
#include "Support/Decimal.h"
#include "Support/DiagPrinter.h"

namespace pipec {

/// Writes explanations of one run of a schedule to `os` as text; `printer` must
/// write to `os` too.
class Explainer {
public:
  Explainer(const Schedule &schedule, const Simulation &run,
            const MemoryModel &memory, llvm::raw_ostream &os,
            const SourceFiles &files, DiagPrinter printer)
      : schedule(schedule), run(run), memory(memory), causes(schedule, run),
        places(schedule), os(os), files(files), printer(std::move(printer)) {}

  /// Explains what `rank` does at a time, in the unit of the costs.
  void explainTime(unsigned rank, Rational at);
  /// Explains when a step runs or a transfer is sent.
  void explainStep(StepRef step);

private:
  void explainGap(unsigned rank, int64_t from, int64_t to, size_t next,
                  int64_t since);
  void printChain(const PathSteps &chain);
  void printQueue(StepRef step);
  void printHead(uint32_t head, int64_t since);
  void printLink(const PathStep &link);
  void printReady(const IdleGap &gap);
  void printParts(const WaitParts &parts);
  void printMemory(unsigned rank, int64_t time);
  void printTransfers(unsigned rank, int64_t time);

  template <diag::Id id, unsigned n, typename... Args>
  void note(SourceLoc source, diag::Kind<id, Severity::Note, n>,
            const Args &...args) {
    static_assert(sizeof...(Args) == n, "arguments do not fit the format");
    llvm::SMLoc loc = files.expand(source);
    printer({id, Severity::Note, llvm::SMRange(loc, loc),
             DiagEngine::format(id, args...)});
  }

  /// The last tick at or before `at`; steps start and end at ticks.
  int64_t tickOf(Rational at) const;
  std::string time(int64_t ticks) const { return decimalText(run.time(ticks)); }
  /// A whole overlap, but only the member of a batch.
  std::string text(uint32_t step) const;
  const Step &stepAt(uint32_t step) const {
    StepRef at = run.numbers().at(step);
    return schedule.ranks[at.rank][at.index];
  }

  const Schedule &schedule;
  const Simulation &run;
  const MemoryModel &memory;
  Causes causes;
  StepPlaces places;
  llvm::raw_ostream &os;
  const SourceFiles &files;
  DiagPrinter printer;
};

} // namespace pipec
