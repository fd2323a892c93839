//===- Picture.h - A run of a schedule, ready to be drawn -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared parts of all pictures: the run of the schedule under its costs, the
// part that is shown, the names of its chunks and the texts around it. Each
// format does its own drawing.
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Emit/Emitter.h"
#include "IR/DataFlow.h"
#include "IR/StepPlaces.h"
#include "Simulation/Memory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace pipec {

/// A lane below the compute steps of a rank, for steps that it posts:
/// collectives, which are FSDP actions and sums of tied gradients, copies to
/// the host and from it, and computes of each stream of stages.
class SideLane {
public:
  static constexpr SideLane collectives() { return SideLane(0); }
  static constexpr SideLane out() { return SideLane(1); }
  static constexpr SideLane in() { return SideLane(2); }
  /// The lane of a stream of `StageStreams`, from 1.
  static constexpr SideLane stream(unsigned n) { return SideLane(2 + n); }
  /// The lane of a posted step, and of a wait for one; none for other steps.
  static std::optional<SideLane> of(const Schedule &schedule, Step step);
  /// All lanes that steps of a schedule may have, from top to bottom.
  static auto all(const Schedule &schedule) {
    return llvm::map_range(
        llvm::seq(3 + unsigned(schedule.streams.names.size())),
        [](unsigned number) { return SideLane(number); });
  }

  /// The place among all lanes.
  unsigned number() const { return theNumber; }
  bool isCopies() const { return *this == out() || *this == in(); }
  /// The number of the stream of stages; 0 for other lanes.
  unsigned stream() const { return theNumber < 3 ? 0 : theNumber - 2; }
  /// `fsdp`, `out`, `in`, or the name of the stream of stages.
  llvm::StringRef name(const Schedule &schedule) const;
  friend constexpr bool operator==(SideLane, SideLane) = default;

private:
  explicit constexpr SideLane(unsigned number) : theNumber(uint8_t(number)) {}
  uint8_t theNumber;
};

/// Where a rank keeps its memory.
enum class MemoryPlace : uint8_t { Device, Host };

/// The chunk numbers of stages on their ranks. If a rank holds several stages,
/// they are its chunks, in the order in which a micro-batch passes through
/// them.
class ChunkNames {
public:
  explicit ChunkNames(const Schedule &schedule);

  /// The maximum number of chunks per rank.
  unsigned most() const { return most_; }
  /// The chunk of a step with a stage on `rank`.
  unsigned of(const Schedule &schedule, unsigned rank, Step step) const {
    const Placement &placement = schedule.placement;
    unsigned direction =
        hasUnit(step.kind()) ? schedule.directionOf(step.unit())
        : placement.bidirectional()
            ? unsigned(placement.rankOf(step.stage(), 0) != rank)
            : 0;
    return chunks[direction][step.stage()];
  }
  /// Writes a chunk after a micro-batch: `a`, `b`, ..., `.26`, ...; nothing if
  /// every rank holds one stage.
  void print(unsigned chunk, llvm::raw_ostream &os) const;

private:
  unsigned most_ = 0;
  /// Indexed by direction and stage.
  std::vector<std::vector<uint32_t>> chunks;
};

/// The name of a compute step without its kind: the micro-batch, the slice and
/// the chunk; without a unit the chunk alone.
void printStepNumber(llvm::raw_ostream &os, const Schedule &schedule,
                     const ChunkNames &chunks, unsigned rank, Step step);

/// A fraction as a decimal, rounded to at most six digits after the point.
std::string roundedText(Rational value);
/// Formats ticks as such a decimal in units of time: `33`, `2.5`.
std::string timeText(const TickCosts &costs, int64_t ticks);
/// A fraction as a percentage with one digit: `27.3 %`.
std::string percentText(Rational value);

/// The source position of a step, `one_f_one_b.pipe:6:14`, with the file name
/// without folders; empty if it has none.
std::string placeText(const SourceFiles &files, SourceLoc source);
std::string placeText(const LineColumn &at);
/// `text` with U+FFFD in place of everything that XML and HTML do not allow:
/// bytes that are not UTF-8, control characters except blanks, U+FFFE and
/// U+FFFF. Nothing is escaped.
std::string markupText(llvm::StringRef text);

/// Times for the labels of an axis: multiples in [from, to] of 1, 2 or 5 times
/// a power of ten units of time.
struct AxisTicks {
  /// The first time and the distance between two, in ticks of the clock.
  int64_t first = 0;
  int64_t step = 1;

  /// Chooses the shortest distance of at least `least` ticks of the clock.
  AxisTicks(const TickCosts &costs, int64_t from, int64_t least);
};

/// A run of a schedule and the window of it that is shown.
class Picture {
public:
  /// The limits of a format; the window shrinks to meet them.
  struct Limits {
    size_t steps = std::numeric_limits<size_t>::max();
    unsigned ranks = maxRanks;
  };

