//===- HttplibServer.cpp - A server with cpp-httplib ----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Http/HttplibServer.h"

#include <httplib.h>

namespace pipec {

namespace {

/// The number of connections at a time; a slow client holds one.
constexpr size_t numThreads = 64;
/// The time in seconds for each read and write, and between two requests.
constexpr time_t ioSeconds = 5;
constexpr time_t idleSeconds = 1;

class HttplibServer : public HttpServer {
public:
  HttplibServer();

  unsigned open(unsigned port) override;
  void run(Gate gate, Site site) override;
  void stop() override { server.stop(); }

private:
  httplib::Server server;
};

} // namespace

HttplibServer::HttplibServer() {
  server.new_task_queue = [] { return new httplib::ThreadPool(numThreads); };
  server.set_read_timeout(ioSeconds);
  server.set_write_timeout(ioSeconds);
  server.set_keep_alive_timeout(idleSeconds);
  server.set_tcp_nodelay(true);
  // The default also shares the port with other servers of the same user.
  server.set_socket_options([](socket_t socket) {
    int yes = 1;
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
}

unsigned HttplibServer::open(unsigned port) {
  if (port)
    return server.bind_to_port("127.0.0.1", int(port)) ? port : 0;
  int any = server.bind_to_any_port("127.0.0.1");
  return any > 0 ? unsigned(any) : 0;
}

static HttpRequest headOf(const httplib::Request &from) {
  HttpRequest request;
  request.method = from.method;
  request.path = from.path;
  request.query.insert(from.params.begin(), from.params.end());
  if (from.get_header_value_count("Host") == 1)
    request.host = from.get_header_value("Host");
  return request;
}

static void send(const HttpResponse &from, httplib::Response &response) {
  response.status = from.status;
  response.set_header("Cache-Control", "no-store");
  response.set_header("Content-Security-Policy", from.policy);
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("X-Content-Type-Options", "nosniff");
  if (from.body.empty())
    return;
  // What is set as a text is compressed if the client takes that, which takes
  // longer than all else and gains nothing on one machine.
  response.set_content_provider(from.body.size(), from.type,
                                [body = from.body](size_t offset, size_t length,
                                                   httplib::DataSink &sink) {
                                  return sink.write(body.data() + offset,
                                                    length);
                                });
}

/// Reads the body, whatever its encoding, up to the limit.
static bool readBody(const httplib::ContentReader &reader, std::string &body) {
  return reader([&](const char *data, size_t length) {
    if (body.size() + length > maxBodyBytes)
      return false;
    body.append(data, length);
    return true;
  });
}

void HttplibServer::run(Gate gate, Site site) {
  // Before the body is read.
  server.set_pre_routing_handler(
      [&](const httplib::Request &request, httplib::Response &response) {
        using Handling = httplib::Server::HandlerResponse;
        std::optional<HttpResponse> refused = gate(headOf(request));
        if (!refused)
          return Handling::Unhandled;
        // What follows on the connection may be a body, which is not read.
        response.set_header("Connection", "close");
        send(*refused, response);
        return Handling::Handled;
      });
  auto answer = [&](const httplib::Request &request,
                    httplib::Response &response) {
    send(site(headOf(request)), response);
  };
  auto answerBody = [&](const httplib::Request &from,
                        httplib::Response &response,
                        const httplib::ContentReader &reader) {
    HttpRequest request = headOf(from);
    if (!from.is_multipart_form_data() && readBody(reader, request.body))
      return send(site(request), response);
    HttpResponse tooLarge;
    tooLarge.status = 413;
    tooLarge.body = R"({"error":"the request is too large"})";
    response.set_header("Connection", "close");
    send(tooLarge, response);
  };
  server.Get(".*", answer);
  server.Options(".*", answer);
  server.Post(".*", answerBody);
  server.Put(".*", answerBody);
  server.Patch(".*", answerBody);
  server.Delete(".*", answerBody);
  server.listen_after_bind();
}

std::unique_ptr<HttpServer> makeHttplibServer() {
  return std::make_unique<HttplibServer>();
}

} // namespace pipec
