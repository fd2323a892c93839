//===- PageData.cpp - The data of --emit=html -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/JsonObject.h"
#include "Emit/Palette.h"
#include "Emit/Picture.h"
#include "Explain/IdleGaps.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>
#include <utility>

using namespace llvm;

namespace pipec {

/// The maximum number of steps that the search for steps that could have filled
/// a gap may visit; with more, there is no search.
static constexpr uint64_t maxSearched = 1 << 24;

namespace {

/// Steps as columns: a string of their kinds, and a list of numbers per letter
/// of `keys`.
struct StepColumns {
  explicit StepColumns(StringRef keys) : keys(keys), columns(keys.size()) {}

  void add(char kind, std::initializer_list<int64_t> numbers) {
    kinds += kind;
    for (auto [column, number] : zip_equal(columns, numbers))
      column.push_back(number);
  }
  void write(JsonObject &&object) const {
    object("k", kinds);
    for (auto [key, column] : zip_equal(keys, columns))
      object(StringRef(&key, 1), column);
  }

  StringRef keys;
  std::string kinds;
  std::vector<std::vector<int64_t>> columns;
};

/// Writes the block of one schedule.
class PageData {
public:
  PageData(const Picture &picture, const SourceFiles &files, raw_ostream &os)
      : picture(picture), schedule(picture.schedule()), facts(picture),
        files(files), os(os) {}

  void write();

private:
  static constexpr uint32_t notShown = std::numeric_limits<uint32_t>::max();
  struct Source {
    std::string place;
    std::string line;
  };

  void numberSteps();
  void writeHeader(JsonObject &page);
  void writeColors(JsonObject &page);
  void writeLane(unsigned rank);
  void writeLevels(unsigned rank, JsonObject &&into, MemoryPlace place);
  void writeSteps(unsigned rank, ArrayRef<Picture::Group> groups,
                  JsonObject &into);
  void writeSide(unsigned rank, JsonObject &lane, SideLane side,
                 ArrayRef<Picture::Group> groups);
  void writeStreams(unsigned rank, JsonObject &lane,
                    ArrayRef<std::vector<Picture::Group>> sides);
  void writeGaps(ArrayRef<Picture::Group> groups, bool isStream,
                 JsonObject &into);
  void writeWaits(unsigned rank, JsonObject &lane);
  void writeTransfers(JsonObject &page);
  void findCauses();
  void writeCriticalPath(JsonObject &page);
  int sourceOf(Step step);

