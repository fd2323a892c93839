//===- BeastServer.cpp - A server with Boost.Beast ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One thread reads and writes all connections and calls the gate. The site
// answers each accepted request on a thread of its own, so that a request can
// end another one. A slow client holds a connection, but no thread. Connections
// without an accepted request have a limit of their own, beyond which the
// oldest is closed, so that they do not keep others waiting.
//
//===----------------------------------------------------------------------===//

#include "Serve/Http.h"

#include "llvm/ADT/StringRef.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>

#include <cerrno>
#include <chrono>
#include <deque>
#include <limits>
#include <list>
#include <new>
#include <system_error>
#include <thread>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using boost::beast::error_code;

namespace pipec {

/// The number of connections at a time that have sent a request which the gate
/// accepted, and of others.
static constexpr unsigned maxAdmitted = 64, maxUnknown = 192;
/// The time for a head, which includes the wait for it, and for each part of a
/// body and of a response.
static constexpr auto ioTime = std::chrono::seconds(5);
/// The maximum number of bytes in the head of a request.
static constexpr uint32_t maxHeadBytes = uint32_t(1) << 14;
/// The maximum number of bytes that are read in advance: also of what precedes
/// and follows the chunks of a body.
static constexpr size_t maxBufferBytes = size_t(1) << 17;
/// The time after which a connection that could not be accepted is tried again.
static constexpr auto retryTime = std::chrono::milliseconds(100);

namespace {

class BeastServer;

/// Serves one connection after the other.
class Connection {
public:
  explicit Connection(BeastServer &server);
  Connection(const Connection &) = delete;
  Connection &operator=(const Connection &) = delete;

  void accept();
  /// Waits until the site has answered the request that was read last.
  void finish();

private:
  void waitIn(std::list<Connection *> &list);
  void stopWaiting();
  void leave();
  void close();
  void readHead();
  void checkHead();
  bool admit();
  void admitBody();
  void readBody();
  void answer();
  void refuse(error_code error);
  void refuse(int status, const char *why);
  void respond(HttpResponse from, bool isLast);
  void write();
  void dropBody();
  void discard();

  HttpRequest head() const;

  using Body = http::string_body;
  BeastServer &server;
  /// True after the gate has accepted a request of the client.
  bool isAdmitted = false;
  /// The list of connections that may be closed which this one is in, and the
  /// place there.
  std::list<Connection *> *waiting = nullptr;
  std::list<Connection *>::iterator place;
  asio::steady_timer retry;
  std::optional<boost::beast::tcp_stream> stream;
  boost::beast::flat_buffer buffer{maxBufferBytes};
  std::optional<http::request_parser<Body>> parser;
  http::response<Body> response;
  std::optional<http::response_serializer<Body>> serializer;
  std::thread worker;
};

class BeastServer : public HttpServer {
public:
  unsigned open(unsigned port) override;
  void run(Gate gate, BodyLimit limit, Site site) override;
  void stop() override { context.stop(); }

private:
  friend class Connection;

  HttpResponse answer(const HttpRequest &request) const;

