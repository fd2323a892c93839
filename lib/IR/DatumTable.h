//===- DatumTable.h - Tables indexed by datum -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/DataFlow.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace pipec {

/// A table indexed by datum. Its size is linear in the number of steps,
/// whatever sizes the header of a schedule declares: it is an array in the
/// normal case of lists that are nearly complete, and a map for lists with few
/// steps of a huge model. Loops that run after a check of the number of steps
/// use a vector instead.
template <typename T> class DatumTable {
public:
  DatumTable(const Schedule &schedule, const DataFlow &flow)
      : flat(flow.size() <= 16 * schedule.numSteps() + 4096 ? flow.size() : 0),
        entries(flat.empty() ? nullptr : flat.data()) {}

  /// The entry of a datum; adds it if necessary.
  T &operator[](size_t number) {
    return entries ? entries[number] : sparse[number];
  }
  /// The entry of a datum, or a default-constructed value if there is none.
  const T &operator[](size_t number) const {
    if (entries)
      return entries[number];
    auto it = sparse.find(number);
    return it == sparse.end() ? missing : it->second;
  }

private:
  std::vector<T> flat;
  /// The data of `flat`; null if `sparse` is used.
  T *entries;
  llvm::DenseMap<size_t, T> sparse;
  T missing{};
};

} // namespace pipec
