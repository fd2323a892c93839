//===- Io.cpp - Input, output and diagnostics of a program ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Io.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

void DiagSession::setVerify(bool on) {
  verifying = on;
  if (on)
    diags.setErrorLimit(0); // every diagnostic counts in a test
}

void DiagSession::divert(DiagEngine::Handler handler,
                         function_ref<void()> body) {
  diverted = std::move(handler);
  body();
  diverted = nullptr;
}

void DiagSession::handle(const Diagnostic &diagnostic) {
  if (verifying)
    verifier(diagnostic);
  else if (diverted)
    diverted(diagnostic);
  else
    print(diagnostic);
}

int DiagSession::finish(LogicalResult result) {
  line.end();
  if (verifying) {
    DiagEngine out(sources, [this](const Diagnostic &d) { print(d); });
    return succeeded(verifier.verify(out)) ? 0 : 1;
  }
  return succeeded(result) && !diags.hadErrors() ? 0 : 1;
}

DiagFlags::DiagFlags(cl::OptionCategory &category)
    : verifyDiagnostics(
          "verify-diagnostics",
          cl::desc("Compare the diagnostics with the expected-... comments"),
          cl::cat(category)),
      showKinds("show-kinds", cl::desc("Print the kind of every diagnostic"),
                cl::cat(category)),
      format("diagnostics-format",
             cl::desc("Form of diagnostics: text (default) or json, an object "
                      "a line"),
             cl::value_desc("FORMAT"), cl::init("text"), cl::cat(category)) {}

LogicalResult DiagFlags::applyForm(DiagSession &session) const {
  session.setShowKinds(showKinds);
  session.setJson(format == "json");
  if (format == "text" || format == "json")
    return success();
  return unusable(session.engine(),
                  "no format `" + format + "` of diagnostics");
}

//===----------------------------------------------------------------------===//
// Command line
//===----------------------------------------------------------------------===//

InFlightDiagnostic unusable(DiagEngine &diags, const Twine &why) {
  return diags.report(DiagLoc(), diag::UnusableOption, why.str());
}

InFlightDiagnostic reportNoInput(DiagEngine &diags) {
  return unusable(diags, "no input; --help shows what there is to give");
}

/// Puts a message of llvm::cl into the form of all others: no program name, no
/// capital, no hint at `--help`, backticks for quotes.
static std::string inOurForm(StringRef message) {
  message = message.take_front(message.find("  Try: "));
  message = message.take_front(message.find('\n'));
  message = message.rtrim(" .!:");
  std::string text = message.str();
  if (text.size() > 1 && isUpper(text[0]) && !isUpper(text[1]))
    text[0] = toLower(text[0]);
  for (char &c : text)
    if (c == '\'' || c == '"')
      c = '`';
  return text;
}

LogicalResult parseCommandLine(int argc, const char *const *argv,
                               cl::OptionCategory &category, StringRef overview,
                               const DiagFlags &flags, DiagSession &session) {
  cl::HideUnrelatedOptions(category);
  cl::SetVersionPrinter(
      [](raw_ostream &os) { os << "pipec " PIPEC_VERSION "\n"; });
  std::string errors;
  raw_string_ostream os(errors);
  bool good = cl::ParseCommandLineOptions(argc, argv, overview, &os);
  // The options that were understood hold for what is said about the others.
  good &= succeeded(flags.applyForm(session));
  if (good) {
    session.setVerify(flags.verifyDiagnostics);
    return success();
  }
  DiagEngine &diags = session.engine();

  // Each message starts with the program's name; the suggestion for the last
  // one is a message too.
  std::string prefix = sys::path::filename(argv[0]).str() + ": ";
  SmallVector<StringRef> messages;
  StringRef(errors).split(messages, prefix, -1, /*KeepEmpty=*/false);
  for (size_t i = 0; i != messages.size(); ++i) {
    InFlightDiagnostic diagnostic = unusable(diags, inOurForm(messages[i]));
    while (i + 1 != messages.size() &&
           messages[i + 1].consume_front("Did you mean '")) {
      ++i;
      diagnostic.note(DiagLoc(), diag::NoteDidYouMean,
                      messages[i].take_front(messages[i].find('\'')));
    }
  }
  return failure();
}

