//===- LiveApiTest.cpp - Tests of the requests of the live page -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LiveApi.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

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
              settings.options = {"-I/more"};
              settings.temporary = temporary();
              settings.page = "the page";
              settings.picture = "the frame";
              settings.library["gpipe"] = "/gpipe.pipe";
              return settings;
            }(),
            [this](const ChildRequest &request) { return run(request); }) {}

  ~LiveApiTest() override {
    (void)llvm::sys::fs::remove_directories(temporary());
  }

  static std::string temporary() {
    std::string path = testing::TempDir() + "live-api-" +
                       std::to_string(llvm::sys::Process::getProcessId());
    (void)llvm::sys::fs::create_directory(path);
    return path;
  }

  ChildResult run(const ChildRequest &request) {
    std::lock_guard<std::mutex> lock(mutex);
    runs.push_back(request.arguments);
    inputs.push_back(request.input);
    for (llvm::StringRef argument : request.arguments)
      if (std::string contents = contentsOf(argument); !contents.empty())
        files[argument.str()] = contents;
    ChildResult result = next;
    if (request.onMessages)
      request.onMessages(result.messages);
    return result;
  }

  /// The contents of a file, or that of an option; empty if there is none.
  static std::string contentsOf(llvm::StringRef argument) {
    size_t path = argument.find('/');
    if (path == llvm::StringRef::npos)
      return "";
    std::ifstream stream(argument.substr(path).str(), std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
  }

  /// The last state of a job.
  std::string endOf(int job) {
    HttpResponse state;
    do
      state = post("/job", "", std::to_string(job));
    while (state.body.find(R"("done":false)") != std::string::npos);
    return state.body;
  }

  HttpResponse get(std::string path) {
    HttpRequest request;
    request.method = "GET";
    request.path = std::move(path);
    return api.answer(request);
  }
  HttpResponse post(std::string path, std::string body, std::string id = "") {
    HttpRequest request;
    request.method = "POST";
    request.path = std::move(path);
    request.body = std::move(body);
    request.query.emplace("id", id);
    return api.answer(request);
  }

  std::mutex mutex;
  std::vector<std::vector<std::string>> runs;
  std::vector<std::string> inputs;
  /// The files that were there, by the argument that named them.
  std::map<std::string, std::string> files;
  ChildResult next{ChildResult::End::Exited, 0, "{\"makespan\":1}\n", ""};
  LiveApi api;
};

} // namespace

TEST_F(LiveApiTest, CompilesInOneRun) {
  HttpResponse response =
      post("/compile", R"({"program": "text", "options": {"D": ["ranks=4",)"
                       R"("k=-1"], "cost": "F=2", "target": "torch-2.15",)"
                       R"("with": "gpipe", "parts": 4}, "unknown": 1})");
  EXPECT_EQ(response.body,
            R"({"diagnostics":[],"output":{"makespan":1},"file":null})");
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(inputs[0], "text");
  EXPECT_EQ(runs[0], (std::vector<std::string>{
                         "compile", "-", "--max-steps=1048576", "--emit=live",
                         "--diagnostics-format=json", "-I/more", "-Dranks=4",
                         "-Dk=-1", "--cost=F=2", "--parts=4",
                         "--target=torch-2.15", "--with=/gpipe.pipe"}));
}

TEST_F(LiveApiTest, WritesContentsToFiles) {
  next = {ChildResult::End::Exited, 1, "", ""};
  const char *body = R"({"program": "text", "options": {"cost": "F=2"},)"
                     R"("files": {"cost-profile": "{}\n", "with": "steps"}})";
  for (const char *path : {"/compile", "/export", "/compare"})
    EXPECT_EQ(post(path, body).status, 200);
  endOf(1);
  EXPECT_EQ(runs.size(), 3u);
  EXPECT_EQ(files.size(), 6u);
  for (const auto &[argument, contents] : files) {
    bool isProfile = llvm::StringRef(argument).starts_with("--cost-profile=/");
    EXPECT_TRUE(isProfile || llvm::StringRef(argument).starts_with("--with=/"));
    EXPECT_EQ(contents, isProfile ? "{}\n" : "steps") << argument;
    EXPECT_EQ(contentsOf(argument), "") << argument << " is left";
  }
}

