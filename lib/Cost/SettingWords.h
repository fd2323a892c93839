//===- SettingWords.h - The words of the settings -----*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the figures of the settings are called, in the language, in step IR, in
// cost profiles and on the command line, in the order in which they are
// printed.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_COST_SETTINGWORDS_H
#define PIPEC_COST_SETTINGWORDS_H

#include "Cost/Settings.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace pipec {

/// A figure of `Settings` and its name.
template <typename Settings> struct SettingWord {
  llvm::StringLiteral name;
  std::optional<Rational> &(*place)(Settings &);
};

/// The words of one kind of settings: `F` ... `reduce_grad` of a row, `p2p` and
/// `occupancy` of an edge, both and `overlap` of all costs, `F` ... `receive`
/// of a row of memory settings, and these and `limit` of all of those.
template <typename Settings>
llvm::ArrayRef<SettingWord<Settings>> settingWords();

template <>
llvm::ArrayRef<SettingWord<CostSettings::Row>>
settingWords<CostSettings::Row>();
template <>
llvm::ArrayRef<SettingWord<CostSettings::Edge>>
settingWords<CostSettings::Edge>();
template <>
llvm::ArrayRef<SettingWord<CostSettings>> settingWords<CostSettings>();
template <>
llvm::ArrayRef<SettingWord<MemorySettings::Row>>
settingWords<MemorySettings::Row>();
template <>
llvm::ArrayRef<SettingWord<MemorySettings>> settingWords<MemorySettings>();

/// The place of a word in `settings`, null when they have none of that name.
template <typename Settings>
std::optional<Rational> *findSetting(Settings &settings, llvm::StringRef name) {
  for (const SettingWord<Settings> &word : settingWords<Settings>())
    if (word.name == name)
      return &word.place(settings);
  return nullptr;
}
template <typename Settings>
const std::optional<Rational> *findSetting(const Settings &settings,
                                           llvm::StringRef name) {
  return findSetting(const_cast<Settings &>(settings), name);
}

/// True for the words of memory settings that are sizes, which are not
/// negative.
bool isMemorySize(llvm::StringRef name);

} // namespace pipec

#endif // PIPEC_COST_SETTINGWORDS_H
