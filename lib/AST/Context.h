//===- Context.h - The memory of a program's tree ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Allocator.h"

#include <memory>
#include <type_traits>
#include <vector>

namespace pipec::ast {

/// Owns the nodes of all files of one program.
class Context {
public:
  template <typename T, typename... Args> T *make(Args &&...args) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "the arena runs no destructors");
    return new (arena.Allocate<T>()) T{std::forward<Args>(args)...};
  }

  /// Allocates a copy of `list` in the arena.
  template <typename T> llvm::MutableArrayRef<T> copy(llvm::ArrayRef<T> list) {
    static_assert(std::is_trivially_destructible_v<T>);
    T *data = arena.Allocate<T>(list.size());
    std::uninitialized_copy(list.begin(), list.end(), data);
    return {data, list.size()};
  }
  template <typename T>
  llvm::MutableArrayRef<T> copy(const std::vector<T> &list) {
    return copy(llvm::ArrayRef<T>(list));
  }

  llvm::StringRef copy(llvm::StringRef text) { return text.copy(arena); }

private:
  llvm::BumpPtrAllocator arena;
};

} // namespace pipec::ast
