//===- DescribeCommand.cpp - Listings of the library ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/DescribeCommand.h"

#include "AST/Context.h"
#include "Driver/Io.h"
#include "Parse/Parser.h"
#include "Support/TerminalText.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/GlobPattern.h"

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
    for (const ast::ScheduleDecl *schedule : (*module)->schedules)
      entries.push_back({schedule->name.text.str(),
                         terminalText(firstSentence(schedule->doc)),
                         aliasNames(*schedule)});
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
      return reportUsageError(diags,
                              "`" + shortened(pattern) + "` is not a pattern");
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
  bool first = true;
  for (const ast::Stmt *item : schedule.body.stmts) {
    const auto *require = dyn_cast<ast::RequireStmt>(item);
    if (!require)
      continue;
    if (first)
      os << "\n  constraints\n";
    first = false;
    SMRange condition = require->condition->range;
    os << "    " << onOneLine(condition.Start, condition.End) << '\n';
  }
  first = true;
  for (const ast::Stmt *item : schedule.body.stmts) {
    const auto *expect = dyn_cast<ast::ExpectStmt>(item);
    if (!expect)
      continue;
    if (first)
      os << "\n  figures\n";
    first = false;
    const ast::Expr *end =
        expect->condition ? expect->condition : expect->value;
    os << "    " << onOneLine(expect->metric.range.Start, end->range.End)
       << '\n';
  }
}

void describeSchedules(const ast::Module &module, StringRef name,
                       raw_ostream &os) {
  bool first = true;
  for (const ast::ScheduleDecl *schedule : module.schedules) {
    if (!name.empty() && schedule->name.text != name)
      continue;
    if (!first)
      os << '\n';
    first = false;
    describe(*schedule, os);
  }
}

} // namespace pipec