  /// Runs `schedule`, which must outlive the picture. Reports an order that
  /// cannot run, figures that do not fit, and an empty window; warns if the
  /// window had to shrink. With `recorded` it shows these times.
  static llvm::FailureOr<Picture> make(const Schedule &schedule,
                                       const EmitOptions &options,
                                       const Limits &limits, DiagEngine &diags,
                                       const Simulation *recorded = nullptr);

  const Schedule &schedule() const { return *theSchedule; }
  const Simulation &simulation() const { return run; }
  const TickCosts &costs() const { return run.costs(); }
  /// Which step meets which, for transfers.
  const DataFlow &flow() const { return dataFlow; }
  const ChunkNames &chunks() const { return chunkNames; }
  const MemoryModel &memory() const { return theMemory; }
  /// The number of chunks of a rank, or of slices of a micro-batch where ranks
  /// hold one chunk, and the one of a step; they have shades of the color of
  /// its kind.
  unsigned numShaded() const {
    return chunkNames.most() > 1 ? chunkNames.most() : theSchedule->numSlices;
  }
  unsigned shadedOf(unsigned rank, Step step) const {
    return chunkNames.most() > 1  ? chunkNames.of(*theSchedule, rank, step)
           : hasUnit(step.kind()) ? step.unit() % theSchedule->numSlices
                                  : 0;
  }
  /// The duration of the step at `index` of a list on its own, in ticks; the
  /// time of an overlap is divided among its members in proportion.
  int64_t alone(unsigned rank, size_t index) const {
    return costs().duration(theSchedule->ranks[rank], index, index + 1);
  }

  /// When the last step ends, in ticks; the first starts at 0.
  int64_t length() const { return lastEnd; }
  /// The window in ticks, and the ranks [0, shownRanks).
  int64_t from() const { return windowFrom; }
  int64_t to() const { return windowTo; }
  unsigned shownRanks() const { return numShownRanks; }
  /// The number of steps that are at least partly inside.
  size_t shownSteps() const { return numShownSteps; }
  /// The part that is shown: `time 0 to 12 of 33, ...`; empty if it is
  /// everything.
  std::string windowText() const;

  std::string time(int64_t ticks) const { return timeText(costs(), ticks); }
  /// For a send to a rank that is shown, this rank.
  std::optional<unsigned> receiver(Step step) const {
    const DataFlow::Port *port =
        isSend(step.kind()) ? dataFlow.transfer(step) : nullptr;
    return port && port->rank < numShownRanks ? std::optional(port->rank)
                                              : std::nullopt;
  }

  /// A step, an overlap or a batch with its times. [begin, end) are indices
  /// into the list of the rank.
  struct Group {
    unsigned rank;
    size_t begin, end;
    int64_t start, finish;
  };
  /// Calls `visit(group)` for the groups of a rank that are at least partly in
  /// the window, in the order of its list. Skips bubbles and waits.
  template <class Visit> void forEachGroup(unsigned rank, Visit visit) const {
    const StepList &list = theSchedule->ranks[rank];
    for (size_t begin = 0; begin != list.size();) {
      Group group = {rank, begin, Schedule::groupEnd(list, begin), 0, 0};
      begin = group.end;
      if (StepKind kind = list[group.begin].kind();
          kind == StepKind::Bubble || isWait(kind))
        continue;
      group.start = run.start(rank, group.begin);
      group.finish = run.end(rank, group.begin);
      if (isShown(group.start, group.finish))
        visit(group);
    }
  }

  /// The same for compute steps and overlaps alone, without those on streams
  /// of stages.
  template <class Visit> void forEachCompute(unsigned rank, Visit visit) const {
    forEachGroup(rank, [&](const Group &group) {
      Step step = theSchedule->ranks[rank][group.begin];
      if (isCompute(step.kind()) && theSchedule->streams.of(step) == 0)
        visit(group);
    });
  }
  /// The groups of the lanes below these, by number of the lane.
  std::vector<std::vector<Group>> sides(unsigned rank) const;

  /// Calls `visit(step, time)` for the waits of a rank in the window, in the
  /// order of its list, with the time at which each ends.
  template <class Visit> void forEachWait(unsigned rank, Visit visit) const {
    const StepList &list = theSchedule->ranks[rank];
    for (size_t i = 0; i != list.size(); ++i)
      if (isWait(list[i].kind()))
        if (int64_t time = run.end(rank, i); isShown(time, time))
          visit(list[i], time);
  }

  /// Calls `point(time, total)` for the memory of a rank in the window, at its
  /// beginning and at each change, in ascending order of time. The total is in
  /// integers of `memory().perUnit()`.
  template <class Point>
  void forEachLevel(unsigned rank, Point point,
                    MemoryPlace place = MemoryPlace::Device) const {
    int64_t at = windowFrom, level = 0, told = -1;
    auto tell = [&] {
      if (level != told)
        point(at, level);
      told = level;
    };
    theMemory.curve(run, rank, [&](int64_t time, const MemoryLevel &next) {
      if (time > windowTo)
        return;
      if (time > at) {
        tell();
        at = time;
      }
      level = place == MemoryPlace::Host ? next.host : next.total();
    });
    tell();
  }

private:
  Picture(const Schedule &schedule, Simulation run, MemoryModel memory)
      : theSchedule(&schedule), dataFlow(schedule), run(std::move(run)),
        theMemory(std::move(memory)), chunkNames(schedule) {}
  bool isShown(int64_t start, int64_t finish) const {
    return start < windowTo ? finish > windowFrom || start >= windowFrom
                            : start == windowTo && windowTo == lastEnd;
  }
  void findEnd();
  llvm::LogicalResult chooseWindow(const EmitOptions &options,
                                   DiagEngine &diags);
  bool shrink(const Limits &limits);
  size_t countShown() const;

