//===- UriTest.cpp - References to files ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/Words.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;

TEST(Uri, IsThatOfAFile) {
  for (StringRef path : {"/a/b.pipe", "/with blank/100%/ß#?.pipe", "/"})
    EXPECT_EQ(pathOfUri(uriOfPath(path)), path.str());
  EXPECT_EQ(uriOfPath("/a b"), "file:///a%20b");
  EXPECT_EQ(pathOfUri("file://host/a%2Fb"), "/a/b");
  EXPECT_EQ(pathOfUri("FILE:///a"), "/a");
  EXPECT_EQ(pathOfUri("file:///a%"), "/a%");
  EXPECT_EQ(pathOfUri("file:///a%zz"), "/a%zz");
  EXPECT_EQ(pathOfUri("untitled:Untitled-1"), "untitled:Untitled-1");
}
