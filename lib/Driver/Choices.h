//===- Choices.h - The values that options take -----------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_DRIVER_CHOICES_H
#define PIPEC_DRIVER_CHOICES_H

#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace pipec {

/// One value of an option that takes one of a list.
struct Choice {
  llvm::StringRef name;
  /// What it means, for --help; may be empty.
  llvm::StringRef summary;
};

using ChoiceFunction = std::vector<Choice> (*)();

/// The lists that Options.def names. Those of things that have a table of
/// their own come from it.
std::vector<Choice> inputFormatChoices();
std::vector<Choice> modelChoices();
std::vector<Choice> targetChoices();
std::vector<Choice> torchVersionChoices();
std::vector<Choice> emitChoices();
std::vector<Choice> cppChoices();
std::vector<Choice> formatChoices();
std::vector<Choice> tableFormatChoices();
std::vector<Choice> sortChoices();
std::vector<Choice> searchPlacementChoices();
std::vector<Choice> backwardChoices();
std::vector<Choice> diagnosticsFormatChoices();
std::vector<Choice> colorChoices();

/// Reports that `word` is not among `choices` of what `noun` names, with the
/// one that was probably meant and all of them.
InFlightDiagnostic reportUnknownChoice(DiagEngine &diags, llvm::StringRef noun,
                                       llvm::StringRef word,
                                       llvm::ArrayRef<llvm::StringRef> choices);

} // namespace pipec

#endif // PIPEC_DRIVER_CHOICES_H
