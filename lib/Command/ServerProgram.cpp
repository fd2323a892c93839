//===- ServerProgram.cpp - The program with a server ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Command/ServerProgram.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"

#include <cerrno>
#include <unistd.h>

using namespace llvm;

namespace pipec {

/// The path of the program `name` in the folder of this one.
static std::string besideThis(const CommandRun &run, StringRef name) {
  SmallString<256> path(run.program);
  sys::path::remove_filename(path);
  sys::path::append(path, name);
  return std::string(path);
}

bool hasServerProgram(const CommandRun &run) {
  return sys::fs::can_execute(besideThis(run, "pipec-serve"));
}

LogicalResult runServerProgram(const CommandRun &run) {
  std::string path = besideThis(run, "pipec-serve");
  std::vector<char *> arguments;
  for (const char *argument : run.commandLine)
    arguments.push_back(const_cast<char *>(argument));
  arguments.push_back(nullptr);
  run.standardOutput().flush();
  execv(path.c_str(), arguments.data());
  return reportUsageError(run.diags,
                          "`pipec " + Twine(run.commandLine[1]) +
                              "` needs the program pipec-serve, which is not "
                              "in the folder of pipec");
}

std::string compilerPath(const CommandRun &run) {
  std::string path = besideThis(run, "pipec");
  return sys::fs::can_execute(path) ? path : run.program;
}

LogicalResult checkPort(const CommandRun &run) {
  std::optional<unsigned> port = run.args.number(Opt::Port);
  if (port && *port > 65535)
    return reportUsageError(run.diags, "--port must be from 0 to 65535");
  return success();
}

FailureOr<std::unique_ptr<HttpServer>> openServer(const CommandRun &run,
                                                  unsigned &port) {
  unsigned wanted = run.args.number(Opt::Port).value_or(0);
  std::unique_ptr<HttpServer> server = run.server->makeServer();
  errno = 0;
  port = server->open(wanted);
  if (!port)
    return reportUsageError(
        run.diags,
        "port " + Twine(wanted) + " of 127.0.0.1 cannot be used: " +
            std::generic_category().message(errno ? errno : EADDRINUSE));
  return server;
}

void leaveProcess(const CommandRun &run) {
  run.standardOutput().flush();
  sys::Process::Exit(0, /*NoCleanup=*/true);
}

} // namespace pipec
