//===- SendBudget.cpp - Waits for sends that a number says ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/SendBudget.h"

#include "llvm/ADT/STLExtras.h"

#include <deque>

using namespace llvm;

namespace pipec {

/// The largest number of sends in `list` that are posted before their waits.
static unsigned countOutstanding(const StepList &list) {
  unsigned now = 0, most = 0;
  for (Step step : list) {
    now += isSend(step.kind());
    most = std::max(most, now);
    now -= isSendWait(step.kind()) && now != 0;
  }
  return most;
}

/// True if the waits in `list` follow the rule.
static bool keepsRule(const StepList &list, unsigned budget) {
  std::deque<Step> outstanding;
  SmallVector<Step> waits;
  // Whether the waits since the last other step are for the oldest sends.
  auto waitsForOldest = [&](size_t due) {
    if (waits.size() != due || due > outstanding.size())
      return false;
    for (Step wait : waits) {
      Step send = outstanding.front();
      outstanding.pop_front();
      if (wait.kind() != waitOfSend(send.kind()) ||
          wait.stage() != send.stage() || wait.unit() != send.unit() ||
          wait.port() != send.port())
        return false;
    }
    waits.clear();
    return true;
  };
  for (size_t i = 0; i != list.size(); ++i) {
    Step step = list[i];
    if (isSendWait(step.kind())) {
      waits.push_back(step);
      continue;
    }
    bool sends = isSend(step.kind());
    if (sends && Schedule::groupEnd(list, i) != i + 1)
      return false;
    if (!waitsForOldest(sends && outstanding.size() == budget))
      return false;
    if (sends)
      outstanding.push_back(step);
    // A batch may have its sends after its receives.
    if (step.joined() && i + 1 != list.size() && isSend(list[i + 1].kind()))
      return false;
  }
  return waitsForOldest(outstanding.size());
}

std::optional<unsigned> sendBudget(const Schedule &schedule) {
  unsigned budget = 0;
  for (const StepList &list : schedule.ranks)
    budget = std::max(budget, countOutstanding(list));
  if (budget == 0 || !schedule.hasSendWaits() ||
      !all_of(schedule.ranks,
              [&](const StepList &list) { return keepsRule(list, budget); }))
    return std::nullopt;
  return budget;
}

StepList withoutSendWaits(const StepList &list) {
  StepList result;
  result.reserve(list.size());
  for (Step step : list)
    if (!isSendWait(step.kind()))
      result.push_back(step);
  return result;
}

} // namespace pipec
