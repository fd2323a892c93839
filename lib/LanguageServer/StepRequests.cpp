//===- StepRequests.cpp - Requests about names in step IR -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"
#include "LanguageServer/StepNames.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec::lsp {

json::Value Server::Target::stepDefinition() const {
  std::vector<StepName> names = stepNames(analysis->text());
  if (const StepName *here = nameAt(names, offset))
    for (const StepName &each : names)
      if (each.isDefinition && each.isSame(*here))
        return json::Object{{"uri", document->document.uri},
                            {"range", document->lines.range(each.span)}};
  return nullptr;
}

std::vector<Span> Server::Target::stepPlaces(bool withDefinition) const {
  std::vector<StepName> names = stepNames(analysis->text());
  std::vector<Span> places;
  if (const StepName *here = nameAt(names, offset))
    for (const StepName &each : names)
      if (each.isSame(*here) && (withDefinition || !each.isDefinition))
        places.push_back(each.span);
  return places;
}

Expected<json::Value> Server::Target::renamedStep(StringRef newName) const {
  std::vector<StepName> names = stepNames(analysis->text());
  const StepName *here = nameAt(names, offset);
  if (!here)
    return nullptr;
  if (!analysis->isRead())
    return refused("the text has syntax errors");
  if (here->kind == StepName::Kind::Step)
    return refused("a step has no name of its own");
  // Without a name: whether there is one to change.
  if (newName.empty())
    return document->lines.range(here->span);
  json::Array edits;
  for (const StepName &each : names) {
    if (each.kind == here->kind && each.key == newName && newName != here->key)
      return refused("`" + newName + "` is another name here");
    if (each.isSame(*here))
      edits.push_back(json::Object{{"range", document->lines.range(each.span)},
                                   {"newText", newName}});
  }
  return json::Object{
      {"changes", json::Object{{document->document.uri, std::move(edits)}}}};
}

} // namespace pipec::lsp