  const Picture &picture;
  const Schedule &schedule;
  PictureFacts facts;
  const SourceFiles &files;
  raw_ostream &os;
  std::vector<Source> sources;
  DenseMap<uint32_t, int> sourceNumbers;
  /// By number of the step: its index in the columns of its lane, where those
  /// of streams follow those of the rank; `notShown` for all but compute steps.
  std::vector<uint32_t> columnOf;
  /// The same of copies, in the columns of their side lane.
  DenseMap<uint32_t, uint32_t> copyColumnOf;
  /// Empty if the times were recorded: these have no causes.
  std::optional<Causes> causes;
  bool searchesReady = false;
};

} // namespace

void PageData::write() {
  numberSteps();
  if (!picture.simulation().isRecorded())
    findCauses();
  {
    JsonObject page(os);
    writeHeader(page);
    auto ranks = seq(picture.shownRanks());
    page.newLine().array("lanes", ranks, [&](unsigned rank) {
      os << '\n';
      writeLane(rank);
    });
    writeTransfers(page);
    page.newLine();
    writeCriticalPath(page);
    page.newLine().array("sources", sources, [&](const Source &source) {
      os << "\n[";
      printJsonString(os, source.place);
      printJsonString(os << ',', source.line);
      os << ']';
    });
  }
  os << '\n';
}

static char laneLetter(StepKind kind) {
  return kind == StepKind::Unshard        ? 'U'
         : kind == StepKind::Reshard      ? 'R'
         : streamOf(kind) == Stream::Tied ? 'T'
         : kind == StepKind::Offload      ? 'O'
         : kind == StepKind::Reload       ? 'L'
                                          : 'G';
}

/// The letter of a wait: of the send it waits for, or for a reduction.
static char waitLetter(StepKind kind) {
  return kind == StepKind::WaitSendF     ? 'F'
         : kind == StepKind::WaitSendB   ? 'B'
         : kind == StepKind::WaitOffload ? 'O'
                                         : 'G';
}

int PageData::sourceOf(Step step) {
  if (!step.source().isValid())
    return -1;
  auto [it, isNew] =
      sourceNumbers.try_emplace(step.source().offset, int(sources.size()));
  if (isNew) {
    // A line may be as long as the file and contain all its steps: a CSV has
    // one line per rank. So only the beginning is considered.
    constexpr size_t most = 160, indented = 1000;
    SMLoc loc = files.expand(step.source());
    LineColumn at = files.lineColumn(loc);
    StringRef text = files.textOf(loc);
    size_t begin = size_t(loc.getPointer() - text.data()) - (at.column - 1);
    StringRef line = text.substr(begin, indented).take_until([](char c) {
      return c == '\n' || c == '\r' || c == 0;
    });
    sources.push_back({placeText(at), line.trim().take_front(most).str()});
  }
  return it->second;
}

/// Writes the colors of kinds on light and dark pages: all shades, then the
/// color of text on them.
void PageData::writeColors(JsonObject &page) {
  unsigned shades = numShades(picture.numShaded());
  // `R` and `U` are taken.
  constexpr std::tuple<StepKind, StringLiteral, bool> extras[] = {
      {StepKind::R, "recompute", true},
      {StepKind::Update, "update", true},
      {StepKind::Offload, "out", false},
      {StepKind::Reload, "in", false}};
  JsonObject colors(page.key("colors"));
  for (Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    JsonObject own(colors.key(scheme == Scheme::Light ? "light" : "dark"));
    auto write = [&](StringRef name, StepKind kind, unsigned shades) {
      raw_ostream &to = own.key(name) << '[';
      for (unsigned shade = 0; shade != shades; ++shade)
        to << '"' << fillColor(scheme, kind, shade, shades) << "\",";
      to << '"' << textColor(scheme, kind) << "\"]";
    };
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W})
      write(stepKindName(kind), kind, shades);
    for (StepKind kind : {StepKind::Unshard, StepKind::Reshard,
                          StepKind::ReduceGrad, StepKind::ReduceTied}) {
      char letter = laneLetter(kind);
      write(StringRef(&letter, 1), kind, 1);
    }
    for (auto [kind, name, isShaded] : extras)
      if (schedule.has(step_facts::bit(kind)))
        write(name, kind, isShaded ? shades : 1);
  }
}

void PageData::writeHeader(JsonObject &page) {
  const Simulation &run = picture.simulation();
  page("name", schedule.name)("sizes", sizesText(schedule));
  {
    JsonObject params(page.key("params"));
    for (const auto &[name, value] : schedule.params) {
      printJsonString(params.next(), name);
      os << ':' << value;
    }
  }
  page("ranks", schedule.numRanks)("stages", schedule.numStages);
  page("microbatches", schedule.numMicrobatches());
  page("slices", schedule.numSlices);
  page("ticksPerUnit", picture.costs().perUnit());
  page("makespan", run.makespan())("length", picture.length());
  page("memoryUnit", picture.memory().perUnit());
  if (schedule.memoryInBytes)
    page("memoryInBytes", true);
  page("from", picture.from())("to", picture.to());
  if (std::optional<Rational> bubble = run.bubbleRate(run.makespan()))
    page("bubble", percentText(*bubble));
  if (std::string part = picture.windowText(); !part.empty())
    page("shown", part);
  page.array("phases", schedule.phases,
             [&](StringRef phase) { printJsonString(os, phase); });
  if (!schedule.streams.empty())
    page.array("streams", schedule.streams.names,
               [&](StringRef name) { printJsonString(os, name); });
  page("costs", facts.costsText());
  if (AssumedCosts assumed = schedule.assumedCosts(); !assumed.empty())
    page("assumed", assumed.text());
  writeColors(page);
}

