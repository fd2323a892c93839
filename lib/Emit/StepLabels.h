//===- StepLabels.h - Which boxes of a lane have numbers --------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_EMIT_STEPLABELS_H
#define PIPEC_EMIT_STEPLABELS_H

#include "Support/StepKind.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>

namespace pipec {

/// Chooses the steps of a lane that are drawn with their numbers. Numbers do
/// not end within a lane because they get longer: the steps of one kind, chunk
/// and form all have theirs if every number of the picture fits every one of
/// them, and otherwise none has. If that leaves none, every second, fifth or
/// tenth step of the first kind has one, which extends over its neighbours.
/// templates/page-rows.js does the same.
class StepLabels {
public:
  /// Steps of the same width, as a rule.
  struct Type {
    StepKind kind;
    unsigned chunk;
    bool inPair;
    friend bool operator<(const Type &a, const Type &b) {
      return std::tie(a.kind, a.chunk, a.inPair) <
             std::tie(b.kind, b.chunk, b.inPair);
    }
  };

  /// `room` is the width that the longest number needs.
  explicit StepLabels(int64_t room) : room(room) {}

  void add(const Type &type, int64_t width) {
    auto [it, isNew] = narrowest.try_emplace(type, width);
    it->second = std::min(it->second, width);
  }
  /// After all steps have been added, and before the first `shows`.
  void choose() {
    std::optional<int64_t> least;
    for (const auto &[type, width] : narrowest) {
      if (width >= room)
        return;
      if (type.kind == narrowest.begin()->first.kind)
        least = std::min(least.value_or(width), width);
    }
    for (unsigned n : {2, 5, 10})
      if (least && n * *least >= room) {
        every = n;
        return;
      }
  }
  /// Whether the next step of the lane has its number.
  bool shows(const Type &type) {
    if (!every)
      return narrowest.at(type) >= room;
    return type.kind == narrowest.begin()->first.kind && count++ % every == 0;
  }

private:
  int64_t room;
  /// The narrowest step of each type.
  std::map<Type, int64_t> narrowest;
  unsigned every = 0, count = 0;
};

} // namespace pipec

#endif // PIPEC_EMIT_STEPLABELS_H