  const Schedule *theSchedule;
  DataFlow dataFlow;
  Simulation run;
  MemoryModel theMemory;
  ChunkNames chunkNames;
  int64_t lastEnd = 0;
  int64_t windowFrom = 0;
  int64_t windowTo = 0;
  unsigned numShownRanks = 0;
  size_t numShownSteps = 0;
};

/// The durations of the steps of a kind, in ticks.
struct KindFacts {
  int64_t shortest = 0, longest = 0, count = 0;
  __int128 sum = 0;
  void add(int64_t duration) {
    shortest = count ? std::min(shortest, duration) : duration;
    longest = std::max(longest, duration);
    sum += duration;
    ++count;
  }
};

/// The figures of the part of a schedule that a picture shows. Linear in the
/// steps.
class PictureFacts {
public:
  explicit PictureFacts(const Picture &picture);

  /// `costs: F 1, B 2 to 3, p2p 0.25`; empty without compute steps. `~` marks
  /// those that were assumed.
  std::string costsText() const;
  /// The costs of collectives are not in it.
  const KindFacts &of(StepKind kind) const { return kinds[unsigned(kind)]; }
  /// The average duration of the compute steps, and the smallest of the
  /// averages of their kinds, in ticks; 0 without compute steps.
  int64_t average() const;
  int64_t smallestAverage() const;

  /// The peak of the memory of a rank in the window, and the limit of the rank
  /// rounded down, as integers of the memory model; a limit of 0 if there is
  /// none.
  int64_t peak(unsigned rank) const { return peaks[rank]; }
  /// The most that a rank keeps on the host.
  int64_t hostPeak(unsigned rank) const { return hostPeaks[rank]; }
  bool hasHost() const { return highestHost != 0; }
  int64_t limit(unsigned rank) const { return limits[rank]; }
  /// An amount of memory: `4`, or with a unit, `1.50 GiB`, if sizes are bytes;
  /// then `exactSize` has all digits, else nothing.
  std::string sizeText(int64_t size) const;
  /// The same for the limit of a rank that has one.
  std::string limitText(unsigned rank) const;
  std::string exactSize(int64_t size) const;
  /// The highest peak, at least 1.
  int64_t highestPeak() const { return std::max(highest, highestHost); }

private:
  std::string amountText(Rational amount) const;

  const Picture &picture;
  std::array<KindFacts, numStepKinds> kinds;
  std::vector<int64_t> peaks, hostPeaks, limits;
  int64_t highest = 1, highestHost = 0;
};

/// Writes the block of JSON of one schedule: columns instead of rows, for each
/// rank a string of kinds and arrays of small numbers, with times as
/// differences in ticks. templates/page-model.js reads it and documents every
/// field. Linear in the steps.
void writePageData(const Picture &picture, const SourceFiles &files,
                   llvm::raw_ostream &os);

//===----------------------------------------------------------------------===//
// The timeline on a terminal
//===----------------------------------------------------------------------===//

/// The columns before every row: the rank and a gap.
inline constexpr unsigned timelineHead = 6;

/// The maximum size of a table. A cell is the place of a step in the form with
/// slots, and a character in the form with times.
inline constexpr unsigned timelineRanks = 4096;
inline constexpr uint64_t timelineCells = uint64_t(1) << 20;
inline constexpr uint64_t timelineCharacters = uint64_t(1) << 23;

/// Writes the schedule on an axis of time (TimelineTimes.cpp).
llvm::LogicalResult writeTimes(const Schedule &schedule,
                               const EmitOptions &options,
                               llvm::raw_ostream &os, DiagEngine &diags);

/// Writes the step or overlap at `begin` of the list of a rank: `F3`, `F3&B1`,
/// `F3a` if ranks hold several chunks, `U` for an `UPDATE`. Returns its width,
/// which colors do not change.
size_t printTimelineGroup(llvm::raw_ostream &os, const Schedule &schedule,
                          const ChunkNames &chunks, unsigned rank, size_t begin,
                          bool colors = false);

/// The letter of a compute kind.
inline char stepLetter(StepKind kind) { return stepKindName(kind)[0]; }
/// The escape sequence of the color of a compute kind on a terminal.
llvm::StringRef terminalColor(StepKind kind);
inline constexpr llvm::StringLiteral plainColor = "\033[0m";

/// Writes the numbers of transfers, FSDP actions, copies and waits, which have
/// no row, and with `streams` those of the steps on streams of stages.
void printNotDrawn(llvm::raw_ostream &os, const Schedule &schedule,
                   bool streams);

} // namespace pipec
