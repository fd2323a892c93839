//===- Http.cpp - Who may use a local server ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/Http.h"

#include "llvm/ADT/StringExtras.h"

#include <cstdint>
#include <cstdlib>
#include <random>

using namespace llvm;

namespace pipec {

static std::string makeToken() {
  std::random_device random; // the system's generator, not seeded
  std::string token;
  for (int i = 0; i != 4; ++i)
    token += utohexstr(random(), /*LowerCase=*/true, /*Width=*/8);
  return token;
}

Access::Access(unsigned port, std::string given)
    : port(port), token(given.empty() ? makeToken() : std::move(given)) {}

std::string Access::address() const {
  return "http://127.0.0.1:" + utostr(port) + "/?token=" + token;
}

/// Compares in a time that does not depend on where the texts differ.
static bool isSame(StringRef a, StringRef b) {
  unsigned difference = a.size() != b.size();
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    difference |= uint8_t(a[i]) ^ uint8_t(b[i]);
  return difference == 0;
}

std::optional<HttpResponse> Access::refuse(const HttpRequest &request) const {
  std::string number = utostr(port);
  bool isHere = request.host == "127.0.0.1:" + number ||
                request.host == "localhost:" + number;
  if (isHere && isSame(request.parameter("token"), token))
    return std::nullopt;
  HttpResponse response;
  response.status = 403;
  response.type = "text/plain";
  response.body = "The address needs the token that pipec printed.\n";
  return response;
}

} // namespace pipec
