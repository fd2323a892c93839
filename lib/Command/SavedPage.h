//===- SavedPage.h - The live page as a file ------------------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Command/CommandRun.h"
#include "IR/Schedule.h"
#include "Serve/LiveApi.h"

namespace pipec {

/// Adds `saved` to the facts of a page (LiveApi.h): its answers about the
/// program of `facts`, which compiles to `schedule`, by path, and its picture.
/// The answers are those to the requests that the page would send, from runs of
/// the compiler. `ownSizes` are the sizes `NAME=N` that schedules of the
/// library do not have.
llvm::LogicalResult addAnswers(llvm::json::Object &facts, LiveSettings settings,
                               const Schedule &schedule,
                               llvm::ArrayRef<std::string> ownSizes,
                               DiagEngine &diags);

/// Writes a page to `index.html` in the folder of --export, which is made.
llvm::LogicalResult writeSavedPage(const CommandRun &run, llvm::StringRef page);

} // namespace pipec
