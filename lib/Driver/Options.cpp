//===- Options.cpp - The table of command line options --------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Options.h"

#include "llvm/ADT/bit.h"

#include <vector>

using namespace llvm;

namespace pipec {

static std::vector<OptionInfo> makeTable() {
  std::vector<OptionInfo> table;
#define PIPEC_FLAG(Group, Id, Name, Help)                                      \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Flag, Name, "", "",   \
                   "", nullptr, Help});
#define PIPEC_SWITCH(Group, Id, Name, Help)                                    \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Switch, Name, "", "", \
                   "", nullptr, Help});
#define PIPEC_VALUE(Group, Id, Name, Type, Value, Help)                        \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Type, Name, "",       \
                   Value, "", nullptr, Help});
#define PIPEC_OPTIONAL(Group, Id, Name, Type, Value, Implied, Help)            \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Type, Name, "",       \
                   Value, "", nullptr, Help, Implied});
#define PIPEC_CHOICE(Group, Id, Name, Noun, Choices, Help)                     \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Choice, Name, "", "", \
                   Noun, Choices, Help});
#define PIPEC_SHORT(Group, Id, Name, Type, Value, Help)                        \
  table.push_back({Opt::Id, optgroup::Group, OptionType::Type, Name, Name,     \
                   Value, "", nullptr, Help});
#define PIPEC_SHORT_NAME(Group, Id, Name, Kind)                                \
  table[size_t(Opt::Id)].letter = Name;
#include "Driver/Options.def"
  return table;
}

ArrayRef<OptionInfo> allOptions() {
  static const std::vector<OptionInfo> table = makeTable();
  return table;
}

const OptionInfo &optionInfo(Opt option) {
  return allOptions()[size_t(option)];
}

StringRef groupHeading(optgroup::Set group) {
  static constexpr StringLiteral headings[] = {
#define PIPEC_OPTION_GROUP(Group, Heading) Heading,
#include "Driver/Options.def"
  };
  return headings[countr_zero(group)];
}

std::string OptionInfo::spelling() const {
  return (name == letter ? "-" : "--") + name.str();
}

} // namespace pipec
