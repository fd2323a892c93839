//===- StageWindow.h - The next distinct stages of a rank -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/Schedule.h"

#include <vector>

namespace pipec {

/// The compute steps, from the current one on, that use the next few distinct
/// managed stages.
class StageWindow {
public:
  explicit StageWindow(const std::vector<bool> &managed)
      : managed(managed), uses(managed.size()) {}

  /// Starts a list. The window is empty at the end of the previous list.
  void restart() { end = use = 0; }
  bool holds(unsigned stage) const { return uses[stage] != 0; }
  /// Adds groups of compute steps until there are `count` stages. Calls `enter`
  /// with the first step of each new stage and the number of its group.
  template <typename Enter>
  void grow(const StepList &list, unsigned count, Enter enter);
  /// Removes the group [first, last). Calls `leave` with the stages that the
  /// rest of the window does not use.
  template <typename Leave>
  void pass(const StepList &list, size_t first, size_t last, Leave leave);

private:
  const std::vector<bool> &managed;
  /// By stage, the number of its steps in the window.
  std::vector<uint32_t> uses;
  unsigned distinct = 0;
  /// The index after the window, and the number of the first group of compute
  /// steps there.
  size_t end = 0;
  uint64_t use = 0;
};

template <typename Enter>
void StageWindow::grow(const StepList &list, unsigned count, Enter enter) {
  while (distinct < count && end != list.size()) {
    size_t last = Schedule::groupEnd(list, end);
    bool computes = isCompute(list[end].kind());
    for (; end != last; ++end) {
      unsigned stage = list[end].stage();
      if (!computes || !managed[stage] || uses[stage]++ != 0)
        continue;
      ++distinct;
      enter(list[end], use);
    }
    use += computes;
  }
}

template <typename Leave>
void StageWindow::pass(const StepList &list, size_t first, size_t last,
                       Leave leave) {
  for (size_t i = first; i != last; ++i) {
    unsigned stage = list[i].stage();
    if (!managed[stage] || --uses[stage] != 0)
      continue;
    --distinct;
    leave(stage);
  }
}

} // namespace pipec
