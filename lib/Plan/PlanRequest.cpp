//===- PlanRequest.cpp - The inputs of a plan -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Plan/PlanRequest.h"

#include "Driver/Grid.h"
#include "Driver/Input.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/InputFile.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace llvm;

namespace pipec {

FailureOr<PlanRequest> PlanRequest::read(const Arguments &args,
                                         DiagEngine &diags) {
  PlanRequest request(args);
  if (failed(request.readOptions(diags)) || failed(request.readProfile(diags)))
    return failure();
  auto &assumptions = request.assumptions;
  if (!request.hasLayers)
    assumptions.push_back("costs are of equal parts of the model, so no layout "
                          "was searched");
  if (!args.has(Opt::MemoryLimit))
    assumptions.push_back(
        "no limit of memory is given: ranks may need more than they have");
  if (!request.hasLatency)
    assumptions.push_back("transfers take no time: no cost of p2p is given");
  else if (!request.isPlaced())
    assumptions.push_back(
        "transfers do not wait for each other: " +
        (request.hasPorts
             ? std::string("ports have no meaning with one queue per rank")
             : ("how " + request.consumer->key + " runs them is not known")
                   .str()));
  return request;
}

LogicalResult PlanRequest::readOptions(DiagEngine &diags) {
  std::vector<std::string> inputs;
  Grid sizes;
  if (failed(store(Grid::read(args, Grid::Values::One, inputs, diags), sizes)))
    return failure();
  if (std::string other = sizes.writtenBut({"ranks", "microbatches", "chunks"});
      !other.empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect, other,
                        "on a plan, whose sizes are `ranks`, `microbatches` "
                        "and `chunks`");
  if (inputs.empty())
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec plan",
                        "a cost profile");
  if (inputs.size() > 1)
    return diags.report(DiagLoc(), diag::GivenCount,
                        countText(inputs.size(), "profile"), "one is",
                        shortened(inputs.back()));
  for (Opt option : {Opt::Split, Opt::Layout})
    if (args.has(option))
      return args.reportUseless(option, "on a plan, which finds the layout",
                                diags);
  profile = inputs.front();
  if (!args.has(Opt::Output))
    return diags.report(DiagLoc(), diag::OptionNeeds, "pipec plan",
                        "a folder: -o FOLDER");
  folder = args.text(Opt::Output).str();
  StringRef key = args.text(Opt::PlanFor, "any");
  consumer = find_if(planConsumers,
                     [&](const PlanConsumer &one) { return one.key == key; });
  now = args.text(Opt::Now, now).str();
  return success(
      succeeded(store(sizes.required(args, "ranks", maxRanks, diags), ranks)) &&
      succeeded(store(sizes.required(args, "microbatches", maxUnits, diags),
                      microbatches)) &&
      succeeded(store(
          sizes.required(args, "chunks", maxStages / ranks, diags, chunks),
          chunks)));
}

/// Finds out which costs there are. The commands check the rest.
LogicalResult PlanRequest::readProfile(DiagEngine &diags) {
  FailureOr<StringRef> text = openInput(profile, diags, uint64_t(16) << 20);
  if (failed(text))
    return failure();
  hasLayers = args.has(Opt::Layers);
  hasStash = text->contains("\"stash\"");
  inBytes = args.text(Opt::MemoryLimit).ends_with("B");
  auto note = [&](StringRef cost) {
    hasPorts |= cost.contains("port");
    hasLatency |=
        hasPorts || cost.contains("p2p") || cost.contains("occupancy");
  };
  llvm::for_each(args.list(Opt::Cost), note);
  std::optional<json::Object> object = parseJsonObject(*text);
  if (!object)
    return success();
  hasLayers |= object->get("sequence") || object->get("layout");
  for (const auto &[key, entry] : *object)
    note(StringRef(key));
  hasLatency |= object->get("edges") || object->get("nodes");
  noteDefaults(*object);
  if (const json::Object *measured = object->getObject("measured"))
    readMeasured(*object, *measured);
  return success();
}

/// Names the layers at the ends of the model that have no costs.
void PlanRequest::noteDefaults(const json::Object &profile) {
  StringRef layers = args.text(
      Opt::Layers, profile.getString("sequence")
                       .value_or(profile.getString("layout").value_or("")));
  const json::Object *kinds = profile.getObject("layers");
  for (StringRef letter : {"E", "L"})
    if (layers.contains(letter) && !(kinds && kinds->get(letter)))
      assumptions.push_back(("no cost of layer " + letter +
                             " is given: it takes no time and no memory")
                                .str());
}

void PlanRequest::readMeasured(const json::Object &profile,
                               const json::Object &measured) {
  inBytes |= measured.getString("unit").value_or("").contains("bytes");
  if (const json::Array *list = measured.getArray("ties"))
    for (const json::Value &group : *list)
      if (const json::Array *layers = group.getAsArray())
        for (auto &into = ties.emplace_back();
             const json::Value &layer : *layers)
          if (auto number = layer.getAsInteger(); number && *number >= 0)
            into.push_back(*number);
  if (!ties.empty())
    assumptions.push_back(
        countText(ties.size(), "group") +
        " of layers share parameters: sums of their gradients take no time" +
        (consumer->runsAs.contains("executor")
             ? ""
             : ", and are left to the framework"));
  if (const json::Array *list = measured.getArray("skips"))
    for (const json::Value &skip : *list)
      if (const json::Object *ends = skip.getAsObject())
        if (auto from = ends->getInteger("from"), to = ends->getInteger("to");
            from && to)
          skips.emplace_back(*from, *to);
  if (const json::Array *list = measured.getArray("left_out"))
    for (const json::Value &text : *list)
      if (StringRef what = text.getAsString().value_or("");
          !what.empty() && !(hasLatency && what.starts_with("p2p")))
        assumptions.push_back(("not measured: " + what).str());
  spread = measuredSpread(profile);
}

std::string PlanRequest::memoryText(const json::Object &row) const {
  double size = figureOf(row, "memory");
  if (!std::isfinite(size))
    return "unknown";
  return inBytes ? bytesText(size) : roundedText(size);
}

CommandWords PlanRequest::words(bool isFixed) const {
  CommandWords all = {"ranks=" + std::to_string(ranks),
                      "microbatches=" + std::to_string(microbatches),
                      "--cost-profile=" + profile};
  for (StringRef cost : args.list(Opt::Cost))
    all.push_back("--cost=" + cost.str());
  if (args.has(Opt::MemoryLimit))
    all.push_back("--memory-limit=" + args.text(Opt::MemoryLimit).str());
  if (!hasLayers)
    all.push_back("--parts=" +
                  args.text(Opt::Parts, std::to_string(ranks)).str());
  else if (!isFixed && args.has(Opt::Layers))
    all.push_back("--layers=" + args.text(Opt::Layers).str());
  return all;
}

} // namespace pipec
