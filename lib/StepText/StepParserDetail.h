//===- StepParserDetail.h - The parser of step IR ---------------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Internal to IR/Parser*.cpp. The text is one line after the other, so an error
// costs its line: it is reported, the line is passed, and reading goes on.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_STEPTEXT_STEPPARSERDETAIL_H
#define PIPEC_STEPTEXT_STEPPARSERDETAIL_H

#include "IR/Schedule.h"
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
  // ParserHeader.cpp
  bool parseOpening();
  bool parseSize(llvm::StringRef name, unsigned limit, unsigned &size);
  void parseHeaderEntry();
  bool parseParams();
  bool parseMap();
  bool parseExpectation();
  /// True at `rank`, unless it is a phase label.
  bool atRank() {
    llvm::StringRef next = *p == 'r' ? peekWord() : llvm::StringRef();
    return next == "rank" && *next.end() != ':';
  }
  bool entryOnce(bool &seen, llvm::StringRef entry);

  // ParserSettings.cpp
  using ItemReader =
      llvm::function_ref<std::optional<bool>(llvm::StringRef name)>;
  bool parseBlock(FigureBlock block, FigureSet &figures,
                  ItemReader other = nullptr);
  bool parsePlace(FigureBlock block, const ScopeInfo &scope, Place &place);
  bool parseFigures(FigureSet &figures, FigureBlock block, Place place,
                    ItemReader other = nullptr);
  bool parseValue(llvm::StringRef name, bool given, Rational &value);
  std::optional<bool> parseOverlap(llvm::StringRef first);
  bool parseFsdp();

  // Parser.cpp
  void parseRanks();
  void beginRank();
  void parseRankBody();
  bool quickStep();
  /// A number below `size`, reported as `WHAT n of a schedule of size` if not;
  /// any number below `limit` when the size itself was wrong.
  bool numberBelow(unsigned size, unsigned limit, llvm::StringRef what,
                   llvm::StringRef sizeOf, unsigned &value);

  // ParserSteps.cpp
  bool parseLine();
  bool parsePhase();
  bool parseGroup(llvm::StringRef group);
  bool parseStep(llvm::StringRef word, bool joined);
  bool parseStage(unsigned &stage);
  bool parseMicrobatch(unsigned &microbatch);
  bool parsePeer(StepKind kind, unsigned stage, unsigned microbatch,
                 const char *begin);
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
  /// Peers can be checked: the maps were read without error.
  bool mapsKnown = false;
  llvm::StringSet<> paramNames;
  /// The overlaps, stages, edges ... that settings were given for.
  llvm::StringSet<> settingNames;
  bool seenForwardOnly = false;
  bool seenFsdp = false;
  /// The rank that is read, and where its block and the schedule's opened.
  unsigned rank = 0;
  const char *rankOpened = nullptr;
  const char *scheduleOpened = nullptr;
  /// The phase of the steps that follow; `maxPhases` before the first label of
  /// a rank.
  unsigned phase = maxPhases;
  bool unlabelled = false;
  bool phaseReported = false;
};

} // namespace pipec

#endif // PIPEC_STEPTEXT_STEPPARSERDETAIL_H
