//===- Passes.h - The passes and their options ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Frameworks/TargetRules.h"
#include "Pass/PassOptions.h"
#include "Pass/PassRegistry.h"
#include "Waiting/Communicators.h"

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

/// The path of a file with communicators, as a value of an option.
struct ModelFile {
  std::string path;
};
template <> struct PassOptionType<ModelFile> {
  static bool parse(llvm::StringRef text, ModelFile &value) {
    value.path = text.str();
    return isModelFile(text);
  }
  static std::string describe() { return "FILE"; }
  static std::string print(const ModelFile &value) { return value.path; }
};
using ModelOrFile = ChoiceOr<WaitModel, ModelFile>;
inline ModelOrFile modelOption(WaitModel model) {
  ModelOrFile value;
  value.choice = model;
  return value;
}
/// The model of the value of an option; reads the file.
llvm::FailureOr<CommModel> readModel(const ModelOrFile &value,
                                     DiagEngine &diags);

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

/// The communication model of the runtime of a target; empty if lists of the
/// target are simulated under the default one.
std::optional<WaitModel> modelOfTarget(llvm::StringRef target);

/// How a job of PyTorch makes its communicators (`--communicators`), and the
/// model of each way.
struct CommunicatorForm {
  llvm::StringLiteral name;
  WaitModel model;
};
inline constexpr CommunicatorForm communicatorForms[] = {
    {"shared", WaitModel::Stream},
    {"pair", WaitModel::Pair},
    {"edge", WaitModel::Edge}};

/// The passes of a target for a job with communicators of this form: a target
/// with `order=search` places the transfers, and checks the result, for them.
/// Nothing for a target on which they have no effect.
std::optional<std::string> passesFor(llvm::StringRef target,
                                     const CommunicatorForm &form);

/// Writes docs/Passes.md: all passes and targets with their texts and options.
void printPassPage(llvm::raw_ostream &os);

} // namespace pipec
