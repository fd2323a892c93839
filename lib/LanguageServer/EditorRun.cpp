//===- EditorRun.cpp - Code lenses and the commands that they run ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/EditorRun.h"

#include "LanguageServer/OpenDocument.h"
#include "Support/DiagPrinter.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec::lsp {

/// The effort of a search, in units of about a second.
static constexpr unsigned editorEffort = 3;

//===----------------------------------------------------------------------===//
// Lenses
//===----------------------------------------------------------------------===//

Expected<json::Value> Server::codeLenses(const json::Object &, Target &at) {
  json::Array lenses;
  if (!at.analysis || !at.analysis->module())
    return lenses;
  for (const ast::ScheduleDecl *schedule : at.analysis->module()->schedules) {
    std::optional<json::Value> range =
        at.range(at.analysis->exactSpan(schedule->name.range));
    if (!range)
      continue;
    for (auto [title, command] :
         {std::pair("derive closed forms", "pipec.derive"),
          std::pair("search a better schedule", "pipec.search")})
      lenses.push_back(json::Object{
          {"range", *range},
          {"command",
           json::Object{{"title", title},
                        {"command", command},
                        {"arguments", json::Array{at.document->document.uri,
                                                  schedule->name.text}}}}});
  }
  return lenses;
}

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

Expected<std::optional<EditorRun>>
Server::editorRun(const json::Object &params) {
  StringRef command = params.getString("command").value_or("");
  if (state != State::Initialized ||
      (command != "pipec.derive" && command != "pipec.search"))
    return std::nullopt;
  Expected<CommandArguments> arguments = commandArguments(params);
  if (!arguments)
    return arguments.takeError();
  OpenDocument &document = *arguments->document;
  StringRef name = arguments->schedule;
  const ast::Module *module = analysed(document).module();
  if (!module)
    return refused(document.latest->isSteps()
                       ? "step IR has no formulas"
                       : "the program has syntax errors");
  auto schedules = module->schedules;
  const auto *found = find_if(schedules, [&](const ast::ScheduleDecl *each) {
    return name.empty() || each->name.text == name;
  });
  if (found == schedules.end())
    return refused("no schedule `" + name + "`");
  EditorRun run;
  run.isSearch = command == "pipec.search";
  run.uri = document.document.uri;
  run.path = document.document.path;
  run.version = document.document.version;
  run.schedule = (*found)->name.text.str();
  run.text = document.document.text;
  run.folder = sys::path::parent_path(run.path).str();
  run.arguments = {run.isSearch ? "search" : "derive",
                   "-",
                   "--input=pipe",
                   "--format=json",
                   "--diagnostics-format=json",
                   "--schedule=" + run.schedule};
  if (run.isSearch)
    llvm::append_range(run.arguments,
                       std::vector<std::string>{
                           "--progress", "--effort=" + utostr(editorEffort)});
  if (!run.folder.empty())
    run.arguments.push_back("-I" + run.folder);
  return run;
}

StringRef progressIn(StringRef messages) {
  SmallVector<StringRef> lines;
  messages.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : reverse(lines))
    if (!line.starts_with("{"))
      return line.trim();
  return "";
}

/// A number of the output as text; fractions are strings there.
static std::string numberText(const json::Object &from, StringRef key) {
  const json::Value *value = from.get(key);
  if (std::optional<StringRef> text =
          value ? value->getAsString() : std::nullopt)
    return text->str();
  return value ? formatv("{0}", *value).str() : "";
}

/// The clauses of all figures of the first schedule that the program does not
/// have yet.
static std::vector<std::string> newClauses(const json::Object &schedule,
                                           StringRef program) {
  auto packed = [](StringRef text) {
    std::string all = text.str();
    erase_if(all, [](char c) { return isSpace(c); });
    return all;
  };
  std::string known = packed(program);
  std::vector<std::string> clauses;
  const json::Array *figures = schedule.getArray("figures");
  for (const json::Value &figure : figures ? *figures : json::Array())
    if (const json::Array *list = figure.getAsObject()->getArray("clauses"))
      for (const json::Value &each : *list)
        if (std::optional<StringRef> clause =
                each.getAsObject()->getString("clause"))
          if (!StringRef(known).contains(packed(*clause)))
            clauses.push_back(clause->str());
  return clauses;
}

