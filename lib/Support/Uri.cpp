//===- Uri.cpp - References to files --------------------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support/Uri.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;

namespace pipec {

std::string uriOfPath(StringRef path) {
  std::string uri = path.starts_with("/") ? "file://" : "";
  for (char c : path) {
    if (isAlnum(c) || StringRef("/._-~").contains(c))
      uri += c;
    else
      uri += "%" + toHex(StringRef(&c, 1));
  }
  return uri;
}

} // namespace pipec
