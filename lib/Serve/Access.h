//===- Access.h - Who may use a local server ------------------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Serve/Http.h"

namespace pipec {

/// Admits the requests that carry a secret token and name this server as their
/// host. Other users of the machine do not know the token, and pages of other
/// sites, whose names may be made to mean 127.0.0.1, send their own host.
class Access {
public:
  /// `token` is a new one of 128 random bits if it is empty.
  explicit Access(unsigned port, std::string token = "");

  /// The address to open in a browser.
  std::string address() const;
  /// A response with status 403 unless the request is admitted.
  std::optional<HttpResponse> refuse(const HttpRequest &request) const;

private:
  unsigned port;
  std::string token;
};

} // namespace pipec
