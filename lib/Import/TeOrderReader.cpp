//===- TeOrderReader.cpp - Step IR from Transformer Engine's order --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of the object may come in any order, so the entries are kept until
// all has been read.
//
//===----------------------------------------------------------------------===//

#include "Import/Lists.h"
#include "Support/Diagnostics/ImportDiags.h"
#include "Support/Words.h"

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
      : reader(text, diags), lists(options, diags), diags(diags) {}

  FailureOr<Schedule> read();

private:
  bool readValue(StringRef key);
  bool readEntry(std::vector<Entry> &entries);
  bool addLists();
  bool addList(unsigned rank, ArrayRef<unsigned> stages);

  LiteralReader reader;
  OrderLists lists;
  DiagEngine &diags;
  bool hasOrder = false;
  std::vector<std::vector<Entry>> orders;
  std::vector<SourceLoc> places;
  OrderLists::Size chunks{"chunks", maxStages};
  /// The highest chunk of any entry.
  unsigned numChunks = 0;
  /// True if there are gradients of weights, so that backwards are I.
  bool isSplit = false;
};

} // namespace

bool TeOrderReader::readEntry(std::vector<Entry> &entries) {
  SourceLoc place = reader.next();
  StringRef spelled = reader.skipValue(), rest = spelled;
  bool isBackward = rest.consume_front("-");
  bool isWeight = isBackward && rest.consume_back(".5");
  unsigned chunk = 0;
  if (rest.getAsInteger(10, chunk) || chunk == 0 || chunk > maxStages)
    return reader.error(spelled, diag::OrderEntry, shortened(spelled),
                        maxStages);
  isSplit |= isWeight;
  numChunks = std::max(numChunks, chunk);
  entries.push_back({isWeight     ? StepKind::W
                     : isBackward ? StepKind::B
                                  : StepKind::F,
                     chunk, place});
  return true;
}

bool TeOrderReader::readValue(StringRef key) {
  if (key == "format") {
    StringRef format;
    return reader.string(format) &&
           (format == version || reader.error(format, diag::OrderVersion,
                                              shortened(format), version));
  }
  if (key == "order") {
    hasOrder = true;
    return reader.expect('[') && reader.elements(']', [&] {
      places.push_back(reader.next());
      std::vector<Entry> &entries = orders.emplace_back();
      return reader.expect('[') &&
             reader.elements(']', [&] { return readEntry(entries); });
    });
  }
  if (key == chunks.key)
    return OrderLists::readSize(reader, chunks);
  if (std::optional<bool> good = lists.readShared(reader, key))
    return *good;
  reader.skipValue();
  return true;
}

/// Adds the list of a rank that has these stages.
bool TeOrderReader::addList(unsigned rank, ArrayRef<unsigned> stages) {
  StepList *list = lists.begin(std::nullopt, places[rank]);
  if (!list)
    return false;
  // The next micro-batch of each chunk, by kind.
  std::vector<std::array<unsigned, 3>> next(stages.size());
  for (const Entry &entry : orders[rank]) {
    if (entry.chunk > stages.size())
      return reader.error(entry.place, diag::OrderChunkMissing, entry.chunk,
                          rank, countText(stages.size(), "chunk"));
    StepKind kind = entry.kind;
    unsigned slot = kind == StepKind::F ? 0 : kind == StepKind::B ? 1 : 2;
    unsigned microbatch = next[entry.chunk - 1][slot]++;
    if (microbatch >= maxUnits)
      return reader.error(entry.place, diag::OrderNumberTooLarge, "micro-batch",
                          std::to_string(microbatch), maxUnits - 1);
    if (kind == StepKind::B && isSplit)
      kind = StepKind::I;
    lists.add(*list,
              Step(kind, stages[entry.chunk - 1], microbatch, 0, entry.place));
  }
  return true;
}

bool TeOrderReader::addLists() {
  unsigned ranks = orders.size();
  std::vector<uint32_t> map = lists.map();
  if (!lists.hasMap()) {
    uint64_t numStages = uint64_t(ranks) * numChunks;
    if (numStages > maxStages)
      return reader.error(reader.start(), diag::OrderNumberTooLarge,
                          "number of stages", std::to_string(numStages),
                          maxStages);
    for (unsigned stage = 0; stage != numStages; ++stage)
      map.push_back(stage % ranks);
  }
  std::vector<std::vector<unsigned>> stages(ranks);
  size_t most = 0;
  for (auto [stage, rank] : enumerate(map)) {
    if (rank >= ranks)
      return reader.error(lists.placeInMap(stage), diag::OrderMapRank, stage,
                          rank, countText(ranks, "rank"));
    stages[rank].push_back(stage);
    most = std::max(most, stages[rank].size());
  }
  if (chunks.declared && *chunks.declared != most)
    return reader.error(chunks.place, diag::OrderSizeDiffers, chunks.key,
                        *chunks.declared, most);
  bool good = true;
  for (unsigned rank = 0; rank != ranks && !diags.atErrorLimit(); ++rank)
    good &= addList(rank, stages[rank]);
  return good;
}

FailureOr<Schedule> TeOrderReader::read() {
  bool good = reader.expect('{') &&
              reader.members("a string",
                             [&](StringRef key) { return readValue(key); }) &&
              (reader.atEnd() || reader.expected("the end of the file")) &&
              (hasOrder || reader.expected("`order`")) && addLists();
  if (!good)
    return failure();
  return lists.finish(reader.start());
}

FailureOr<Schedule> importTeOrder(StringRef text, const ListOptions &options,
                                  DiagEngine &diags) {
  diags.sourceFiles().setItems(text, LiteralReader::itemLength);
  return TeOrderReader(text, options, diags).read();
}

bool looksLikeTeOrder(StringRef text) {
  return text.starts_with("{") && text.take_front(256).contains(version);
}

} // namespace pipec