  // Destroyed in reverse order: the context drops pending operations last.
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  Gate gate;
  BodyLimit bodyLimit;
  Site site;
  std::deque<Connection> connections;
  /// Those without an accepted request, and those that are admitted and between
  /// two requests; the oldest first.
  std::list<Connection *> unknown, idle;
  unsigned numAdmitted = 0;
};

} // namespace

Connection::Connection(BeastServer &server)
    : server(server), retry(server.context) {}

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

void Connection::waitIn(std::list<Connection *> &list) {
  waiting = &list;
  place = list.insert(list.end(), this);
}

void Connection::stopWaiting() {
  if (waiting)
    waiting->erase(place);
  waiting = nullptr;
}

/// Gives up the place of the last client.
void Connection::leave() {
  stopWaiting();
  server.numAdmitted -= isAdmitted;
  isAdmitted = false;
}

/// Cancels the pending operation, whose handler accepts the next client.
void Connection::close() {
  leave();
  stream->close();
}

void Connection::accept() {
  leave();
  stream.emplace(server.context);
  parser.reset();
  buffer = boost::beast::flat_buffer(maxBufferBytes);
  dropBody();
  server.acceptor.async_accept(stream->socket(), [this](error_code error) {
    if (!error) {
      stream->socket().set_option(tcp::no_delay(true), error);
      waitIn(server.unknown);
      if (server.unknown.size() > maxUnknown)
        server.unknown.front()->close();
      return readHead();
    }
    // The process has too many open files, or the client has left.
    retry.expires_after(retryTime);
    retry.async_wait([this](error_code) { accept(); });
  });
}

void Connection::readHead() {
  parser.emplace();
  parser->header_limit(maxHeadBytes);
  // The body is limited when the head has been accepted.
  parser->body_limit(std::numeric_limits<uint64_t>::max());
  stream->expires_after(ioTime);
  http::async_read_header(*stream, buffer, *parser,
                          [this](error_code error, size_t) {
                            error ? refuse(error) : checkHead();
                          });
}

HttpRequest Connection::head() const {
  const http::request<Body> &from = parser->get();
  HttpRequest request;
  request.method = std::string(from.method_string());
  auto [path, query] =
      llvm::StringRef(from.target().data(), from.target().size()).split('?');
  request.path = path.str();
  while (!query.empty()) {
    auto [parameter, rest] = query.split('&');
    auto [name, value] = parameter.split('=');
    request.query.emplace(name.str(), value.str());
    query = rest;
  }
  if (from.count(http::field::host) == 1)
    request.host = std::string(from[http::field::host]);
  return request;
}

/// Takes a place of those whose requests are accepted; false if there is none.
bool Connection::admit() {
  if (isAdmitted) {
    stopWaiting();
    return true;
  }
  if (server.numAdmitted == maxAdmitted && !server.idle.empty())
    server.idle.front()->close();
  if (server.numAdmitted == maxAdmitted)
    return false;
  stopWaiting();
  ++server.numAdmitted;
  return isAdmitted = true;
}

void Connection::checkHead() {
  // A body may follow, which is not read.
  if (std::optional<HttpResponse> refused = server.gate(head()))
    return respond(std::move(*refused), /*isLast=*/true);
  if (!admit())
    return refuse(503, "the server has too many connections");
  if (parser->is_done())
    return answer();
  boost::optional<uint64_t> length = parser->content_length();
  uint64_t limit = server.bodyLimit(head());
  if (length && *length > limit)
    return refuse(http::error::body_limit);
  parser->body_limit(limit);
  admitBody();
}

/// Tells a client that waits for it that the body will be read.
void Connection::admitBody() {
  static constexpr llvm::StringLiteral admitted =
      "HTTP/1.1 100 Continue\r\n\r\n";
  if (!boost::beast::iequals(parser->get()[http::field::expect],
                             "100-continue"))
    return readBody();
  stream->expires_after(ioTime);
  asio::async_write(
      *stream, asio::buffer(admitted.data(), admitted.size()),
      [this](error_code error, size_t) { error ? accept() : readBody(); });
}

void Connection::readBody() {
  stream->expires_after(ioTime);
  http::async_read_some(*stream, buffer, *parser,
                        [this](error_code error, size_t) {
                          if (error)
                            refuse(error);
                          else
                            parser->is_done() ? answer() : readBody();
                        });
}

//===----------------------------------------------------------------------===//
// Responses
//===----------------------------------------------------------------------===//

static HttpResponse errorResponse(int status, const char *why) {
  HttpResponse made;
  made.status = status;
  made.body = std::string(R"({"error":")") + why + "\"}";
  return made;
}

static HttpResponse noThread() {
  return errorResponse(503, "the system has no thread for the request");
}

HttpResponse BeastServer::answer(const HttpRequest &request) const {
  try {
    return site(request);
  } catch (const std::system_error &) {
    return noThread();
  } catch (const std::bad_alloc &) {
    return errorResponse(503, "the system has no memory for the request");
  }
}

void Connection::answer() {
  HttpRequest request = head();
  request.body = std::move(parser->get().body());
  finish(); // of the request before, whose response has been sent
  try {
    worker = std::thread([this, request = std::move(request)] {
      HttpResponse made = server.answer(request);
      asio::post(server.context, [this, made = std::move(made)]() mutable {
        respond(std::move(made), !parser->get().keep_alive());
      });
    });
  } catch (const std::system_error &) {
    respond(noThread(), !parser->get().keep_alive());
  }
}

void Connection::finish() {
  if (worker.joinable())
    worker.join();
}

/// Answers what cannot be read, if the client is still there.
void Connection::refuse(error_code error) {
  bool isHttp = error.category() ==
                http::make_error_code(http::error::bad_line_ending).category();
  if (!isHttp || error == http::error::end_of_stream ||
      error == http::error::partial_message)
    return accept();
  if (error == http::error::body_limit || error == http::error::buffer_overflow)
    return refuse(413, "the request is too large");
  if (error != http::error::header_limit)
    return refuse(400, "the request is not one of HTTP/1.1");
  if (parser->get().target().empty())
    return refuse(414, "the address is too long");
  refuse(431, "the headers are too large");
}

void Connection::refuse(int status, const char *why) {
  respond(errorResponse(status, why), /*isLast=*/true);
}

void Connection::respond(HttpResponse from, bool isLast) {
  const http::request<Body> &request = parser->get();
  response = {};
  response.version(request.version());
  response.result(unsigned(from.status));
  response.set(http::field::cache_control, "no-store");
  response.set("Content-Security-Policy", from.policy);
  response.set("Referrer-Policy", "no-referrer");
  response.set("X-Content-Type-Options", "nosniff");
  if (!from.body.empty())
    response.set(http::field::content_type, from.type);
  response.content_length(from.body.size());
  response.keep_alive(!isLast);
  if (request.method() != http::verb::head)
    response.body() = std::move(from.body);
  serializer.emplace(response);
  write();
}

void Connection::write() {
  stream->expires_after(ioTime);
  http::async_write_some(
      *stream, *serializer, [this](error_code error, size_t) {
        if (error)
          return accept();
        if (!serializer->is_done())
          return write();
        dropBody();
        if (response.keep_alive()) {
          waitIn(server.idle);
          return readHead();
        }
        stream->socket().shutdown(tcp::socket::shutdown_send, error);
        stream->expires_after(ioTime);
        discard();
      });
}

/// Frees the memory of a response that is not needed any more.
void Connection::dropBody() {
  serializer.reset();
  std::string().swap(response.body()); // an assignment would keep it
}

/// Reads on until the client has closed the connection, for a limited time:
/// data that has not been read when a socket is closed would cancel the
/// response.
void Connection::discard() {
  buffer.clear();
  stream->async_read_some(
      buffer.prepare(4096),
      [this](error_code error, size_t) { error ? accept() : discard(); });
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

unsigned BeastServer::open(unsigned port) {
  tcp::endpoint here(asio::ip::address_v4::loopback(), uint16_t(port));
  error_code error;
  acceptor.open(here.protocol(), error);
  if (!error)
    acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error)
    acceptor.bind(here, error);
  if (!error)
    acceptor.listen(tcp::acceptor::max_listen_connections, error);
  if (!error)
    here = acceptor.local_endpoint(error);
  errno = error.value();
  return error ? 0 : here.port();
}

void BeastServer::run(Gate newGate, BodyLimit newLimit, Site newSite) {
  gate = std::move(newGate);
  bodyLimit = std::move(newLimit);
  site = std::move(newSite);
  // One more accepts, and one is being closed.
  for (unsigned i = 0; i != maxAdmitted + maxUnknown + 2; ++i)
    connections.emplace_back(*this).accept();
  // While all connections are being answered, nothing is pending.
  auto guard = asio::make_work_guard(context);
  context.run();
  for (Connection &connection : connections)
    connection.finish();
}

std::unique_ptr<HttpServer> makeBeastServer() {
  try {
    return std::make_unique<BeastServer>();
  } catch (const boost::system::system_error &error) {
    errno = error.code().value();
    return nullptr;
  }
}

} // namespace pipec
