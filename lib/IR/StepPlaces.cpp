//===- StepPlaces.cpp - Steps and their places in messages ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IR/StepPlaces.h"

using namespace llvm;

namespace pipec {

unsigned StepPlaces::position(unsigned rank, size_t index) {
  const StepList &list = schedule.ranks[rank];
  assert(index < list.size());
  if (marks.empty())
    marks.resize(schedule.ranks.size());
  Mark &mark = marks[rank];
  if (index < mark.index)
    mark = Mark();
  for (size_t i = mark.index; i != index; ++i)
    if (!list[i].joined()) {
      mark.index = i + 1;
      ++mark.position;
    }
  return mark.position;
}

StepPlace StepPlaces::name(unsigned rank, size_t index) {
  return {rank, position(rank, index), text(schedule.ranks[rank][index])};
}

} // namespace pipec
