//===- LiveApiTest.cpp - Tests of the requests of the live page -----------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/LiveApi.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <fstream>

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
              settings.library["gpipe"] = "/gpipe.pipe";
              settings.targets["torch-2.15"] = false;
              return settings;
            }(),
            [this](const ChildRequest &request) { return run(request); }) {}

  ChildResult run(const ChildRequest &request) {
    std::lock_guard<std::mutex> lock(mutex);
    runs.push_back(request.arguments);
    for (llvm::StringRef argument : request.arguments)
      if (argument.ends_with(".json"))
        files[argument.str()] = contentsOf(argument);
    ChildResult result = next;
    if (request.onMessages)
      request.onMessages(result.messages);
    for (const std::string &argument : request.arguments)
      if (argument == "--emit=html")
        result.output = "picture of " + request.input;
    return result;
  }

  /// The contents of a file, or that of an option; empty if there is none.
  static std::string contentsOf(llvm::StringRef argument) {
    size_t path = argument.find('/');
    std::ifstream stream(argument.substr(path).str(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// The last state of a job.
  std::string endOf(int job) {
    HttpResponse state;
    do
      state = post("/job", R"({"job": )" + std::to_string(job) + "}");
    while (state.body.find(R"("done":false)") != std::string::npos);
    return state.body;
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
  /// The files that were there, by the argument that named them.
  std::map<std::string, std::string> files;
  ChildResult next{ChildResult::End::Exited, 0, R"({"makespan": 1})", ""};
  LiveApi api;
};

} // namespace

TEST_F(LiveApiTest, CompilesWithTheOptionsOfThePage) {
  HttpResponse response = post("/compile", R"({"program": "text",
    "sizes": {"ranks": 4, "k": -1}, "costs": "F=2", "target": "torch-2.15",
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
    EXPECT_TRUE(has(run, "--cost=F=2") && has(run, "-Dranks=4"));
    EXPECT_TRUE(has(run, "-Dk=-1") && has(run, "--schedule=one"));
    // The picture and the report are those of both schedules.
    bool checks = run.front() == "check";
    EXPECT_NE(has(run, "--with=/gpipe.pipe"), checks);
    EXPECT_NE(has(run, "--target=torch-2.15"), checks);
  }
  EXPECT_NE(response.body.find(R"("picture":1)"), std::string::npos);
  std::string picture = get("/picture", "1").body;
  EXPECT_TRUE(llvm::StringRef(picture).starts_with("picture of text<script>"));
}

TEST_F(LiveApiTest, WritesTheProfileToAFile) {
  next.status = 1;
  next.messages = R"({"kind": "A", "message": "`FILE` is wrong", "notes": []})";
  const char *body = R"({"program": "text", "profile": "{}\n", "parts": 4,
    "costs": "F=2", "withName": "gpipe", "ranks": 2, "microbatches": 4,
    "as": "csv"})";
  EXPECT_EQ(post("/compile", body).status, 200);
  for (const char *path : {"/compare", "/search"})
    EXPECT_EQ(post(path, body).status, 200);
  endOf(1);
  endOf(2);
  ASSERT_EQ(runs.size(), 6u);
  for (const std::vector<std::string> &run : runs) {
    auto isProfile = [](llvm::StringRef argument) {
      return argument.starts_with("--cost-profile=");
    };
    bool describes = llvm::is_contained(run, "--describe");
    EXPECT_EQ(llvm::count_if(run, isProfile), describes ? 0 : 1);
    // Costs that are given override those of the profile.
    EXPECT_EQ(llvm::is_contained(run, "--cost=F=2"), !describes);
    bool isJob = run.front() == "compare" || run.front() == "search";
    EXPECT_EQ(llvm::is_contained(run, "--parts=4"), isJob);
  }
  EXPECT_EQ(files.size(), 3u);
  for (const auto &[argument, contents] : files) {
    EXPECT_EQ(contents, "{}\n") << argument;
    EXPECT_EQ(contentsOf(argument), "") << argument << " is left";
  }
  runs.clear();
  post("/export", body);
  for (llvm::StringRef argument : runs.front())
    EXPECT_FALSE(argument.starts_with("--cost")) << argument.str();
}

TEST_F(LiveApiTest, CalibratesTraces) {
  next.output = R"({"ranks": 2})";
  std::string body = R"({"traces": [{"name": "../a", "size": 3},
    {"name": "-b", "size": 2}]})";
  body.erase(body.find('\n'), 1);
  EXPECT_EQ(post("/calibrate", body + "\nonetw").body, R"({"job":1})");
  std::string answer = endOf(1);
  EXPECT_NE(answer.find(R"("calibration":{"ranks":2})"), std::string::npos);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0][0], "calibrate");
  EXPECT_EQ(contentsOf(runs[0].back()), "");
  EXPECT_EQ(files[runs[0].back()], "tw");
  EXPECT_EQ(files[*std::prev(runs[0].end(), 2)], "one");
  for (llvm::StringRef argument : runs[0])
    EXPECT_FALSE(argument == "-b" || argument.ends_with("../a"));

  for (const char *wrong : {"", "{}", "\n", "{}\n", "[]\n"})
    EXPECT_EQ(post("/calibrate", wrong).status, 400) << wrong;
  EXPECT_EQ(post("/calibrate", body + "\nonet").status, 400);
  EXPECT_EQ(post("/calibrate", body + "\nonetwo").status, 400);
  EXPECT_EQ(get("/calibrate").status, 405);
  EXPECT_EQ(runs.size(), 1u);
}

TEST_F(LiveApiTest, CallsFilesByTheirNames) {
  next = {ChildResult::End::Exited, 1, "", ""};
  std::string trace = testing::TempDir() + "trace";
  // The files of the first two runs: the profile, and one trace each.
  next.messages = R"({"kind": "A", "message": "`)" + trace +
                  R"(2.json` and more")" + R"(, "file": ")" + trace +
                  R"(2.json", "notes": [{"message": ")" + trace +
                  R"(20.json"}]})";
  EXPECT_EQ(post("/calibrate", "{\"traces\": [{\"name\": \"b`c\", "
                               "\"size\": 0}]}\n")
                .status,
            200);
  std::string answer = endOf(1);
  EXPECT_NE(answer.find(R"("message":"`b`c` and more")"), std::string::npos)
      << answer;
  EXPECT_NE(answer.find(R"("file":"b`c")"), std::string::npos) << answer;
  EXPECT_NE(answer.find("trace20.json"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("calibration\""), std::string::npos) << answer;
}

TEST_F(LiveApiTest, LimitsBodies) {
  HttpRequest request;
  request.path = "/calibrate";
  EXPECT_EQ(LiveApi::maxBody(request), maxTraceBytes);
  for (const char *path : {"/compile", "/", "/calibrate/", "calibrate"}) {
    request.path = path;
    EXPECT_EQ(LiveApi::maxBody(request), maxBodyBytes) << path;
  }
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
        R"({"target": "torch-2.1"})", R"({"backward": "best"})",
        R"({"withName": "a/b"})", R"({"withName": "secret"})",
        R"({"sizes": {"a=1 ": 1}})",
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
  std::string state = endOf(1);
  EXPECT_NE(state.find(R"("search":{"makespan":1})"), std::string::npos);
  EXPECT_NE(state.find(R"("progress":"two")"), std::string::npos);
  EXPECT_NE(state.find(R"("diagnostics":[])"), std::string::npos);
  EXPECT_EQ(post("/cancel", R"({"job": 1})").status, 200);
  EXPECT_EQ(post("/job", R"({"job": 2})").status, 404);
}
