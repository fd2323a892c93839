//===- Io.h - Input, output and diagnostics of a program --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The common frame of the programs: set up diagnostics as specified by the
// command line, open the input, and write an output file that only exists if
// the run succeeds. Streams are arguments.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Driver/Arguments.h"
#include "Emit/Emitter.h"
#include "Support/DiagEngine.h"
#include "Support/DiagPrinter.h"
#include "Support/FatalErrors.h"
#include "Support/InputFile.h"
#include "Support/Progress.h"
#include "Support/VerifyDiagnostics.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

namespace pipec {

/// Counts diagnostics, of which only the first of each kind are shown.
class KindLimit {
public:
  /// `note` is about those of a kind that were not among the first `most`.
  KindLimit(size_t most, diag::Id note) : most(most), note(note) {}

  bool admits(const Diagnostic &diagnostic) {
    return ++counts[diagnostic.id] <= most;
  }
  /// Passes `handler` the note for each kind with more than the first `most`.
  void noteMore(const DiagEngine::Handler &handler) const;

private:
  size_t most;
  diag::Id note;
  std::map<diag::Id, size_t> counts;
};

/// The same for warnings.
class WarningLimit : public KindLimit {
public:
  WarningLimit();
  bool admits(const Diagnostic &diagnostic) {
    return diagnostic.severity != Severity::Warning ||
           KindLimit::admits(diagnostic);
  }
};

/// The files and the diagnostics of one run. Messages are printed immediately,
/// of each kind of warning the first hundred;
/// with `--verify-diagnostics` they are collected and compared with the
/// comments of the input at the end. If memory runs out or standard output
/// cannot be written, the run ends with a message and status 1.
class DiagSession {
public:
  /// `tool` names the program in messages without a position. `outer` shows the
  /// progress.
  DiagSession(llvm::StringRef tool, llvm::raw_ostream &err,
              Progress *outer = nullptr)
      : printer(err, sources, tool), verifier(sources),
        diags(sources, [this](const Diagnostic &d) { handle(d); }), err(err),
        line(tool, err, outer), fatal(fatalHandlers()) {}

  SourceFiles &files() { return sources; }
  DiagEngine &engine() { return diags; }
  /// The progress line.
  Progress &progress() { return line; }

  /// Creates a printer for messages that are part of the output, which it
  /// writes to `os` as text.
  DiagPrinter printerTo(llvm::raw_ostream &os) const;
  /// Runs `body` and passes its diagnostics to `handler` instead of printing
  /// them. With `--verify-diagnostics` they are collected as well.
  void withHandler(DiagEngine::Handler handler,
                   llvm::function_ref<void()> body);

  /// Sets the form of later messages as specified by the options about
  /// diagnostics.
  void setForm(const Arguments &args);
  /// Collects later diagnostics for comparison in `finish`.
  void setVerify(bool on);
  /// Marks files in the folder `path` as files of the library.
  void setLibrary(llvm::StringRef path) { sources.setLibrary(path); }

  /// True if text written to `os` should have colors.
  bool useColors(llvm::raw_ostream &os) const;
  /// True while messages are collected for comparison with the comments of the
  /// input.
  bool isVerifying() const { return verifying; }

  /// Ends the run. Returns the exit status: 0 if `result` is success and there
  /// were no errors, 2 if the command line was invalid, otherwise 1. With
  /// `--verify-diagnostics` it is 0 if exactly the expected diagnostics were
  /// emitted.
  int finish(llvm::LogicalResult result);
  /// Sets the exit status in place of 0.
  void setStatus(int other) { status = other; }

private:
  FatalErrors::Handlers fatalHandlers();
  void handle(const Diagnostic &diagnostic);
  void print(const Diagnostic &diagnostic) {
    // Most errors end the run, and the progress line must not follow the last
    // one.
    bool isError = diagnostic.severity == Severity::Error;
    Progress::Hidden hidden(line, /*untilNext=*/isError);
    printer(diagnostic);
  }

