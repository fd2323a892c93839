//===- Io.cpp - Input, output and diagnostics of a program ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Io.h"

#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

WarningLimit::WarningLimit() : KindLimit(100, diag::NoteMoreWarnings) {}

void KindLimit::noteMore(const DiagEngine::Handler &handler) const {
  for (auto [id, count] : counts)
    if (count > most)
      handler({note, Severity::Note, SMRange(),
               DiagEngine::format(note, count - most, diagInfo(id).name)});
}

void DiagSession::setVerify(bool on) {
  verifying = on;
  if (on)
    diags.setErrorLimit(0); // in a test every diagnostic counts
}

void DiagSession::withHandler(DiagEngine::Handler handler,
                              function_ref<void()> body) {
  diverted = std::move(handler);
  body();
  diverted = nullptr;
}

void DiagSession::handle(const Diagnostic &diagnostic) {
  badUsage |=
      diagnostic.severity == Severity::Error && diagInfo(diagnostic.id).isUsage;
  if (verifying)
    verifier(diagnostic);
  else if (diverted)
    diverted(diagnostic);
  else if (warnings.admits(diagnostic))
    print(diagnostic);
}

FatalErrors::Handlers DiagSession::fatalHandlers() {
  auto report = [this](diag::Id id, const auto &...args) {
    printer({id, Severity::Error, SMRange(), DiagEngine::format(id, args...)});
  };
  return {[=] { report(diag::OutOfMemory); },
          [=](std::error_code error) {
            report(diag::FileUnwritable, "-",
                   normalizeMessage(error.message()));
          }};
}

int DiagSession::finish(LogicalResult result) {
  line.end();
  if (verifying) {
    DiagEngine out(sources, [this](const Diagnostic &d) { print(d); });
    return succeeded(verifier.verify(out)) ? 0 : 1;
  }
  warnings.noteMore([this](const Diagnostic &more) { print(more); });
  if (badUsage)
    return 2;
  return succeeded(result) && !diags.hadErrors() ? status : 1;
}

/// True if the environment has the variable with a value other than 0.
static bool isSet(const char *variable) {
  const char *value = std::getenv(variable);
  return value && StringRef(value) != "" && StringRef(value) != "0";
}

bool DiagSession::useColors(raw_ostream &os) const {
  if (colors)
    return *colors;
  if (const char *value = std::getenv("NO_COLOR"); value && *value)
    return false;
  return isSet("FORCE_COLOR") || isSet("CLICOLOR_FORCE") || os.has_colors();
}

void DiagSession::setForm(const Arguments &args) {
  StringRef mode = args.text(Opt::Color);
  if (mode == "always" || mode == "never")
    colors = mode == "always";
  printer.setColors(useColors(err));
  printer.setShowKinds(args.has(Opt::ShowKinds));
  printer.setJson(args.text(Opt::DiagnosticsFormat) == "json");
}

