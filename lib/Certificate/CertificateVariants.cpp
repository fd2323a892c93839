//===- CertificateVariants.cpp - The bound of several problems ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bound of all placements and forms of the backward that were searched: each
// has a problem and a proof of its own, or its layouts have
// (CertificateLayouts.cpp), or its schedules with whole backwards are no
// shorter than those with split ones.
//
//===----------------------------------------------------------------------===//

#include "Certificate/Certificate.h"

#include "Cost/GivenSettings.h"
#include "IR/RegularPlacements.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Variants {
public:
  Variants(const Certificate &certificate, DiagEngine &diags)
      : certificate(certificate), diags(diags) {}

  LogicalResult run();

private:
  using Variant = Certificate::Variant;

  LogicalResult open(const Variant &variant, const Twine &why) {
    return diags.report(variant.place, diag::CertificateVariant,
                        decimalText(*certificate.boundOfAll), why.str());
  }
  const Certificate &problemOf(const Variant &variant) const {
    return variant.problem ? *variant.problem : certificate;
  }
  LogicalResult checkSizes(const Variant &variant);
  LogicalResult checkBound(const Variant &variant);
  LogicalResult checkCover(const Variant &variant);

  const Certificate &certificate;
  DiagEngine &diags;
};

} // namespace

/// Checks that the problem is of the same model, with the placement and form.
LogicalResult Variants::checkSizes(const Variant &variant) {
  const Certificate &own = problemOf(variant);
  if (own.ranks != certificate.ranks ||
      own.microbatches != certificate.microbatches ||
      own.slices != certificate.slices)
    return open(variant, "its ranks, micro-batches and slices are others");
  if (own.split != variant.split)
    return open(variant, "its problem has another form of backwards");
  if (variant.placement == "explicit" && variant.layers.empty())
    return own.map == certificate.map
               ? success()
               : open(variant, "its problem has another placement");
  if (variant.layers != certificate.layers)
    return open(variant, "its layers are others");
  // A problem of layers has a stage of each kind on each rank.
  bool isOfLayers = !variant.layers.empty();
  size_t chunks = isOfLayers ? variant.kinds.size() : variant.chunks;
  bool isV = variant.placement == "v" && !isOfLayers;
  bool isPlaced = own.idle == 0 && own.slices != 0 &&
                  own.stages == own.ranks * chunks * own.slices;
  for (unsigned stage = 0; isPlaced && stage != own.stages; ++stage)
    isPlaced = own.map[stage] ==
               (isV ? rankInLegs : rankInLoop)(own.stageOf(stage), own.ranks);
  return isPlaced ? success()
                  : open(variant, "its problem has another placement");
}

LogicalResult Variants::checkBound(const Variant &variant) {
  if (!variant.layers.empty()) {
    FailureOr<std::string> why = checkLayouts(certificate, variant, diags);
    return success(succeeded(why) &&
                   (why->empty() || succeeded(open(variant, *why))));
  }
  const Certificate &own = problemOf(variant);
  std::optional<Rational> bound =
      Rational::mul(own.tick, Rational(own.refuted + 1));
  if (!bound || *bound < *certificate.boundOfAll)
    return open(variant, "its proof is of " +
                             (bound ? decimalText(*bound) : "another bound"));
  return variant.problem ? checkProof(own, diags) : success();
}

