//===- RunAnswer.h - What a run of the compiler says ---------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_RUNANSWER_H
#define PIPEC_SERVE_RUNANSWER_H

#include "Serve/ChildRun.h"
#include "Serve/TemporaryFile.h"

#include "llvm/Support/JSON.h"

#include <optional>

namespace pipec {

/// Parses an object; nothing if it is not one or is nested too deeply for
/// LLVM's recursive parser.
std::optional<llvm::json::Object> readObject(llvm::StringRef text);

/// The messages of a run, which are a line of JSON each, and why it ended if
/// not by itself. Of very many messages only the first errors and the first
/// others, and how many more there are. `time` is the limit that the run had.
llvm::json::Array messagesOf(const ChildResult &result,
                             std::chrono::seconds time);

/// The figures of --emit=report, without the lists whose length depends on the
/// number of steps; `std::nullopt` if there is no report.
std::optional<llvm::json::Object> readReport(const ChildResult &result);

/// Replaces the paths of files by what they are called, in all texts.
void showNames(llvm::json::Object &object, const ShownNames &names);

} // namespace pipec

#endif // PIPEC_SERVE_RUNANSWER_H
