//===- CommunicatorFile.cpp - Reading the communicators of a job ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "IR/Schedule.h"
#include "Support/Diagnostics/AnalysisDiags.h"
#include "Support/InputFile.h"
#include "Support/Json.h"
#include "Support/Words.h"
#include "Waiting/Communicators.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace llvm;

namespace pipec {

namespace {

class CommunicatorReader {
public:
  CommunicatorReader(StringRef text, StringRef name, DiagEngine &diags)
      : reader(text, diags), name(name) {}

  FailureOr<Communicators> read() {
    place = reader.start();
    bool good = reader.expect('{') && reader.members("key", [&](StringRef key) {
      if (key == "communicators") {
        place = reader.next();
        return reader.expect('[') &&
               reader.elements(']', [&] { return communicator(); });
      }
      if (key == "smallest")
        return reader.consumeWord("true") || reader.consumeWord("false") ||
               reader.expected("`true` or `false`");
      return unknown(key);
    });
    if (good && !reader.atEnd())
      good = reader.expected("the end of the file");
    if (!good)
      return failure();
    if (groups.empty() && !reader.error(place, diag::NoCommunicators))
      return failure();
    return Communicators(std::move(groups), name.str(), place);
  }

private:
  bool unknown(StringRef key) {
    return reader.error(key, diag::CommunicatorKey, shortened(key));
  }

  bool communicator() {
    if (!reader.expect('{'))
      return false;
    SourceLoc begin = reader.next();
    unsigned number = unsigned(groups.size());
    std::vector<Communicators::Edge> &own = groups.emplace_back();
    std::vector<unsigned> ranks;
    bool hasRanks = false;
    std::vector<SourceLoc> places;
    bool good = reader.members("key", [&](StringRef key) {
      if (key == "ranks") {
        hasRanks = true;
        return reader.expect('[') && reader.elements(']', [&] {
          return reader.number(maxRanks, "rank", ranks.emplace_back());
        });
      }
      if (key == "edges")
        return reader.expect('[') && reader.elements(']', [&] {
          places.push_back(reader.next());
          return edge(number, own);
        });
      return unknown(key);
    });
    if (!good)
      return false;
    if (own.empty())
      return reader.error(begin, diag::CommunicatorWithoutEdges, number);
    for (const auto &[edge, at] : zip(own, places))
      for (unsigned rank : {edge.first, edge.second})
        if (hasRanks && !is_contained(ranks, rank))
          return reader.error(at, diag::CommunicatorRank, edge.first,
                              edge.second, rank);
    return true;
  }

  bool edge(unsigned number, std::vector<Communicators::Edge> &own) {
    SourceLoc at = reader.next();
    Communicators::Edge edge;
    if (!reader.expect('[') || !reader.number(maxRanks, "rank", edge.first) ||
        !reader.expect(',') || !reader.number(maxRanks, "rank", edge.second) ||
        !reader.expect(']'))
      return false;
    if (edge.first == edge.second)
      return reader.error(at, diag::CommunicatorLoop, edge.first);
    auto [it, isNew] = numbers.try_emplace(edge, number);
    if (!isNew)
      return reader.error(at, diag::EdgeInTwoCommunicators, edge.first,
                          edge.second, it->second);
    own.push_back(edge);
    return true;
  }

  LiteralReader reader;
  StringRef name;
  SourceLoc place;
  std::vector<std::vector<Communicators::Edge>> groups;
  std::map<Communicators::Edge, unsigned> numbers;
};

} // namespace

FailureOr<Communicators> readCommunicators(StringRef text, StringRef name,
                                           DiagEngine &diags) {
  return CommunicatorReader(text, name, diags).read();
}

FailureOr<CommModel> openCommunicators(StringRef path, DiagEngine &diags) {
  constexpr uint64_t maxBytes = uint64_t(1) << 24;
  FailureOr<StringRef> text = openInput(path, diags, maxBytes);
  if (failed(text))
    return failure();
  FailureOr<Communicators> read =
      readCommunicators(*text, shownPath(path), diags);
  if (failed(read))
    return failure();
  return CommModel(std::make_shared<const Communicators>(std::move(*read)));
}

} // namespace pipec
