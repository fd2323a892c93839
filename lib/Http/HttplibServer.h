//===- HttplibServer.h - A server with cpp-httplib ------------ -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_HTTP_HTTPLIBSERVER_H
#define PIPEC_HTTP_HTTPLIBSERVER_H

#include "Serve/Http.h"

namespace pipec {

/// Creates a server with cpp-httplib. The only library that knows it, so that
/// the other programs do not load it and what it needs.
std::unique_ptr<HttpServer> makeHttplibServer();

} // namespace pipec

#endif // PIPEC_HTTP_HTTPLIBSERVER_H
