//===- LayerLayoutTest.cpp - The layers of each stage ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayerLayout.h"

#include "gtest/gtest.h"

using namespace pipec;

TEST(LayerLayout, EvenLayoutsCutAnywhere) {
  auto cut = [](const char *layers, unsigned stages) {
    return layoutText(*LayerLayout::even(layers).cut(stages));
  };
  EXPECT_EQ(cut("tttttttt", 4), "(t*2|)*3t*2");
  EXPECT_EQ(cut("ttttttt", 3), "t*3|t*2|t*2");
  EXPECT_EQ(cut("EtttttmL", 2), "Et*3|t*2mL");
  EXPECT_EQ(cut("EtttmL", 4), "Et|(t|)*2mL");
  EXPECT_EQ(cut("EttL", 4), "Et|tL||");
  EXPECT_EQ(cut("EL", 2), "EL|");
  EXPECT_EQ(cut("t", 1), "t");
}

TEST(LayerLayout, EvenLayoutsKeepTheOrder) {
  std::string layers = "EtttEmttttLtL";
  for (unsigned stages = 1; stages != 20; ++stages) {
    std::string joined;
    StageLayers cut = *LayerLayout::even(layers).cut(stages);
    for (const std::string &stage : cut)
      joined += stage;
    EXPECT_EQ(joined, layers) << stages;
  }
}

TEST(LayerLayout, FixedLayoutsHaveTheirStages) {
  LayerLayout layout({"Et", "t", "", "tL"});
  EXPECT_EQ(layout.numStages(), 4u);
  EXPECT_TRUE(layout.cut(4));
  EXPECT_FALSE(layout.cut(2));
  EXPECT_EQ(layout.text(), "Et|t||tL");
}

TEST(LayerLayout, RunsArePrintedShort) {
  EXPECT_EQ(layoutText({}), "");
  EXPECT_EQ(layoutText({""}), "");
  EXPECT_EQ(layoutText({"", "", ""}), "|*2");
  EXPECT_EQ(layoutText({"ttt", "ttt", "ttt", "ttt"}), "(t*3|)*3t*3");
  EXPECT_EQ(layoutText({"t", "t"}), "t|t");
}