//===----------------------------------------------------------------------===//
// Input
//===----------------------------------------------------------------------===//

FailureOr<StringRef> openInput(StringRef path, DiagEngine &diags) {
  Expected<StringRef> text = diags.sourceFiles().open(path);
  if (text)
    return *text;
  std::string reason;
  handleAllErrors(text.takeError(), [&](const ErrorInfoBase &error) {
    reason = error.message();
  });
  return diags.report(DiagLoc(), diag::FileUnreadable, path, inOurForm(reason));
}

InputKind inputKind(StringRef path, StringRef text) {
  StringRef ending = sys::path::extension(path);
  if (ending == ".pipe")
    return InputKind::Program;
  if (ending == ".steps")
    return InputKind::Steps;
  if (ending == ".csv")
    return InputKind::Csv;
  // The first word behind comments; step IR starts with its own name.
  text = text.ltrim();
  while (text.consume_front("//"))
    text = text.drop_until([](char c) { return c == '\n'; }).ltrim();
  return text.starts_with("pipec-steps") ? InputKind::Steps
                                         : InputKind::Program;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::error_code OutputFile::openFile() {
  sys::fs::file_status status;
  std::error_code missing = sys::fs::status(path, status);
  if (!missing && sys::fs::is_directory(status))
    return make_error_code(errc::is_a_directory);
  // A device or a pipe has no place that another file could take.
  if (!missing && !sys::fs::is_regular_file(status)) {
    std::error_code error;
    owned = std::make_unique<raw_fd_ostream>(path, error);
    os = owned.get();
    return error;
  }
  SmallString<128> real(path);
  if (!missing)
    if (std::error_code error = sys::fs::real_path(path, real))
      return error;
  target = std::string(real);
  sys::fs::perms mode =
      missing ? sys::fs::all_read | sys::fs::all_write : status.permissions();
  auto created = sys::fs::TempFile::create(target + ".tmp-%%%%%%%%", mode);
  if (!created)
    return errorToErrorCode(created.takeError());
  temp = std::move(*created);
  owned = std::make_unique<raw_fd_ostream>(temp->FD, /*shouldClose=*/false);
  os = owned.get();
  return {};
}

FailureOr<std::unique_ptr<OutputFile>>
OutputFile::open(StringRef path, raw_ostream &out, DiagEngine &diags) {
  std::unique_ptr<OutputFile> file(new OutputFile(path));
  if (path == "-") {
    file->os = &out;
    return file;
  }
  if (std::error_code error = file->openFile()) {
    if (file->owned)
      file->owned->clear_error();
    return diags.report(DiagLoc(), diag::FileUnwritable, path,
                        inOurForm(error.message()));
  }
  return file;
}

OutputFile::~OutputFile() {
  if (owned)
    owned->clear_error();
  if (temp) {
    owned.reset();
    consumeError(temp->discard());
  }
}

LogicalResult OutputFile::commit(DiagEngine &diags) {
  os->flush();
  // A stream of the caller's tells whether it failed only if it is a file's.
  raw_fd_ostream *file = owned.get();
  if (os == &outs())
    file = &outs();
  std::error_code error;
  if (file) {
    error = file->error();
    file->clear_error();
  }
  if (temp && !error) {
    owned.reset();
    error = errorToErrorCode(temp->keep(target));
    temp.reset();
  }
  if (error)
    return diags.report(DiagLoc(), diag::FileUnwritable, path,
                        inOurForm(error.message()));
  return success();
}

OutputFlag::OutputFlag(cl::OptionCategory &category, StringRef help)
    : path("o", cl::desc(help), cl::value_desc("FILE"), cl::init("-"),
           cl::cat(category)) {}

LogicalResult
OutputFlag::write(raw_ostream &out, DiagSession &session,
                  function_ref<LogicalResult(raw_ostream &)> writer) const {
  auto file = OutputFile::open(path, out, session.engine());
  if (failed(file))
    return failure();
  // What goes to the terminal is progress enough.
  if ((*file)->stream().is_displayed())
    session.progress().end();
  else
    session.progress().phase("writing");
  if (failed(writer((*file)->stream())))
    return failure();
  return (*file)->commit(session.engine());
}

} // namespace pipec
