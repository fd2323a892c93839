//===- SearchCertificate.cpp - The bound of all that was searched ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/SearchCertificate.h"

#include "Search/Prover.h"
#include "SearchRun/LayoutSearch.h"

using namespace llvm;

namespace pipec {

namespace {

class AllProofs {
public:
  AllProofs(ScheduleSearch &search, const SearchRequest &request,
            const LayoutSummary *layouts, Rational bound, DiagEngine &diags)
      : search(search), request(request), layouts(layouts), bound(bound),
        diags(diags) {}

  search::CertifiedVariant variantOf(const PlacementTrial &trial);
  Rational reached() const { return bound; }

private:
  using Outcome = PlacementTrial::Outcome;

  void prove(search::Model model,
             const std::optional<search::Refutation> &proof, size_t parts,
             search::CertifiedVariant &into);
  bool addLayouts(const PlacementTrial &trial, const SearchRequest &own,
                  search::CertifiedVariant &into);

  ScheduleSearch &search;
  const SearchRequest &request;
  const LayoutSummary *layouts;
  /// Lowered to what is proven.
  Rational bound;
  DiagEngine &diags;
};

} // namespace

/// Proves the bound, or less, with one of so many parts of the effort.
void AllProofs::prove(search::Model model,
                      const std::optional<search::Refutation> &proof,
                      size_t parts, search::CertifiedVariant &into) {
  search::Budget budget(request.work() / parts);
  search::Ticks wanted = model.ticksNotBelow(bound);
  into.proof = proof && proof->refuted + 1 >= wanted
                   ? *proof
                   : search::prove(model.problem, wanted, budget);
  bound = std::min(bound, model.time(into.proof->refuted + 1));
  into.model = std::move(model);
}

/// The problem of single layers, and the layouts that paths and single ranks
/// leave open. False if there is no such problem.
bool AllProofs::addLayouts(const PlacementTrial &trial,
                           const SearchRequest &own,
                           search::CertifiedVariant &into) {
  StringSet<> warnings, known;
  std::vector<char> used(own.starts.size());
  Layouts all(search, own, warnings, used, diags);
  if (failed(all.start()))
    return false;
  into.name += " layouts " + layoutText({all.allLayers().str()}) + " kinds " +
               all.kinds();
  into.model = all.perLayer();
  if (trial.outcome == Outcome::Covered)
    return true;
  for (const PlacementTrial &one : layouts->each)
    if (one.chunks == trial.chunks && one.isV == trial.isV &&
        one.form == trial.form)
      known.insert(one.layout);
  std::vector<StageLayers> open = all.withoutProof(known, bound);
  for (const StageLayers &stages : open) {
    search::CertifiedVariant &layout =
        into.layouts.emplace_back(search::CertifiedVariant{layoutText(stages)});
    if (trial.outcome == Outcome::Best && layout.name == layouts->best) {
      layout.name += " best";
      continue;
    }
    SearchRequest one = own;
    one.given.layout = LayerLayout(stages);
    FailureOr<SearchProblem> problem = search.prepare(one);
    assert(succeeded(problem) && "layouts that were searched have a problem");
    prove(std::move(problem->model), std::nullopt, open.size(), layout);
  }
  return true;
}

search::CertifiedVariant AllProofs::variantOf(const PlacementTrial &trial) {
  SearchRequest own = requestOf(request, trial);
  search::CertifiedVariant variant{(own.placementName() + " chunks " +
                                    Twine(trial.chunks) + " backward " +
                                    nameOf(trial.form))
                                       .str()};
  if (trial.outcome == Outcome::Best)
    variant.name += " best";
  if (trial.outcome == Outcome::Covered)
    variant.name += " covered";
  if (layouts && addLayouts(trial, own, variant))
    return variant;
  if (trial.outcome == Outcome::Best)
    return variant;
  FailureOr<SearchProblem> problem = search.prepare(own);
  if (layouts || failed(problem))
    variant.name += " excluded " + trial.reason;
  else if (trial.outcome == Outcome::Covered)
    variant.model = std::move(problem->model);
  else
    prove(std::move(problem->model), trial.proof, 1, variant);
  return variant;
}

std::optional<CertifiedBound> certifyAll(ScheduleSearch &search,
                                         const SearchRequest &request,
                                         const PlacementResult &result,
                                         const LayoutSummary *layouts,
                                         Rational own, DiagEngine &diags) {
  DiagEngine::ScopedFilter quiet(diags, [](Diagnostic &) { return false; });
  Rational bound = layouts ? layouts->bound : result.boundOfAll();
  AllProofs proofs(search, request, layouts, std::min(bound, own), diags);
  CertifiedBound all;
  bool several = layouts;
  for (const PlacementTrial &trial : result.trials) {
    bool isBest = trial.outcome == PlacementTrial::Outcome::Best;
    several |= !isBest && trial.outcome != PlacementTrial::Outcome::Covered;
    all.variants.insert(isBest ? all.variants.begin() : all.variants.end(),
                        proofs.variantOf(trial));
  }
  all.bound = proofs.reached();
  // Nothing is proven of a makespan of 0.
  if (!several || all.bound.isZero())
    return std::nullopt;
  return all;
}

} // namespace pipec
