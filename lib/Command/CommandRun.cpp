//===- CommandRun.cpp - What all commands have in common ------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/CommandRun.h"

#include "Driver/Input.h"

using namespace llvm;

namespace pipec {

CommandFlags::CommandFlags(StringRef title, StringRef output)
    : category(title),
      includes("I", cl::Prefix,
               cl::desc("Look for imports and programs in this folder"),
               cl::value_desc("FOLDER"), cl::cat(category)),
      output(category, output), diags(category) {}

FormatFlag::FormatFlag(cl::OptionCategory &category, StringRef help)
    : name("format", cl::desc(help), cl::value_desc("FORMAT"), cl::init("text"),
           cl::cat(category)) {}

LogicalResult FormatFlag::check(DiagEngine &diags) const {
  if (name == "text" || name == "json")
    return success();
  return unusable(diags, "no format `" + name + "`");
}

/// The path of the program that runs; any function of it serves to find it.
static std::string programPath(const char *name) {
  return sys::fs::getMainExecutable(name,
                                    reinterpret_cast<void *>(&programPath));
}

CommandRun::CommandRun(const CommandLine &line, const CommandFlags &flags,
                       DiagSession &session)
    : session(session), diags(session.engine()), progress(session.progress()),
      search(programPath(line.argv[0]), flags.includes), err(line.err),
      output(flags.output), out(line.out) {}

LogicalResult
CommandRun::write(function_ref<LogicalResult(raw_ostream &)> writer) const {
  return output.write(out, session, writer);
}

LogicalResult
CommandRun::write(const FormatFlag &format,
                  function_ref<void(raw_ostream &)> text,
                  function_ref<void(json::OStream &)> json) const {
  return write([&](raw_ostream &os) {
    if (format.isJson()) {
      json::OStream object(os, /*IndentSize=*/2);
      object.object([&] { json(object); });
      os << '\n';
    } else {
      text(os);
    }
    return success();
  });
}

int runCommand(const CommandLine &line, CommandFlags &flags, StringRef overview,
               function_ref<LogicalResult(const CommandRun &)> run) {
  DiagSession session("pipec", line.err);
  if (failed(parseCommandLine(line.argc, line.argv, flags.category, overview,
                              flags.diags, session)))
    return session.finish(failure());
  CommandRun context(line, flags, session);
  return session.finish(run(context));
}

} // namespace pipec
