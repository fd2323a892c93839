//===- CommandRun.cpp - The shared parts of all commands ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Command/CommandRun.h"

#include "Driver/OutputName.h"
#include "Support/Diagnostics/CommandDiags.h"

#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace llvm;

namespace pipec {

CommandRun::CommandRun(const char *program, const Arguments &args,
                       DiagSession &session, raw_ostream &out, raw_ostream &err)
    : program(programPath(program)), args(args), session(session),
      diags(session.engine()), progress(session.progress()),
      search(this->program, args.list(Opt::Include),
             args.text(Opt::ImportRoot)),
      err(err), out(out) {
  session.setLibrary(search.libraryFolder());
}

LogicalResult CommandRun::checkOutput() {
  const CommandSyntax &syntax = args.syntax();
  if (syntax.inputs.needsOutput && args.text(Opt::Output, "-") == "-")
    return diags.report(DiagLoc(), diag::OptionNeeds, syntax.command,
                        "an output file: -o FILE");
  return syntax.forms & form::Apart ? success() : chooseForm(syntax.forms);
}

LogicalResult CommandRun::chooseForm(form::Set forms) {
  FailureOr<StringRef> chosen =
      pipec::chooseForm(args, forms, /*byOption=*/true, diags);
  if (failed(chosen))
    return failure();
  form = *chosen;
  return success();
}

LogicalResult
CommandRun::write(function_ref<LogicalResult(raw_ostream &)> writer) const {
  return writeOutput(args, out, session, writer);
}

FailureOr<PassRun> CommandRun::makePasses(StringRef otherwise) const {
  StringRef list = args.text(Opt::Target, args.text(Opt::Passes, otherwise));
  return PassRun::make(args, list, err, session);
}

void CommandRun::writeForm(raw_ostream &os,
                           function_ref<void(raw_ostream &)> text,
                           function_ref<void(json::OStream &)> json) const {
  if (!isJson())
    return text(os);
  json::OStream object(os, /*IndentSize=*/2);
  object.object([&] { json(object); });
  os << '\n';
}

LogicalResult
CommandRun::write(function_ref<void(raw_ostream &)> text,
                  function_ref<void(json::OStream &)> json) const {
  return write([&](raw_ostream &os) {
    writeForm(os, text, json);
    return success();
  });
}

LogicalResult
CommandRun::print(function_ref<void(raw_ostream &)> text,
                  function_ref<void(json::OStream &)> json) const {
  progress.end();
  writeForm(out, text, json);
  return success();
}

LogicalResult CommandRun::announce(const Twine &line) const {
  out << line << '\n';
  out.flush();
  if (&out != &outs() || !outs().has_error())
    return success();
  std::error_code error = outs().error();
  outs().clear_error();
  return reportUnwritable(diags, "-", error);
}

unsigned terminalWidth() {
  if (const char *columns = std::getenv("COLUMNS")) {
    unsigned width = 0;
    if (!StringRef(columns).getAsInteger(10, width) && width > 0)
      return width;
  }
  winsize size = {};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

} // namespace pipec
