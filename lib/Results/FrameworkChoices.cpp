//===- FrameworkChoices.cpp - The best schedule for each framework --------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Results/FrameworkChoices.h"

#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static std::string commandText(ArrayRef<std::string> words) {
  std::string text = "pipec";
  for (const std::string &word : words)
    text += " " + shellWord(word);
  return text;
}

/// How a file is written: its target, the words of the command for it, and
/// those of the command for its settings, if it does not have the layers.
struct FileChoice {
  std::string target;
  std::vector<std::string> words;
  std::vector<std::string> settings = {};
};

static FileChoice fileFor(const FrameworkInfo &info,
                          const Candidate &candidate) {
  FileChoice file{info.target.str(), {}};
  if (info.framework == Framework::PyTorch &&
      StringRef(candidate.target).starts_with("torch"))
    file.target = candidate.target;
  file.words = {info.emit.empty() ? "--target=" + file.target
                                  : "--emit=" + info.emit.str(),
                "-o", ("schedule." + runsAsName(info.how)).str()};
  if (info.framework == Framework::Torchtitan && candidate.hasLayers)
    file.settings = {"--emit=torch-config", "-o", "schedule.json"};
  return file;
}

/// The commands that write a candidate into a file.
static std::vector<std::string> commandsOf(const Candidate &candidate,
                                           const CandidateOptions &options,
                                           const FileChoice &file,
                                           ArrayRef<std::string> costs,
                                           StringRef limit, DiagEngine &diags) {
  std::vector<std::string> cost = costs.vec();
  if (!candidate.layout.empty())
    cost.push_back("--layout=" + candidate.layout);
  else if (candidate.request || !costs.empty())
    cost.push_back("--parts=" + std::to_string(*options.given.front().parts));
  std::string ranks = "ranks=" + std::to_string(options.ranks);
  std::string microbatches =
      "microbatches=" + std::to_string(options.microbatches);
  if (const auto &request = candidate.request) {
    std::vector<std::string> search = {
        "search", ranks, microbatches,
        "--chunks=" + std::to_string(request->chunks),
        std::string("--placement=") + (request->isV ? "v" : "loop")};
    llvm::append_range(search, cost);
    if (!limit.empty())
      search.push_back("--memory-limit=" + limit.str());
    llvm::append_values(search, "--effort=" + std::to_string(request->effort),
                        "-o", "best.steps");
    std::vector<std::string> write = {"best.steps"};
    std::vector<std::string> settings = write;
    llvm::append_range(write, file.words);
    llvm::append_range(settings, file.settings);
    std::vector<std::string> commands = {commandText(search),
                                         commandText(write)};
    if (!file.settings.empty())
      commands.push_back(commandText(settings));
    return commands;
  }
  std::vector<std::string> words = candidate.input;
  if (candidate.isProgram) {
    llvm::append_values(words, ranks, microbatches);
    for (const auto &[name, value] : candidate.values)
      words.push_back(name + "=" + std::to_string(value));
  }
  std::vector<std::string> settings = words;
  if (!candidate.layout.empty())
    settings.push_back("--layout=" + candidate.layout);
  llvm::append_range(settings, file.settings);
  FailureOr<ShippedTarget> passes = makeShippedTarget(file.target, diags);
  if (succeeded(passes) && passes->passes.usesCosts())
    llvm::append_range(words, cost);
  llvm::append_range(words, file.words);
  std::vector<std::string> commands = {commandText(words)};
  if (!file.settings.empty())
    commands.push_back(commandText(settings));
  return commands;
}

std::vector<FrameworkChoice> chooseForFrameworks(
    ArrayRef<Candidate> candidates, const CandidateOptions &options,
    ArrayRef<std::string> costs, StringRef limit, DiagEngine &diags) {
  std::vector<FrameworkChoice> choices;
  for (const FrameworkInfo &info : frameworkTable) {
    const auto *best = find_if(candidates, [&](const Candidate &candidate) {
      return candidate.place != 0 &&
             candidate.verdicts[size_t(info.framework)].how != RunsAs::No;
    });
    if (best == candidates.end())
      continue;
    const Verdict &verdict = best->verdicts[size_t(info.framework)];
    FrameworkChoice &choice =
        choices.emplace_back(FrameworkChoice{info.framework,
                                             best->title(),
                                             best->layout,
                                             verdict.how,
                                             {},
                                             verdict.settings});
    if (verdict.how != RunsAs::BuiltIn)
      choice.commands =
          commandsOf(*best, options, fileFor(info, *best), costs, limit, diags);
  }
  return choices;
}

} // namespace pipec
