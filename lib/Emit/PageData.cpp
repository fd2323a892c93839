//===- PageData.cpp - The data of --emit=html -----------------------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/PageData.h"

#include "Emit/Palette.h"

#include "llvm/ADT/StringExtras.h"

#include <utility>

using namespace llvm;

namespace pipec {

/// Steps that could have filled a gap are searched if the search looks at no
/// more steps than this.
static constexpr uint64_t maxSearched = 1 << 24;

void PageData::write() {
  numberSteps();
  if (!picture.simulation().isRecorded())
    findCauses();
  os << '{';
  writeHeader();
  os << ",\n\"lanes\":[";
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    os << (rank ? ",\n" : "\n");
    writeLane(rank);
  }
  os << "],\n\"transfers\":";
  writeTransfers();
  os << ",\n\"critical\":[";
  writeCriticalPath();
  os << ']';
  os << ",\n\"sources\":[";
  for (const Source &source : sources) {
    os << (&source == &sources.front() ? "\n[" : ",\n[");
    printJsonString(os, source.place);
    os << ',';
    printJsonString(os, source.line);
    os << ']';
  }
  os << "]}\n";
}

/// Writes arrays of numbers, each as a member of an object.
void PageData::columns(ArrayRef<Column> all) {
  ListSeparator next(",");
  for (const auto &[name, values] : all) {
    ListSeparator comma(",");
    os << next << '"' << name << "\":[";
    for (int64_t value : values)
      os << comma << value;
    os << ']';
  }
}

