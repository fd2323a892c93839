//===- Information.cpp - --help, and other texts --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of `--explain` comes from the pages in share/pipec/Diagnostics,
// which the build makes from the examples of diagnostics. Without pages, or for
// a kind that they lack, only the row of the kind is printed.
//
//===----------------------------------------------------------------------===//

#include "Driver/Information.h"

#include "Driver/PassFlags.h"
#include "Driver/Program.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// --help
//===----------------------------------------------------------------------===//

/// The column of the texts, and the width of a line.
static constexpr size_t textColumn = 26;
static constexpr size_t lineWidth = 80;

void printHelpRow(StringRef left, StringRef text, raw_ostream &os) {
  os << left;
  size_t column = left.size();
  if (column + 2 > textColumn && !text.empty()) {
    os << '\n';
    column = 0;
  }
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  bool first = true;
  for (StringRef word : words) {
    if (!first && column + 1 + word.size() > lineWidth) {
      os << '\n';
      column = 0;
    }
    if (column < textColumn) {
      os.indent(textColumn - column);
      column = textColumn;
    } else {
      os << ' ';
      ++column;
    }
    os << word;
    column += word.size();
    first = false;
  }
  os << '\n';
}

std::string optionText(const OptionInfo &info) {
  std::string value = info.type.placeholder.str();
  if (info.name == info.letter)
    return "-" + info.name.str() + value;
  std::string text;
  if (!info.letter.empty())
    text = "-" + info.letter.str() + ", ";
  text += info.type.kind == ValueKind::Switch ? "--[no-]" : "--";
  text += info.name.str();
  if (!info.type.implied.empty())
    return text + "[=" + value + "]";
  return value.empty() ? text : text + "=" + value;
}

SmallVector<StringRef> optionHeadings(optgroup::Set groups) {
  SmallVector<StringRef> found;
  for (const OptionInfo &info : allOptions())
    if (info.isShown(groups) && !is_contained(found, groupHeading(info.group)))
      found.push_back(groupHeading(info.group));
  return found;
}

/// Returns the names of the choices of an option if none of them has a summary;
/// otherwise an empty text.
static std::string plainChoices(ArrayRef<Choice> choices) {
  std::string text;
  for (const auto &[i, choice] : enumerate(choices)) {
    if (!choice.summary.empty())
      return "";
    text += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    text += choice.name;
  }
  return text;
}

void printOptions(const CommandSyntax &syntax, optgroup::Set shown,
                  raw_ostream &os) {
  shown &= syntax.groups;
  for (StringRef heading : optionHeadings(shown)) {
    os << '\n' << heading << ":\n";
    for (const OptionInfo &info : allOptions()) {
      if (!info.isShown(shown) || groupHeading(info.group) != heading)
        continue;
      std::vector<Choice> choices;
      if (info.type.isChoice())
        choices = info.choices(syntax);
      std::string names = plainChoices(choices);
      std::string text = info.help.str();
      if (!names.empty())
        text += ": " + names;
      printHelpRow("  " + optionText(info), text, os);
      if (names.empty())
        for (const Choice &choice : choices)
          printHelpRow(("    " + choice.name).str(), choice.summary, os);
    }
  }
}

static SmallVector<StringRef> linesOf(StringRef text) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  return lines;
}

void printHelp(const HelpText &help, raw_ostream &os) {
  os << help.overview << "\n\nUSAGE: " << help.syntax.command << " "
     << help.usage() << '\n';
  printOptions(help.syntax,
               help.common.empty() ? help.syntax.groups : ~everyCommand, os);
  if (!help.common.empty())
    os << "\n`" << help.common << "` describes the options of every command.\n";
  os << "\nExamples:\n";
  for (StringRef line : linesOf(help.examples))
    os << "  " << line << '\n';
}

