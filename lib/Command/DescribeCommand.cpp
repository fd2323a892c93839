//===- DescribeCommand.cpp - Listings of the library ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/DescribeCommand.h"
#include "AST/Decl.h"
#include "Command/CommandRun.h"
#include "Parse/Parser.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Json.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

namespace pipec {

/// The first sentence of a comment, on one line.
static std::string firstSentence(StringRef doc) {
  std::string text;
  for (char c : doc)
    text += c == '\n' ? ' ' : c;
  for (size_t i = 0; i + 1 < text.size(); ++i)
    if (text[i] == '.' && text[i + 1] == ' ')
      return text.substr(0, i + 1);
  return text;
}

static std::vector<std::string> aliasNames(const ast::ScheduleDecl &schedule) {
  std::vector<std::string> names;
  for (const ast::StringLit &alias : schedule.aliases())
    names.push_back(alias.value.str());
  return names;
}

FailureOr<std::vector<LibraryEntry>> readLibrary(const SearchPath &search,
                                                 DiagEngine &diags) {
  std::vector<LibraryEntry> entries;
  for (const std::string &path : search.libraryFiles()) {
    FailureOr<StringRef> text = openInput(path, diags, maxSourceBytes);
    if (failed(text))
      return failure();
    ast::Context context;
    FailureOr<ast::Module *> module = parsePipe(path, *text, context, diags);
    if (failed(module))
      return failure();
    for (const ast::ScheduleDecl *schedule : (*module)->schedules) {
      LibraryEntry &entry = entries.emplace_back();
      entry.name = schedule->name.text.str();
      entry.file = path;
      entry.summary = terminalText(firstSentence(schedule->doc));
      entry.aliases = aliasNames(*schedule);
    }
  }
  return entries;
}

LogicalResult listLibrary(const SearchPath &search,
                          ArrayRef<std::string> patterns, raw_ostream &os,
                          DiagEngine &diags) {
  std::vector<GlobPattern> globs;
  for (const std::string &pattern : patterns) {
    Expected<GlobPattern> glob = GlobPattern::create(pattern);
    if (!glob) {
      consumeError(glob.takeError());
      return diags.report(DiagLoc(), diag::OptionValue, shortened(pattern),
                          "--list", "a pattern");
    }
    globs.push_back(std::move(*glob));
  }
  std::vector<bool> matched(globs.size());
  auto isListed = [&](StringRef name) {
    bool listed = globs.empty();
    for (auto [i, glob] : enumerate(globs))
      if (glob.match(name))
        matched[i] = listed = true;
    return listed;
  };
  FailureOr<std::vector<LibraryEntry>> entries = readLibrary(search, diags);
  if (failed(entries))
    return failure();
  llvm::erase_if(*entries, [&](const LibraryEntry &entry) {
    bool listed = isListed(entry.name);
    for (const std::string &alias : entry.aliases)
      listed |= isListed(alias);
    return !listed;
  });
  for (auto [i, pattern] : enumerate(patterns))
    if (!matched[i])
      return reportUsageError(diags, "no schedule of the library matches `" +
                                         shortened(pattern) + "`");
  size_t width = 0;
  for (const LibraryEntry &entry : *entries)
    width = std::max(width, entry.name.size());
  for (const LibraryEntry &entry : *entries) {
    os << entry.name << std::string(width - entry.name.size() + 2, ' ')
       << entry.summary;
    if (!entry.aliases.empty())
      os << " (" << llvm::join(entry.aliases, ", ") << ")";
    os << '\n';
  }
  return success();
}

static StringRef textOf(SMRange range) {
  return {range.Start.getPointer(),
          size_t(range.End.getPointer() - range.Start.getPointer())};
}

/// The source from `begin` to `end` on one line.
static std::string onOneLine(SMLoc begin, SMLoc end) {
  SmallVector<StringRef> words;
  SplitString(textOf({begin, end}), words, " \t\r\n");
  return llvm::join(words, " ");
}

std::string parameterText(const ast::ParamDecl &param) {
  std::string text;
  if (!param.label.text.empty())
    text = param.label.text.str() + " ";
  text += param.name.text;
  if (param.defaultValue)
    text += (" = " + textOf(param.defaultValue->range)).str();
  return text;
}

/// The source of the conditions of `require`.
static std::vector<std::string>
constraintTexts(const ast::ScheduleDecl &schedule) {
  std::vector<std::string> texts;
  for (const ast::Stmt *item : schedule.body.stmts)
    if (const auto *require = dyn_cast<ast::RequireStmt>(item)) {
      SMRange condition = require->condition->range;
      texts.push_back(onOneLine(condition.Start, condition.End));
    }
  return texts;
}

/// The source of the clauses of `expect`.
static std::vector<std::string> figureTexts(const ast::ScheduleDecl &schedule) {
  std::vector<std::string> texts;
  for (const ast::Stmt *item : schedule.body.stmts)
    if (const auto *expect = dyn_cast<ast::ExpectStmt>(item)) {
      const ast::Expr *end =
          expect->condition ? expect->condition : expect->value;
      texts.push_back(onOneLine(expect->metric.range.Start, end->range.End));
    }
  return texts;
}

static void describe(const ast::ScheduleDecl &schedule, raw_ostream &os) {
  os << schedule.name.text << '\n';
  SmallVector<StringRef> lines;
  if (!schedule.doc.empty())
    schedule.doc.split(lines, '\n');
  for (StringRef line : lines)
    os << (line.empty() ? "" : "  ") << terminalText(line) << '\n';
  if (std::vector<std::string> names = aliasNames(schedule); !names.empty())
    os << "\n  aliases\n    " << llvm::join(names, ", ") << '\n';
  os << "\n  parameters\n";
  for (const ast::ParamDecl &param : schedule.params)
    os << "    " << parameterText(param) << '\n';
  auto list = [&](StringRef heading, ArrayRef<std::string> texts) {
    if (!texts.empty())
      os << "\n  " << heading << '\n';
    for (StringRef text : texts)
      os << "    " << text << '\n';
  };
  list("constraints", constraintTexts(schedule));
  list("figures", figureTexts(schedule));
}

static void describe(const ast::ScheduleDecl &schedule, json::OStream &json) {
  json.attribute("name", schedule.name.text);
  json.attribute("doc", json::fixUTF8(schedule.doc));
  writeTexts(json, "aliases", aliasNames(schedule));
  writeObjects(json, "parameters", schedule.params, [&](const auto &param) {
    json.attribute("name", param.name.text);
    json.attribute("role", textOrNull(param.label.text));
    json.attribute("default", textOrNull(param.defaultValue
                                             ? textOf(param.defaultValue->range)
                                             : ""));
  });
  writeTexts(json, "constraints", constraintTexts(schedule));
  writeTexts(json, "figures", figureTexts(schedule));
}

void describeSchedules(ArrayRef<const ast::ScheduleDecl *> schedules,
                       raw_ostream &os) {
  bool first = true;
  for (const ast::ScheduleDecl *schedule : schedules) {
    if (!first)
      os << '\n';
    first = false;
    describe(*schedule, os);
  }
}

void describeSchedules(ArrayRef<const ast::ScheduleDecl *> schedules,
                       json::OStream &json) {
  writeObjects(json, "schedules", schedules,
               [&](const auto *schedule) { describe(*schedule, json); });
}

} // namespace pipec
