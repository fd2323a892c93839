//===- CertificateLayouts.cpp - The bound of all layouts ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All ways to cut layers into stages, without those that begin with stages
// whose bound (docs/Rationale/Bounds.md) is large enough. Each of the others
// has a proof of its own, or paths or a single rank refute the makespan.
//
//===----------------------------------------------------------------------===//

#include "Certificate/Certificate.h"
#include "IR/RegularPlacements.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace llvm;

namespace pipec {

namespace {

/// The first stages of a layout.
struct Beginning {
  struct Rank {
    bool isUsed = false;
    /// Before the first step of the rank, and after its last backward.
    int64_t start = 0, after = 0;
    /// F and I (B) of one micro-batch, and all of it.
    int64_t inputs = 0, all = 0;
  };
  std::vector<Rank> ranks;
  /// Of one micro-batch on all stages so far: F, and I (B).
  int64_t head = 0, tail = 0;
};

class LayoutProof {
public:
  LayoutProof(const Certificate &certificate,
              const Certificate::Variant &variant)
      : certificate(certificate), variant(variant), table(*variant.problem),
        layers(variant.layers) {}

  FailureOr<std::string> run(DiagEngine &diags);

private:
  /// A second or two: stages of beginnings, and steps of layouts.
  static constexpr size_t maxWork = size_t(1) << 25;
  /// Stages nest.
  static constexpr size_t maxLayoutStages = 2048;

  std::string prepare();
  std::string checkListed(const Certificate::Variant::Layout &layout);
  int64_t timeOf(unsigned rank, char layer, unsigned kind) const {
    size_t place = variant.kinds.find(layer) * table.ranks + rank;
    return table.model[place].times[kind];
  }
  int64_t hop(unsigned from, unsigned to) const {
    auto found = hops.find({from, to});
    return found == hops.end() ? 0 : found->second;
  }
  Certificate problemOf(ArrayRef<std::string> stages) const;
  void add(Beginning &to, unsigned stage, StringRef own) const;
  bool isRefuted(const Beginning &from, size_t used) const;
  bool areRefuted(const Beginning &from, size_t used);