void printOptionNames(optgroup::Set shown, raw_ostream &os) {
  for (StringRef heading : optionHeadings(shown)) {
    SmallVector<std::string> names;
    for (const OptionInfo &info : allOptions())
      if (info.isShown(shown) && groupHeading(info.group) == heading)
        names.push_back("`" + optionText(info) + "`");
    os << "- **" << heading << "** " << join(names, ", ") << "\n";
  }
  os << '\n';
}

void printHelpPage(const HelpText &help, raw_ostream &os) {
  os << "## " << help.syntax.command << "\n\n"
     << help.overview << "\n\n```\n"
     << help.syntax.command << " " << help.usage() << "\n\n"
     << join(linesOf(help.examples), "\n") << "\n```\n\n";
  printOptionNames(help.syntax.groups & ~everyCommand, os);
}

void fillPage(StringRef text, ArrayRef<PagePart> parts, raw_ostream &os) {
  while (!text.empty()) {
    auto [before, rest] = text.split('@');
    os << before;
    auto [name, after] = rest.split('@');
    for (const PagePart &part : parts)
      if (part.name == name)
        part.print(os);
    text = after;
  }
}

//===----------------------------------------------------------------------===//
// Explanations of diagnostics
//===----------------------------------------------------------------------===//

/// Calls `visit` with the name, the path and the text of the page of each phase
/// that is installed.
static void forEachPage(
    function_ref<void(StringRef phase, StringRef path, StringRef text)> visit) {
  SmallString<256> folder(programPath(""));
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "share", "pipec", "Diagnostics");
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  for (StringLiteral phase : {
#define PIPEC_DIAG_PHASE(Id) StringLiteral(#Id),
#include "Support/DiagPhases.def"
       }) {
    SmallString<256> path(folder);
    sys::path::append(path, phase + ".md");
    if (auto page = MemoryBuffer::getFile(path))
      visit(phase, path, (*page)->getBuffer());
  }
}

/// The pages of all phases, one after the other; empty if there are none.
static std::string readPages() {
  std::string pages;
  forEachPage([&](StringRef, StringRef, StringRef text) { pages += text; });
  return pages;
}

/// Calls `visit` with each line outside fenced blocks, until it returns false.
static void forEachLine(StringRef text, function_ref<bool(StringRef)> visit) {
  bool fenced = false;
  for (StringRef rest = text; !rest.empty();) {
    StringRef line = rest.take_front(rest.find('\n'));
    rest = rest.drop_front(std::min(rest.size(), line.size() + 1));
    if (line.starts_with("```"))
      fenced = !fenced;
    else if (!fenced && !visit(line))
      return;
  }
}

static StringRef pages() {
  static const std::string text = readPages();
  return text;
}

/// The section of a kind in the pages, including its heading; empty if there is
/// none.
static StringRef sectionOf(StringRef text, StringRef kind) {
  std::string heading = ("### " + kind).str();
  const char *begin = nullptr, *end = text.end();
  forEachLine(text, [&](StringRef line) {
    if (begin && line.starts_with("#")) {
      end = line.begin();
      return false;
    }
    if (line == heading)
      begin = line.begin();
    return true;
  });
  return begin ? StringRef(begin, end - begin).rtrim() : StringRef();
}

/// The kind whose example shows the kind of this section, if the section refers
/// to one.
static StringRef kindWithExample(StringRef section) {
  StringRef kind;
  forEachLine(section, [&](StringRef line) {
    if (line.consume_front("Shown with ["))
      kind = line.take_until([](char c) { return c == ']'; });
    return kind.empty();
  });
  return kind;
}

static void printKind(const DiagInfo &info, raw_ostream &os) {
  StringRef section = sectionOf(pages(), info.name);
  if (section.empty()) {
    static constexpr StringLiteral severities[] = {"Error", "Warning", "Note"};
    os << "### " << info.name << "\n\n"
       << severities[unsigned(info.severity)] << ": " << info.format << '\n';
    return;
  }
  os << section << '\n';
  if (StringRef shown = kindWithExample(section); !shown.empty())
    os << '\n' << sectionOf(pages(), shown) << '\n';
}