/// U, R, G or T.
static char laneLetter(StepKind kind) {
  return kind == StepKind::Unshard   ? 'U'
         : kind == StepKind::Reshard ? 'R'
         : isTied(kind)              ? 'T'
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

/// Writes the colors of kinds on light and dark pages: all shades, then that of
/// the text on them.
void PageData::writeColors() {
  unsigned shades = numShades(picture.chunks().most());
  for (Scheme scheme : {Scheme::Light, Scheme::Dark}) {
    os << (scheme == Scheme::Light ? "\"colors\":{\"light\":{"
                                   : "},\"dark\":{");
    for (StepKind kind : {StepKind::F, StepKind::B, StepKind::I, StepKind::W}) {
      os << (kind == StepKind::F ? "" : ",") << '"' << stepKindName(kind)
         << "\":[";
      for (unsigned shade = 0; shade != shades; ++shade)
        os << '"' << fillColor(scheme, kind, shade, shades) << "\",";
      os << '"' << textColor(scheme, kind) << "\"]";
    }
    for (StepKind kind : {StepKind::Unshard, StepKind::Reshard,
                          StepKind::ReduceGrad, StepKind::ReduceTied})
      os << ",\"" << laneLetter(kind) << "\":[\"" << fillColor(scheme, kind)
         << "\",\"" << textColor(scheme, kind) << "\"]";
  }
  os << "}}";
}

void PageData::writeHeader() {
  const Simulation &run = picture.simulation();
  os << "\"name\":";
  printJsonString(os, schedule.name);
  os << ",\"sizes\":";
  printJsonString(os, sizesText(schedule));
  os << ",\"params\":{";
  for (const auto &param : schedule.params) {
    os << (&param == &schedule.params.front() ? "" : ",");
    printJsonString(os, param.first);
    os << ':' << param.second;
  }
  os << "},\"ranks\":" << schedule.numRanks
     << ",\"stages\":" << schedule.numStages
     << ",\"microbatches\":" << schedule.numMicrobatches
     << ",\"ticksPerUnit\":" << picture.costs().perUnit()
     << ",\"makespan\":" << run.makespan() << ",\"length\":" << picture.length()
     << ",\"memoryUnit\":" << picture.memory().perUnit()
     << ",\"from\":" << picture.from() << ",\"to\":" << picture.to();
  if (std::optional<Rational> bubble = run.bubbleRate(run.makespan())) {
    os << ",\"bubble\":";
    printJsonString(os, percentText(*bubble));
  }
  if (std::string part = picture.windowText(); !part.empty()) {
    os << ",\"shown\":";
    printJsonString(os, part);
  }
  os << ",\"phases\":[";
  for (const std::string &phase : schedule.phases) {
    os << (&phase == &schedule.phases.front() ? "" : ",");
    printJsonString(os, phase);
  }
  os << "],\"costs\":";
  printJsonString(os, facts.costsText());
  AssumedCosts assumed = schedule.assumedCosts();
  if (!assumed.empty()) {
    os << ",\"assumed\":";
    printJsonString(os, assumed.text());
  }
  os << ',';
  writeColors();
}

void PageData::writeLane(unsigned rank) {
  const StepList &list = schedule.ranks[rank];
  std::string kinds, fsdpKinds;
  std::vector<int64_t> stages, chunks, microbatches, gaps, durations, wholes;
  std::vector<int64_t> phases, from, fsdpStages, fsdpStarts, fsdpDurations;
  int64_t last = picture.from(), fsdpLast = picture.from();
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    StepKind kind = list[group.begin].kind();
    if (isCollective(kind)) {
      fsdpKinds += laneLetter(kind);
      fsdpStages.push_back(list[group.begin].stage());
      fsdpStarts.push_back(group.start - fsdpLast);
      fsdpLast = group.start;
      fsdpDurations.push_back(group.finish - group.start);
      return;
    }
    if (!isCompute(kind))
      return;
    gaps.push_back(group.start - last);
    last = group.finish;
    bool single = group.end - group.begin == 1;
    if (!single)
      wholes.push_back(group.finish - group.start);
    for (size_t i = group.begin; i != group.end; ++i) {
      Step step = list[i];
      char letter = stepKindName(step.kind())[0];
      kinds += step.joined() ? char(letter - 'A' + 'a') : letter;
      stages.push_back(step.stage());
      chunks.push_back(picture.chunks().of(schedule, step));
      microbatches.push_back(step.microbatch());
      durations.push_back(single ? group.finish - group.start
                                 : picture.alone(rank, i));
      phases.push_back(step.phase());
      from.push_back(sourceOf(step));
    }
  });
  const RankTimes &times = picture.simulation().ranks()[rank];
  os << "{\"rank\":" << rank << ",\"work\":" << times.work << ",\"k\":\""
     << kinds << "\",";
  columns({{"s", stages},
           {"c", chunks},
           {"m", microbatches},
           {"g", gaps},
           {"d", durations},
           {"o", wholes},
           {"p", phases},
           {"l", from}});
  std::vector<int64_t> changes, levels;
  int64_t before = picture.from();
  picture.forEachLevel(rank, [&](int64_t time, int64_t level) {
    changes.push_back(time - before);
    before = time;
    levels.push_back(level);
  });
  os << ",\"memory\":{";
  columns({{"t", changes}, {"v", levels}});
  os << '}';
  if (std::optional<Rational> limit = schedule.memory.limit(rank))
    os << ",\"limit\":" << roundedText(*limit)
       << (facts.peak(rank) > facts.limit(rank) ? ",\"over\":true" : "");
  if (causes)
    writeGaps(rank);
  if (!fsdpKinds.empty()) {
    os << ",\"fsdp\":{\"k\":\"" << fsdpKinds << "\",";
    columns({{"s", fsdpStages}, {"t", fsdpStarts}, {"d", fsdpDurations}});
    os << '}';
  }
  writeWaits(rank);
  os << '}';
}

void PageData::writeWaits(unsigned rank) {
  std::string kinds;
  std::vector<int64_t> stages, microbatches, times;
  int64_t last = picture.from();
  picture.forEachWait(rank, [&](Step step, int64_t time) {
    kinds += step.kind() == StepKind::WaitSendF   ? 'F'
             : step.kind() == StepKind::WaitSendB ? 'B'
                                                  : 'G';
    stages.push_back(step.stage());
    microbatches.push_back(step.microbatch());
    times.push_back(time - last);
    last = time;
  });
  if (kinds.empty())
    return;
  os << ",\"waits\":{\"k\":\"" << kinds << "\",";
  columns({{"s", stages}, {"m", microbatches}, {"t", times}});
  os << '}';
}

