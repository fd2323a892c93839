//===- Program.h - Finding and loading programs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "AST/Decl.h"
#include "Support/DiagEngine.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// The paths in a folder whose names have this ending, sorted; empty without
/// the folder.
std::vector<std::string> filesIn(llvm::StringRef folder,
                                 llvm::StringRef ending);

/// The names by which the programs of a folder are found: those of the files,
/// in alphabetical order, each followed by the aliases of its schedules. A
/// program with errors has no aliases.
std::vector<std::string> programNames(llvm::StringRef folder);

/// The path of the running program; `name` is its first argument: a
/// name in the PATH is looked up, and symbolic links are followed.
std::string programPath(const char *name);

/// The schedule in a folder of `pipec plan`.
inline constexpr llvm::StringLiteral planSchedule = "schedule.steps";

/// The folders in which programs are found by name: those of `-I`, followed by
/// the library that is installed with the compiler.
class SearchPath {
public:
  /// `program` is the path of the running program; the library is in
  /// `../share/pipec/schedules` relative to it.
  /// If `importRoot` is not empty, imports outside it are refused.
  SearchPath(llvm::StringRef program, llvm::ArrayRef<llvm::StringRef> includes,
             llvm::StringRef importRoot = "");

  /// The same library with other folders of `-I`.
  SearchPath with(llvm::ArrayRef<llvm::StringRef> includes) const;

  /// The file that `input` on the command line refers to: a path, or in one of
  /// the folders the name of a file, or an alias of a schedule of a program;
  /// otherwise a folder of `pipec plan`, for the schedule in it.
  std::optional<std::string> findInput(llvm::StringRef input) const;
  /// The file that `import "name"` in a file of folder `from` refers to.
  std::optional<std::string> findImport(llvm::StringRef name,
                                        llvm::StringRef from) const;

  /// False for a file outside the root of imports and all folders, after links
  /// are resolved.
  bool mayImport(llvm::StringRef path) const;

  llvm::ArrayRef<std::string> folders() const { return all; }
  llvm::StringRef importRoot() const { return root; }
  /// The folder of the installed library.
  llvm::StringRef libraryFolder() const { return library; }
  /// The programs of the installed library, sorted by name.
  std::vector<std::string> libraryFiles() const;

private:
  SearchPath() = default;
  std::optional<std::string> findAlias(llvm::StringRef name) const;

  std::vector<std::string> all;
  std::string library;
  std::string root;
};

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
