//===- TargetRules.h - What targets and outputs refuse ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules.def and Targets.def as data.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>

namespace pipec {

/// A row of Rules.def.
enum class Rule : uint8_t {
#define PIPEC_RULE(Id, Kind, What) Id,
#include "Frameworks/Rules.def"
};

/// A set of rules: bit N represents the rule with value N.
using RuleSet = uint64_t;

/// A target of `check-target`: a PIPEC_TARGET_RULES row of Targets.def.
enum class Target : uint8_t {
#define PIPEC_TARGET_RULES(Id, Name, Rules) Id,
#include "Frameworks/Targets.def"
};

/// An output with rules: a PIPEC_OUTPUT_RULES row of Targets.def.
enum class Output : uint8_t {
#define PIPEC_OUTPUT_RULES(Id, Name, Rules) Id,
#include "Frameworks/Targets.def"
};

/// A target or an output with its rules.
struct Consumer {
  llvm::StringLiteral name;
  RuleSet rules;

  bool has(Rule rule) const { return rules >> unsigned(rule) & 1; }
};

/// All targets, indexed by Target, and all outputs, indexed by Output.
llvm::ArrayRef<Consumer> targetRules();
llvm::ArrayRef<Consumer> outputRules();
/// The target called `name`, which has rules.
Target targetCalled(llvm::StringRef name);

/// Writes the sections of docs/Passes.md on frameworks, and on the rules of
/// targets and outputs.
void printRulePage(llvm::raw_ostream &os);

} // namespace pipec
