//===- Io.cpp - Input, output and diagnostics of a program ----------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Driver/Io.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/Path.h"

#include <cstdlib>

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
  badUsage |= diagnostic.severity == Severity::Error &&
              diagInfo(diagnostic.id).isUsage;
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
  if (badUsage)
    return 2;
  return succeeded(result) && !diags.hadErrors() ? 0 : 1;
}

/// True when the environment has the variable, with a value that is not 0.
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

void printVersion(raw_ostream &os) { os << "pipec " PIPEC_VERSION "\n"; }

InFlightDiagnostic unusable(DiagEngine &diags, const Twine &why) {
  return diags.report(DiagLoc(), diag::UnusableOption, why.str());
}

InFlightDiagnostic reportNoInput(DiagEngine &diags) {
  return unusable(diags, "no input; --help shows what can be given");
}

/// A message of the system in the form of all others, which begin with a small
/// letter.
static std::string inOurForm(StringRef message) {
  std::string text = message.str();
  if (text.size() > 1 && isUpper(text[0]) && !isUpper(text[1]))
    text[0] = toLower(text[0]);
  return text;
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

LogicalResult
writeOutput(const Arguments &args, raw_ostream &out, DiagSession &session,
            function_ref<LogicalResult(raw_ostream &)> writer) {
  auto file =
      OutputFile::open(args.text(Opt::Output, "-"), out, session.engine());
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
