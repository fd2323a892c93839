//===- ChildRunTest.cpp - Tests of runs with limits -----------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Serve/ChildRun.h"

#include "gtest/gtest.h"

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

TEST(ChildRunTest, TellsCrashes) {
  EXPECT_EQ(runChild(shell("kill -SEGV $$")).end, End::Crashed);
  ChildRequest missing;
  missing.program = "/no/such/program";
  EXPECT_EQ(runChild(missing).end, End::Crashed);
}