/// Writes compute steps and overlaps as columns.
void PageData::writeSteps(unsigned rank, ArrayRef<Picture::Group> groups,
                          JsonObject &into) {
  const StepList &list = schedule.ranks[rank];
  std::string kinds;
  std::vector<int64_t> stages, chunks, microbatches, gaps, durations, wholes;
  std::vector<int64_t> phases, from;
  int64_t last = picture.from();
  for (const Picture::Group &group : groups) {
    gaps.push_back(group.start - std::exchange(last, group.finish));
    bool single = group.end - group.begin == 1;
    if (!single)
      wholes.push_back(group.finish - group.start);
    for (size_t i = group.begin; i != group.end; ++i) {
      Step step = list[i];
      char letter = stepLetter(step.kind());
      kinds += step.joined() ? toLower(letter) : letter;
      stages.push_back(step.stage());
      chunks.push_back(picture.chunks().of(schedule, rank, step));
      microbatches.push_back(hasUnit(step.kind()) ? int64_t(step.unit()) : -1);
      durations.push_back(single ? group.finish - group.start
                                 : picture.alone(rank, i));
      phases.push_back(step.phase());
      from.push_back(sourceOf(step));
    }
  }
  into("k", kinds)("s", stages)("c", chunks)("m", microbatches)("g", gaps);
  into("d", durations)("o", wholes)("p", phases)("l", from);
}

void PageData::writeLane(unsigned rank) {
  std::vector<Picture::Group> computes;
  picture.forEachCompute(
      rank, [&](const Picture::Group &group) { computes.push_back(group); });
  JsonObject lane(os);
  lane("rank", rank)("work", picture.simulation().ranks()[rank].work);
  writeSteps(rank, computes, lane);
  writeLevels(rank, JsonObject(lane.key("memory")), MemoryPlace::Device);
  if (facts.hasHost())
    writeLevels(rank, JsonObject(lane.key("host")), MemoryPlace::Host);
  if (std::optional<Rational> limit = schedule.memory.limit(rank)) {
    lane.key("limit") << roundedText(*limit);
    if (facts.peak(rank) > facts.limit(rank))
      lane("over", true);
  }
  if (causes)
    writeGaps(computes, /*isStream=*/false, lane);
  std::vector<std::vector<Picture::Group>> sides = picture.sides(rank);
  for (SideLane side : SideLane::all(schedule))
    if (!side.stream() && !sides[side.number()].empty())
      writeSide(rank, lane, side, sides[side.number()]);
  if (!schedule.streams.empty())
    writeStreams(rank, lane, sides);
  writeWaits(rank, lane);
}

void PageData::writeLevels(unsigned rank, JsonObject &&into,
                           MemoryPlace place) {
  std::vector<int64_t> changes, levels;
  int64_t before = picture.from();
  picture.forEachLevel(
      rank,
      [&](int64_t time, int64_t level) {
        changes.push_back(time - before);
        before = time;
        levels.push_back(level);
      },
      place);
  into("t", changes)("v", levels);
}

void PageData::writeSide(unsigned rank, JsonObject &lane, SideLane side,
                         ArrayRef<Picture::Group> groups) {
  bool copies = side.isCopies();
  StepColumns steps(copies ? "smtd" : "std");
  int64_t last = picture.from();
  for (const Picture::Group &group : groups) {
    Step step = schedule.ranks[rank][group.begin];
    int64_t since = group.start - std::exchange(last, group.start);
    int64_t duration = group.finish - group.start;
    if (copies)
      steps.add(laneLetter(step.kind()),
                {step.stage(), step.unit(), since, duration});
    else
      steps.add(laneLetter(step.kind()), {step.stage(), since, duration});
  }
  steps.write(JsonObject(lane.key(side.name(schedule))));
}

/// Writes the steps of a rank on each stream of stages, those of a stream
/// without steps as well.
void PageData::writeStreams(unsigned rank, JsonObject &lane,
                            ArrayRef<std::vector<Picture::Group>> sides) {
  auto streams = make_filter_range(SideLane::all(schedule), [](SideLane side) {
    return side.stream() != 0;
  });
  lane.array("streams", streams, [&](SideLane side) {
    JsonObject steps(os);
    writeSteps(rank, sides[side.number()], steps);
    if (causes)
      writeGaps(sides[side.number()], /*isStream=*/true, steps);
  });
}

void PageData::writeWaits(unsigned rank, JsonObject &lane) {
  StepColumns steps("smt");
  int64_t last = picture.from();
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    steps.add(waitLetter(step.kind()),
              {step.stage(), step.unit(), time - std::exchange(last, time)});
  });
  if (!steps.kinds.empty())
    steps.write(JsonObject(lane.key("waits")));
}

void PageData::writeTransfers(JsonObject &page) {
  StepColumns steps("rqsmtd");
  int64_t last = 0;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i) {
        Step step = schedule.ranks[rank][i];
        if (std::optional<unsigned> peer = picture.receiver(step))
          steps.add(step.kind() == StepKind::SendF ? 'F' : 'B',
                    {rank, *peer, step.stage(), step.unit(),
                     group.start - std::exchange(last, group.start),
                     group.finish - group.start});
      }
    });
  steps.write(JsonObject(page.newLine().key("transfers")));
}

