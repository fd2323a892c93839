//===- SectionsChecker.cpp - Sections and the body of overlaps ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Sema/Checker.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/SemaDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace pipec::ast;

namespace pipec {

void Checker::check(SectionsStmt *stmt) {
  checkAfterPlacement(stmt, "sections");
  size_t mark = scope.enter();
  SMRange word(stmt->range.Start,
               SMLoc::getFromPointer(stmt->range.Start.getPointer() +
                                     StringRef("sections").size()));
  stmt->stageVariable = makeVariable({"stage", word}, Variable::Kind::Loop, {});
  defineVariable(stmt->stageVariable);
  checkRankFree(stmt->layers, Numbers::Integers);
  scope.leave(mark);
  if (stmt->entries.empty())
    (void)diags.report(stmt->range, diag::NoSections, "sections");
  for (const SectionEntry &entry : stmt->entries) {
    const SectionEntry &first =
        *find_if(stmt->entries, [&](const SectionEntry &other) {
          return other.name.text == entry.name.text;
        });
    if (&first != &entry)
      (void)diags.report(entry.name.range, diag::Redefinition, entry.name.text)
          .note(first.name.range, diag::NotePrevious);
  }
}

/// Checks the names of a body. Its order is checked when it is lowered.
void Checker::check(const OverlapStmt *stmt) {
  if (!current->sections) {
    (void)diags.report(stmt->range, diag::NoSections, "overlap");
    return;
  }
  bool ofBoth = stmt->letters.size() == 2 &&
                is_contained(stmt->letters, Letter::F) &&
                is_contained(stmt->letters, Letter::B);
  if (!ofBoth)
    (void)diags.report(stmt->range, diag::BodyOfOverlap,
                       leftSide(stmt->letters, {}));
  SmallVector<StringRef, 8> names;
  for (const SectionEntry &entry : current->sections->entries)
    names.push_back(entry.name.text);
  for (const BodyStep &step : stmt->steps) {
    StringRef name = step.section.text;
    if (!is_contained(names, name))
      (void)diags.report(step.section.range, diag::UnknownSection, name)
          .note(step.section.range, diag::NoteChoices, join(names, "`, `"));
    else if (step.letter == Letter::I)
      (void)diags.report(step.range, diag::BodyLetter, name);
  }
}

/// Checks `section attention { F = 3; B = 4; W = 2 }`. Which sections there are
/// is checked when it is lowered.
void Checker::checkSectionCost(SettingEntry &entry) {
  if (entry.values.size() != 1 || !isa<NameExpr>(entry.values[0]))
    (void)diags.report(entry.word.range, diag::SectionWithoutName);
  checkEntries(entry.entries, "section", {"F", "B", "W"}, Numbers::Rationals);
}

} // namespace pipec
