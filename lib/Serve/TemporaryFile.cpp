//===- TemporaryFile.cpp - Files for one run of the compiler --------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/TemporaryFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

TemporaryFile::~TemporaryFile() {
  if (!name.empty())
    (void)sys::fs::remove(name);
}

void TemporaryFile::write(StringRef contents) const {
  std::error_code error;
  raw_fd_ostream os(name, error);
  if (!error)
    os << contents;
  os.close();
  os.clear_error();
}

std::optional<std::string> TemporaryFile::read() const {
  auto buffer = MemoryBuffer::getFile(name);
  if (!buffer)
    return std::nullopt;
  return (*buffer)->getBuffer().str();
}

TemporaryFile TemporaryFolder::file(StringRef stem, StringRef extension) {
  SmallString<256> name(path);
  sys::path::append(name, stem + Twine(++last) + extension);
  return TemporaryFile(std::string(name));
}

} // namespace pipec
