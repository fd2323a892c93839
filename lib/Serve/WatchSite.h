//===- WatchSite.h - The page that watch serves --------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Serve/Http.h"

#include "llvm/ADT/StringRef.h"

#include <mutex>

namespace pipec {

/// Serves the page in one file, with a script that loads it again when there is
/// a new version, and shows the messages of the last compilation otherwise.
class WatchSite {
public:
  explicit WatchSite(std::string file) : file(std::move(file)) {}

  /// A compilation has ended: with a new page, or with errors.
  void update(bool written, llvm::StringRef messages);
  HttpResponse answer(const HttpRequest &request);

private:
  const std::string file;
  std::mutex mutex;
  int64_t version = 0;
  std::string messages;
};

} // namespace pipec
