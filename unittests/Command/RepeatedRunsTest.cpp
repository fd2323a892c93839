//===- RepeatedRunsTest.cpp - Several runs in one process -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `pipecMain` and `optMain` keep no state of a run: the options, messages and
// status of the next run are independent of it.
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"
#include "OptMain.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

using namespace llvm;
using namespace pipec;

namespace {

constexpr StringLiteral program =
    "schedule a(ranks p = 1, microbatches m = 1) {\n"
    "  placement loop;\n"
    "  warmup { repeat m { F } }\n"
    "  cooldown { repeat m { B } }\n"
    "}\n";

struct Outcome {
  int status;
  std::string out;
  std::string err;
};

class RepeatedRunsTest : public testing::Test {
protected:
  void SetUp() override {
    int file;
    ASSERT_FALSE(sys::fs::createTemporaryFile("a", "pipe", file, path));
    raw_fd_ostream os(file, /*shouldClose=*/true);
    os << program;
  }
  void TearDown() override { (void)sys::fs::remove(path); }

  using Main = int (*)(int, const char *const *, raw_ostream &, raw_ostream &);
  Outcome run(Main main, std::vector<const char *> arguments) {
    arguments.insert(arguments.begin(), "pipec");
    Outcome outcome;
    raw_string_ostream out(outcome.out);
    raw_string_ostream err(outcome.err);
    outcome.status = main(int(arguments.size()), arguments.data(), out, err);
    return outcome;
  }
  Outcome run(std::vector<const char *> arguments) {
    Main main = [](int argc, const char *const *argv, raw_ostream &out,
                   raw_ostream &err) {
      return pipecMain(argc, argv, out, err);
    };
    return run(main, std::move(arguments));
  }

  SmallString<128> path;
};

TEST_F(RepeatedRunsTest, OptionsOfARunEndWithIt) {
  Outcome first = run({path.c_str(), "-Dmicrobatches=2", "--emit=csv"});
  EXPECT_EQ(first.status, 0) << first.err;
  EXPECT_EQ(first.out, "0F0,0F1,0B0,0B1\n");
  // Only the size is given again; the form of the output is the default.
  Outcome second = run({path.c_str(), "-Dmicrobatches=3"});
  EXPECT_EQ(second.status, 0) << second.err;
  EXPECT_EQ(StringRef(second.out).split('\n').first,
            "a: 1 rank, 1 stage, 3 micro-batches, 6 slots");
  Outcome third = run({path.c_str(), "--emit=csv"});
  EXPECT_EQ(third.out, "0F0,0B0\n");
}

TEST_F(RepeatedRunsTest, ErrorsOfARunEndWithIt) {
  Outcome usage = run({path.c_str(), "--no-such-option"});
  EXPECT_EQ(usage.status, 2);
  Outcome unread = run({"/no/such/file.pipe"});
  EXPECT_EQ(unread.status, 1);
  EXPECT_TRUE(unread.out.empty());
  EXPECT_EQ(StringRef(unread.err).count("error:"), 1u) << unread.err;
  Outcome good = run({path.c_str(), "--emit=csv"});
  EXPECT_EQ(good.status, 0);
  EXPECT_EQ(good.err, "");
}

TEST_F(RepeatedRunsTest, CommandsFollowEachOther) {
  Outcome help = run({"help", "lint"});
  EXPECT_EQ(help.status, 0);
  EXPECT_NE(help.out.find("pipec lint"), std::string::npos);
  Outcome lint = run({"lint", path.c_str(), "--format=json"});
  EXPECT_EQ(lint.status, 0) << lint.err;
  EXPECT_EQ(StringRef(lint.out).front(), '{');
  Outcome ir = run({path.c_str(), "--emit=ir"});
  EXPECT_EQ(ir.status, 0) << ir.err;

  // The other program in the same process, with its own options.
  Outcome opt = run(optMain, {"--list-passes"});
  EXPECT_EQ(opt.status, 0) << opt.err;
  EXPECT_NE(opt.out.find("insert-p2p"), std::string::npos);
  EXPECT_EQ(run({path.c_str(), "--split-input-file"}).status, 2);
  EXPECT_EQ(run({path.c_str(), "--emit=ir"}).out, ir.out);
}

} // namespace