DiagPrinter DiagSession::printerTo(raw_ostream &os) const {
  DiagPrinter other(printer, os);
  other.setColors(useColors(os));
  return other;
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

void printVersion(raw_ostream &os) { os << "pipec " << versionText << '\n'; }

InFlightDiagnostic reportUsageError(DiagEngine &diags, const Twine &why) {
  return diags.report(DiagLoc(), diag::UnusableOption, why.str());
}

InFlightDiagnostic reportMissingInput(DiagEngine &diags) {
  return reportUsageError(diags, "no input; see --help");
}

LogicalResult checkInputCount(const Arguments &args,
                              ArrayRef<std::string> inputs, DiagEngine &diags) {
  const InputSyntax &syntax = args.syntax().inputs;
  // With --against the inputs after the first are traces.
  bool tooMany = inputs.size() > syntax.most && !args.has(Opt::Against);
  bool tooFew = !inputs.empty() && inputs.size() < syntax.least;
  if (!tooMany && !tooFew)
    return success();
  static constexpr StringLiteral taken[] = {"none is", "one is", "two are"};
  InFlightDiagnostic error = diags.report(
      DiagLoc(), diag::GivenCount, countText(inputs.size(), "input"),
      taken[syntax.most], shortened(join(inputs, "`, `")));
  if (args.takes(Opt::Start))
    error.note(DiagLoc(), diag::NoteDidYouMean,
               shortened("--start=" + inputs.front()));
  return error;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

InFlightDiagnostic reportUnwritable(DiagEngine &diags, StringRef path,
                                    std::error_code error) {
  return diags.report(DiagLoc(), diag::FileUnwritable, path,
                      normalizeMessage(error.message()));
}

LogicalResult writeOutput(const Arguments &args, raw_ostream &out,
                          DiagSession &session,
                          function_ref<LogicalResult(raw_ostream &)> writer) {
  StringRef path = args.text(Opt::Output, "-");
  OutputFile file(path);
  auto check = [&](std::error_code error) -> LogicalResult {
    if (!error)
      return success();
    return reportUnwritable(session.engine(), path, error);
  };
  if (failed(check(file.open(out))))
    return failure();
  // Output to a terminal makes progress visible anyway.
  if (file.stream().is_displayed())
    session.progress().end();
  else
    session.progress().phase("writing");
  if (failed(writer(file.stream())))
    return failure();
  return check(file.commit());
}

LogicalResult writeFile(StringRef path, raw_ostream &out, DiagEngine &diags,
                        function_ref<void(raw_ostream &)> writer) {
  OutputFile file(path);
  std::error_code error = file.open(out);
  if (!error) {
    writer(file.stream());
    error = file.commit();
  }
  return error ? reportUnwritable(diags, path, error) : success();
}

//===----------------------------------------------------------------------===//
// Warnings
//
//   -WNAME -Wno-NAME -Werror=NAME -Wno-error=NAME --grade=NAME=GRADE
//   -Wall -Wno-all -Werror -Wno-error
//
// NAME is the name of a flag or of a kind of warning.
//===----------------------------------------------------------------------===//

using Grade = DiagEngine::Grade;

static constexpr std::pair<StringLiteral, Grade> grades[] = {
    {"error", Grade::Error},
    {"warning", Grade::Warning},
    {"note", Grade::Note},
    {"off", Grade::Off},
};

std::vector<StringRef> warningNames() {
  std::vector<StringRef> names;
  for (const DiagInfo &info : allDiagInfos())
    if (info.severity == Severity::Warning && !is_contained(names, info.flag))
      names.push_back(info.flag);
  return names;
}

std::string warningText(StringRef name) {
  for (const DiagInfo &info : allDiagInfos())
    if (info.severity == Severity::Warning && info.flag == name)
      return textOf(info);
  return "";
}

std::vector<StringRef> gradeNames() {
  std::vector<StringRef> names;
  for (const auto &[name, grade] : grades)
    names.push_back(name);
  return names;
}

static LogicalResult setGrade(StringRef name, Grade grade, DiagEngine &diags) {
  if (diags.setGrade(name, grade))
    return success();
  std::vector<StringRef> names = {"all", "error"};
  llvm::append_range(names, warningNames());
  return reportUnknownChoice(diags, "warning", name, names);
}

/// Applies the value of one `-W` option. The names of some warnings begin with
/// `no-`.
static LogicalResult applyFlag(StringRef flag, DiagEngine &diags) {
  if (is_contained(warningNames(), flag))
    return setGrade(flag, Grade::On, diags);
  bool on = !flag.consume_front("no-");
  if (flag == "error") {
    diags.setWarningsAreErrors(on);
    return success();
  }
  if (flag.consume_front("error="))
    return setGrade(flag, on ? Grade::Error : Grade::Warning, diags);
  return setGrade(flag, on ? Grade::On : Grade::Off, diags);
}

/// Applies the value of one `--grade` option.
static LogicalResult applyGrades(StringRef list, DiagEngine &diags) {
  for (StringRef setting : split(list, ',')) {
    auto [name, value] = setting.split('=');
    const auto *grade = find_if(grades, [&, value = value](const auto &row) {
      return row.first == value;
    });
    if (grade == std::end(grades))
      return reportUnknownChoice(diags, "grade of --grade", value,
                                 gradeNames());
    if (failed(setGrade(name, grade->second, diags)))
      return failure();
  }
  return success();
}

LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags) {
  for (auto [option, value] : args.lists({Opt::Warning, Opt::Grade}))
    if (failed(option == Opt::Warning ? applyFlag(value, diags)
                                      : applyGrades(value, diags)))
      return failure();
  return success();
}

} // namespace pipec
