//===- CompletionCommand.cpp - Scripts for completion ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The scripts run `pipec completion --candidates -- WORD...`, so that a script
// remains right when options are added.
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"
#include "Command/ShellCompletion.h"

#include "Driver/Choices.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

static constexpr char bashScript[] =
#include "Command/completion.bash.inc"
    ;
static constexpr char zshScript[] =
#include "Command/completion.zsh.inc"
    ;
static constexpr char fishScript[] =
#include "Command/completion.fish.inc"
    ;

static constexpr std::pair<StringLiteral, const char *> scripts[] = {
    {"bash", bashScript},
    {"zsh", zshScript},
    {"fish", fishScript},
};

std::vector<StringRef> completionShells() {
  std::vector<StringRef> names;
  for (const auto &[name, script] : scripts)
    names.push_back(name);
  return names;
}

LogicalResult runCompletion(const CommandRun &run) {
  ArrayRef<std::string> words = run.args.words();
  if (run.args.has(Opt::Candidates))
    return run.write([&](raw_ostream &os) {
      printCandidates(words, run.search, os);
      return success();
    });
  if (failed(checkInputCount(run.args, words, run.diags)))
    return failure();
  if (words.empty())
    return reportMissingInput(run.diags).note(DiagLoc(), diag::NoteChoices,
                                              join(completionShells(), "`, `"));
  const auto *row = find_if(
      scripts, [&](const auto &script) { return script.first == words[0]; });
  if (row == std::end(scripts))
    return reportUnknownChoice(run.diags, "shell", words[0],
                               completionShells());
  return run.write([&](raw_ostream &os) {
    os << row->second;
    return success();
  });
}

} // namespace pipec
