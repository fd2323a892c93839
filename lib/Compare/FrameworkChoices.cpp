//===- FrameworkChoices.cpp - The best schedule for each framework --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compare/Comparison.h"

#include "SearchRun/WeightedSearch.h"
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
/// those of a second command for its settings if it does not contain the
/// layers.
struct FileChoice {
  std::string target;
  std::vector<std::string> words;
  std::vector<std::string> settings = {};
};

static FileChoice fileFor(const FrameworkInfo &info,
                          const Candidate &candidate) {
  if (candidate.verdicts[size_t(info.framework)].how == RunsAs::Executor)
    return {"pytorch", {"--target=pytorch", "-o", "schedule.steps"}};
  FileChoice file{info.target.str(), {}};
  if (info.framework == Framework::PyTorch &&
      StringRef(candidate.target).starts_with("torch"))
    file.target = candidate.target;
  file.words = {info.how == RunsAs::Csv ? "--target=" + file.target
                                        : "--emit=" + info.output().str(),
                "-o", ("schedule." + runsAsName(info.how)).str()};
  if (info.framework == Framework::Torchtitan && candidate.hasLayers)
    file.settings = {"--emit=torch-config", "-o", "schedule.json"};
  return file;
}

/// `E,t*26,L`, as `--layers` reads it.
static std::string layersText(StringRef layers) {
  std::string text;
  while (!layers.empty()) {
    size_t count = std::min(layers.find_first_not_of(layers[0]), layers.size());
    text += (text.empty() ? "" : ",") + layers.take_front(1).str();
    if (count != 1)
      text += "*" + std::to_string(count);
    layers = layers.drop_front(count);
  }
  return text;
}

std::string searchCommand(const SearchRequest &request, StringRef placement,
                          StringRef layout, const CommandCosts &costs,
                          const CandidateOptions &options,
                          ArrayRef<std::string> more) {
  std::vector<std::string> words = {
      "search", "ranks=" + std::to_string(options.ranks),
      "microbatches=" + std::to_string(options.microbatches),
      "--chunks=" + std::to_string(request.chunks),
      ("--placement=" + placement).str()};
  if (request.slices != 1)
    words.push_back("--slices=" + std::to_string(request.slices));
  llvm::append_range(words, costs.options);
  if (request.anyLayout)
    llvm::append_values(
        words,
        "--layers=" + layersText(options.given.front().layout->cut(1)->front()),
        std::string("--layouts"));
  else
    words.push_back(layout.empty()
                        ? "--parts=" +
                              std::to_string(*options.given.front().parts)
                        : ("--layout=" + layout).str());
  if (!costs.limit.empty())
    words.push_back("--memory-limit=" + costs.limit);
  if (!request.library)
    words.push_back("--no-library");
  if (hasFactors(request.given.allCosts(), request.microbatches) &&
      !request.anyLayout)
    words.push_back("--keep-order");
  llvm::append_range(words, more);
  return commandText(words);
}

/// The words that write a candidate into a file, with the pass that keeps it
/// within the memory limit before those of its target.
static std::vector<std::string> fileWords(const Candidate &candidate,
                                          const FileChoice &file,
                                          const CommandCosts &costs) {
  if (candidate.memoryBy.empty())
    return file.words;
  std::vector<std::string> words;
  if (!costs.limit.empty())
    words.push_back("--memory-limit=" + costs.limit);
  for (StringRef word : file.words) {
    bool isTarget = word.consume_front("--target=");
    std::string pass =
        "--passes=inject-" + candidate.memoryBy +
        (candidate.memoryBy == "recompute" ? "{place=early}," : ",");
    words.push_back((isTarget ? pass : "") + word.str());
  }
  return words;
}