  SourceFiles sources;
  DiagPrinter printer;
  DiagVerifier verifier;
  DiagEngine diags;
  DiagEngine::Handler diverted;
  bool verifying = false;
  WarningLimit warnings;
  /// True if there was an error in the command line.
  bool badUsage = false;
  int status = 0;
  /// `--color`: always, never, or by the stream and the environment.
  std::optional<bool> colors;
  llvm::raw_ostream &err;
  Progress line;
  FatalErrors fatal;
};

/// The version and the commit that was built: `0.1.0 (commit 0123456789ab)`,
/// with `, with changes` if files differ from it, or `(commit unknown)`.
extern const char *const versionText;

/// Prints the name and the version of the compiler.
void printVersion(llvm::raw_ostream &os);

/// Reports that the command line is invalid because of `why`.
InFlightDiagnostic reportUsageError(DiagEngine &diags, const llvm::Twine &why);
/// Reports that there is no input.
InFlightDiagnostic reportMissingInput(DiagEngine &diags);
/// Reports a wrong number of inputs, except 0, which the caller reports.
llvm::LogicalResult checkInputCount(const Arguments &args,
                                    llvm::ArrayRef<std::string> inputs,
                                    DiagEngine &diags);

/// Reports that the file at `path` cannot be written because of `error`.
InFlightDiagnostic reportUnwritable(DiagEngine &diags, llvm::StringRef path,
                                    std::error_code error);

/// Calls `writer` to write the output, to the file of `--output` or to `out`.
/// The file only exists if `writer` succeeds. Reports output errors.
llvm::LogicalResult writeOutput(
    const Arguments &args, llvm::raw_ostream &out, DiagSession &session,
    llvm::function_ref<llvm::LogicalResult(llvm::raw_ostream &)> writer);

/// Writes the file at `path`, or standard output `out` if it is `-`, with the
/// text of `writer`. Reports errors.
llvm::LogicalResult
writeFile(llvm::StringRef path, llvm::raw_ostream &out, DiagEngine &diags,
          llvm::function_ref<void(llvm::raw_ostream &)> writer);

/// The names of the warnings, and of the grades of `--grade`.
std::vector<llvm::StringRef> warningNames();
/// The text of the first warning of that name.
std::string warningText(llvm::StringRef name);
std::vector<llvm::StringRef> gradeNames();

/// Grades diagnostics as specified by `-W` and `--grade`, in the order of the
/// command line; for each name the last one applies. Reports unknown names and
/// grades.
llvm::LogicalResult applyWarnings(const Arguments &args, DiagEngine &diags);

/// The output of a run. A file is written under a temporary name and renamed by
/// `commit`; without a commit nothing changes on disk. Standard output, devices
/// and pipes are written directly.
///
/// Symbolic links are followed, even to a file that does not exist yet. An
/// existing file keeps its mode, owner, group and hard links: if replacing it
/// would change one of them, or if its folder does not allow new files,
/// `commit` overwrites its contents after all output has been produced. A file
/// without write permission is refused, whatever the permissions of its folder.
class OutputFile {
public:
  explicit OutputFile(llvm::StringRef path) : path(path.str()) {}
  ~OutputFile();
  OutputFile(const OutputFile &) = delete;
  OutputFile &operator=(const OutputFile &) = delete;

  /// Opens the file for writing; the path "-" writes to `out`.
  std::error_code open(llvm::raw_ostream &out);
  llvm::raw_ostream &stream() { return *os; }
  /// Makes the output final. If it cannot be written completely, the file is
  /// unchanged.
  std::error_code commit();

private:
  std::error_code openFile();
  std::error_code makeTemporary(bool exists,
                                const llvm::sys::fs::file_status &old);
  std::error_code createBeside();
  std::error_code moveToTarget();
  std::error_code copyToTarget();
  void removeTemporary();

  const std::string path;
  /// The destination of the file: `path` with symbolic links followed.
  std::string target;
  /// The temporary file; empty if there is none.
  std::string temporary;
  int descriptor = -1;
  /// True if the contents of the target are overwritten instead of replacing
  /// the file.
  bool inPlace = false;
  std::unique_ptr<llvm::raw_fd_ostream> owned;
  llvm::raw_ostream *os = nullptr;
};

// In every command, the extension of the file given by -o determines the
// format, ignoring case; an option that contradicts it is an error. Other
// extensions, or none, do not determine a format.

/// Chooses the output format of the compiler (Emit/Emitters.def) by --emit,
/// otherwise by the name of the output file; the default is the timeline.
/// Reports contradictions, and ambiguous names.
llvm::FailureOr<const EmitterInfo *> chooseEmitter(const Arguments &args,
                                                   DiagEngine &diags);

/// Chooses one of the given `forms`: by --format if `byOption`, otherwise by
/// the name of the output file; the default is `text`. Reports contradictions,
/// and the name of any other format.
llvm::FailureOr<llvm::StringRef> chooseForm(const Arguments &args,
                                            form::Set forms, bool byOption,
                                            DiagEngine &diags);

/// Reports an output file whose name does not belong to `emitter`, the only
/// format of a program.
llvm::LogicalResult checkOutputName(const Arguments &args,
                                    const EmitterInfo &emitter,
                                    DiagEngine &diags);

/// True for `pdf` and `png`, which the Python package makes from --emit=svg.
bool isPythonPicture(llvm::StringRef kind);

} // namespace pipec
