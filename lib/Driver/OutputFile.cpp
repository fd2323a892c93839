//===- OutputFile.cpp - Writing output files atomically -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llvm::writeToOutput` and `sys::fs::TempFile` are unsuitable: they replace
// every `%` of the path, including those of its folders, and replace links and
// owners too.
//
//===----------------------------------------------------------------------===//

#include "Driver/Io.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"

#include <filesystem>

using namespace llvm;

namespace pipec {

/// The maximum number of links to follow; systems have similar limits.
static constexpr unsigned maxLinks = 40;
/// The maximum number of attempts to find a name for a temporary file.
static constexpr unsigned maxNames = 100;

/// The file at the end of the symbolic links from `path`. It may not exist.
static std::string followLinks(StringRef path) {
  std::filesystem::path file(path.str());
  std::error_code error;
  for (unsigned i = 0; i != maxLinks; ++i) {
    std::filesystem::path next = std::filesystem::read_symlink(file, error);
    if (error) // not a link
      break;
    file = file.parent_path() / next;
  }
  return file.string();
}

std::error_code OutputFile::open(raw_ostream &out) {
  if (path == "-") {
    os = &out;
    return {};
  }
  std::error_code error = openFile();
  if (error && owned)
    owned->clear_error();
  return error;
}

std::error_code OutputFile::openFile() {
  sys::fs::file_status status;
  std::error_code error = sys::fs::status(path, status);
  if (error && error != errc::no_such_file_or_directory)
    return error;
  bool exists = !error;
  if (exists && sys::fs::is_directory(status))
    return make_error_code(errc::is_a_directory);
  // A device or a pipe cannot be replaced by another file.
  if (exists && !sys::fs::is_regular_file(status)) {
    owned = std::make_unique<raw_fd_ostream>(path, error);
    os = owned.get();
    return error;
  }
  if (exists && (!(status.permissions() & sys::fs::all_write) ||
                 sys::fs::access(path, sys::fs::AccessMode::Write)))
    return make_error_code(errc::permission_denied);

  target = followLinks(path);
  if (std::error_code error = makeTemporary(exists, status))
    return error;
  owned = std::make_unique<raw_fd_ostream>(descriptor, /*shouldClose=*/false);
  os = owned.get();
  return {};
}

/// Creates the file to write, for a target with the status `old` if it exists.
std::error_code OutputFile::makeTemporary(bool exists,
                                          const sys::fs::file_status &old) {
  std::error_code error = createBeside();
  if (!exists)
    return error;
  if (!error) {
    sys::fs::file_status made;
    inPlace = old.getLinkCount() != 1 || sys::fs::status(descriptor, made) ||
              made.getUser() != old.getUser() ||
              made.getGroup() != old.getGroup() ||
              sys::fs::setPermissions(descriptor, old.permissions());
    return {};
  }
  // New files cannot be created in the folder.
  inPlace = true;
  SmallString<128> name;
  error = sys::fs::createTemporaryFile("pipec", "tmp", descriptor, name);
  if (!error) {
    temporary = std::string(name);
    sys::RemoveFileOnSignal(temporary);
  }
  return error;
}

std::error_code OutputFile::createBeside() {
  std::error_code error;
  for (unsigned i = 0; i != maxNames; ++i) {
    SmallString<128> name = sys::path::parent_path(target);
    sys::path::append(
        name, formatv(".pipec-{0:x-8}.tmp", sys::Process::GetRandomNumber()));
    error = sys::fs::openFileForReadWrite(
        name, descriptor, sys::fs::CD_CreateNew, sys::fs::OF_None);
    if (error == errc::file_exists)
      continue;
    if (!error) {
      temporary = std::string(name);
      sys::RemoveFileOnSignal(temporary);
    }
    break;
  }
  return error;
}

OutputFile::~OutputFile() {
  if (owned)
    owned->clear_error();
  owned.reset();
  removeTemporary();
}

void OutputFile::removeTemporary() {
  if (temporary.empty())
    return;
  (void)sys::Process::SafelyCloseFileDescriptor(descriptor);
  (void)sys::fs::remove(temporary);
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
}

std::error_code OutputFile::commit() {
  os->flush();
  // A stream of the caller only reports errors if it is a file stream.
  raw_fd_ostream *file = owned.get();
  if (os == &outs())
    file = &outs();
  std::error_code error;
  if (file) {
    error = file->error();
    file->clear_error();
  }
  if (error || temporary.empty())
    return error;
  return inPlace ? copyToTarget() : moveToTarget();
}

std::error_code OutputFile::moveToTarget() {
  if (std::error_code error = sys::fs::rename(temporary, target))
    return error;
  sys::DontRemoveFileOnSignal(temporary);
  temporary.clear();
  return sys::Process::SafelyCloseFileDescriptor(descriptor);
}

std::error_code OutputFile::copyToTarget() {
  auto text = MemoryBuffer::getOpenFile(descriptor, temporary, /*FileSize=*/-1,
                                        /*RequiresNullTerminator=*/false);
  if (!text)
    return text.getError();
  int file;
  if (std::error_code error =
          sys::fs::openFileForWrite(target, file, sys::fs::CD_OpenExisting))
    return error;
  auto close =
      make_scope_exit([&] { sys::Process::SafelyCloseFileDescriptor(file); });
  sys::fs::file_status old;
  if (std::error_code error = sys::fs::status(file, old))
    return error;
  // Allocates the space on disk before the first byte is overwritten.
  uint64_t size = (*text)->getBufferSize();
  if (size > old.getSize())
    if (std::error_code error = sys::fs::resize_file(file, size)) {
      (void)sys::fs::resize_file(file, old.getSize());
      return error;
    }
  raw_fd_ostream out(file, /*shouldClose=*/false);
  out << (*text)->getBuffer();
  out.flush();
  std::error_code error = out.error();
  out.clear_error();
  if (!error && size < old.getSize())
    error = sys::fs::resize_file(file, size);
  return error;
}

} // namespace pipec