std::string explanationOf(const DiagInfo &info) {
  StringRef section = sectionOf(pages(), info.name);
  // After the heading and the line with the format.
  for (unsigned part = 0; part != 2; ++part)
    section = section.split("\n\n").second.ltrim('\n');
  return section.str();
}

const ExplanationPlace *explanationPlace(const DiagInfo &info) {
  static const StringMap<ExplanationPlace> places = [] {
    StringMap<ExplanationPlace> all;
    forEachPage([&](StringRef phase, StringRef path, StringRef text) {
      forEachLine(text, [&](StringRef line) {
        size_t before = line.begin() - text.begin();
        if (line.consume_front("### "))
          all.try_emplace(
              line, ExplanationPlace{
                        phase, path.str(),
                        unsigned(text.take_front(before).count('\n') + 1)});
        return true;
      });
    });
    return all;
  }();
  auto it = places.find(info.name);
  return it == places.end() ? nullptr : &it->second;
}

LogicalResult printExplanation(const Arguments &args, raw_ostream &out,
                               DiagSession &session) {
  DiagEngine &diags = session.engine();
  if (!args.words().empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        shortened(args.words()[0]), "with --explain");
  StringRef kind = args.text(Opt::Explain);
  std::vector<StringRef> names;
  std::vector<const DiagInfo *> meantKinds;
  for (const DiagInfo &info : allDiagInfos()) {
    if (info.name == kind || info.flag == kind)
      meantKinds.push_back(&info);
    names.push_back(info.name);
  }
  if (!meantKinds.empty())
    return writeOutput(args, out, session, [&](raw_ostream &os) {
      for (const DiagInfo *info : meantKinds) {
        if (info != meantKinds.front())
          os << '\n';
        printKind(*info, os);
      }
      return success();
    });
  llvm::append_range(names, warningNames());
  InFlightDiagnostic error = diags.report(
      DiagLoc(), diag::UnknownChoice, "kind of diagnostic", shortened(kind));
  std::vector<StringRef> meant = nearestWords(kind, names);
  if (!meant.empty() && meant.size() <= 3)
    error.note(DiagLoc(), diag::NoteDidYouMean, join(meant, "` or `"));
  return error;
}

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

LogicalResult printText(const Arguments &args, raw_ostream &out,
                        DiagSession &session, TextPrinter print) {
  return writeOutput(args, out, session, [&](raw_ostream &os) {
    print(os);
    return success();
  });
}

/// Reports the first option or word that does not affect what `option` prints.
static LogicalResult checkAlone(const Arguments &args, Opt option,
                                DiagEngine &diags) {
  constexpr optgroup::Set used = optgroup::Output | optgroup::Warnings |
                                 optgroup::Diagnostics | optgroup::General;
  std::string with = "with " + optionInfo(option).spelling();
  for (const OptionInfo &info : allOptions())
    if (info.id != option && !(info.group & used) && args.has(info.id))
      return args.reportUseless(info.id, with, diags);
  if (!args.words().empty())
    return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                        shortened(args.words()[0]), with);
  return success();
}

std::optional<LogicalResult>
printInformation(const Arguments &args, raw_ostream &out, DiagSession &session,
                 TextPrinter printHelp, ArrayRef<InformationOption> further) {
  static constexpr InformationOption common[] = {
      {Opt::Version, printVersion},
      {Opt::HelpPasses, printPassHelp},
      {Opt::ListPasses, printPassNames},
  };
  if (args.has(Opt::Help))
    return printText(args, out, session, printHelp);
  for (ArrayRef<InformationOption> options : {ArrayRef(common), further})
    for (auto [option, print] : options)
      if (args.has(option)) {
        if (failed(checkAlone(args, option, session.engine())))
          return failure();
        return printText(args, out, session, print);
      }
  if (args.has(Opt::Explain))
    return printExplanation(args, out, session);
  return std::nullopt;
}

} // namespace pipec
