//===- Passes.h - The passes and their options ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TargetRules.h"
#include "Pass/PassOptions.h"
#include "Pass/PassRegistry.h"
#include "Waiting/WaitModel.h"

#include <memory>

namespace pipec {

// The enums of the options, each with the `choicesOf` that PassOptionType
// requires.
#define PIPEC_CHOICES(Enum, Texts, ...)                                        \
  enum class Enum : uint8_t { __VA_ARGS__ };                                   \
  inline llvm::StringRef choicesOf(Enum) { return Texts; }
#include "Transforms/Passes.def"

/// How far ahead `inject-fsdp` gathers: a policy, or a number per rank.
using UnshardLookahead = ChoiceOr<LookaheadPolicy, std::vector<unsigned>>;

/// The communication models as values of an option.
llvm::StringRef choicesOf(WaitModel);

/// The targets of `check-target`.
llvm::StringRef choicesOf(Target);

// The options of each pass, the function that its file defines, which runs the
// pass as described at `Pass::run`, and the function that creates the pass.
#define PIPEC_PASS(Class, Name, Summary, Description, Needs, Ensures, Cost)    \
  struct Class##Options {
#define PIPEC_OPTION(Class, Type, Field, Name, Default, Help)                  \
  Type Field = Default;
#define PIPEC_PASS_END(Class)                                                  \
  }                                                                            \
  ;                                                                            \
  llvm::LogicalResult run##Class(                                              \
      Schedule &schedule, const Class##Options &options, DiagEngine &diags);   \
  std::unique_ptr<Pass> make##Class(const Class##Options &options);
#include "Transforms/Passes.def"

/// All passes of Passes.def and all targets of Frameworks/Targets.def.
const PassRegistry &allPasses();

/// The communication model of the runtime of a target; nothing if lists of the
/// target are simulated under the default one.
std::optional<WaitModel> modelOfTarget(llvm::StringRef target);

/// Writes docs/Passes.md: all passes and targets with their texts and options.
void printPassPage(llvm::raw_ostream &os);

} // namespace pipec
