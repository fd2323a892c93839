//===- Http.h - Requests and responses of a local server ------ -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

namespace pipec {

/// The parts of a request that a site uses.
struct HttpRequest {
  std::string method;
  /// Without the query.
  std::string path;
  /// The parameters. Escapes are not decoded, here and in the path.
  std::multimap<std::string, std::string> query;
  /// The value of the `Host` header; empty unless there is exactly one.
  std::string host;
  /// Empty until the head of the request has been accepted.
  std::string body;

  /// The value of a query parameter that is given exactly once, else empty.
  std::string parameter(const std::string &name) const {
    auto [begin, end] = query.equal_range(name);
    return begin != end && std::next(begin) == end ? begin->second : "";
  }
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::string body;
  /// The value of `Content-Security-Policy`.
  std::string policy = "default-src 'none'";
};

/// A server for HTTP on 127.0.0.1. Every member may be called from any thread.
class HttpServer {
public:
  /// Accepts a request by its head (nullopt) or refuses it with a response.
  using Gate =
      std::function<std::optional<HttpResponse>(const HttpRequest &request)>;
  /// The maximum number of bytes in the body of an accepted request, from its
  /// head.
  using BodyLimit = std::function<size_t(const HttpRequest &request)>;
  /// Answers an accepted request; called on several threads at a time.
  using Site = std::function<HttpResponse(const HttpRequest &request)>;

  virtual ~HttpServer() = default;
  /// Opens `port`, or any free one if it is 0. Returns the port, or 0 if that
  /// fails; errno has the reason.
  virtual unsigned open(unsigned port) = 0;
  /// Serves the open port until `stop` is called.
  virtual void run(Gate gate, BodyLimit limit, Site site) = 0;
  virtual void stop() = 0;
};

/// Creates a server; null if it cannot, errno says why.
using MakeHttpServer = std::unique_ptr<HttpServer> (*)();

/// The maximum number of bytes in the body of a usual request.
inline constexpr size_t maxBodyBytes = size_t(1) << 20;

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

/// Creates a server with Boost.Beast (BeastServer.cpp). Null if the system has
/// no files for it; errno says why.
std::unique_ptr<HttpServer> makeBeastServer();

} // namespace pipec
