//===- CostUse.h - The costs that a schedule uses ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kinds of compute steps are used where, and which of their costs were
// not given and follow from the rule in Settings.h.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Cost/Settings.h"
#include "Support/DiagEngine.h"

#include "llvm/Support/JSON.h"

namespace pipec {

/// The compute kinds of the steps of a schedule, by stage, rank and units.
class CostUse {
public:
  struct Entry {
    unsigned stage;
    std::optional<unsigned> rank;
    /// The bit `1 << kind` is set for each kind.
    uint8_t kinds;
    /// Units with costs of their own.
    UnitPlace unit = {};
  };

  /// F, B, I and W, which `with` is for.
  static constexpr uint8_t allKinds = (1 << 4) - 1;

  CostUse() = default;
  /// Every stage (or part of the model) uses `kinds`, on any rank.
  CostUse(unsigned stages, uint8_t kinds) {
    for (unsigned stage = 0; stage != stages; ++stage)
      add({stage, std::nullopt, kinds});
  }
  void add(Entry entry) {
    if (!entry.kinds)
      return;
    all.push_back(entry);
    union_ |= entry.kinds;
  }
  /// The same stages and ranks, where each uses `kinds`.
  CostUse with(uint8_t kinds = allKinds) const {
    CostUse use;
    for (Entry entry : all)
      use.add({entry.stage, entry.rank, kinds, entry.unit});
    return use;
  }
  llvm::ArrayRef<Entry> entries() const { return all; }
  /// The kinds of all entries.
  uint8_t kinds() const { return union_; }

private:
  std::vector<Entry> all;
  uint8_t union_ = 0;
};

/// The compute kinds with costs that were assumed, and the rules for them.
class AssumedCosts {
public:
  AssumedCosts() = default;
  /// Those of `costs` that `use` names.
  AssumedCosts(const CostSettings &costs, const CostUse &use);

  void add(const AssumedCosts &other) {
    for (auto [rules, more] : llvm::zip_equal(rulesOf, other.rulesOf))
      rules |= more;
  }
  bool empty() const { return kinds().empty(); }
  bool has(StepKind kind) const { return rulesOf[unsigned(kind)]; }
  /// In the order F, B, I, W, R.
  llvm::SmallVector<StepKind, 4> kinds() const;
  /// `I and W`; empty if there are none.
  std::string kindsText() const;
  /// `I and W are half of B`; empty if there are none.
  std::string text() const;
  /// Writes the attribute `assumed`, a list of the kinds.
  void write(llvm::json::OStream &json) const;

private:
  /// By kind; the bit `1 << rule` is set for each rule.
  std::array<uint16_t, 5> rulesOf = {};
};

/// Warns of costs of F, B, I, W and R that were not given (SplitCostAssumed);
/// for results that depend on them.
void warnOfAssumed(const AssumedCosts &assumed, DiagLoc loc, DiagEngine &diags);

} // namespace pipec