TEST_F(LiveApiTest, CalibratesTraces) {
  std::string body = R"({"traces": [3, 2]})";
  EXPECT_EQ(post("/calibrate", body + "\nonetw").body, R"({"job":1})");
  EXPECT_NE(endOf(1).find(R"("output":{"makespan":1})"), std::string::npos);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0][0], "calibrate");
  EXPECT_EQ(contentsOf(runs[0].back()), "");
  EXPECT_EQ(files[runs[0].back()], "tw");
  EXPECT_EQ(files[*std::prev(runs[0].end(), 2)], "one");

  for (const char *wrong : {"", "\n", "[]\n", R"({"traces": ["x"]})"})
    EXPECT_EQ(post("/calibrate", wrong).status, 400) << wrong;
  EXPECT_EQ(post("/calibrate", body + "\nonet").status, 400);
  EXPECT_EQ(post("/calibrate", body + "\nonetwo").status, 400);
  EXPECT_EQ(get("/calibrate").status, 405);
  EXPECT_EQ(runs.size(), 1u);
}

TEST_F(LiveApiTest, CallsFilesByTheirNames) {
  // The folder of the first run.
  std::string folder = temporary() + "/1/";
  next = {ChildResult::End::Exited, 1, "{\"of\":\"" + folder + "a\"}\n",
          "{\"kind\":\"k\",\"message\":\"`" + folder + "b` and /2/c\"}\n"};
  EXPECT_EQ(post("/compile", "{}").body,
            R"({"diagnostics":[{"kind":"k","message":"`b` and /2/c"}],)"
            R"("output":{"of":"a"},"file":null})");
}

TEST_F(LiveApiTest, LimitsBodies) {
  HttpRequest request;
  request.path = "/calibrate";
  EXPECT_EQ(LiveApi::maxBody(request), maxUploadBytes);
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
  EXPECT_NE(response.body.find(R"("output":null)"), std::string::npos);
  // An output that is not complete, and a message that is not JSON.
  next = {ChildResult::End::Exited, 1, "{\"a\":", "not JSON \xff\n"};
  response = post("/compile", R"({"program": ""})");
  EXPECT_NE(response.body.find("not JSON"), std::string::npos);
  EXPECT_NE(response.body.find(R"("output":null)"), std::string::npos);
}

TEST_F(LiveApiTest, RunsNothingForRequestsThatAreWrong) {
  for (const char *body :
       {"", "[]", "{", R"({"program": 1})", R"({"program": "a\u0000"})",
        R"({"tab": {}})", R"({"options": 1})", R"({"options": {"o": "x"}})",
        R"({"options": {"output": "x"}})", R"({"options": {"D": 1.5}})",
        R"({"options": {"with": "a/b"}})", R"({"options": {"with": "secret"}})",
        R"({"options": {"cost-profile": "/etc/passwd"}})",
        R"({"options": {"cost": "a\u0000"}})", R"({"files": {"cost": "x"}})",
        R"({"files": {"output": "x"}})", R"({"files": {"../with": "x"}})"})
    for (const char *path : {"/compile", "/export", "/compare", "/search"})
      EXPECT_EQ(post(path, body).status, 400) << path << ' ' << body;
  for (const char *piece : {"[", "{\"options\":"}) {
    std::string deep;
    for (int i = 0; i != 100000; ++i)
      deep += piece;
    EXPECT_EQ(post("/compile", deep).status, 400);
  }
  EXPECT_TRUE(runs.empty());
}

TEST_F(LiveApiTest, HasNoOtherPaths) {
  EXPECT_EQ(get("/").body, "the page");
  EXPECT_EQ(get("/ping").body, "{}");
  EXPECT_TRUE(llvm::StringRef(get("/picture").body).starts_with("the frame<"));
  for (const char *path : {"/etc/passwd", "/picture/1", "", "//", "/compil"}) {
    EXPECT_EQ(get(path).status, 404) << path;
    EXPECT_EQ(post(path, "{}").status, 404) << path;
  }
  EXPECT_EQ(get("/compile").status, 405);
  EXPECT_EQ(get("/job").status, 405);
  EXPECT_EQ(post("/", "{}").status, 405);
}

TEST_F(LiveApiTest, FollowsJobs) {
  next.messages = "one\ntwo\n";
  ASSERT_EQ(post("/search", R"({"options": {"ranks": 2}})").body,
            R"({"job":1})");
  std::string state = endOf(1);
  EXPECT_NE(state.find(R"("progress":"two","answer":{"diagnostics":[],)"
                       R"("output":{"makespan":1},"file":null})"),
            std::string::npos)
      << state;
  EXPECT_EQ(post("/cancel", "", "1").status, 200);
  EXPECT_EQ(post("/job", "", "2").status, 404);
  EXPECT_EQ(post("/cancel", "", "2").status, 404);
}
