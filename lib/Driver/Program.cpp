//===- Program.cpp - Loading programs with their imports ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Program.h"

#include "Driver/Io.h"
#include "Parse/Parser.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

/// A unique name for a file, independent of the path.
static std::string realPath(StringRef path) {
  SmallString<256> real;
  if (path == "-" || sys::fs::real_path(path, real))
    return path.str();
  return std::string(real);
}

FailureOr<ast::Module *> ProgramLoader::load(StringRef path, StringRef text) {
  std::string key = realPath(path);
  modules[key] = nullptr;
  loading.push_back(key);
  auto loaded = make_scope_exit([&] { loading.pop_back(); });
  FailureOr<ast::Module *> module = parsePipe(path, text, context, diags);
  if (failed(module))
    return failure();
  if (loading.size() == 1)
    mainModule = *module;
  bool good = true;
  StringRef folder = sys::path::parent_path((*module)->path);
  for (ast::ImportDecl &import : (*module)->imports)
    good &= succeeded(loadImport(import, folder));
  if (!good)
    return failure();
  modules[key] = *module;
  return module;
}

FailureOr<StringRef> ProgramLoader::read(const std::string &path,
                                         StringRef realPath, DiagLoc loc) {
  std::optional<std::string> text = unsaved ? unsaved(realPath) : std::nullopt;
  if (!text)
    return openInput(path, diags, maxSourceBytes, loc);
  Expected<StringRef> added =
      diags.sourceFiles().add(MemoryBuffer::getMemBufferCopy(*text, path));
  if (added)
    return *added;
  return diags.report(loc, diag::FileUnreadable, path,
                      toString(added.takeError()));
}

LogicalResult ProgramLoader::loadImport(ast::ImportDecl &import,
                                        StringRef from) {
  StringRef name = import.path.value;
  auto path = search.findImport(name, from);
  SmallString<256> here(sys::path::is_absolute(name) ? "" : from);
  sys::path::append(here, name);
  if (!search.mayImport(here) || (path && !search.mayImport(*path)))
    return diags.report(import.path.range, diag::ImportOutside, name,
                        search.importRoot());
  if (!path) {
    InFlightDiagnostic error =
        diags.report(import.path.range, diag::ImportNotFound, name);
    error.note(DiagLoc(), diag::NoteLookedIn, from.empty() ? "." : from);
    for (const std::string &folder : search.folders())
      error.note(DiagLoc(), diag::NoteLookedIn, folder);
    return failure();
  }
  std::string key = realPath(*path);
  if (auto known = modules.find(key); known != modules.end()) {
    import.module = known->second;
    if (import.module)
      return success();
    // The file is not completely loaded: it is on the current chain of imports,
    // or it has errors, which were reported.
    if (!is_contained(loading, key))
      return failure();
    InFlightDiagnostic error =
        diags.report(import.path.range, diag::ImportCycle, name);
    for (SMRange range : llvm::reverse(importedAt))
      error.note(range, diag::NoteImportedHere);
    return failure();
  }
  FailureOr<StringRef> text = read(*path, key, import.path.range);
  if (failed(text))
    return failure();
  importedAt.push_back(import.path.range);
  FailureOr<ast::Module *> module = load(*path, *text);
  importedAt.pop_back();
  if (failed(module))
    return failure();
  import.module = *module;
  return success();
}

} // namespace pipec