  const Certificate &certificate;
  const Certificate::Variant &variant;
  const Certificate &table;
  StringRef layers;
  /// The rank of each stage.
  std::vector<unsigned> map;
  std::map<std::pair<unsigned, unsigned>, int64_t> hops;
  /// By number of layers: the least time of the others.
  std::vector<int64_t> rest;
  /// No schedule has a makespan of at most this, in ticks.
  int64_t refuted = 0;
  /// The layout that is looked at, and the work so far.
  StageLayers stages;
  size_t work = 0;
};

} // namespace

/// Finds the times; returns a text on their fault, empty if there is none.
std::string LayoutProof::prepare() {
  size_t numStages = size_t(table.ranks) * variant.chunks;
  if (variant.placement == "explicit" || layers.size() < numStages)
    return "its layers do not fill its stages";
  if (table.slices != 1)
    return "its problem has slices";
  if (numStages > maxLayoutStages)
    return "it has more than " + std::to_string(maxLayoutStages) + " stages";
  for (unsigned stage = 0; stage != numStages; ++stage)
    map.push_back((variant.placement == "v" ? rankInLegs
                                            : rankInLoop)(stage, table.ranks));
  for (const Certificate::Edge &edge : table.edges) {
    hops.insert({{table.map[edge.from], table.map[edge.to]}, edge.hops[0]});
    hops.insert({{table.map[edge.to], table.map[edge.from]}, edge.hops[1]});
  }
  rest.resize(layers.size() + 1);
  __int128 most = 0;
  for (size_t i = layers.size(); i-- != 0;) {
    std::optional<int64_t> least;
    for (unsigned rank = 0; rank != table.ranks; ++rank) {
      int64_t all = 0;
      for (unsigned kind = 0; kind != table.kinds(); ++kind)
        all += timeOf(rank, layers[i], kind);
      least = std::min(least.value_or(all), all);
      most += all;
    }
    rest[i] = rest[i + 1] + *least;
    if (most > int64_t(1) << 40)
      return "its times are too large";
  }
  std::optional<Rational> ticks =
      Rational::div(*certificate.boundOfAll, table.tick);
  if (!ticks || *ticks > Rational(int64_t(1) << 60))
    return "its times are too large";
  // The largest number of ticks below the bound.
  refuted = ticks->floor() - ticks->isInteger();
  return "";
}

/// Checks that a layout has the layers, and no longer times than these.
std::string
LayoutProof::checkListed(const Certificate::Variant::Layout &layout) {
  const Certificate &own = layout.problem ? *layout.problem : certificate;
  if (join(layout.stages, "") != layers)
    return "a layout has other layers";
  if (own.map != map || own.model.size() != map.size() ||
      layout.stages.size() != map.size() || own.split != variant.split ||
      own.idle || own.slices != 1 || own.microbatches != table.microbatches ||
      own.edges.size() + 1 != map.size())
    return "a layout has another problem";
  std::optional<Rational> ratio = Rational::div(own.tick, table.tick);
  auto isAtMost = [&](__int128 time, __int128 most) {
    return ratio && time * ratio->numerator() <= most * ratio->denominator();
  };
  for (const Certificate::Edge &edge : own.edges)
    if (!isAtMost(edge.hops[0], hop(map[edge.from], map[edge.to])) ||
        !isAtMost(edge.hops[1], hop(map[edge.to], map[edge.from])))
      return "the transfers of a layout are longer";
  for (auto [stage, letters] : enumerate(layout.stages))
    for (unsigned kind = 0; kind != own.kinds(); ++kind) {
      int64_t most = 0;
      for (char layer : letters)
        most += timeOf(map[stage], layer, kind);
      if (!isAtMost(own.model[stage].times[kind], most))
        return "stage " + std::to_string(stage) + " of a layout is longer";
    }
  std::optional<Rational> bound =
      Rational::mul(own.tick, Rational(own.refuted + 1));
  return bound && *bound >= *certificate.boundOfAll
             ? ""
             : "the proof of a layout is of less";
}

/// The problem of a layout, with any memory.
Certificate LayoutProof::problemOf(ArrayRef<std::string> stages) const {
  Certificate own;
  own.ranks = table.ranks;
  own.stages = map.size();
  own.microbatches = table.microbatches;
  own.split = table.split;
  own.map = map;
  own.refuted = refuted;
  own.model.resize(map.size());
  for (auto [stage, letters] : enumerate(stages)) {
    for (char layer : letters)
      for (unsigned kind = 0; kind != own.kinds(); ++kind)
        own.model[stage].times[kind] += timeOf(map[stage], layer, kind);
    if (stage)
      own.edges.push_back(
          {unsigned(stage) - 1,
           unsigned(stage),
           {hop(map[stage - 1], map[stage]), hop(map[stage], map[stage - 1])},
           {}});
  }
  return own;
}

/// Adds a stage with these layers.
void LayoutProof::add(Beginning &to, unsigned stage, StringRef own) const {
  unsigned rank = map[stage];
  if (stage) {
    to.head += hop(map[stage - 1], rank);
    to.tail += hop(rank, map[stage - 1]);
  }
  Beginning::Rank &place = to.ranks[rank];
  if (!place.isUsed) {
    place.isUsed = true;
    place.start = to.head;
    place.after = to.tail;
  }
  for (char layer : own) {
    int64_t forward = timeOf(rank, layer, 0), back = timeOf(rank, layer, 1);
    to.head += forward;
    to.tail += back;
    place.inputs += forward + back;
    place.all += forward + back + timeOf(rank, layer, 2);
  }
}

/// True if no layout that begins like this, with the first `used` layers, has a
/// schedule of the refuted makespan.
bool LayoutProof::isRefuted(const Beginning &from, size_t used) const {
  __int128 m = table.microbatches, room = 0;
  for (const Beginning::Rank &rank : from.ranks)
    if (rank.start + m * rank.all > refuted ||
        rank.start + m * rank.inputs + rank.after > refuted)
      return true;
  // The other layers run on the ranks of the other stages, after their own.
  std::vector<char> isNext(table.ranks);
  for (size_t stage = stages.size(); stage != map.size(); ++stage) {
    unsigned rank = map[stage];
    if (std::exchange(isNext[rank], true))
      continue;
    const Beginning::Rank &own = from.ranks[rank];
    int64_t first =
        from.head +
        (stages.empty() ? 0 : hop(map[stages.size() - 1], map[stages.size()]));
    room += refuted - (own.isUsed ? own.start + m * own.all : __int128(first));
  }
  return m * rest[used] > std::max<__int128>(room, 0);
}

/// True if that holds for all layouts that begin with `stages`.
bool LayoutProof::areRefuted(const Beginning &from, size_t used) {
  if (work > maxWork)
    return false;
  if (stages.size() == map.size()) {
    work += map.size() * size_t(table.microbatches) * 4;
    auto isListed = [&](const auto &layout) { return layout.stages == stages; };
    return any_of(variant.layouts, isListed) ||
           isRefutedAlone(problemOf(stages));
  }
  size_t others = map.size() - stages.size() - 1, end = layers.size() - others;
  for (size_t next = others ? used + 1 : end; next <= end; ++next) {
    work += map.size() + table.ranks;
    Beginning longer = from;
    StringRef own = layers.slice(used, next);
    add(longer, stages.size(), own);
    stages.push_back(own.str());
    if (!isRefuted(longer, next) && !areRefuted(longer, next))
      return false;
    stages.pop_back();
  }
  return true;
}

FailureOr<std::string> LayoutProof::run(DiagEngine &diags) {
  if (std::string why = prepare(); !why.empty())
    return why;
  for (const Certificate::Variant::Layout &layout : variant.layouts) {
    if (std::string why = checkListed(layout); !why.empty())
      return why;
    if (layout.problem && failed(checkProof(*layout.problem, diags)))
      return failure();
  }
  Beginning none;
  none.ranks.resize(table.ranks);
  if (areRefuted(none, 0))
    return std::string();
  if (work > maxWork)
    return std::string("too many layouts begin with stages that can be better");
  return "layout " + layoutText(stages) + " has no proof";
}

FailureOr<std::string> checkLayouts(const Certificate &certificate,
                                    const Certificate::Variant &variant,
                                    DiagEngine &diags) {
  return LayoutProof(certificate, variant).run(diags);
}

} // namespace pipec
