//===- OptMain.cpp - The program pipec-opt --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   read -> verify -> passes -> verify -> print
//
// A phase that fails ends the run, and the output file only appears at the end.
// With --split-input-file each part of the input is a separate run, and the
// output is that of all parts.
//
//===----------------------------------------------------------------------===//

#include "OptMain.h"

#include "Driver/Grid.h"
#include "Driver/Information.h"
#include "Driver/Input.h"
#include "Driver/InputFormat.h"
#include "Driver/Io.h"
#include "Driver/PassFlags.h"
#include "StepText/StepPrinter.h"
#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace llvm;

namespace pipec {

static constexpr HelpText optHelp = {
    "Runs passes over step IR or CSV, from standard input unless a file is "
    "named.",
    "pipec-opt --passes='strip-bubbles,insert-p2p{order=simulate}' in.steps\n"
    "pipec zb1p --emit=ir | pipec-opt --passes=torch -o out.steps\n"
    "pipec-opt --verify=compute,placed --verify-diagnostics test.steps\n",
    {"pipec-opt",
     optgroup::InputForm | optgroup::SplitInput | optgroup::StageGraphs |
         optgroup::Sizes | optgroup::ListForm | optgroup::StepSizes |
         optgroup::Passes | optgroup::OptOnly | optgroup::Output | everyCommand,
     form::Text,
     {InputSyntax::File, 0, 1, InputSyntax::OneSize}}};

//===----------------------------------------------------------------------===//
// Runs
//===----------------------------------------------------------------------===//

namespace {

/// The input and options of the command line. All functions report to the given
/// session.
class OptRun {
public:
  OptRun(const Arguments &args, raw_ostream &out, raw_ostream &err)
      : args(args), out(out), err(err) {}

  /// Runs the input as a whole.
  LogicalResult runWhole(DiagSession &session);

  /// Reads the input for `runParts`.
  LogicalResult readParts(DiagSession &session);
  /// Runs each part in a separate session from `makeSession`. Returns the exit
  /// status: the maximum of all parts.
  int runParts(function_ref<std::unique_ptr<DiagSession>()> makeSession);

private:
  LogicalResult readCommandLine(DiagEngine &diags);
  FailureOr<PassRun> makePasses(DiagSession &session);
  FailureOr<StringRef> open(DiagSession &session);
  /// Creates the schedule of `text` and runs the passes on it.
  FailureOr<Schedule> make(StringRef text, PassRun &passes,
                           DiagEngine &diags) const;

