//===- DatumTable.h - What is known of each datum ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_IR_DATUMTABLE_H
#define PIPEC_IR_DATUMTABLE_H

#include "IR/DataFlow.h"

#include "llvm/ADT/DenseMap.h"

#include <vector>

namespace pipec {

/// A table by datum that stays linear in the steps of a schedule whatever sizes
/// its header claims: a flat array when the lists are about as full as they can
/// be, which is the normal case, and a map when they name few steps of a huge
/// model. Loops that have checked the number of steps use a vector.
template <typename T> class DatumTable {
public:
  DatumTable(const Schedule &schedule, const DataFlow &flow)
      : flat(flow.size() <= 16 * schedule.numSteps() + 4096 ? flow.size() : 0),
        entries(flat.empty() ? nullptr : flat.data()) {}

  /// The entry of a datum, added when there is none.
  T &operator[](size_t number) {
    return entries ? entries[number] : sparse[number];
  }
  /// The entry of a datum, a default-constructed one when there is none.
  const T &operator[](size_t number) const {
    if (entries)
      return entries[number];
    auto it = sparse.find(number);
    return it == sparse.end() ? missing : it->second;
  }

private:
  std::vector<T> flat;
  /// Of `flat`, null when the data are sparse.
  T *entries;
  llvm::DenseMap<size_t, T> sparse;
  T missing{};
};

} // namespace pipec

#endif // PIPEC_IR_DATUMTABLE_H
