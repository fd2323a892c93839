//===- PassOptionsTest.cpp - Values of options, and the tables ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transforms/Passes.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

using namespace pipec;

namespace {

template <typename T>
std::optional<std::string> roundTrip(llvm::StringRef text) {
  T value{};
  if (!PassOptionType<T>::parse(text, value))
    return std::nullopt;
  return PassOptionType<T>::print(value);
}

TEST(PassOptions, Values) {
  EXPECT_EQ(roundTrip<bool>("true"), "true");
  EXPECT_EQ(roundTrip<bool>(""), "true");
  EXPECT_EQ(roundTrip<bool>("false"), "false");
  EXPECT_FALSE(roundTrip<bool>("no"));
  EXPECT_EQ(roundTrip<unsigned>("0"), "0");
  EXPECT_FALSE(roundTrip<unsigned>("-1"));
  EXPECT_FALSE(roundTrip<unsigned>("99999999999"));
  EXPECT_EQ(roundTrip<AtLeastOne>("7"), "7");
  EXPECT_FALSE(roundTrip<AtLeastOne>("0"));
  EXPECT_EQ(roundTrip<Rational>("2.5"), "5/2");
  EXPECT_FALSE(roundTrip<Rational>("1/0"));
  EXPECT_EQ(roundTrip<std::vector<unsigned>>("3+1+2"), "3+1+2");
  EXPECT_FALSE(roundTrip<std::vector<unsigned>>("3++2"));
  EXPECT_EQ(roundTrip<std::optional<unsigned>>("4"), "4");
  EXPECT_EQ(PassOptionType<std::optional<unsigned>>::print(std::nullopt), "");
  EXPECT_EQ(roundTrip<AlignMode>("lockstep"), "lockstep");
  EXPECT_FALSE(roundTrip<AlignMode>("lock"));
  EXPECT_EQ(PassOptionType<AlignMode>::describe(),
            "dependency|lockstep|interleaved|fastest");
}

// `--passes` requires unique names. Every target must consist of existing
// passes with existing options.
TEST(PassTables, NamesAndTargets) {
  const PassRegistry &registry = allPasses();
  std::vector<llvm::StringRef> names;
  for (const PassInfo &pass : registry.passes)
    names.push_back(pass.name);
  EXPECT_TRUE(llvm::is_sorted(names));
  for (const PipelineInfo &target : registry.pipelines)
    names.push_back(target.name);
  llvm::sort(names);
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());

  SourceFiles files;
  DiagEngine diags(files,
                   [](const Diagnostic &d) { ADD_FAILURE() << d.message; });
  for (const PipelineInfo &target : registry.pipelines) {
    auto pipeline = parsePipeline(target.name, registry, diags);
    ASSERT_TRUE(llvm::succeeded(pipeline)) << target.name.str();
    EXPECT_GT(pipeline->size(), 1u) << target.name.str();
  }
}

} // namespace
