//===- TeOrderReader.cpp - Step IR from Transformer Engine's order --------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keys of the object may come in any order, so the entries are kept until
// all has been read.
//
//===----------------------------------------------------------------------===//

#include "Import/TeOrderReader.h"

#include "Import/JsonWalk.h"
#include "Import/OrderCursor.h"
#include "Import/OrderLists.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/SourceFiles.h"
#include "Support/Words.h"

#include "llvm/ADT/StringSet.h"

using namespace llvm;

namespace pipec {

static constexpr StringLiteral version = "pipec-te-order 1";

namespace {

/// An entry of the order of a rank.
struct Entry {
  /// F, B for an integer below 0, or W.
  StepKind kind;
  /// From 1.
  unsigned chunk;
  SourceLoc place;
};

class TeOrderReader {
public:
  TeOrderReader(StringRef text, const ListOptions &options, DiagEngine &diags)
      : cursor(text, diags), lists(options, diags), diags(diags) {}

  FailureOr<Schedule> read();

private:
  bool readMember();
  bool readValue(StringRef key);
  bool readMap();
  bool readEntry(std::vector<Entry> &entries);
  bool addLists();
  bool addList(unsigned rank, ArrayRef<unsigned> stages);

  /// The place of the next value.
  SourceLoc place() {
    (void)cursor.atEnd(); // skips blanks
    return cursor.locOf(cursor.here());
  }