void PageData::numberSteps() {
  const StepNumbers &numbers = picture.simulation().numbers();
  columnOf.assign(numbers.size(), notShown);
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    uint32_t next = 0;
    auto number = [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i)
        columnOf[numbers.of(rank, i)] = next++;
    };
    picture.forEachCompute(rank, number);
    std::vector<std::vector<Picture::Group>> sides = picture.sides(rank);
    for (SideLane side : SideLane::all(schedule)) {
      if (side.stream())
        for_each(sides[side.number()], number);
      if (side.isCopies())
        for (auto [column, group] : enumerate(sides[side.number()]))
          copyColumnOf[numbers.of(rank, group.begin)] = column;
    }
  }
}

void PageData::findCauses() {
  const Simulation &run = picture.simulation();
  causes.emplace(schedule, run);
  uint64_t searched = 0;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
    forEachGap(schedule, run, rank, [&](int64_t, int64_t, size_t) {
      searched += schedule.ranks[rank].size();
    });
  searchesReady = searched <= maxSearched;
}

/// Writes why a rank, or a stream of it, is idle before each of these steps
/// that starts after a gap.
void PageData::writeGaps(ArrayRef<Picture::Group> groups, bool isStream,
                         JsonObject &into) {
  const StepNumbers &numbers = picture.simulation().numbers();
  std::vector<int64_t> ranks, indices, ready, copies;
  std::string parts;
  raw_string_ostream partsOs(parts);
  int64_t free = picture.from();
  for (const Picture::Group &group : groups) {
    int64_t since = std::exchange(free, group.finish);
    if (group.start <= since)
      continue;
    StepRef before = {group.rank, uint32_t(group.begin)};
    GapCause cause = gapCause(*causes, before, since);
    uint32_t column =
        cause.step == StepNumbers::none ? notShown : columnOf[cause.step];
    bool shown = column != notShown;
    ranks.push_back(shown ? int64_t(numbers.rankOf(cause.step)) : -1);
    indices.push_back(shown ? int64_t(column) : -1);
    const WaitParts &waits = cause.parts;
    partsOs << (parts.empty() ? "" : ",");
    if (waits.exposed() == 0) {
      partsOs << 0;
    } else {
      partsOs << '[' << waits.dependency << ',' << waits.latency << ','
              << waits.queue << ',' << waits.wait << ',' << waits.gather;
      if (waits.copy != 0)
        partsOs << ',' << waits.copy;
      partsOs << ']';
    }
    // A copy that is not shown has no column.
    if (!isStream && cause.copy != StepNumbers::none &&
        copyColumnOf.contains(cause.copy)) {
      StepRef at = numbers.at(cause.copy);
      bool isIn = schedule.ranks[at.rank][at.index].stream() == Stream::In;
      copies.insert(copies.end(), {int64_t(ranks.size()) - 1, isIn,
                                   copyColumnOf.lookup(cause.copy)});
    }
    if (!searchesReady || isStream)
      continue;
    IdleGap gap = {group.rank, since, group.start, before};
    findReadyStep(gap, *causes, picture.memory());
    if (gap.ready && columnOf[numbers.of(*gap.ready)] != notShown) {
      ready.push_back(int64_t(ranks.size()) - 1);
      ready.push_back(columnOf[numbers.of(*gap.ready)]);
      ready.push_back(gap.overLimit ? gap.held : -1);
    }
  }
  if (ranks.empty())
    return;
  JsonObject gaps(into.key("w"));
  gaps("q", ranks)("i", indices)("y", ready);
  if (!copies.empty())
    gaps("c", copies);
  gaps.key("p") << '[' << parts << ']';
}

void PageData::writeCriticalPath(JsonObject &page) {
  PathSteps path;
  if (causes)
    path = criticalPath(*causes);
  erase_if(path, [&](const PathStep &link) {
    return columnOf[link.step] == notShown;
  });
  const StepNumbers &numbers = picture.simulation().numbers();
  page.array("critical", path, [&](const PathStep &link) {
    os << '[' << numbers.rankOf(link.step) << ',' << columnOf[link.step] << ']';
  });
}

void writePageData(const Picture &picture, const SourceFiles &files,
                   raw_ostream &os) {
  PageData(picture, files, os).write();
}

} // namespace pipec
