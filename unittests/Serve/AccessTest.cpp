//===- AccessTest.cpp - Tests of who may use a server ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/Http.h"

#include "gtest/gtest.h"

using namespace pipec;

static int statusOf(const Access &access, std::string host, std::string token,
                    std::string path = "/") {
  HttpRequest request;
  request.method = "GET";
  request.path = std::move(path);
  request.host = std::move(host);
  request.query.emplace("token", std::move(token));
  auto refused = access.refuse(request);
  return refused ? refused->status : 200;
}

TEST(AccessTest, AdmitsTheTokenAndThisHostOnly) {
  Access access(8080, "secret");
  EXPECT_EQ(access.address(), "http://127.0.0.1:8080/?token=secret");
  EXPECT_EQ(statusOf(access, "127.0.0.1:8080", "secret"), 200);
  EXPECT_EQ(statusOf(access, "localhost:8080", "secret"), 200);
  for (const char *host : {"", "127.0.0.1", "127.0.0.1:80", "localhost:80801",
                           "example.org:8080", "127.0.0.1:8080 "})
    EXPECT_EQ(statusOf(access, host, "secret"), 403) << host;
  for (const char *token : {"", "secre", "secrets", "Secret", "secret "})
    EXPECT_EQ(statusOf(access, "127.0.0.1:8080", token), 403) << token;
  EXPECT_EQ(statusOf(access, "127.0.0.1:8080", "", "/nothing"), 403);
}

TEST(AccessTest, RefusesTwoTokens) {
  Access access(8080, "secret");
  HttpRequest request;
  request.host = "127.0.0.1:8080";
  request.query = {{"token", "secret"}, {"token", "other"}};
  EXPECT_TRUE(access.refuse(request));
  EXPECT_TRUE(access.refuse(HttpRequest()));
}

TEST(AccessTest, MakesNewTokens) {
  Access one(1), two(1);
  EXPECT_NE(one.address(), two.address());
  EXPECT_EQ(one.address().size(),
            std::string("http://127.0.0.1:1/?token=").size() + 32);
}
