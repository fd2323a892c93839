//===- EditorRun.h - Long commands of an editor -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "LanguageServer/Server.h"

namespace pipec::lsp {

/// A run of `pipec` that a command of the editor asks for. It is a process of
/// its own, so that the editor is answered meanwhile and can end it.
struct EditorRun {
  bool isSearch = false;
  std::string uri, path;
  int64_t version = 0;
  std::string schedule;
  /// Without the name of the program and without an output file.
  std::vector<std::string> arguments;
  /// The program, on standard input.
  std::string text;
  /// Where it finds imports first.
  std::string folder;

  /// `pipec search a`
  std::string title() const {
    return (isSearch ? "pipec search " : "pipec derive ") + schedule;
  }
};

/// What such a run has written.
struct CommandOutput {
  bool succeeded = false;
  /// Standard output, standard error, and the file of a search.
  std::string output, messages, file;
};

/// The answer to the editor.
struct CommandResult {
  /// The result of the request.
  llvm::json::Value answer = nullptr;
  /// A text for the user.
  std::string message;
  /// An edit of the workspace; null if there is nothing to change.
  llvm::json::Value edit = nullptr;
};

/// The last line of progress in a piece of standard error; empty without one.
llvm::StringRef progressIn(llvm::StringRef messages);

} // namespace pipec::lsp
