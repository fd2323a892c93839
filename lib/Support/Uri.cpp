//===- Uri.cpp - References to files --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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

std::string pathOfUri(StringRef uri) {
  StringRef rest = uri;
  if (!rest.consume_front_insensitive("file://"))
    return uri.str();
  // The name of the host precedes the path.
  rest = rest.drop_until([](char c) { return c == '/'; });
  std::string path;
  for (size_t i = 0; i < rest.size(); ++i) {
    unsigned byte = 0;
    if (rest[i] == '%' && i + 2 < rest.size() &&
        !rest.substr(i + 1, 2).getAsInteger(16, byte)) {
      path += char(byte);
      i += 2;
    } else {
      path += rest[i];
    }
  }
  return path;
}

} // namespace pipec
