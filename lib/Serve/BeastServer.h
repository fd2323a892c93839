//===- BeastServer.h - A server with Boost.Beast -------------- -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Serve/Http.h"

namespace pipec {

/// Creates a server with Boost.Beast; the only file that includes that library
/// is BeastServer.cpp. Null if the system has no files for it; errno says why.
std::unique_ptr<HttpServer> makeBeastServer();

} // namespace pipec
