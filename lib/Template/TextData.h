//===- TextData.h - One object of named texts -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Template/TemplateData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace pipec {

/// Data for templates that only substitute texts. The texts must outlive this
/// object.
class TextData : public TemplateData {
public:
  void set(llvm::StringRef name, llvm::StringRef text) {
    known.push_back(name);
    texts.push_back(text);
  }

  std::optional<unsigned> nameNumber(llvm::StringRef name) const override {
    const auto *found = llvm::find(known, name);
    if (found == known.end())
      return std::nullopt;
    return found - known.begin();
  }
  llvm::ArrayRef<llvm::StringRef> names() const override { return known; }
  DataNode root() const override { return {}; }
  bool has(const DataNode &, unsigned) const override { return true; }
  DataValue get(const DataNode &, unsigned name) const override {
    return DataValue::of(texts[name]);
  }
  DataNode item(const DataNode &list, uint32_t) const override { return list; }
  uint64_t numObjects() const override { return 1; }

private:
  llvm::SmallVector<llvm::StringRef, 4> known;
  llvm::SmallVector<llvm::StringRef, 4> texts;
};

} // namespace pipec
