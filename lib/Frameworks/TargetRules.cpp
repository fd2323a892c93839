//===- TargetRules.cpp - What targets and outputs refuse ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Frameworks/TargetRules.h"

#include "Frameworks/FrameworkTargets.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Diagnostics/PassesDiags.h"
#include "Support/Diagnostics/VerifierDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

namespace {

struct RuleInfo {
  diag::Id kind;
  /// The refused schedules or steps; Markdown.
  StringLiteral what;
  /// True if it is only noted, not refused.
  bool isNote = false;
};

constexpr RuleInfo rules[] = {
#define PIPEC_RULE(Id, Kind, What) {Kind, What},
#define PIPEC_STEP_NOTE(Id, Kind, Noted, What, ...) {Kind, What, true},
#include "Frameworks/Rules.def"
};
static_assert(std::size(rules) <= 8 * sizeof(RuleSet));

/// The names in the rows of Targets.def.
namespace rule {
#define PIPEC_RULE(Id, Kind, What)                                             \
  [[maybe_unused]] constexpr RuleSet Id = RuleSet(1) << unsigned(Rule::Id);
#include "Frameworks/Rules.def"
} // namespace rule

} // namespace

ArrayRef<Consumer> targetRules() {
  using namespace rule;
  static constexpr Consumer targets[] = {
#define PIPEC_TARGET_RULES(Id, Name, Rules) {Name, Rules},
#include "Frameworks/Targets.def"
  };
  return targets;
}

ArrayRef<Consumer> outputRules() {
  using namespace rule;
  static constexpr Consumer outputs[] = {
#define PIPEC_OUTPUT_RULES(Id, Name, Rules) {Name, Rules},
#include "Frameworks/Targets.def"
  };
  return outputs;
}

Target targetCalled(StringRef name) {
  const Consumer *target = find_if(
      targetRules(), [&](const Consumer &one) { return one.name == name; });
  assert(target != targetRules().end() && "the target has rules");
  return Target(target - targetRules().begin());
}

/// Prints a table with a row per rule of at least one of `consumers`. Consumers
/// with the same rules share a column.
static void printTable(ArrayRef<Consumer> consumers, raw_ostream &os) {
  SmallVector<std::pair<RuleSet, std::string>> columns;
  RuleSet used = 0;
  for (const Consumer &consumer : consumers) {
    std::string name = "`" + consumer.name.str() + "`";
    auto *same = find_if(
        columns, [&](auto &column) { return column.first == consumer.rules; });
    if (same == columns.end())
      columns.emplace_back(consumer.rules, name);
    else
      same->second += ", " + name;
    used |= consumer.rules;
  }
  os << "| | kind |";
  for (const auto &[set, names] : columns)
    os << ' ' << names << " |";
  os << "\n|---|---|";
  for (size_t i = 0; i != columns.size(); ++i)
    os << "---|";
  os << '\n';
  for (const auto &[number, rule] : enumerate(rules)) {
    if (!(used >> number & 1))
      continue;
    StringRef kind = diagInfo(rule.kind).name;
    os << "| " << rule.what << " | `" << kind << "` |";
    for (const auto &[set, names] : columns)
      os << (!(set >> number & 1) ? " |" : rule.isNote ? " note |" : " x |");
    os << '\n';
  }
}

static void printFrameworks(raw_ostream &os) {
  os << "## Frameworks\n\n"
        "A framework has one name, its key, in `--target=KEY`, `--emit=KEY`, "
        "`pipec lint --for=KEY` and `pipec compare --sort=KEY`,\nand in the "
        "CSV and JSON of `compare`. `--emit=KEY` writes the first of its "
        "outputs, after the passes of its target unless\nthe command line "
        "names others. `--target=pytorch` is the target of "
        "`pipec.torch.executor`; that of PyTorch's own runtime\nis `torch`. "
        "Megatron-LM runs orders of its own code only and has no "
        "target.\n\n"
        "| key | framework | target | outputs | input |\n"
        "|---|---|---|---|---|\n";
  auto print = [&](StringRef words) {
    StringRef separator = " ";
    for (StringRef word : split(words, ' ')) {
      if (!word.empty())
        os << separator << '`' << word << '`';
      separator = ", ";
    }
    os << " |";
  };
  for (const FrameworkInfo &info : frameworkTable) {
    os << "| `" << info.key << "` | " << info.title << " |";
    for (StringRef words : {info.target, info.outputs, info.input})
      print(words);
    os << '\n';
  }
}

void printRulePage(raw_ostream &os) {
  printFrameworks(os);
  os << "\n## What targets refuse\n\n"
        "`check-target` reports these with the kind of diagnostic in the "
        "second column; *note* marks those that are only\nnotes.\n\n";
  printTable(targetRules(), os);
  os << "\n## What outputs refuse\n\n"
        "An output refuses what it cannot express, whatever passes have run. "
        "The column `lint` is for `pipec lint` of a list\nwith transfers or "
        "other communication, which PyTorch loads as `compute_comms`.\n\n";
  printTable(outputRules(), os);
}

} // namespace pipec
