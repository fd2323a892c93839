//===- Program.h - Loading programs with their imports ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Driver/Library.h"
#include "Support/DiagEngine.h"

#include <functional>
#include <map>
#include <optional>

namespace pipec {

/// The text of a file in an editor, which replaces the one on disk; nothing for
/// a file that is not open. The argument is the real path of the file.
using UnsavedText =
    std::function<std::optional<std::string>(llvm::StringRef path)>;

/// Reads files and the files that they import, each once.
class ProgramLoader {
public:
  ProgramLoader(const SearchPath &search, ast::Context &context,
                DiagEngine &diags, UnsavedText unsaved = nullptr)
      : search(search), context(context), diags(diags),
        unsaved(std::move(unsaved)) {}

  /// Parses `text`, which was read from `path`, and all its imports. Reports
  /// missing and invalid files, and cyclic imports.
  llvm::FailureOr<ast::Module *> load(llvm::StringRef path,
                                      llvm::StringRef text);
  /// The file that was given to `load`, also if one of its imports has errors;
  /// null if it has syntax errors itself.
  ast::Module *main() const { return mainModule; }

private:
  llvm::FailureOr<llvm::StringRef> read(const std::string &path,
                                        llvm::StringRef realPath, DiagLoc loc);
  llvm::LogicalResult loadImport(ast::ImportDecl &import, llvm::StringRef from);

  const SearchPath &search;
  ast::Context &context;
  DiagEngine &diags;
  UnsavedText unsaved;
  ast::Module *mainModule = nullptr;
  /// All files by real path; null while a file is being loaded, or if it has
  /// errors.
  std::map<std::string, ast::Module *> modules;
  /// The real paths of the files that are being loaded, each imported by the
  /// previous one, and the imports that led to them.
  std::vector<std::string> loading;
  std::vector<llvm::SMRange> importedAt;
};

} // namespace pipec
