//===- FrameworkFormats.h - Files that frameworks read ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The output formats that other systems read. They depend on the schedule
// alone; each is a row of Emit/Emitters.def. The comment of the file that
// implements a format describes it.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Frameworks/TargetRules.h"
#include "IR/Schedule.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/JSON.h"

namespace pipec {

// Each function writes `schedule` to `os`. It fails and reports an
// error if the format cannot express it; the caller then discards the output.

/// PyTorch's schedule CSV (docs/Csv.md).
llvm::LogicalResult emitCsv(const Schedule &schedule, llvm::raw_ostream &os,
                            DiagEngine &diags);

/// The instructions of DeepSpeed's pipeline engine (docs/DeepSpeed.md).
llvm::LogicalResult emitDeepSpeed(const Schedule &schedule,
                                  llvm::raw_ostream &os, DiagEngine &diags);

/// The execution order of MindSpore HyperParallel (docs/HyperParallel.md).
llvm::LogicalResult emitHyperParallel(const Schedule &schedule,
                                      llvm::raw_ostream &os, DiagEngine &diags);

/// The tasks of JaxPP (docs/JaxPP.md).
llvm::LogicalResult emitJaxpp(const Schedule &schedule, llvm::raw_ostream &os,
                              DiagEngine &diags);

/// The settings of Megatron-LM that give the schedule (docs/Megatron.md).
llvm::LogicalResult emitMegatronConfig(const Schedule &schedule,
                                       llvm::raw_ostream &os,
                                       DiagEngine &diags);

/// The layers of the stages as Megatron-LM reads them (docs/Megatron.md).
llvm::LogicalResult emitMegatronLayout(const Schedule &schedule,
                                       llvm::raw_ostream &os,
                                       DiagEngine &diags);

/// The order of Transformer Engine's CUDA graphs (docs/Megatron.md).
llvm::LogicalResult emitTeOrder(const Schedule &schedule, llvm::raw_ostream &os,
                                DiagEngine &diags);

/// The table of nodes of Primus (docs/Primus.md).
llvm::LogicalResult emitPrimus(const Schedule &schedule, llvm::raw_ostream &os,
                               DiagEngine &diags);

/// How PyTorch, torchtitan and NeMo AutoModel use the file `csv`
/// (docs/Csv.md).
llvm::LogicalResult emitTorchConfig(const Schedule &schedule,
                                    llvm::StringRef csv, llvm::raw_ostream &os,
                                    DiagEngine &diags);

/// Writes a JSON file of `schedule`, unless the rules of `output`, if given,
/// refuse it. The first attributes are `format`, unless it is empty, `schedule`
/// (the name), `ranks`, `stages`, `microbatches`, `stage_to_rank` (the map of
/// direction 0, on one line), and `layout` if there is one; `writeMore` writes
/// the others.
llvm::LogicalResult
emitJsonFile(const Schedule &schedule, std::optional<Output> output,
             llvm::StringRef format, llvm::raw_ostream &os, DiagEngine &diags,
             llvm::function_ref<void(llvm::json::OStream &)> writeMore);

/// Writes an array with one line per rank, since millions of steps are normal.
void writeRankLines(
    llvm::json::OStream &json, llvm::StringRef key, const Schedule &schedule,
    llvm::function_ref<void(unsigned rank, llvm::raw_ostream &os)> writeLine);

/// The place of a layer of a stage in the text of the layout, or of the end of
/// the stage; none if there is no such text.
DiagLoc placeOfLayer(const Schedule &schedule, unsigned stage, size_t layer);

/// PyTorch's and HyperParallel's name of an overlap of these two steps; empty
/// if there is none.
llvm::StringRef overlapName(Step first, Step second);

} // namespace pipec