void PageData::writeTransfers() {
  std::string kinds;
  std::vector<int64_t> ranks, peers, stages, microbatches, starts, durations;
  int64_t last = 0;
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank)
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i) {
        Step step = schedule.ranks[rank][i];
        const DataFlow::Port *port =
            isSend(step.kind()) ? picture.flow().transfer(step) : nullptr;
        if (!port || port->rank >= picture.shownRanks())
          continue;
        kinds += step.kind() == StepKind::SendF ? 'F' : 'B';
        ranks.push_back(rank);
        peers.push_back(port->rank);
        stages.push_back(step.stage());
        microbatches.push_back(step.microbatch());
        starts.push_back(group.start - last);
        last = group.start;
        durations.push_back(group.finish - group.start);
      }
    });
  os << "{\"k\":\"" << kinds << "\",";
  columns({{"r", ranks},
           {"q", peers},
           {"s", stages},
           {"m", microbatches},
           {"t", starts},
           {"d", durations}});
  os << '}';
}

void PageData::numberSteps() {
  const StepNumbers &numbers = picture.simulation().numbers();
  columnOf.assign(numbers.size(), notShown);
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    uint32_t next = 0;
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i)
        if (isCompute(schedule.ranks[rank][i].kind()))
          columnOf[numbers.of(rank, i)] = next++;
    });
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

/// Writes why the rank is idle before each step that starts after a gap.
void PageData::writeGaps(unsigned rank) {
  const StepNumbers &numbers = picture.simulation().numbers();
  std::vector<int64_t> ranks, indices, ready;
  std::string parts;
  raw_string_ostream partsOs(parts);
  int64_t free = picture.from();
  picture.forEachGroup(rank, [&](const Picture::Group &group) {
    if (!isCompute(schedule.ranks[rank][group.begin].kind()))
      return;
    int64_t since = std::exchange(free, group.finish);
    if (group.start <= since)
      return;
    StepRef before = {rank, uint32_t(group.begin)};
    GapCause cause = gapCause(*causes, before, since);
    uint32_t column =
        cause.step == StepNumbers::none ? notShown : columnOf[cause.step];
    bool shown = column != notShown;
    ranks.push_back(shown ? int64_t(numbers.rankOf(cause.step)) : -1);
    indices.push_back(shown ? int64_t(column) : -1);
    const WaitParts &waits = cause.parts;
    partsOs << (parts.empty() ? "" : ",");
    if (waits.exposed() == 0)
      partsOs << 0;
    else
      partsOs << '[' << waits.dependency << ',' << waits.latency << ','
              << waits.queue << ',' << waits.wait << ',' << waits.gather << ']';
    if (!searchesReady)
      return;
    IdleGap gap;
    gap.rank = rank;
    gap.start = since;
    gap.end = group.start;
    gap.before = before;
    findReadyStep(gap, *causes, picture.memory());
    if (gap.ready && columnOf[numbers.of(*gap.ready)] != notShown) {
      ready.push_back(int64_t(ranks.size()) - 1);
      ready.push_back(columnOf[numbers.of(*gap.ready)]);
      ready.push_back(gap.overLimit ? gap.held : -1);
    }
  });
  if (ranks.empty())
    return;
  os << ",\"w\":{";
  columns({{"q", ranks}, {"i", indices}, {"y", ready}});
  os << ",\"p\":[" << parts << "]}";
}

void PageData::writeCriticalPath() {
  if (!causes)
    return;
  const StepNumbers &numbers = picture.simulation().numbers();
  bool first = true;
  for (const PathStep &link : criticalPath(*causes)) {
    uint32_t column = columnOf[link.step];
    if (column == notShown)
      continue;
    os << (first ? "[" : ",[") << numbers.rankOf(link.step) << ',' << column
       << ']';
    first = false;
  }
}

} // namespace pipec
