//===- CertificateMatch.cpp - A certificate against its schedule ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Certificate/Certificate.h"

#include "Cost/UnitColumns.h"
#include "IR/StepPlaces.h"
#include "Simulation/Memory.h"
#include "Simulation/Simulate.h"
#include "Support/Decimal.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

class Match {
public:
  Match(const Certificate &certificate, const Schedule &schedule,
        DiagEngine &diags)
      : certificate(certificate), schedule(schedule), diags(diags) {}

  LogicalResult run() {
    if (failed(sizes()) || failed(steps()) || failed(times()) ||
        failed(memory()))
      return failure();
    return success();
  }
  LogicalResult runButSteps() {
    return success(succeeded(sizes()) && succeeded(times()) &&
                   succeeded(memory()));
  }

private:
  LogicalResult differs(SMRange place, const Twine &what, const Twine &here,
                        const Twine &there) {
    return diags.report(place, diag::CertificateDiffers, what.str(), here.str(),
                        there.str());
  }
  LogicalResult compare(SMRange place, const Twine &what, Rational here,
                        Rational unit, std::optional<Rational> there) {
    std::optional<Rational> own = Rational::mul(unit, here);
    if (own && there && *own == *there)
      return success();
    auto text = [](std::optional<Rational> value) {
      return value ? decimalText(*value) : std::string("too large");
    };
    return differs(place, what, text(own), text(there));
  }
  LogicalResult sizes();
  LogicalResult steps();
  LogicalResult times();
  LogicalResult memory();

  StepKind kindOf(unsigned kind) const {
    return kind == 0           ? StepKind::F
           : kind == 2         ? StepKind::W
           : certificate.split ? StepKind::I
                               : StepKind::B;
  }
  /// `F of stage 3`
  std::string nameOf(unsigned kind, unsigned stage) const {
    return (stepKindName(kindOf(kind)) + " of stage " + Twine(stage)).str();
  }

  const Certificate &certificate;
  const Schedule &schedule;
  DiagEngine &diags;
};

} // namespace

LogicalResult Match::sizes() {
  const std::tuple<StringRef, unsigned, unsigned> sizes[] = {
      {"ranks", certificate.ranks, schedule.numRanks},
      {"slices", certificate.slices, schedule.numSlices},
      {"stages", certificate.stages - certificate.idle,
       schedule.numStages * schedule.numSlices},
      {"micro-batches", certificate.microbatches, schedule.numMicrobatches()},
      {"directions", 1, schedule.placement.numDirections()}};
  for (auto [what, here, there] : sizes)
    if (here != there)
      return differs(certificate.sizesPlace, "number of " + what, Twine(here),
                     Twine(there));
  if (!certificate.layout.empty() && !schedule.layers.empty() &&
      layoutText(schedule.layers) != certificate.layout)
    return differs(certificate.sizesPlace, "layout", certificate.layout,
                   layoutText(schedule.layers));
  // The bound of these edges holds for more, too.
  std::vector<std::pair<unsigned, unsigned>> edges;
  unsigned slices = schedule.numSlices;
  schedule.graph.forEachEdge(schedule.numStages, [&](StageGraph::Edge edge) {
    for (unsigned k = 0; k != slices; ++k)
      edges.push_back({certificate.idle + edge.from * slices + k,
                       certificate.idle + edge.to * slices + k});
  });
  for (unsigned stage = 0; stage != certificate.idle; ++stage)
    edges.push_back({stage, stage + 1});
  // A slice uses the keys and values of the previous slice.
  for (unsigned stage = certificate.idle; stage != certificate.stages; ++stage)
    if (certificate.sliceOf(stage) + 1 != slices)
      edges.push_back({stage, stage + 1});
  llvm::sort(edges);
  auto next = certificate.edges.begin();
  for (auto [from, to] : edges)
    if (next != certificate.edges.end() && next->from == from && next->to == to)
      ++next;
  if (next != certificate.edges.end())
    return differs(next->places[0],
                   "edge " + Twine(next->from) + " -> " + Twine(next->to),
                   "present", "missing");
  for (unsigned stage = certificate.idle; stage != certificate.stages;
       ++stage) {
    unsigned rank = schedule.placement.rankOf(certificate.stageOf(stage), 0);
    if (certificate.map[stage] != rank)
      return differs(certificate.mapPlace, "rank of stage " + Twine(stage),
                     Twine(certificate.map[stage]), Twine(rank));
  }
  return success();
}

LogicalResult Match::steps() {
  for (unsigned rank = 0; rank != certificate.ranks; ++rank) {
    const StepList &list = schedule.ranks[rank];
    auto word = certificate.words[rank];
    erase_if(word, [&](Certificate::Letter letter) {
      return letter.stage < certificate.idle;
    });
    // The n-th letter of a kind and a stage is micro-batch n.
    std::vector<unsigned> next(size_t(3) * certificate.stages);
    auto text = [&](size_t i) -> std::string {
      if (i >= list.size())
        return "`nothing`";
      bool isMember = list[i].joined() || (i != 0 && list[i - 1].joined());
      return "`" + stepText(schedule, list[i]) + "`" +
             (isMember ? " in an overlap" : "");
    };
    for (size_t i = 0; i != std::max(list.size(), word.size()); ++i) {
      std::string own = "nothing";
      if (i < word.size()) {
        auto [kind, stage] = word[i];
        unsigned microbatch = next[kind * certificate.stages + stage]++;
        Step step(kindOf(kind), certificate.stageOf(stage),
                  microbatch * certificate.slices + certificate.sliceOf(stage));
        if (i < list.size() && list[i].sameAction(step))
          continue;
        own = stepText(schedule, step);
      }
      return differs(certificate.wordPlaces[rank],
                     "step " + Twine(i) + " of rank " + Twine(rank),
                     "`" + own + "`", text(i));
    }
  }
  return success();
}

