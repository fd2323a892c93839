//===- Completer.h - The completion of one word -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state that ShellCompletion.cpp (words and options) and
// CompletionValues.cpp (values of options and parameters) share.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "AST/Decl.h"
#include "Command/Command.h"
#include "Driver/Arguments.h"
#include "Driver/Program.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// Completes the last word of a command line. Each candidate is a line, with a
/// whole word, a tab and a description:
///
///     --emit=csv<tab>the CSV of torch.distributed.pipelining
///
/// A word that ends with `=` or `-` is not complete. A line that begins with a
/// tab means that names of files fit too, after the text that follows the tab.
class Completer {
public:
  /// `words` are those up to the cursor, without the name of the program; the
  /// last one may be empty.
  Completer(llvm::ArrayRef<std::string> words, const SearchPath &library,
            llvm::raw_ostream &os);

  void run();

private:
  // In all of these `typed` is the end of the current word which is completed;
  // candidates repeat the text before it.
  void add(llvm::StringRef typed, const llvm::Twine &word,
           llvm::StringRef description);
  void addFiles(llvm::StringRef typed);
  void addSchedules(llvm::StringRef typed);

  void completeOption();
  void completeValue(const OptionInfo &info, llvm::StringRef typed);
  void completeWord(llvm::StringRef typed);
  void completePasses(llvm::StringRef typed);
  void completeWarning(llvm::StringRef typed);
  void completeGrades(llvm::StringRef typed);
  void completeCosts(llvm::StringRef typed);
  void completeParameter(llvm::StringRef typed);

  std::vector<const ast::ScheduleDecl *> inputSchedules();
  std::vector<llvm::StringRef> inputs() const;

  /// The command, and the words between it and the cursor.
  const CommandInfo *command;
  llvm::ArrayRef<std::string> before;
  /// True if the command would be the current word.
  bool first = false;
  /// True if the words after `pipec help` are completed.
  bool help = false;
  llvm::StringRef current;

  std::optional<Arguments> args;
  SearchPath search;
  llvm::raw_ostream &os;
  size_t numFound = 0;
  // Errors in the typed words are not reported.
  SourceFiles sources;
  DiagEngine diags;
  ast::Context context;
};

} // namespace pipec
