//===- Information.cpp - Options that print a text ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text of `--explain` comes from the pages in share/pipec/Diagnostics,
// which the build makes from the examples of diagnostics. Without pages, or for
// a kind that they lack, only the row of the kind is printed.
//
//===----------------------------------------------------------------------===//

#include "Driver/Information.h"

#include "Driver/Library.h"
#include "Driver/PassFlags.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Explanations of diagnostics
//===----------------------------------------------------------------------===//

/// The pages of all phases, one after the other; empty if there are none.
static std::string readPages() {
  std::string pages;
  SmallString<256> folder(programPath(""));
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "share", "pipec", "Diagnostics");
  for (const char *phase : {
#define PIPEC_DIAG_PHASE(Id) #Id,
#include "Support/DiagPhases.def"
       }) {
    SmallString<256> path(folder);
    sys::path::append(path, Twine(phase) + ".md");
    if (auto page = MemoryBuffer::getFile(path))
      pages += (*page)->getBuffer();
  }
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
      return diags.report(DiagLoc(), diag::OptionWithoutEffect,
                          args.written(info.id), with);
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