/// The commands that write a candidate into a file.
static std::vector<std::string> commandsOf(const Candidate &candidate,
                                           const CandidateOptions &options,
                                           const FileChoice &file,
                                           const CommandCosts &costs,
                                           DiagEngine &diags) {
  if (const auto &request = candidate.request) {
    std::vector<std::string> write = {"best.steps"};
    std::vector<std::string> settings = write;
    llvm::append_range(write, fileWords(candidate, file, costs));
    std::vector<std::string> more = {"--effort=" +
                                     std::to_string(request->effort)};
    // The pass in the next command saves memory.
    if (!costs.limit.empty())
      more.push_back("--memory-by=plain");
    llvm::append_values(more, std::string("-o"), std::string("best.steps"));
    std::vector<std::string> commands = {
        searchCommand(*request, request->isV ? "v" : "loop", candidate.layout,
                      costs, options, more),
        commandText(write)};
    if (!file.settings.empty()) {
      llvm::append_range(settings, file.settings);
      commands.push_back(commandText(settings));
    }
    return commands;
  }
  std::vector<std::string> cost = costs.options;
  if (!candidate.layout.empty())
    cost.push_back("--layout=" + candidate.layout);
  else if (!costs.options.empty())
    cost.push_back("--parts=" + std::to_string(*options.given.front().parts));
  std::vector<std::string> words = candidate.input;
  if (candidate.isProgram) {
    llvm::append_values(
        words, "ranks=" + std::to_string(options.ranks),
        "microbatches=" +
            std::to_string(uint64_t(options.microbatches) * candidate.slices));
    if (candidate.slices != 1)
      words.push_back("--slices=" + std::to_string(candidate.slices));
    for (const auto &[name, value] : candidate.values)
      words.push_back(name + "=" + std::to_string(value));
  }
  std::vector<std::string> settings = words;
  if (!candidate.layout.empty())
    settings.push_back("--layout=" + candidate.layout);
  llvm::append_range(settings, file.settings);
  FailureOr<ShippedTarget> passes = makeShippedTarget(file.target, diags);
  if (!candidate.memoryBy.empty() ||
      (succeeded(passes) && passes->passes.usesCosts()))
    llvm::append_range(words, cost);
  llvm::append_range(words, fileWords(candidate, file, costs));
  if (options.communicators && candidate.memoryBy.empty() &&
      passesFor(file.target, *options.communicators))
    words.insert(find(words, "--target=" + file.target) + 1,
                 ("--communicators=" + options.communicators->name).str());
  std::vector<std::string> commands = {commandText(words)};
  if (!file.settings.empty())
    commands.push_back(commandText(settings));
  return commands;
}

std::vector<FrameworkChoice>
chooseForFrameworks(ArrayRef<Candidate> candidates,
                    const CandidateOptions &options, const CommandCosts &costs,
                    DiagEngine &diags) {
  std::vector<FrameworkChoice> choices;
  auto choose = [&](const FrameworkInfo &info, const Candidate &best) {
    const Verdict &verdict = best.verdicts[size_t(info.framework)];
    FrameworkChoice &choice =
        choices.emplace_back(FrameworkChoice{info.framework,
                                             best.title(),
                                             best.layout,
                                             verdict.how,
                                             {},
                                             verdict.settings});
    if (verdict.how != RunsAs::BuiltIn)
      choice.commands =
          commandsOf(best, options, fileFor(info, best), costs, diags);
  };
  for (const FrameworkInfo &info : frameworkTable) {
    const Candidate *best = nullptr, *executed = nullptr;
    for (const Candidate &candidate : candidates) {
      RunsAs how = candidate.verdicts[size_t(info.framework)].how;
      if (candidate.place == 0 || how == RunsAs::No)
        continue;
      const Candidate *&one = how == RunsAs::Executor ? executed : best;
      if (!one)
        one = &candidate;
    }
    if (best)
      choose(info, *best);
    // Only a better schedule needs the executor.
    if (executed && (!best || executed < best))
      choose(info, *executed);
  }
  return choices;
}

} // namespace pipec
