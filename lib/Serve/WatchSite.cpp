//===- WatchSite.cpp - The page that watch serves -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/WatchSite.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

namespace pipec {

/// Loads the page again when there is a new version.
static constexpr char watchScript[] =
#include "Serve/watch.js.inc"
    ;

void WatchSite::update(bool written, StringRef text) {
  std::lock_guard<std::mutex> lock(mutex);
  version += written;
  messages = written ? "" : text.str();
}

HttpResponse WatchSite::answer(const HttpRequest &request) {
  HttpResponse response;
  std::lock_guard<std::mutex> lock(mutex);
  if (request.method != "GET" && request.method != "HEAD") {
    response.status = 405;
  } else if (request.path == "/version") {
    raw_string_ostream os(response.body);
    os << json::Value(json::Object{{"version", version},
                                   {"messages", json::fixUTF8(messages)}});
  } else if (request.path == "/") {
    response.type = "text/html; charset=utf-8";
    response.policy = "default-src 'none'; script-src 'unsafe-inline'; "
                      "style-src 'unsafe-inline'; img-src data: blob:; "
                      "connect-src 'self'; base-uri 'none'; form-action "
                      "'none'; frame-ancestors 'none'";
    auto page = MemoryBuffer::getFile(file);
    if (version && page)
      response.body = (*page)->getBuffer().str();
    else
      response.body = "<!DOCTYPE html>\n<html lang=\"en\"><meta "
                      "charset=\"utf-8\"><title>pipec watch</title>\n";
    response.body += "<script>\n\"use strict\";\nconst pipecVersion = " +
                     std::to_string(version) + ";\n" + watchScript +
                     "</script>\n";
  } else {
    response.status = 404;
  }
  return response;
}

} // namespace pipec
