//===- OrderFiles.cpp - Files that an order of the page needs -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/OrderFiles.h"

using namespace llvm;

namespace pipec {

OrderFiles::OrderFiles(const ProgramOrder &order, TemporaryFolder &folder) {
  if (!order.withSteps.empty())
    where.steps = add(folder.file("with", ".steps"), order.withSteps, "found");
  if (!order.profile.empty())
    where.profile =
        add(folder.file("profile", ".json"), order.profile, "profile");
}

/// Writes a file, which messages call `name`, and returns its path.
std::string OrderFiles::add(TemporaryFile file, StringRef contents,
                            StringRef name) {
  file.write(contents);
  files.push_back(std::move(file));
  shown.emplace_back(files.back().path(), name.str());
  return files.back().path();
}

} // namespace pipec
