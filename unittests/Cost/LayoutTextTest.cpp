//===- LayoutTextTest.cpp - The text of a layout --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Cost/LayoutText.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include "gtest/gtest.h"

using namespace llvm;
using namespace pipec;

namespace {

/// Reads texts; stores the messages with their columns.
class LayoutText : public testing::Test {
protected:
  std::optional<StageLayers> read(StringRef text) {
    FailureOr<LayerLayout> layout = parseLayout(add(text), diags);
    if (failed(layout))
      return std::nullopt;
    return layout->cut(*layout->numStages());
  }
  std::optional<std::string> layers(StringRef text) {
    FailureOr<std::string> layers = parseLayers(add(text), diags);
    return succeeded(layers) ? std::optional(*layers) : std::nullopt;
  }
  /// The column and the message of the error in a layout.
  std::string errorOf(StringRef text) {
    messages.clear();
    return read(text) ? "accepted" : messages;
  }

  std::string messages;

private:
  StringRef add(StringRef text) {
    return cantFail(files.add(MemoryBuffer::getMemBufferCopy(text, "layout")));
  }

  SourceFiles files;
  DiagEngine diags{files, [this](const Diagnostic &found) {
                     if (found.severity == Severity::Error)
                       messages +=
                           std::to_string(
                               files.lineColumn(found.range.Start).column) +
                           ": " + found.message;
                   }};
};

} // namespace

TEST_F(LayoutText, AgreesWithMegatron) {
  // Recorded by record-layouts.py.
  const char *table = std::getenv("PIPEC_LAYOUT_TABLE");
  auto file = MemoryBuffer::getFile(table ? table : PIPEC_LAYOUT_TABLE);
  ASSERT_TRUE(file);
  json::Value rows = cantFail(json::parse((*file)->getBuffer()));
  unsigned accepted = 0, refused = 0, models = 0;
  for (const json::Value &row : *rows.getAsArray()) {
    const json::Array &cells = *row.getAsArray();
    StringRef text = *cells[0].getAsString();
    std::optional<StageLayers> stages = read(text);
    if (stages && stages->size() % *cells[1].getAsUINT64() != 0)
      stages = std::nullopt;
    // Megatron-LM has no kinds of layers of a profile.
    if (stages && firstOther(*stages))
      stages = std::nullopt;
    const json::Array *expected = cells[2].getAsArray();
    ASSERT_EQ(stages.has_value(), expected != nullptr) << text.str();
    (stages ? accepted : refused) += 1;
    if (!stages)
      continue;
    ASSERT_EQ(stages->size(), expected->size()) << text.str();
    for (size_t i = 0; i != stages->size(); ++i)
      ASSERT_EQ((*stages)[i], *(*expected)[i].getAsString()) << text.str();
    bool isModel = !megatronProblem(*stages, *cells[1].getAsUINT64());
    ASSERT_EQ(isModel, *cells[3].getAsBoolean()) << text.str();
    models += isModel;
    // The text that is printed reads as the same layout.
    std::string printed = layoutText(*stages);
    EXPECT_EQ(read(printed), stages) << printed;
  }
  EXPECT_GT(accepted, 200u);
  EXPECT_GT(refused, 200u);
  EXPECT_GT(models, 50u);
}

TEST_F(LayoutText, PointsAtTheColumn) {
  EXPECT_EQ(errorOf("Et*2,|,t L"), "9: ` ` is not a layer");
  EXPECT_EQ(errorOf("E|%"), "3: `%` is not a layer");
  EXPECT_EQ(errorOf("E|\xC3\xA9"), "3: `\xC3\xA9` is not a layer");
  EXPECT_EQ(errorOf("Et*|L"),
            "3: `*` is not between a layer or a group and a number");
  EXPECT_EQ(errorOf("*2"),
            "1: `*` is not between a layer or a group and a number");
  EXPECT_EQ(errorOf("E(t|)L"),
            "2: `(` outside of a group `(...)*N`; groups do not nest");
  EXPECT_EQ(errorOf("E((t)*2|)*2L"),
            "3: `(` outside of a group `(...)*N`; groups do not nest");
}

TEST_F(LayoutText, IsLimited) {
  StringRef error = "the layout is larger than the limit of 1048576 layers and "
                    "stages";
  EXPECT_EQ(errorOf("Et*1048577L"), "1: " + error.str());
  EXPECT_EQ(errorOf("Et*99999999999999999999999L"), "3: " + error.str());
  EXPECT_EQ(errorOf("E(t*4|)*99999999L"), "8: " + error.str());
  EXPECT_TRUE(read("t*1048570"));
}

TEST_F(LayoutText, ReadsLayers) {
  EXPECT_EQ(layers("3"), "ttt");
  EXPECT_EQ(layers("E,t*4,m,L"), "EttttmL");
  EXPECT_EQ(layers("(tm)*2"), "tmtm");
  for (StringRef wrong : {"", "0", "t|t", "t*0", "99999999999999999999", "-3"})
    EXPECT_FALSE(layers(wrong)) << wrong.str();
}
