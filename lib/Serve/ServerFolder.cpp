//===- ServerFolder.cpp - The folder of a local server --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/ServerFolder.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;

namespace pipec {

static constexpr StringLiteral prefix = "pipec-serve-";

/// Opens a folder of this user and locks it. Returns -1 if it is not one, or if
/// another process has the lock. A file system without locks is enough for a
/// folder that `isNew`: others cannot lock it either, and leave it.
static int lockFolder(const std::string &path, bool isNew) {
  int fd = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0)
    return -1;
  struct stat of, now;
  if (fstat(fd, &of) == 0 && of.st_uid == geteuid() &&
      (flock(fd, LOCK_EX | LOCK_NB) == 0 || (isNew && errno != EWOULDBLOCK)) &&
      lstat(path.c_str(), &now) == 0 && of.st_dev == now.st_dev &&
      of.st_ino == now.st_ino)
    return fd;
  close(fd);
  return -1;
}

/// Removes the folders whose servers have ended without removing them. A folder
/// that another process has just made may be among them; that process then
/// makes another one.
static void removeStale(StringRef parent) {
  std::error_code error;
  for (sys::fs::directory_iterator it(parent, error, false), end;
       !error && it != end; it.increment(error)) {
    if (!sys::path::filename(it->path()).starts_with(prefix))
      continue;
    int lock = lockFolder(it->path(), /*isNew=*/false);
    if (lock < 0)
      continue;
    (void)sys::fs::remove_directories(it->path());
    close(lock);
  }
}

ServerFolder::ServerFolder() {
  SmallString<128> parent;
  sys::path::system_temp_directory(/*ErasedOnReboot=*/true, parent);
  removeStale(parent);
  for (int tries = 0; tries != 100 && lock < 0; ++tries) {
    SmallString<128> path = parent;
    sys::path::append(path, prefix + "XXXXXX");
    name = std::string(path);
    if (!mkdtemp(name.data()))
      return;
    lock = lockFolder(name, /*isNew=*/true);
  }
}

void ServerFolder::remove() {
  if (lock < 0)
    return;
  (void)sys::fs::remove_directories(name);
  close(lock);
  lock = -1;
}

RunFolder::RunFolder(std::string path) : name(std::move(path)) {
  (void)sys::fs::create_directory(name);
}

RunFolder::~RunFolder() { (void)sys::fs::remove_directories(name); }

void RunFolder::write(StringRef stem, StringRef contents) const {
  std::error_code error;
  raw_fd_ostream os(file(stem), error);
  if (!error)
    os << contents;
  os.close();
  os.clear_error();
}

std::optional<std::string> RunFolder::read(StringRef stem) const {
  auto buffer = MemoryBuffer::getFile(file(stem));
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

} // namespace pipec
