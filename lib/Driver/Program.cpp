//===- Program.cpp - Finding and loading programs -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Driver/Program.h"

#include "Driver/Io.h"
#include "Parse/Parser.h"
#include "Support/Diagnostics/CommandDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

std::string programPath(const char *name) {
  // Any function of the program serves to find it.
  return sys::fs::getMainExecutable(name,
                                    reinterpret_cast<void *>(&programPath));
}

SearchPath::SearchPath(StringRef program, ArrayRef<StringRef> includes,
                       StringRef importRoot)
    : root(importRoot) {
  for (StringRef folder : includes)
    all.push_back(folder.str());
  SmallString<256> folder(program);
  sys::path::remove_filename(folder);
  sys::path::append(folder, "..", "share", "pipec", "schedules");
  sys::path::remove_dots(folder, /*remove_dot_dot=*/true);
  library = std::string(folder);
  all.push_back(library);
}

SearchPath SearchPath::with(ArrayRef<StringRef> includes) const {
  SearchPath other;
  for (StringRef folder : includes)
    other.all.push_back(folder.str());
  other.library = library;
  other.all.push_back(library);
  return other;
}

static std::optional<std::string> fileIn(StringRef folder, StringRef name) {
  SmallString<256> path(folder);
  sys::path::append(path, name);
  if (sys::fs::exists(path) && !sys::fs::is_directory(path))
    return std::string(path);
  return std::nullopt;
}

std::vector<std::string> filesIn(StringRef folder, StringRef ending) {
  std::vector<std::string> files;
  std::error_code error;
  for (sys::fs::directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error))
    if (StringRef(it->path()).ends_with(ending))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}

static std::vector<std::string> programsIn(StringRef folder) {
  return filesIn(folder, ".pipe");
}
std::optional<std::string> SearchPath::findInput(StringRef input) const {
  if (input == "-" || (sys::fs::exists(input) && !sys::fs::is_directory(input)))
    return input.str();
  std::optional<std::string> ofPlan = fileIn(input, planSchedule);
  // An input that is written as a path is not looked up by name.
  if (input.empty() || sys::path::has_parent_path(input))
    return input.empty() ? std::nullopt : ofPlan;
  std::string name = input.str();
  if (!sys::path::has_extension(input))
    name += ".pipe";
  for (const std::string &folder : all)
    if (auto found = fileIn(folder, name))
      return found;
  std::optional<std::string> aliased = findAlias(input);
  return aliased ? aliased : ofPlan;
}

/// The aliases of the schedules of a program; none if it has errors. Programs
/// without the text `word`, which all wanted aliases need, are not parsed.
static std::vector<std::string> aliasesIn(StringRef path, StringRef word) {
  std::vector<std::string> aliases;
  auto text = MemoryBuffer::getFile(path);
  if (!text || !(*text)->getBuffer().contains(word))
    return aliases;
  SourceFiles files;
  DiagEngine silent(files, [](const Diagnostic &) {});
  ast::Context context;
  FailureOr<ast::Module *> module =
      parsePipe(path, (*text)->getBuffer(), context, silent);
  if (succeeded(module))
    for (const ast::ScheduleDecl *schedule : (*module)->schedules)
      for (const ast::StringLit &alias : schedule->aliases())
        aliases.push_back(alias.value.str());
  return aliases;
}

std::optional<std::string> SearchPath::findAlias(StringRef name) const {
  std::string quoted = ("\"" + name + "\"").str();
  for (const std::string &folder : all)
    for (const std::string &path : programsIn(folder))
      if (is_contained(aliasesIn(path, quoted), name))
        return path;
  return std::nullopt;
}

std::vector<std::string> programNames(StringRef folder) {
  std::vector<std::string> names;
  for (const std::string &path : programsIn(folder)) {
    names.push_back(sys::path::stem(path).str());
    llvm::append_range(names, aliasesIn(path, "alias"));
  }
  return names;
}

std::optional<std::string> SearchPath::findImport(StringRef name,
                                                  StringRef from) const {
  if (name.empty())
    return std::nullopt;
  if (sys::path::is_absolute(name))
    return fileIn("", name);
  if (auto found = fileIn(from, name))
    return found;
  for (const std::string &folder : all)
    if (auto found = fileIn(folder, name))
      return found;
  return std::nullopt;
}

/// The absolute path without links and `..`; that of a missing file follows
/// from its name.
static std::string resolved(StringRef path) {
  SmallString<256> full;
  if (sys::fs::real_path(path, full)) {
    full = path;
    (void)sys::fs::make_absolute(full);
    sys::path::remove_dots(full, /*remove_dot_dot=*/true);
  }
  return std::string(full);
}

bool SearchPath::mayImport(StringRef path) const {
  if (root.empty())
    return true;
  std::string file = resolved(path);
  auto contains = [&](StringRef folder) {
    std::string prefix = StringRef(resolved(folder)).rtrim('/').str() + "/";
    return StringRef(file).starts_with(prefix);
  };
  return contains(root) || any_of(all, contains);
}

std::vector<std::string> SearchPath::libraryFiles() const {
  return programsIn(library);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

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
