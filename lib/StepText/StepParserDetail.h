//===- StepParserDetail.h - The parser of step IR ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to lib/StepText. Each line is parsed separately: after an error, the
// rest of the line is skipped and parsing continues.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "IR/DataFlow.h"
#include "IR/GraphBuilder.h"
#include "IR/TieBuilder.h"
#include "StepText/StepCursor.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringSet.h"

namespace pipec {

/// "`F`, `B` or `limit`"
std::string listOf(llvm::ArrayRef<llvm::StringRef> words);

class StepsParser : StepsCursor {
public:
  StepsParser(llvm::StringRef text, DiagEngine &diags);

  llvm::FailureOr<Schedule> parse();

private:
  // HeaderParser.cpp
  bool parseOpening();
  bool parseSize(llvm::StringRef name, unsigned limit, unsigned &size);
  bool parseSlices();
  void parseHeaderEntry();
  bool parseParams();
  bool parseMap();
  bool parseEdges(llvm::StringRef entry);
  bool parseOrder();
  bool parseTie();
  bool parseStream();
  bool parseSection();
  bool parseLayers();
  bool parseBody();
  bool parseBodyKind(llvm::StringRef &text, StepKind &kind);
  void checkSections();
  bool parseLayout();
  bool parseExpectation();
  /// True at `rank`, unless it is a phase label.
  bool atRank() {
    llvm::StringRef next = *p == 'r' ? peekWord() : llvm::StringRef();
    return next == "rank" && *next.end() != ':';
  }
  bool entryOnce(bool &seen, llvm::StringRef entry);

  // SettingsParser.cpp
  using ItemReader =
      llvm::function_ref<std::optional<bool>(llvm::StringRef name)>;
  bool parseBlock(FigureBlock block, FigureSet &figures,
                  ItemReader other = nullptr);
  bool parsePlace(FigureBlock block, const ScopeInfo &scope, Place &place);
  bool parseFigures(FigureSet &figures, FigureBlock block, Place place,
                    ItemReader other = nullptr);
  bool parseValue(llvm::StringRef name, bool given, Rational &value);
  std::optional<bool> parseOverlap(llvm::StringRef first);
  bool parseShare();
  bool parseFsdp();
  bool parseStages(std::optional<std::vector<unsigned>> &given);

  // StepParser.cpp
  void parseRanks();
  void beginRank();
  void parseRankBody();
  bool quickStep();
  /// Reads a number below `size`; otherwise reports `WHAT n of a schedule of
  /// size`. Accepts any number below `limit` if the size itself was invalid.
  bool numberBelow(unsigned size, unsigned limit, llvm::StringRef what,
                   llvm::StringRef sizeOf, unsigned &value);

  // StepListParser.cpp
  bool parseLine();
  bool parsePhase();
  bool parseGroup(llvm::StringRef group);
  bool parseStep(llvm::StringRef word, bool joined);
  bool skipLetter(char letter, const char *what);
  bool parseStage(unsigned &stage);
  bool parseTiedGroup(unsigned &group);
  bool parseUnit(unsigned &unit);
  bool parsePeer(Step &step, const char *begin);
  bool parseWaitPeer(Step &step, const char *begin);
  bool useNeighbour(Step &step, llvm::StringRef text);
  bool parseOtherStage(Step &step, const char *begin);
  bool parseTime(size_t firstStep);

  SourceLoc sourceOf(const char *at) const {
    return base.isValid()
               ? SourceLoc{uint32_t(base.offset + (at - text.data()))}
               : SourceLoc();
  }

  llvm::StringRef text;
  SourceLoc base;
  Schedule schedule;
  unsigned errorsBefore;
  std::vector<std::vector<uint32_t>> maps;
  /// True if the header was read without error.
  bool mapsKnown = false;
  /// The peers of P2P steps, after such a header.
  std::optional<DataFlow> flow;
  llvm::StringSet<> paramNames;
  /// The overlaps, stages, edges and so on that have settings.
  llvm::StringSet<> settingNames;
  bool seenForwardOnly = false;
  bool seenFsdp = false;
  bool seenGraph = false;
  bool seenLayout = false;
  bool seenOrder = false;
  bool seenLayers = false;
  bool seenBody = false;
  /// The edges of `connect` and `graph`, if there are any.
  std::optional<GraphBuilder> graph;
  /// The groups of `tie`, if there are any.
  std::optional<TieBuilder> ties;
  /// The current rank, and the beginnings of its block and of the schedule's.
  unsigned rank = 0;
  const char *rankOpened = nullptr;
  const char *scheduleOpened = nullptr;
  /// The phase of the following steps; `maxPhases` before the first label of a
  /// rank.
  unsigned phase = maxPhases;
  bool unlabelled = false;
  bool phaseReported = false;
};

} // namespace pipec
