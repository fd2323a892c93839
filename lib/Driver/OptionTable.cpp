//===- OptionTable.cpp - The options as a table of llvm::opt --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/OptionTable.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

static constexpr Spelling spellings[] = {
#define PIPEC_FLAG(Group, Id, Name, Help)                                      \
  {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass, true},
#define PIPEC_SWITCH(Group, Id, Name, Help)                                    \
  {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass, true},         \
      {"--no-" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass, true},  \
      {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass,      \
       false},
#define PIPEC_VALUE(Group, Id, Name, Type, Value, Help)                        \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass, true},   \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::SeparateClass,        \
       false},
#define PIPEC_OPTIONAL(Group, Id, Name, Type, Value, Implied, Help)            \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass, true},   \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::FlagClass, true},
#define PIPEC_CHOICE(Group, Id, Name, Noun, Choices, Help)                     \
  {"--" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass, true},   \
      {"--" Name, Opt::Id, optgroup::Group, opt::Option::SeparateClass,        \
       false},
#define PIPEC_SHORT(Group, Id, Name, Type, Value, Help)                        \
  {"-" Name, Opt::Id, optgroup::Group, opt::Option::JoinedOrSeparateClass,     \
   true},
#define PIPEC_SHORT_NAME(Group, Id, Name, Kind)                                \
  {"-" Name, Opt::Id, optgroup::Group, opt::Option::Kind##Class, true},        \
      {"-" Name "=", Opt::Id, optgroup::Group, opt::Option::JoinedClass,       \
       false},
#include "Driver/Options.def"
};

static constexpr StringLiteral prefixes[] = {"--", "-"};

/// Words and unknown options come first in the table.
static constexpr unsigned numSpecial = 2;

ArrayRef<Spelling> allSpellings() { return spellings; }

const Spelling *findSpelling(StringRef text, optgroup::Set groups) {
  for (const Spelling &spelling : spellings)
    if (spelling.text == text && (spelling.group & groups))
      return &spelling;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// The order in which llvm::opt searches: alphabetical, except that a name
/// comes before its own prefixes.
static bool isBefore(StringRef a, StringRef b) {
  size_t common = std::min(a.size(), b.size());
  if (int order =
          a.take_front(common).compare_insensitive(b.take_front(common)))
    return order < 0;
  if (a.size() != b.size())
    return a.size() > b.size();
  return a < b;
}

/// A set of groups in the 32 bits of llvm::opt, where two groups may share one:
/// which options a command takes is checked once more after they are found.
/// Options of one spelling must not have groups that share a bit.
static constexpr unsigned folded(optgroup::Set groups) {
  return unsigned(groups) | unsigned(groups >> 32);
}

OptionTable::Rows::Rows() {
  for (const Spelling &spelling : spellings)
    sorted.push_back(&spelling);
  llvm::stable_sort(sorted, [](const Spelling *a, const Spelling *b) {
    return isBefore(a->text.ltrim('-'), b->text.ltrim('-'));
  });
  auto add = [&](ArrayRef<StringLiteral> prefixes, StringLiteral name,
                 StringLiteral help, opt::Option::OptionClass kind,
                 optgroup::Set group) {
    infos.push_back({prefixes,
                     name,
                     help.empty() ? nullptr : help.data(),
                     {},
                     nullptr,
                     unsigned(infos.size() + 1),
                     (unsigned char)kind,
                     /*Param=*/0,
                     /*Flags=*/0,
                     folded(group),
                     /*GroupID=*/0,
                     /*AliasID=*/0,
                     nullptr,
                     nullptr});
  };
  add({}, "<input>", "", opt::Option::InputClass, ~optgroup::Set(0));
  add({}, "<unknown>", "", opt::Option::UnknownClass, ~optgroup::Set(0));
  // A row without a help text is not found by prefix.
  for (const Spelling *spelling : sorted)
    add(ArrayRef(prefixes)
            .drop_front(spelling->text.starts_with("--") ? 0 : 1)
            .take_front(1),
        spelling->text,
        spelling->offered ? optionInfo(spelling->option).help
                          : StringLiteral(""),
        spelling->kind, spelling->group);
}

OptionTable::OptionTable(const Rows &rows)
    : GenericOptTable(rows.infos), rows(rows) {
  setDashDashParsing(true);
}

const OptionTable &OptionTable::get() {
  static const Rows rows;
  static const OptionTable table(rows);
  return table;
}

opt::InputArgList OptionTable::parse(ArrayRef<const char *> argv,
                                     unsigned &missingIndex,
                                     unsigned &missingCount,
                                     optgroup::Set groups) const {
  return ParseArgs(argv, missingIndex, missingCount,
                   opt::Visibility(folded(groups)));
}

const Spelling &OptionTable::spelling(const opt::Option &option) const {
  return *rows.sorted[option.getID() - numSpecial - 1];
}

std::vector<const Spelling *> spellingsByPrefix(StringRef prefix,
                                                optgroup::Set groups) {
  std::vector<const Spelling *> found;
  // Each line is a spelling, a tab and the help.
  for (StringRef line : OptionTable::get().findByPrefix(
           prefix, opt::Visibility(folded(groups)), /*DisableFlags=*/0))
    for (const Spelling &spelling : spellings)
      if (spelling.text == line.split('\t').first && spelling.offered &&
          (spelling.group & groups) && !is_contained(found, &spelling))
        found.push_back(&spelling);
  return found;
}

} // namespace pipec
