//===- DiagEngineTest.cpp - Limits and filters of messages ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Support/DiagEngine.h"

#include "Support/Diagnostics/CommandDiags.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

using namespace llvm;
using namespace pipec;

namespace {

TEST(DiagEngine, ErrorsBeyondTheLimitAreCounted) {
  SourceFiles files;
  unsigned shown = 0;
  DiagEngine diags(files, [&](const Diagnostic &d) {
    shown += d.severity == Severity::Error;
  });
  diags.setErrorLimit(3);
  for (unsigned i = 0; i != 5; ++i)
    (void)diags.report(DiagLoc(), diag::UnusableOption, "wrong");
  EXPECT_EQ(shown, 3u);
  EXPECT_EQ(diags.numErrors(), 5u);
}

/// An engine that records the messages it passes on.
class FilterTest : public testing::Test {
protected:
  void report(StringRef text) {
    (void)diags.report(DiagLoc(), diag::UnusableOption, text);
  }
  /// The messages passed on since the last call.
  std::vector<std::string> shown() { return std::exchange(messages, {}); }

  std::vector<std::string> messages;
  SourceFiles files;
  DiagEngine diags{files, [this](const Diagnostic &diagnostic) {
                     messages.push_back(diagnostic.message);
                   }};
};

/// Drops messages that contain this word.
DiagEngine::Filter drop(StringRef word) {
  return [word](Diagnostic &diagnostic) {
    return !StringRef(diagnostic.message).contains(word);
  };
}

using Messages = std::vector<std::string>;

TEST_F(FilterTest, AnInnerFilterDoesNotEndTheOuterOne) {
  DiagEngine::ScopedFilter outer(diags, drop("outer"));
  {
    DiagEngine::ScopedFilter inner(diags, drop("inner"));
    report("for inner");
    report("for outer");
    report("for neither");
    EXPECT_EQ(shown(), Messages{"for neither"});
  }
  report("for inner");
  report("for outer");
  EXPECT_EQ(shown(), Messages{"for inner"});
}

TEST_F(FilterTest, NoFilterIsLeftAtTheEnd) {
  {
    DiagEngine::ScopedFilter one(diags, drop("one"));
    DiagEngine::ScopedFilter two(diags, drop("two"));
  }
  report("one and two");
  EXPECT_EQ(shown(), Messages{"one and two"});
}

TEST_F(FilterTest, TheOuterFilterSeesWhatTheInnerOneAdds) {
  Messages seen;
  DiagEngine::ScopedFilter outer(diags, [&](Diagnostic &diagnostic) {
    seen.push_back(diagnostic.message);
    return true;
  });
  DiagEngine::ScopedFilter inner(diags, [](Diagnostic &diagnostic) {
    diagnostic.message += " and more";
    return !StringRef(diagnostic.message).contains("drop");
  });
  report("keep");
  report("drop");
  EXPECT_EQ(seen, Messages{"keep and more"});
  EXPECT_EQ(shown(), Messages{"keep and more"});
}

TEST_F(FilterTest, WhatIsDroppedIsNotCounted) {
  DiagEngine::ScopedFilter outer(diags, drop("outer"));
  DiagEngine::ScopedFilter inner(diags, drop("inner"));
  report("for inner");
  report("for outer");
  EXPECT_FALSE(diags.hadErrors());
  report("for neither");
  EXPECT_EQ(diags.numErrors(), 1u);
}

} // namespace
