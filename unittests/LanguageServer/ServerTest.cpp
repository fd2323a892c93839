//===- ServerTest.cpp - Which versions are analysed -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LanguageServer/OpenDocument.h"

#include <gtest/gtest.h>

using namespace llvm;
using namespace pipec;
using namespace pipec::lsp;

namespace {

constexpr StringLiteral program =
    "schedule a(ranks p = 1, microbatches m = 2) {\n"
    "  placement loop;\n"
    "  steady { repeat m { F B } }\n"
    "}\n";

class ServerTest : public testing::Test {
protected:
  ServerTest()
      : server(SearchPath("", {}), [this](StringRef method, json::Value value) {
          EXPECT_EQ(method, "textDocument/publishDiagnostics");
          published.push_back(*value.getAsObject());
        }) {
    cantFail(server.request("initialize", json::Object{}));
  }

  static json::Object document(StringRef uri, int version) {
    return json::Object{{"uri", uri}, {"version", version}};
  }
  void open(StringRef uri, StringRef text) {
    json::Object item = document(uri, 1);
    item["text"] = text;
    server.notification("textDocument/didOpen",
                        json::Object{{"textDocument", std::move(item)}});
  }
  void change(StringRef uri, int version, StringRef text) {
    server.notification(
        "textDocument/didChange",
        json::Object{
            {"textDocument", document(uri, version)},
            {"contentChanges", json::Array{json::Object{{"text", text}}}}});
  }
  bool analyse(bool outdated = false) {
    return server.analyseNext([=](StringRef) { return outdated; });
  }

  Server server;
  std::vector<json::Object> published;
};

TEST_F(ServerTest, AnalysesTheLastOfSeveralVersions) {
  open("file:///a.pipe", program);
  for (int version = 2; version != 10; ++version)
    change("file:///a.pipe", version, version == 9 ? program : "wrong");
  EXPECT_TRUE(published.empty());
  while (analyse())
    ;
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].getInteger("version"), 9);
  EXPECT_TRUE(published[0].getArray("diagnostics")->empty());
}

TEST_F(ServerTest, PublishesNothingForAVersionThatIsOutdated) {
  open("file:///a.pipe", "wrong");
  EXPECT_TRUE(analyse(/*outdated=*/true));
  EXPECT_TRUE(published.empty());
  change("file:///a.pipe", 2, "still wrong");
  EXPECT_TRUE(analyse());
  EXPECT_FALSE(analyse());
  ASSERT_EQ(published.size(), 1u);
  EXPECT_EQ(published[0].getInteger("version"), 2);
  EXPECT_FALSE(published[0].getArray("diagnostics")->empty());
}

TEST_F(ServerTest, IgnoresChangesThatAreNotWholeTexts) {
  open("file:///a.pipe", program);
  while (analyse())
    ;
  json::Object part{{"text", "x"}, {"range", json::Object{}}};
  server.notification(
      "textDocument/didChange",
      json::Object{{"textDocument", document("file:///a.pipe", 2)},
                   {"contentChanges", json::Array{std::move(part)}}});
  change("file:///other.pipe", 2, "x");
  EXPECT_FALSE(analyse());
  EXPECT_EQ(published.size(), 1u);
}

TEST_F(ServerTest, ClearsTheDiagnosticsOfAClosedDocument) {
  open("untitled:1", "wrong");
  while (analyse())
    ;
  server.notification(
      "textDocument/didClose",
      json::Object{{"textDocument", document("untitled:1", 1)}});
  ASSERT_EQ(published.size(), 2u);
  EXPECT_EQ(published[1].getString("uri"), "untitled:1");
  EXPECT_TRUE(published[1].getArray("diagnostics")->empty());
  EXPECT_FALSE(analyse());
}

TEST(Completion, EndsForEveryBeginningOfAProgram) {
  StringRef text = "import \"a\\\"b\"; // x\npattern f(a, b) { F[a] & B }\n"
                   "schedule s(ranks p = 2, g = 1) { cost { stage 0 { F = 1 } }"
                   " steady { for i in 0..p { if i { f(1, 2) } else { W* } } }"
                   " expect makespan == min(p, 1) if F == B; }\n}}}))]]{[(";
  for (size_t end = 0; end <= text.size(); ++end) {
    std::vector<Proposal> all = complete(text.take_front(end), {});
    for (const Proposal &proposal : all)
      EXPECT_FALSE(proposal.word.empty());
  }
}

TEST(Completion, DescribesEveryWordThatItProposes) {
  for (const Proposal &proposal : complete("schedule a() { ", {}))
    EXPECT_EQ(describeWord(proposal.word), proposal.doc) << proposal.word;
  EXPECT_FALSE(describeWord("makespan").empty());
  EXPECT_FALSE(describeWord("occupancy").empty());
  EXPECT_TRUE(describeWord("other").empty());
}

} // namespace