  OrderCursor cursor;
  OrderLists lists;
  DiagEngine &diags;
  StringSet<> known;
  std::vector<std::vector<Entry>> orders;
  std::vector<SourceLoc> places;
  std::vector<uint32_t> map;
  /// The entries of `stage_to_rank`.
  std::vector<SourceLoc> mapPlaces;
  /// The `chunks` of the file.
  std::optional<unsigned> declaredChunks;
  SourceLoc chunksPlace;
  /// The highest chunk of any entry.
  unsigned numChunks = 0;
  /// There are gradients of weights, so other backwards are those of inputs.
  bool isSplit = false;
};

} // namespace

bool TeOrderReader::readEntry(std::vector<Entry> &entries) {
  SourceLoc where = place();
  const char *begin = cursor.here();
  cursor.skipValue();
  StringRef written = cursor.since(begin).rtrim(), rest = written;
  bool isBackward = rest.consume_front("-");
  bool isWeight = isBackward && rest.consume_back(".5");
  unsigned chunk = 0;
  if (rest.getAsInteger(10, chunk) || chunk == 0 || chunk > maxStages) {
    (void)diags.report(rangeOf(written), diag::OrderEntry, shortened(written),
                       maxStages);
    return false;
  }
  isSplit |= isWeight;
  numChunks = std::max(numChunks, chunk);
  entries.push_back({isWeight     ? StepKind::W
                     : isBackward ? StepKind::B
                                  : StepKind::F,
                     chunk, where});
  return true;
}

bool TeOrderReader::readMap() {
  SourceLoc where = place();
  if (!cursor.expect('[') || !cursor.readElements(']', [&] {
        unsigned rank = 0;
        SourceLoc entry = place();
        if (!cursor.number(maxRanks, "rank", rank))
          return false;
        if (map.size() <= maxStages) {
          map.push_back(rank);
          mapPlaces.push_back(entry);
        }
        return true;
      }))
    return false;
  lists.setMap(map, where);
  return true;
}

bool TeOrderReader::readValue(StringRef key) {
  if (key == "format") {
    StringRef format;
    if (!cursor.string(format))
      return false;
    if (format == version)
      return true;
    (void)diags.report(rangeOf(format), diag::OrderVersion, shortened(format),
                       version);
    return false;
  }
  if (key == "order")
    return cursor.expect('[') && cursor.readElements(']', [&] {
      places.push_back(place());
      std::vector<Entry> &entries = orders.emplace_back();
      return cursor.expect('[') &&
             cursor.readElements(']', [&] { return readEntry(entries); });
    });
  if (key == "stage_to_rank")
    return readMap();
  if (key == "layout" && cursor.atQuote()) {
    StringRef layout;
    return cursor.string(layout) && succeeded(lists.readLayout(layout));
  }
  if (key == "chunks") {
    chunksPlace = place();
    return cursor.number(maxStages + 1, "number of chunks",
                         declaredChunks.emplace());
  }
  for (OrderLists::Size &size : lists.sizes())
    if (key == size.key) {
      size.place = place();
      return cursor.number(size.limit + 1, "number of " + size.key.str(),
                           size.declared.emplace());
    }
  cursor.skipValue();
  return true;
}

bool TeOrderReader::readMember() {
  (void)cursor.atEnd(); // skips blanks
  const char *begin = cursor.here();
  StringRef key;
  if (!cursor.string(key))
    return false;
  if (!known.insert(key).second) {
    (void)diags.report(rangeOf(cursor.since(begin)), diag::OrderKeyTwice,
                       shortened(key));
    return false;
  }
  return cursor.expect(':') && readValue(key);
}

/// Adds the list of a rank that has these stages.
bool TeOrderReader::addList(unsigned rank, ArrayRef<unsigned> stages) {
  StepList *list = lists.begin(std::nullopt, places[rank]);
  if (!list)
    return false;
  // The next micro-batch of each chunk, by kind.
  std::vector<std::array<unsigned, 3>> next(stages.size());
  for (const Entry &entry : orders[rank]) {
    if (entry.chunk > stages.size()) {
      (void)diags.report(entry.place, diag::OrderChunkMissing, entry.chunk,
                         rank, countText(stages.size(), "chunk"));
      return false;
    }
    StepKind kind = entry.kind;
    unsigned slot = kind == StepKind::F ? 0 : kind == StepKind::B ? 1 : 2;
    unsigned microbatch = next[entry.chunk - 1][slot]++;
    if (microbatch >= maxMicrobatches) {
      (void)diags.report(entry.place, diag::OrderNumberTooLarge, "micro-batch",
                         std::to_string(microbatch), maxMicrobatches - 1);
      return false;
    }
    if (kind == StepKind::B && isSplit)
      kind = StepKind::I;
    lists.add(*list,
              Step(kind, stages[entry.chunk - 1], microbatch, 0, entry.place));
  }
  return true;
}

bool TeOrderReader::addLists() {
  unsigned ranks = orders.size();
  if (!known.contains("stage_to_rank")) {
    if (uint64_t(ranks) * numChunks > maxStages) {
      (void)diags.report(
          cursor.start(), diag::OrderNumberTooLarge, "number of stages",
          std::to_string(uint64_t(ranks) * numChunks), maxStages);
      return false;
    }
    for (unsigned stage = 0; stage != ranks * numChunks; ++stage)
      map.push_back(stage % ranks);
  }
  std::vector<std::vector<unsigned>> stages(ranks);
  size_t chunks = 0;
  for (auto [stage, rank] : enumerate(map)) {
    if (rank >= ranks) {
      (void)diags.report(mapPlaces[stage], diag::OrderMapRank, stage, rank,
                         countText(ranks, "rank"));
      return false;
    }
    stages[rank].push_back(stage);
    chunks = std::max(chunks, stages[rank].size());
  }
  if (declaredChunks && *declaredChunks != chunks) {
    (void)diags.report(chunksPlace, diag::OrderSizeDiffers, "chunks",
                       *declaredChunks, chunks);
    return false;
  }
  bool good = true;
  for (unsigned rank = 0; rank != ranks && !diags.atErrorLimit(); ++rank)
    good &= addList(rank, stages[rank]);
  return good;
}

FailureOr<Schedule> TeOrderReader::read() {
  unsigned errors = diags.numErrors();
  bool good = cursor.expect('{') &&
              cursor.readElements('}', [&] { return readMember(); });
  if (good && !cursor.atEnd()) {
    cursor.expected("the end of the file");
    good = false;
  }
  if (good && !known.contains("order")) {
    cursor.expected("`order`");
    good = false;
  }
  if (!good || diags.numErrors() != errors || !addLists())
    return failure();
  return lists.finish(cursor.start());
}

FailureOr<Schedule> importTeOrder(StringRef text, const ListOptions &options,
                                  DiagEngine &diags) {
  diags.sourceFiles().setItems(text, [](StringRef rest) {
    return OrderCursor::valueLength(
        rest.take_until([](char c) { return c == '\n'; }));
  });
  return TeOrderReader(text, options, diags).read();
}

bool looksLikeTeOrder(StringRef text) {
  return text.starts_with("{") && text.take_front(256).contains(version);
}

} // namespace pipec
