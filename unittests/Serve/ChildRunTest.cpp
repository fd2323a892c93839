//===- ChildRunTest.cpp - Tests of runs with limits -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/ChildRun.h"

#include "gtest/gtest.h"

#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace pipec;

using End = ChildResult::End;

static ChildRequest shell(std::string script) {
  ChildRequest request;
  request.program = "/bin/sh";
  request.arguments = {"-c", std::move(script)};
  return request;
}

TEST(ChildRunTest, PassesInputOutputAndStatus) {
  ChildRequest request = shell("cat; echo message >&2; exit 3");
  request.input = std::string(1 << 20, 'x');
  std::string messages;
  request.onMessages = [&](llvm::StringRef piece) { messages += piece; };
  ChildResult result = runChild(request);
  EXPECT_EQ(result.end, End::Exited);
  EXPECT_EQ(result.status, 3);
  EXPECT_FALSE(result.succeeded());
  EXPECT_EQ(result.output, request.input);
  EXPECT_EQ(result.messages, "message\n");
  EXPECT_EQ(messages, result.messages);
}

TEST(ChildRunTest, RunsInItsFolder) {
  ChildRequest request = shell("pwd");
  request.folder = "/";
  EXPECT_EQ(runChild(request).output, "/\n");
}

TEST(ChildRunTest, SurvivesAProgramThatReadsNothing) {
  ChildRequest request = shell("exec <&-; exit 0");
  request.input = std::string(1 << 22, 'x');
  EXPECT_TRUE(runChild(request).succeeded());
}

TEST(ChildRunTest, EndsAtItsLimits) {
  ChildRequest slow = shell("sleep 100");
  slow.time = std::chrono::milliseconds(50);
  EXPECT_EQ(runChild(slow).end, End::TimeOut);
  // Also where nothing is connected any more, and for what it has started.
  ChildRequest closed = shell("exec >&- 2>&-; sleep 100 & wait");
  closed.time = std::chrono::milliseconds(50);
  EXPECT_EQ(runChild(closed).end, End::TimeOut);
  ChildRequest large = shell("yes");
  large.output = 1000;
  EXPECT_EQ(runChild(large).end, End::TooMuchOutput);
}

TEST(ChildRunTest, DoesWhatIsWished) {
  using Wish = ChildRequest::Wish;
  ChildRequest interrupted =
      shell("trap 'echo found; exit 0' INT; while :; do sleep 0.01; done");
  int asked = 0;
  interrupted.wish = [&] {
    return ++asked > 20 ? Wish::Interrupt : Wish::GoOn;
  };
  ChildResult result = runChild(interrupted);
  EXPECT_TRUE(result.succeeded());
  EXPECT_EQ(result.output, "found\n");
  ChildRequest ended = shell("sleep 100");
  ended.wish = [] { return Wish::End; };
  EXPECT_EQ(runChild(ended).end, End::Ended);
}

/// Whether a process runs, and is not one that has ended and is still listed.
static bool runs(const std::string &pid) {
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string line;
  return std::getline(stat, line) &&
         line.compare(line.rfind(')') + 1, 2, " Z") != 0;
}

TEST(ChildRunTest, EndsWithItsParent) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  pid_t parent = fork();
  if (parent == 0) {
    ChildRequest request = shell("echo $$ >&2; exec sleep 100");
    request.onMessages = [&](llvm::StringRef piece) {
      (void)!write(ends[1], piece.data(), piece.size());
    };
    runChild(request);
    _exit(0);
  }
  char text[32];
  ssize_t size = read(ends[0], text, sizeof(text));
  ASSERT_GT(size, 1);
  std::string pid(text, size - 1);
  EXPECT_TRUE(runs(pid));
  // The parent has no time to end anything.
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  for (int i = 0; i != 500 && runs(pid); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_FALSE(runs(pid));
  close(ends[0]);
  close(ends[1]);
}

TEST(ChildRunTest, TellsCrashes) {
  EXPECT_EQ(runChild(shell("kill -SEGV $$")).end, End::Crashed);
  ChildRequest missing;
  missing.program = "/no/such/program";
  EXPECT_EQ(runChild(missing).end, End::Crashed);
}