LogicalResult Match::times() {
  const CostSettings &costs = schedule.costs;
  for (unsigned stage = certificate.idle; stage != certificate.stages;
       ++stage) {
    const Certificate::Stage &own = certificate.model[stage];
    unsigned rank = certificate.map[stage];
    unsigned slice = certificate.sliceOf(stage);
    // Of the cheapest micro-batch: shorter steps make no schedule longer.
    std::optional<Rational> factor;
    for (unsigned j = 0; j != certificate.microbatches; ++j)
      if (auto own = costs.factorOf(certificate.stageOf(stage), rank,
                                    j * certificate.slices + slice,
                                    certificate.slices))
        factor = factor ? std::min(*factor, *own) : *own;
    for (unsigned kind = 0; kind != certificate.kinds(); ++kind) {
      std::optional<Rational> time = costs.of(
          kindOf(kind), certificate.stageOf(stage), rank, {.slice = slice});
      if (time && factor)
        time = Rational::mul(*time, *factor);
      if (failed(compare(own.place, "time of " + nameOf(kind, stage),
                         own.times[kind], certificate.tick, time)))
        return failure();
    }
  }
  for (const Certificate::Edge &edge : certificate.edges)
    for (unsigned side = 0; side != 2 && edge.from >= certificate.idle;
         ++side) {
      unsigned from = side == 0 ? edge.from : edge.to;
      unsigned to = side == 0 ? edge.to : edge.from;
      std::optional<Rational> hop =
          costs.hop(certificate.map[from], certificate.map[to]);
      if (failed(compare(edge.places[side], "hop to stage " + Twine(to),
                         edge.hops[side], certificate.tick, hop)))
        return failure();
    }
  // The problem of a variant has no words.
  if (certificate.words.empty())
    return success();
  FailureOr<Simulation> run = simulate(schedule, diags);
  if (failed(run))
    return failure();
  return compare(certificate.makespanPlace, "makespan", certificate.makespan,
                 certificate.tick, run->time(run->makespan()));
}

LogicalResult Match::memory() {
  const MemorySettings &memory = schedule.memory;
  for (unsigned stage = certificate.idle; stage != certificate.stages;
       ++stage) {
    const Certificate::Stage &own = certificate.model[stage];
    unsigned whole = certificate.stageOf(stage);
    unsigned slice = certificate.sliceOf(stage);
    auto size = [&](unsigned kind, StringRef what, int64_t here,
                    std::optional<Rational> there) {
      return compare(own.place, "size that " + nameOf(kind, stage) + what, here,
                     certificate.unit, there);
    };
    for (unsigned kind = 1; kind != certificate.kinds(); ++kind) {
      std::optional<Rational> given =
          memory.delta(kindOf(kind), whole, {.slice = slice});
      if (given)
        given = Rational::sub(0, *given);
      if (failed(size(kind, " gives back", own.given[kind - 1], given)))
        return failure();
    }
    for (unsigned kind = 0; kind != certificate.kinds(); ++kind)
      if (failed(size(kind, " needs as it runs", own.during[kind],
                      memory.during(kindOf(kind), whole, {.slice = slice}))))
        return failure();
    if (failed(size(0, " takes", own.taken(),
                    memory.delta(StepKind::F, whole, {.slice = slice}))))
      return failure();
  }
  for (unsigned rank = 0; rank != certificate.ranks; ++rank) {
    // A proof for a smaller cap says less: the cap must be at least the limit,
    // in whole units.
    int64_t all = 0, during = 0;
    std::optional<Rational> room = memory.limit(rank);
    for (unsigned stage = certificate.idle; stage != certificate.stages;
         ++stage)
      if (certificate.map[stage] == rank) {
        const Certificate::Stage &own = certificate.model[stage];
        all += std::max(own.taken(), own.given[1]) * certificate.microbatches;
        during =
            std::max({during, own.during[0], own.during[1], own.during[2]});
        if (room && certificate.sliceOf(stage) == 0)
          room = Rational::sub(*room,
                               memory.parameters(certificate.stageOf(stage)));
      }
    int64_t cap = all + during;
    if (room) {
      std::optional<Rational> units = Rational::div(*room, certificate.unit);
      if (units)
        cap = std::min(cap, units->floor());
    }
    if (certificate.caps[rank] < cap)
      return differs(certificate.capsPlace, "room of rank " + Twine(rank),
                     Twine(certificate.caps[rank]), Twine(cap));
  }
  return success();
}

LogicalResult checkSame(const Certificate &certificate,
                        const Schedule &schedule, DiagEngine &diags) {
  if (failed(refuseMicrobatchFigures(schedule, "a certificate", diags)))
    return failure();
  return Match(certificate, schedule, diags).run();
}

LogicalResult checkFigures(const Certificate &certificate,
                           const Schedule &schedule, DiagEngine &diags) {
  return Match(certificate, schedule, diags).runButSteps();
}

} // namespace pipec
