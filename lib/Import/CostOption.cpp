//===- CostOption.cpp - Costs from the command line -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Import/CostOption.h"

#include "Import/CostText.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

/// The word that is most similar to `key`; if there is none, the one-letter
/// word with which `key` begins, such as `F` for `fwd`.
static StringRef nearestSetting(StringRef key, ArrayRef<StringRef> words) {
  if (StringRef meant = nearestWord(key, words); !meant.empty())
    return meant;
  for (StringRef word : words)
    if (word.size() == 1 && key.starts_with_insensitive(word))
      return word;
  return "";
}

FailureOr<CostSettings> readCostOption(StringRef text, DiagEngine &diags) {
  CostSettings costs;
  SmallVector<StringRef> entries;
  text.split(entries, ',');
  auto bad = [&](StringRef entry, StringRef why) {
    return diags.report(DiagLoc(), diag::UnusableOption,
                        "`" + entry.str() + "` in --cost " + why.str());
  };
  for (StringRef entry : entries) {
    auto [key, number] = entry.split('=');
    std::optional<Rational> value = parseCostNumber(number.trim());
    if (!value)
      return bad(entry, "is not STEP=NUMBER");
    if (value->isNegative())
      return bad(entry, "is negative");
    SmallVector<StepKind, 2> members = parseCostMembers(key);
    bool fresh = true;
    if (members.size() > 1) {
      fresh = !costs.ofOverlap(members);
      costs.set({members, *value});
    } else if (const FigureInfo *info = findFigure(
                   FigureBlock::Cost, FigureScope::Whole, key.trim())) {
      fresh = !costs.get(info->figure);
      costs.set(info->figure, *value);
    } else {
      InFlightDiagnostic error = bad(entry, "does not name a step or a figure");
      SmallVector<StringRef, 12> words =
          figureNames(FigureBlock::Cost, FigureScope::Whole);
      if (StringRef meant = nearestSetting(key.trim(), words); !meant.empty())
        error.note(DiagLoc(), diag::NoteDidYouMean, meant);
      error.note(DiagLoc(), diag::NoteChoices, join(words, "`, `"));
      return error;
    }
    if (!fresh)
      return bad(entry, "comes a second time");
  }
  return costs;
}

} // namespace pipec