/// Checks that whole backwards can be split: no step gets longer, and no rank
/// holds more.
LogicalResult Variants::checkCover(const Variant &variant) {
  const Certificate &whole = problemOf(variant);
  auto split = find_if(certificate.variants, [&](const Variant &other) {
    return other.placement == variant.placement && other.split &&
           other.chunks == variant.chunks && other.state == Variant::Proven &&
           other.kinds == variant.kinds;
  });
  if (variant.split || split == certificate.variants.end())
    return open(variant, "no variant with split backwards covers it");
  const Certificate &own = problemOf(*split);
  if (own.idle != whole.idle || own.map != whole.map ||
      own.edges.size() != whole.edges.size())
    return open(variant, "the stages of the variant that covers it are others");
  // In ticks and units of the other problem.
  auto isMost = [](__int128 less, Rational unit, __int128 more, Rational of) {
    // Both sides are less than 2^126 where figures add up to 2^60.
    std::optional<Rational> ratio = Rational::div(unit, of);
    return ratio && less * ratio->numerator() <= more * ratio->denominator();
  };
  auto isTime = [&](__int128 less, __int128 more) {
    return isMost(less, own.tick, more, whole.tick);
  };
  auto isSize = [&](__int128 less, __int128 more) {
    return isMost(less, own.unit, more, whole.unit);
  };
  for (auto [s, w] : zip_equal(own.edges, whole.edges))
    if (s.from != w.from || s.to != w.to || !isTime(s.hops[0], w.hops[0]) ||
        !isTime(s.hops[1], w.hops[1]))
      return open(variant, "its transfers are shorter with whole backwards");
  for (auto [stage, both] : enumerate(zip_equal(own.model, whole.model))) {
    const auto &[s, w] = both;
    if (!isTime(s.times[0], w.times[0]) ||
        !isTime(__int128(s.times[1]) + s.times[2], w.times[1]))
      return open(variant,
                  "stage " + Twine(stage) + " is shorter with whole backwards");
    // The largest size while I and W run, beyond the size before them.
    int64_t most = std::max(s.takenBy(1), s.during[2] - s.given[0]);
    if (!isSize(s.taken(), w.taken()) || !isSize(s.takenBy(0), w.takenBy(0)) ||
        !isSize(most, w.takenBy(1)) ||
        !isMost(w.taken(), whole.unit, s.taken(), own.unit))
      return open(variant,
                  "stage " + Twine(stage) + " needs less with whole backwards");
  }
  for (auto [rank, s] : enumerate(own.caps)) {
    // The memory that all steps with split backwards need together.
    __int128 all = 0, during = 0;
    for (auto [stage, place] : zip_equal(own.model, own.map))
      if (place == rank) {
        all += __int128(std::max(stage.taken(), stage.given[1])) *
               own.microbatches;
        for (int64_t more : stage.during)
          during = std::max<__int128>(during, more);
      }
    if (s < all + during && !isMost(whole.caps[rank], whole.unit, s, own.unit))
      return open(variant, "it has more memory with whole backwards");
  }
  return success();
}

LogicalResult Variants::run() {
  for (const Variant &variant : certificate.variants) {
    if (variant.state == Variant::Excluded)
      continue;
    if (failed(checkSizes(variant)) ||
        failed(variant.state == Variant::Covered ? checkCover(variant)
                                                 : checkBound(variant)))
      return failure();
  }
  return success();
}

/// A schedule of a problem, without steps, with the given costs, or with the
/// costs of `schedule`, whose stages are parts of the model; with `layers`, the
/// layers of its stages.
static FailureOr<Schedule> scheduleOf(const Certificate &own,
                                      const Schedule &schedule,
                                      const GivenSettings &given,
                                      const StageLayers &layers,
                                      DiagEngine &diags) {
  Schedule made;
  made.name = schedule.name;
  made.numRanks = own.ranks;
  made.numStages = own.stages / own.slices;
  made.numUnits = own.microbatches * own.slices;
  made.numSlices = own.slices;
  std::vector<uint32_t> map;
  for (unsigned stage = 0; stage != made.numStages; ++stage)
    map.push_back(own.map[stage * own.slices]);
  made.placement = Placement({std::move(map)});
  GivenSettings settings = given;
  settings.model = &schedule;
  if (!layers.empty())
    settings.layout = LayerLayout(layers);
  // The limits are of ranks, and remain unless others are given.
  MemorySettings limits;
  for (const auto &[place, row] : schedule.memory.places())
    if (auto limit = row.get(Figure::Limit))
      limits.set(Figure::Limit, *limit, place);
  settings.memory.insert(settings.memory.begin(), std::move(limits));
  if (failed(applyCosts(made, settings, diags)) ||
      failed(applyMemory(made, settings, diags)))
    return failure();
  return made;
}

LogicalResult checkFigures(const Certificate::Variant &variant,
                           const Schedule &schedule, const GivenSettings &given,
                           DiagEngine &diags) {
  auto check = [&](const Certificate &own, const StageLayers &layers = {}) {
    FailureOr<Schedule> made = scheduleOf(own, schedule, given, layers, diags);
    return succeeded(made) && succeeded(checkFigures(own, *made, diags));
  };
  const Certificate &own = *variant.problem;
  if (!variant.layers.empty()) {
    StageLayers single;
    for (char kind : variant.kinds)
      single.insert(single.end(), own.ranks, std::string(1, kind));
    return success(
        check(own, single) && all_of(variant.layouts, [&](const auto &layout) {
          return !layout.problem || check(*layout.problem, layout.stages);
        }));
  }
  if (variant.placement == "explicit" || own.idle ||
      schedule.placement.map(0) ==
          ArrayRef(std::vector<uint32_t>(own.map.begin(), own.map.end())))
    return checkFigures(own, schedule, diags);
  return success(check(own));
}

LogicalResult checkVariants(const Certificate &certificate, DiagEngine &diags) {
  return Variants(certificate, diags).run();
}

} // namespace pipec