std::optional<json::Value> Server::editOf(const EditorRun &run,
                                          ArrayRef<std::string> clauses) {
  auto it = documents.find(run.uri);
  if (clauses.empty() || it == documents.end() ||
      it->second->document.version != run.version)
    return std::nullopt;
  OpenDocument &document = *it->second;
  Analysis &analysis = analysed(document);
  if (!analysis.module())
    return std::nullopt;
  for (const ast::ScheduleDecl *schedule : analysis.module()->schedules) {
    if (schedule->name.text != run.schedule)
      continue;
    // Before the last brace.
    size_t end = analysis.exactSpan(schedule->range).end;
    end = analysis.text().take_front(end).rfind('}');
    std::string text;
    for (StringRef clause : clauses)
      text += ("  " + clause + "\n").str();
    json::Array edits{json::Object{{"range", document.lines.range({end, end})},
                                   {"newText", std::move(text)}}};
    return json::Object{{"changes", json::Object{{run.uri, std::move(edits)}}}};
  }
  return std::nullopt;
}

Expected<CommandResult> Server::resultOf(const EditorRun &run,
                                         const CommandOutput &from) {
  if (!from.succeeded) {
    std::string why = firstErrorIn(from.messages);
    return refused(why.empty() ? "`" + run.title() + "` failed" : why);
  }
  std::optional<json::Object> output = parseJsonObject(from.output);
  if (!output)
    return refused("`" + run.title() + "` has no result");
  CommandResult result;
  if (run.isSearch) {
    std::string makespan = numberText(*output, "makespan");
    std::string command = "pipec search " + run.path +
                          " --schedule=" + run.schedule + " -o found.pipe";
    bool optimal = output->getBoolean("optimal").value_or(false);
    result.message = "found makespan " + makespan + ", " +
                     (optimal ? "which is optimal"
                              : "lower bound " + numberText(*output, "bound"));
    auto it = documents.find(run.uri);
    if (it != documents.end()) {
      Analysis &analysis = analysed(*it->second);
      analysis.run();
      for (const ShownSchedule &shown : analysis.schedules())
        if (shown.schedule.name == run.schedule && shown.run)
          result.message = "`" + run.schedule + "`: " + figuresOf(shown) +
                           "; " + result.message;
    }
    result.message += " (" + command + ")";
    result.answer = json::Object{{"schedule", run.schedule},
                                 {"makespan", *output->get("makespan")},
                                 {"bound", *output->get("bound")},
                                 {"optimal", optimal},
                                 {"command", command},
                                 {"text", json::fixUTF8(from.file)}};
    return result;
  }
  const json::Array *schedules = output->getArray("schedules");
  const json::Object *schedule = schedules && !schedules->empty()
                                     ? schedules->front().getAsObject()
                                     : nullptr;
  if (!schedule)
    return refused("`" + run.title() + "` has no result");
  std::vector<std::string> clauses = newClauses(*schedule, run.text);
  result.message =
      "`" + run.schedule + "`: " +
      (clauses.empty()
           ? "no further closed form"
           : countText(clauses.size(), "closed form") + ", fitted to " +
                 numberText(*schedule, "fitted") + " sizes and equal at " +
                 numberText(*schedule, "held_out") +
                 " others, not proven for all");
  std::optional<json::Value> edit = editOf(run, clauses);
  if (edit && canEdit)
    result.edit = std::move(*edit);
  else if (!clauses.empty())
    result.message += ":\n" + join(clauses, "\n");
  result.answer = json::Object{{"schedule", run.schedule},
                               {"clauses", json::Array(clauses)}};
  return result;
}

} // namespace pipec::lsp
