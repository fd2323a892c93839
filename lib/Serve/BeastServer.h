//===- BeastServer.h - A server with Boost.Beast -------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_BEASTSERVER_H
#define PIPEC_SERVE_BEASTSERVER_H

#include "Serve/Http.h"

namespace pipec {

/// Creates a server with Boost.Beast; the only file that includes that library
/// is BeastServer.cpp. Null if the system has no files for it; errno says why.
std::unique_ptr<HttpServer> makeBeastServer();

} // namespace pipec

#endif // PIPEC_SERVE_BEASTSERVER_H
