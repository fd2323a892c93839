//===- LiveApiTest.cpp - Tests of the requests of the live page -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/LiveApi.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace pipec;

namespace {

/// A site whose compiler is a function.
class LiveApiTest : public testing::Test {
protected:
  LiveApiTest()
      : api(
            [] {
              LiveSettings settings;
              settings.compiler = "pipec";
              settings.includes = {"/more"};
              settings.temporary = testing::TempDir();
              settings.page = "the page";
              settings.library["gpipe"] = {"p", "ranks"};
              return settings;
            }(),
            [this](const ChildRequest &request) { return run(request); }) {}

  ChildResult run(const ChildRequest &request) {
    std::lock_guard<std::mutex> lock(mutex);
    runs.push_back(request.arguments);
    ChildResult result = next;
    if (request.onMessages)
      request.onMessages(result.messages);
    for (const std::string &argument : request.arguments)
      if (argument == "--emit=html")
        result.output = "picture of " + request.input;
    return result;
  }

  HttpResponse get(std::string path, std::string id = "") {
    HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    request.query.emplace("id", id);
    return api.answer(request);
  }
  HttpResponse post(std::string path, std::string body) {
    HttpRequest request;
    request.method = "POST";
    request.path = std::move(path);
    request.body = std::move(body);
    return api.answer(request);
  }

  std::mutex mutex;
  std::vector<std::vector<std::string>> runs;
  ChildResult next{ChildResult::End::Exited, 0, R"({"makespan": 1})", ""};
  LiveApi api;
};

} // namespace

TEST_F(LiveApiTest, CompilesWithTheOptionsOfThePage) {
  HttpResponse response = post("/compile", R"({"program": "text",
    "sizes": {"ranks": 4, "k": -1}, "costs": "F=2", "target": "torch",
    "schedule": "one", "withName": "gpipe", "unknown": 1})");
  EXPECT_EQ(response.status, 200);
  ASSERT_EQ(runs.size(), 4u);
  auto has = [](const std::vector<std::string> &run, llvm::StringRef argument) {
    return llvm::is_contained(run, argument);
  };
  for (const std::vector<std::string> &run : runs) {
    EXPECT_EQ(run.back(), "-I/more");
    if (has(run, "--describe"))
      continue;
    EXPECT_TRUE(has(run, "--cost=F=2") && has(run, "--target=torch"));
    EXPECT_TRUE(has(run, "-Dranks=4"));
    EXPECT_EQ(has(run, "--with=gpipe"), has(run, "--emit=html"));
    // The second schedule has the sizes that it knows.
    bool isSecond = run.front() == "gpipe";
    EXPECT_NE(has(run, "-Dk=-1"), isSecond);
    EXPECT_NE(has(run, "--schedule=one"), isSecond);
  }
  EXPECT_NE(response.body.find(R"("picture":1)"), std::string::npos);
  EXPECT_EQ(get("/picture", "1").body, "picture of text");
}

TEST_F(LiveApiTest, TellsWhyThereIsNoPicture) {
  next.end = ChildResult::End::TimeOut;
  HttpResponse response = post("/compile", R"({"program": ""})");
  EXPECT_EQ(response.status, 200);
  EXPECT_NE(response.body.find("ended after 10 seconds"), std::string::npos);
  EXPECT_EQ(response.body.find("picture"), std::string::npos);
  next = {ChildResult::End::Exited, 1, "", "not JSON \xff\n"};
  response = post("/compile", R"({"program": ""})");
  EXPECT_NE(response.body.find("not JSON"), std::string::npos);
}

TEST_F(LiveApiTest, RunsNothingForOrdersThatAreWrong) {
  for (const char *body :
       {"", "[]", "{", R"({"program": 1})", R"({"target": "-o"})",
        R"({"withName": "a/b"})", R"({"sizes": {"a=1 ": 1}})",
        R"({"program": "import \"/etc/passwd\";"})"})
    for (const char *path : {"/compile", "/export", "/compare", "/search"})
      EXPECT_EQ(post(path, body).status, 400) << path << ' ' << body;
  EXPECT_EQ(post("/compile", std::string(100000, '[')).status, 400);
  EXPECT_TRUE(runs.empty());
}

TEST_F(LiveApiTest, HasNoOtherPaths) {
  EXPECT_EQ(get("/").body, "the page");
  EXPECT_EQ(get("/ping").body, "{}");
  for (const char *path : {"/etc/passwd", "/picture/1", "", "//", "/compil"}) {
    EXPECT_EQ(get(path).status, 404) << path;
    EXPECT_EQ(post(path, "{}").status, 404) << path;
  }
  EXPECT_EQ(get("/compile").status, 405);
  EXPECT_EQ(post("/", "{}").status, 405);
  EXPECT_EQ(get("/picture", "1").status, 404);
  EXPECT_EQ(get("/picture", "x").status, 404);
}

TEST_F(LiveApiTest, KeepsAsManyPicturesAsItSays) {
  for (int i = 0; i != 40; ++i)
    post("/compile", R"({"program": "text"})");
  EXPECT_EQ(get("/picture", "8").status, 404);
  EXPECT_EQ(get("/picture", "9").status, 200);
  EXPECT_EQ(get("/picture", "40").status, 200);
}

TEST_F(LiveApiTest, FollowsJobs) {
  EXPECT_EQ(post("/search", R"({"ranks": 2})").status, 400);
  next.messages = "one\ntwo\n";
  ASSERT_EQ(post("/search", R"({"ranks": 2, "microbatches": 4})").body,
            R"({"job":1})");
  HttpResponse state;
  do
    state = post("/job", R"({"job": 1})");
  while (state.body.find(R"("done":false)") != std::string::npos);
  EXPECT_NE(state.body.find(R"("search":{"makespan":1})"), std::string::npos);
  EXPECT_NE(state.body.find(R"("progress":"two")"), std::string::npos);
  EXPECT_NE(state.body.find(R"("diagnostics":[])"), std::string::npos);
  EXPECT_EQ(post("/cancel", R"({"job": 1})").status, 200);
  EXPECT_EQ(post("/job", R"({"job": 2})").status, 404);
}
