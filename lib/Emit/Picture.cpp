//===- Picture.cpp - A run of a schedule, ready to be drawn ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Emit/Picture.h"

#include "Cost/SettingsText.h"
#include "Emit/JsonObject.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/CommandDiags.h"
#include "Support/Diagnostics/EmitDiags.h"
#include "Support/Words.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

using namespace llvm;

namespace pipec {

//===----------------------------------------------------------------------===//
// Names and numbers
//===----------------------------------------------------------------------===//

ChunkNames::ChunkNames(const Schedule &schedule) {
  std::vector<unsigned> held(schedule.numRanks, 0);
  for (unsigned d = 0; d != schedule.placement.numDirections(); ++d) {
    chunks.emplace_back();
    for (uint32_t rank : schedule.placement.map(d)) {
      chunks[d].push_back(held[rank]++);
      most_ = std::max(most_, held[rank]);
    }
  }
}

void ChunkNames::print(unsigned chunk, raw_ostream &os) const {
  if (most_ <= 1)
    return;
  if (chunk < 26)
    os << char('a' + chunk);
  else
    os << '.' << chunk;
}

std::optional<SideLane> SideLane::of(const Schedule &schedule, Step step) {
  StepKind kind = step.kind();
  if (isCompute(kind)) {
    unsigned n = schedule.streams.of(step);
    return n ? std::optional(stream(n)) : std::nullopt;
  }
  if (kind == StepKind::Offload || kind == StepKind::WaitOffload)
    return out();
  if (kind == StepKind::Reload)
    return in();
  if (isPosted(kind) || (isWait(kind) && !isSendWait(kind)))
    return collectives();
  return std::nullopt;
}

StringRef SideLane::name(const Schedule &schedule) const {
  static constexpr StringLiteral names[] = {"fsdp", "out", "in"};
  return stream() ? StringRef(schedule.streams.names[stream() - 1])
                  : StringRef(names[theNumber]);
}

void printStepNumber(raw_ostream &os, const Schedule &schedule,
                     const ChunkNames &chunks, unsigned rank, Step step) {
  if (hasUnit(step.kind()))
    printUnit(os, step.unit(), schedule.numSlices);
  chunks.print(chunks.of(schedule, rank, step), os);
}

std::string roundedText(Rational value) { return toDecimal(value, 6, 6).text; }

std::string timeText(const TickCosts &costs, int64_t ticks) {
  return roundedText(costs.time(ticks));
}

std::string percentText(Rational value) {
  std::string text;
  raw_string_ostream(text) << format("%.1f %%", 100 * value.toDouble());
  return text;
}

std::string placeText(const SourceFiles &files, SourceLoc source) {
  if (!source.isValid())
    return "";
  return placeText(files.lineColumn(files.expand(source)));
}

std::string placeText(const LineColumn &at) {
  return (sys::path::filename(at.file) + ":" + Twine(at.line) + ":" +
          Twine(at.column))
      .str();
}

void printJsonString(raw_ostream &os, StringRef text) {
  auto isPlain = [](char c) {
    return isPrint(c) && c != '"' && c != '\\' && c != '<';
  };
  if (all_of(text, isPlain)) {
    os << '"' << text << '"';
    return;
  }
  std::string quoted;
  raw_string_ostream(quoted) << json::Value(json::fixUTF8(text));
  for (char c : quoted)
    if (c == '<')
      os << "\\u003c";
    else
      os << c;
}

std::string markupText(StringRef text) {
  constexpr StringLiteral replacement = "\xEF\xBF\xBD";
  std::string valid = json::fixUTF8(text), result;
  for (StringRef rest = valid; !rest.empty();) {
    size_t size = 1;
    bool allowed = uint8_t(rest[0]) >= 0x20 || isSpace(rest[0]);
    if (rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF")) {
      size = 3;
      allowed = false;
    }
    // XML does not allow these two white space characters.
    allowed = allowed && rest[0] != '\v' && rest[0] != '\f';
    result += allowed ? rest.take_front(size) : StringRef(replacement);
    rest = rest.drop_front(size);
  }
  return result;
}

AxisTicks::AxisTicks(const TickCosts &costs, int64_t from, int64_t least) {
  // Units below one are only usable if they are integral numbers of ticks.
  __int128 below = 1000000000;
  __int128 unit = costs.perUnit();
  for (__int128 above = 1;; below > 1 ? below /= 10 : above *= 10) {
    for (int factor : {1, 2, 5}) {
      __int128 candidate = unit * factor * above;
      if (candidate % below != 0 || candidate / below < least)
        continue;
      constexpr int64_t limit = std::numeric_limits<int64_t>::max() / 2;
      step = int64_t(std::min<__int128>(candidate / below, limit));
      first = from % step == 0 ? from : (from / step + 1) * step;
      return;
    }
  }
}

//===----------------------------------------------------------------------===//
// The run and its window
//===----------------------------------------------------------------------===//

/// The least common denominator of the ends of a window, which makes them
/// integral numbers of ticks; 1 if that does not fit.
static int64_t partsOf(const TimeWindow &window) {
  int64_t a = window.from.denominator(), b = window.to.denominator();
  __int128 common = __int128(a / std::gcd(a, b)) * b;
  return common <= std::numeric_limits<int64_t>::max() ? int64_t(common) : 1;
}

FailureOr<Picture> Picture::make(const Schedule &schedule,
                                 const EmitOptions &options,
                                 const Limits &limits, DiagEngine &diags,
                                 const Simulation *recorded) {
  int64_t parts = options.window ? partsOf(*options.window) : 1;
  FailureOr<Simulation> run =
      recorded ? FailureOr<Simulation>(*recorded)
               : simulate(schedule, options.model, diags, parts);
  if (failed(run))
    return failure();
  FailureOr<MemoryModel> memory = MemoryModel::make(schedule, diags);
  if (failed(memory))
    return failure();
  Picture picture(schedule, std::move(*run), std::move(*memory));
  picture.findEnd();
  if (failed(picture.chooseWindow(options, diags)))
    return failure();
  if (picture.shrink(limits))
    (void)diags.report(DiagLoc(), diag::PictureNotWhole, schedule.name,
                       picture.windowText());
  return picture;
}

std::vector<std::vector<Picture::Group>> Picture::sides(unsigned rank) const {
  std::vector<std::vector<Group>> groups(size(SideLane::all(*theSchedule)));
  forEachGroup(rank, [&](const Group &group) {
    Step step = theSchedule->ranks[rank][group.begin];
    if (std::optional<SideLane> lane = SideLane::of(*theSchedule, step))
      groups[lane->number()].push_back(group);
  });
  return groups;
}

void Picture::findEnd() {
  windowTo = std::numeric_limits<int64_t>::max();
  for (unsigned rank = 0; rank != theSchedule->numRanks; ++rank)
    forEachGroup(rank, [&](const Group &group) {
      lastEnd = std::max(lastEnd, group.finish);
    });
}

LogicalResult Picture::chooseWindow(const EmitOptions &options,
                                    DiagEngine &diags) {
  windowTo = lastEnd;
  numShownRanks = theSchedule->numRanks;
  if (!options.window)
    return success();
  // A time that does not fit is after the end. Ends between two ticks, if the
  // clock had to be coarser, are rounded outwards.
  auto ticks = [&](Rational time, bool up) {
    __int128 scaled = __int128(time.numerator()) * costs().perUnit();
    __int128 whole = scaled / time.denominator();
    if (whole >= lastEnd)
      return lastEnd;
    return int64_t(whole) + (up && scaled % time.denominator() != 0);
  };
  windowFrom = ticks(options.window->from, /*up=*/false);
  windowTo = ticks(options.window->to, /*up=*/true);
  if (windowFrom >= windowTo)
    return diags.report(DiagLoc(), diag::UnusableOption,
                        "`--window=" + options.window->text +
                            "`, which shows nothing of a schedule that runs "
                            "from time 0 to " +
                            time(lastEnd));
  return success();
}

/// Drops ranks and moves the end of the window forward until the limits are
/// met. Returns false if they are already met.
bool Picture::shrink(const Limits &limits) {
  bool fewerRanks = numShownRanks > limits.ranks;
  numShownRanks = std::min(numShownRanks, limits.ranks);
  numShownSteps = countShown();
  if (numShownSteps <= limits.steps)
    return fewerRanks;
  std::vector<int64_t> starts;
  starts.reserve(numShownSteps);
  for (unsigned rank = 0; rank != numShownRanks; ++rank)
    forEachGroup(rank, [&](const Group &group) {
      starts.insert(starts.end(), group.end - group.begin, group.start);
    });
  auto last = starts.begin() + ptrdiff_t(limits.steps);
  std::nth_element(starts.begin(), last, starts.end());
  // All steps may start at the same time; then the window cannot shrink.
  int64_t all = std::exchange(windowTo, std::max(*last, windowFrom + 1));
  numShownSteps = countShown();
  return fewerRanks || windowTo != all;
}

size_t Picture::countShown() const {
  size_t count = 0;
  for (unsigned rank = 0; rank != numShownRanks; ++rank)
    forEachGroup(rank,
                 [&](const Group &group) { count += group.end - group.begin; });
  return count;
}

std::string Picture::windowText() const {
  std::string text;
  raw_string_ostream os(text);
  if (windowFrom != 0 || windowTo != lastEnd)
    os << "time " << time(windowFrom) << " to " << time(windowTo) << " of "
       << time(lastEnd);
  if (numShownRanks != theSchedule->numRanks)
    os << (text.empty() ? "" : ", ") << "ranks 0 to " << numShownRanks - 1
       << " of " << theSchedule->numRanks;
  if (!text.empty())
    os << ", " << numShownSteps << " of " << theSchedule->numSteps()
       << " steps";
  return text;
}

//===----------------------------------------------------------------------===//
// The figures around it
//===----------------------------------------------------------------------===//

static constexpr StepKind computeKinds[] = {
    StepKind::F, StepKind::B, StepKind::I, StepKind::W, StepKind::R};

/// The memory limit of a rank, as an integer of the model, rounded down; 0 if
/// there is none.
static int64_t limitOf(const Picture &picture, unsigned rank) {
  std::optional<Rational> limit = picture.schedule().memory.limit(rank);
  if (!limit)
    return 0;
  std::optional<Rational> units =
      Rational::mul(*limit, Rational(picture.memory().perUnit()));
  if (!units || *units < Rational(0))
    return 0;
  return units->numerator() / units->denominator();
}

PictureFacts::PictureFacts(const Picture &picture) : picture(picture) {
  bool copies = picture.schedule().has(step_facts::kindsOf(Object::Copy));
  for (unsigned rank = 0; rank != picture.shownRanks(); ++rank) {
    const StepList &list = picture.schedule().ranks[rank];
    picture.forEachGroup(rank, [&](const Picture::Group &group) {
      for (size_t i = group.begin; i != group.end; ++i)
        if (!isP2P(list[i].kind()))
          kinds[unsigned(list[i].kind())].add(group.end - group.begin == 1
                                                  ? group.finish - group.start
                                                  : picture.alone(rank, i));
    });
    int64_t peak = 0;
    picture.forEachLevel(
        rank, [&](int64_t, int64_t level) { peak = std::max(peak, level); });
    int64_t hostPeak = 0;
    if (copies)
      picture.forEachLevel(
          rank,
          [&](int64_t, int64_t level) { hostPeak = std::max(hostPeak, level); },
          MemoryPlace::Host);
    peaks.push_back(peak);
    hostPeaks.push_back(hostPeak);
    limits.push_back(limitOf(picture, rank));
    highest = std::max(highest, peak);
    highestHost = std::max(highestHost, hostPeak);
  }
}

std::string PictureFacts::amountText(Rational amount) const {
  return picture.schedule().memoryInBytes ? bytesText(amount.toDouble())
                                          : roundedText(amount);
}

std::string PictureFacts::sizeText(int64_t size) const {
  return amountText(picture.memory().size(size));
}

std::string PictureFacts::limitText(unsigned rank) const {
  return amountText(*picture.schedule().memory.limit(rank));
}

std::string PictureFacts::exactSize(int64_t size) const {
  return picture.schedule().memoryInBytes
             ? roundedText(picture.memory().size(size)) + " bytes"
             : "";
}

int64_t PictureFacts::average() const {
  int64_t count = 0;
  __int128 sum = 0;
  for (StepKind kind : computeKinds) {
    sum += of(kind).sum;
    count += of(kind).count;
  }
  return count ? int64_t(sum / count) : 0;
}

int64_t PictureFacts::smallestAverage() const {
  int64_t smallest = 0;
  for (StepKind kind : computeKinds)
    if (int64_t count = of(kind).count) {
      int64_t average = int64_t(of(kind).sum / count);
      smallest = smallest ? std::min(smallest, average) : average;
    }
  return smallest;
}

std::string PictureFacts::costsText() const {
  CostLine line;
  const CostSettings &costs = picture.schedule().costs;
  AssumedCosts assumed = picture.schedule().assumedCosts();
  for (StepKind kind : computeKinds) {
    const KindFacts &facts = of(kind);
    if (!facts.count)
      continue;
    line.add(stepKindName(kind), picture.time(facts.shortest),
             picture.time(facts.longest), assumed.has(kind));
  }
  std::string text;
  if (!line.text().empty()) {
    line.addOverlaps(costs, /*factors=*/false);
    line.add(costs, Figure::P2P);
    for (auto [kind, figure] : {std::pair(StepKind::Update, Figure::Update),
                                {StepKind::Unshard, Figure::Unshard},
                                {StepKind::Reshard, Figure::Reshard},
                                {StepKind::ReduceGrad, Figure::ReduceGrad},
                                {StepKind::ReduceTied, Figure::ReduceTied},
                                {StepKind::Offload, Figure::Offload},
                                {StepKind::Reload, Figure::Reload}})
      if (of(kind).count)
        line.add(costs, figure);
    text = "costs: " + line.text();
  }
  if (const StageLayers &layers = picture.schedule().layers; !layers.empty())
    text += (text.empty() ? "layout " : "; layout ") + layoutText(layers);
  return text;
}

} // namespace pipec