  const Arguments &args;
  raw_ostream &out;
  raw_ostream &err;
  std::string path;
  std::optional<Grid> sizes;
  /// The whole input.
  std::unique_ptr<MemoryBuffer> input;
};

} // namespace

LogicalResult OptRun::readCommandLine(DiagEngine &diags) {
  std::vector<std::string> inputs;
  FailureOr<Grid> grid = Grid::read(args, Grid::Values::One, inputs, diags);
  if (failed(grid) || failed(grid->fit({}, /*otherInputs=*/true, diags)) ||
      failed(checkOutputName(args, *findEmitter("ir"), diags)))
    return failure();
  path = inputs.empty() ? "-" : inputs[0];
  sizes = std::move(*grid);
  return success();
}

FailureOr<PassRun> OptRun::makePasses(DiagSession &session) {
  return PassRun::make(args, args.text(Opt::Passes), err, session);
}

FailureOr<StringRef> OptRun::open(DiagSession &session) {
  session.progress().phase("reading");
  return openInput(path, session.engine(), [&](StringRef begin) {
    return maxInputBytes(inputKind(path, begin, args));
  });
}

FailureOr<Schedule> OptRun::make(StringRef text, PassRun &passes,
                                 DiagEngine &diags) const {
  // A program is read as step IR, whose parser reports the error.
  InputKind kind = inputKind(path, text, args);
  InputOptions options = sizes->wanted(args);
  options.graph = readGraph(args);
  FailureOr<Schedule> schedule =
      readStepInput(kind == InputKind::Program ? InputKind::Steps : kind, path,
                    text, options, diags);
  if (failed(schedule) || failed(passes.run(*schedule, diags)))
    return failure();
  return schedule;
}

LogicalResult OptRun::runWhole(DiagSession &session) {
  DiagEngine &diags = session.engine();
  if (failed(readCommandLine(diags)))
    return failure();
  FailureOr<PassRun> passes = makePasses(session);
  if (failed(passes))
    return failure();
  FailureOr<StringRef> text = open(session);
  if (failed(text))
    return failure();
  FailureOr<Schedule> schedule = make(*text, *passes, diags);
  if (failed(schedule))
    return failure();
  return writeOutput(args, out, session, [&](raw_ostream &os) {
    printSteps(*schedule, os);
    return success();
  });
}

//===----------------------------------------------------------------------===//
// Parts of the input
//===----------------------------------------------------------------------===//

static constexpr StringLiteral separator = "// -----";

namespace {

struct Part {
  StringRef text;
  unsigned firstLine;
};

} // namespace

/// The text before, between and after the separator lines.
static std::vector<Part> splitParts(StringRef text) {
  std::vector<Part> parts;
  const char *begin = text.begin();
  unsigned firstLine = 1;
  unsigned number = 1;
  for (StringRef rest = text; !rest.empty(); ++number) {
    auto [line, after] = rest.split('\n');
    rest = after;
    if (line.rtrim() != separator)
      continue;
    parts.push_back({StringRef(begin, line.begin() - begin), firstLine});
    begin = line.end() == text.end() ? line.end() : line.end() + 1;
    firstLine = number + 1;
  }
  parts.push_back({StringRef(begin, text.end() - begin), firstLine});
  return parts;
}

LogicalResult OptRun::readParts(DiagSession &session) {
  // Errors in the list of passes do not belong to any part.
  if (failed(readCommandLine(session.engine())) || failed(makePasses(session)))
    return failure();
  FailureOr<StringRef> text = open(session);
  if (failed(text))
    return failure();
  input = MemoryBuffer::getMemBufferCopy(
      *text, session.files().file(0).getBufferIdentifier());
  return success();
}

int OptRun::runParts(function_ref<std::unique_ptr<DiagSession>()> makeSession) {
  int status = 0;
  std::string results;
  raw_string_ostream os(results);
  for (const Part &part : splitParts(input->getBuffer())) {
    auto session = makeSession();
    session->setVerify(args.has(Opt::VerifyDiagnostics));
    FailureOr<PassRun> passes = makePasses(*session);
    assert(succeeded(passes) && "the same were made for the whole input");
    // Readers require a NUL byte after the text. It is not larger than the
    // input.
    StringRef text = cantFail(session->files().add(
        MemoryBuffer::getMemBufferCopy(part.text, input->getBufferIdentifier()),
        part.firstLine));
    FailureOr<Schedule> schedule = make(text, *passes, session->engine());
    if (succeeded(schedule)) {
      if (!results.empty())
        os << separator << '\n';
      printSteps(*schedule, os);
    }
    status = std::max(status, session->finish(schedule));
  }
  if (status != 0)
    return status;
  auto session = makeSession();
  return session->finish(
      writeOutput(args, out, *session, [&](raw_ostream &file) {
        file << results;
        return success();
      }));
}

//===----------------------------------------------------------------------===//
// The program
//===----------------------------------------------------------------------===//

int optMain(int argc, const char *const *argv, raw_ostream &out,
            raw_ostream &err) {
  Arguments args(ArrayRef(argv, argc).drop_front(), optHelp.syntax);
  auto makeSession = [&] {
    auto session = std::make_unique<DiagSession>("pipec-opt", err);
    session->setForm(args);
    return session;
  };
  auto session = makeSession();
  if (failed(args.check(session->engine())) ||
      failed(applyWarnings(args, session->engine())))
    return session->finish(failure());
  if (auto printed = printInformation(
          args, out, *session, [](raw_ostream &os) { printHelp(optHelp, os); },
          {{Opt::DocPasses, printPassPage},
           {Opt::DocFigures, printFigurePage}}))
    return session->finish(*printed);

  OptRun run(args, out, err);
  if (!args.has(Opt::SplitInputFile)) {
    session->setVerify(args.has(Opt::VerifyDiagnostics));
    return session->finish(run.runWhole(*session));
  }
  if (failed(run.readParts(*session)))
    return session->finish(failure());
  session.reset(); // only one may exist
  return run.runParts([&] {
    auto part = makeSession();
    (void)applyWarnings(args, part->engine()); // errors were reported above
    return part;
  });
}

} // namespace pipec
