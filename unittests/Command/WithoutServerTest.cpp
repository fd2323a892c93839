//===- WithoutServerTest.cpp - Commands that need a server ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a pipec that was built without a server says. (`watch` without `--port`
// needs none; it does not end by itself and is not tested here.)
//
//===----------------------------------------------------------------------===//

#include "Command/Command.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

static std::string refusal(std::vector<const char *> arguments) {
  std::string text;
  raw_string_ostream err(text);
  int status = pipecMain(int(arguments.size()), arguments.data(), nulls(), err);
  EXPECT_EQ(status, 2);
  return text;
}

TEST(WithoutServerTest, IsSaid) {
  EXPECT_EQ(refusal({"pipec", "serve"}),
            "pipec: error: `pipec serve` needs a server, without which this "
            "pipec was built\n");
  EXPECT_EQ(refusal({"pipec", "watch", "a.pipe", "--port=0", "-o", "a.html"}),
            "pipec: error: `pipec watch` needs a server, without which this "
            "pipec was built\n");
}
