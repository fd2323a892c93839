//===- Html.cpp - --emit=html: a page to look into a schedule -------------===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One self-contained file: templates/page.html with its style and script, and
// one block of JSON per schedule (a second one for comparison with `--with`).
// The JSON contains columns instead of rows: for each rank a string of kinds
// and arrays of small numbers, with times as differences in ticks.
// templates/page-model.js reads it and documents every field.
//
//===----------------------------------------------------------------------===//

#include "Emit/Palette.h"
#include "Emit/Picture.h"
#include "Explain/Causes.h"
#include "Template/Template.h"
#include "Template/TextData.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace llvm;

namespace pipec {

namespace {

constexpr char pageTemplate[] =
#include "Emit/page.html.inc"
    ;
constexpr char pageStyle[] =
#include "Emit/page.css.inc"
    ;
constexpr char pageProgram[] =
#include "Emit/page-draw.js.inc"
#include "Emit/page-model.js.inc"
#include "Emit/page.js.inc"
    ;

/// The limits for drawing while the user pans or zooms.
constexpr Picture::Limits pageLimits = {/*steps=*/100000, /*ranks=*/4096};

/// Writes one block of JSON.
class DataWriter {
public:
  DataWriter(const Picture &picture, const SourceFiles &files, raw_ostream &os)
      : picture(picture), schedule(picture.schedule()), files(files), os(os) {}

  void write() {
    findCriticalPath();
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

private:
  static constexpr size_t notShown = std::numeric_limits<size_t>::max();
  struct Source {
    std::string place;
    std::string line;
  };

  void writeHeader();
  void writeLane(unsigned rank);
  void writeWaits(unsigned rank);
  void writeTransfers();
  void findCriticalPath();
  void writeCriticalPath();
  void writeColors();
  int sourceOf(Step step);

  /// Writes arrays of numbers, each as a member of an object.
  void
  columns(ArrayRef<std::pair<StringRef, const std::vector<int64_t> &>> all) {
    ListSeparator next(",");
    for (const auto &[name, values] : all) {
      ListSeparator comma(",");
      os << next << '"' << name << "\":[";
      for (int64_t value : values)
        os << comma << value;
      os << ']';
    }
  }

  const Picture &picture;
  const Schedule &schedule;
  const SourceFiles &files;
  raw_ostream &os;
  std::vector<Source> sources;
  DenseMap<uint32_t, int> sourceNumbers;
  /// The compute steps of the critical path, and the indices of those that are
  /// shown in the columns of their lane.
  std::vector<uint32_t> critical;
  DenseMap<uint32_t, size_t> criticalPlaces;
};

} // namespace

/// U, R, G or T.
static char laneLetter(StepKind kind) {
  return kind == StepKind::Unshard   ? 'U'
         : kind == StepKind::Reshard ? 'R'
         : isTied(kind)              ? 'T'
                                     : 'G';
}

int DataWriter::sourceOf(Step step) {
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
void DataWriter::writeColors() {
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

/// The style of the page, with the color of idle time.
static std::string styleOfPage() {
  std::string text;
  raw_string_ostream(text)
      << ":root { --lane: " << idleColor(Scheme::Light)
      << "; }\n@media (prefers-color-scheme: dark) { :root { --lane: "
      << idleColor(Scheme::Dark) << "; } }\n"
      << pageStyle;
  return text;
}

void DataWriter::writeHeader() {
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
  os << "],";
  writeColors();
}

void DataWriter::writeLane(unsigned rank) {
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
      auto place =
          criticalPlaces.find(picture.simulation().numbers().of(rank, i));
      if (place != criticalPlaces.end())
        place->second = kinds.size();
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
  if (!fsdpKinds.empty()) {
    os << ",\"fsdp\":{\"k\":\"" << fsdpKinds << "\",";
    columns({{"s", fsdpStages}, {"t", fsdpStarts}, {"d", fsdpDurations}});
    os << '}';
  }
  writeWaits(rank);
  os << '}';
}

void DataWriter::writeWaits(unsigned rank) {
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

void DataWriter::writeTransfers() {
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

void DataWriter::findCriticalPath() {
  const Simulation &run = picture.simulation();
  if (run.isRecorded())
    return;
  for (const PathStep &link : criticalPath(Causes(schedule, run))) {
    StepRef at = run.numbers().at(link.step);
    if (!isCompute(schedule.ranks[at.rank][at.index].kind()))
      continue;
    critical.push_back(link.step);
    criticalPlaces[link.step] = notShown;
  }
}

void DataWriter::writeCriticalPath() {
  bool first = true;
  for (uint32_t number : critical) {
    size_t place = criticalPlaces[number];
    if (place == notShown)
      continue;
    os << (first ? "[" : ",[") << picture.simulation().numbers().rankOf(number)
       << ',' << place << ']';
    first = false;
  }
}

LogicalResult emitHtml(const Schedule &schedule, const EmitOptions &options,
                       raw_ostream &os, DiagEngine &diags) {
  SmallVector<Picture, 2> pictures;
  for (const Schedule *shown : {&schedule, options.with}) {
    if (!shown)
      continue;
    FailureOr<Picture> picture =
        Picture::make(*shown, options, pageLimits, diags,
                      shown == options.with ? options.withRun : nullptr);
    if (failed(picture) || failed(checkResults(*shown, diags)))
      return failure();
    pictures.push_back(std::move(*picture));
  }
  std::string title = markupText(schedule.name) + ": " + sizesText(schedule);
  std::string style = styleOfPage();
  TextData data;
  data.set("title", title);
  data.set("style", style);
  data.set("program", pageProgram);
  auto [head, tail] = StringRef(pageTemplate).split("{{! schedules }}\n");
  auto render = [&](StringRef part) {
    auto noPartials = [](StringRef, DiagLoc) -> FailureOr<StringRef> {
      llvm_unreachable("the page has no partials");
    };
    FailureOr<Template> page = Template::parse(part, data, noPartials, diags);
    assert(succeeded(page) && "a template of the compiler has a mistake");
    return page->render(data, os, diags);
  };
  if (failed(render(head)))
    return failure();
  for (const Picture &picture : pictures) {
    os << "<script type=\"application/json\" class=\"pipec-schedule\">\n";
    DataWriter(picture, diags.sourceFiles(), os).write();
    os << "</script>\n";
  }
  return render(tail);
}

} // namespace pipec
