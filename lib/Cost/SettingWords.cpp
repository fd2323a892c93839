//===- SettingWords.cpp - The words of the settings ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cost/SettingWords.h"

using namespace llvm;

namespace pipec {

#define PIPEC_WORD(Text, Place)                                                \
  {Text, [](auto &s) -> std::optional<Rational> & { return s.Place; }}
#define PIPEC_COST_ROW(Row)                                                    \
  PIPEC_WORD("F", Row of[0]), PIPEC_WORD("B", Row of[1]),                      \
      PIPEC_WORD("I", Row of[2]), PIPEC_WORD("W", Row of[3]),                  \
      PIPEC_WORD("unshard", Row collectives[0]),                               \
      PIPEC_WORD("reshard", Row collectives[1]),                               \
      PIPEC_WORD("reduce_grad", Row collectives[2])
#define PIPEC_EDGE PIPEC_WORD("p2p", p2p), PIPEC_WORD("occupancy", occupancy)
#define PIPEC_MEMORY_ROW(Row)                                                  \
  PIPEC_WORD("F", Row of[0]), PIPEC_WORD("B", Row of[1]),                      \
      PIPEC_WORD("I", Row of[2]), PIPEC_WORD("W", Row of[3]),                  \
      PIPEC_WORD("parameters", Row parameters),                                \
      PIPEC_WORD("sharded", Row sharded), PIPEC_WORD("receive", Row receive)

template <>
ArrayRef<SettingWord<CostSettings::Row>> settingWords<CostSettings::Row>() {
  static const SettingWord<CostSettings::Row> words[] = {PIPEC_COST_ROW()};
  return words;
}

template <>
ArrayRef<SettingWord<CostSettings::Edge>> settingWords<CostSettings::Edge>() {
  static const SettingWord<CostSettings::Edge> words[] = {PIPEC_EDGE};
  return words;
}

template <> ArrayRef<SettingWord<CostSettings>> settingWords<CostSettings>() {
  static const SettingWord<CostSettings> words[] = {
      PIPEC_COST_ROW(all.), PIPEC_EDGE, PIPEC_WORD("overlap", overlap)};
  return words;
}

template <>
ArrayRef<SettingWord<MemorySettings::Row>> settingWords<MemorySettings::Row>() {
  static const SettingWord<MemorySettings::Row> words[] = {PIPEC_MEMORY_ROW()};
  return words;
}

template <>
ArrayRef<SettingWord<MemorySettings>> settingWords<MemorySettings>() {
  static const SettingWord<MemorySettings> words[] = {
      PIPEC_MEMORY_ROW(all.), PIPEC_WORD("limit", limit)};
  return words;
}

bool isMemorySize(StringRef name) {
  return name == "parameters" || name == "sharded" || name == "receive";
}

} // namespace pipec
