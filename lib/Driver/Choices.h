//===- Choices.h - The values that options take -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace pipec {

/// One value of an option with a fixed list of values.
struct Choice {
  llvm::StringRef name;
  /// Its meaning, for --help; may be empty.
  llvm::StringRef summary;
};

using ChoiceFunction = std::vector<Choice> (*)();

/// The lists that Options.def names. If there is a table of the things listed,
/// the list is generated from it.
std::vector<Choice> inputFormatChoices();
std::vector<Choice> modelChoices();
std::vector<Choice> targetChoices();
std::vector<Choice> torchVersionChoices();
std::vector<Choice> dialectChoices();
std::vector<Choice> frameworkTargetChoices();
std::vector<Choice> emitChoices();
std::vector<Choice> cppChoices();
std::vector<Choice> timelineChoices();
std::vector<Choice> memoryViewChoices();
std::vector<Choice> sortChoices();
std::vector<Choice> searchPlacementChoices();
std::vector<Choice> backwardChoices();
std::vector<Choice> diagnosticsFormatChoices();
std::vector<Choice> colorChoices();

/// Reports that `word` is not one of `choices`, which are values of `noun`,
/// with the most similar one and all of them.
InFlightDiagnostic reportUnknownChoice(DiagEngine &diags, llvm::StringRef noun,
                                       llvm::StringRef word,
                                       llvm::ArrayRef<llvm::StringRef> choices);

} // namespace pipec
