//===- AllLayouts.cpp - The best layout of all placements -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SearchRun/LayoutSearch.h"

#include "Driver/Figures.h"
#include "Support/Diagnostics/SearchDiags.h"

#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace pipec {

namespace {

/// The layouts with all placements and forms of a request.
class AllLayouts {
public:
  AllLayouts(ScheduleSearch &search, const SearchRequest &request,
             DiagEngine &diags)
      : search(search), request(request), diags(diags),
        used(request.starts.size()), trials(trialsOf(request)),
        layouts(trials.size()) {}

  FailureOr<LayoutResult> run();

private:
  using Outcome = PlacementTrial::Outcome;

  LogicalResult start();
  LogicalResult searchAll();
  LogicalResult finishBest();
  LogicalResult searchOther();
  LayoutResult take();

  ScheduleSearch &search;
  const SearchRequest &request;
  DiagEngine &diags;
  StringSet<> warnings;
  std::vector<char> used;
  std::vector<PlacementTrial> trials;
  /// By trial; null where there is nothing to search.
  std::vector<std::unique_ptr<Layouts>> layouts;
  /// The best makespan, and the trial that has it.
  std::optional<Rational> known;
  unsigned better = 0;
  uint64_t left = 0;
};

} // namespace

LogicalResult AllLayouts::start() {
  bool any = false, covers = false;
  for (auto [i, trial] : enumerate(trials)) {
    if (trial.form == BackwardForm::Split) {
      covers = false;
    } else if (covers) {
      trial.outcome = Outcome::Covered;
      continue;
    }
    auto own = std::make_unique<Layouts>(search, requestOf(request, trial),
                                         warnings, used, diags);
    DiagEngine::ScopedFilter filter(diags, [&](Diagnostic &found) {
      if (found.severity != Severity::Error)
        return warnings.insert(found.message).second;
      trial.reason = found.message;
      return false;
    });
    if (failed(own->start())) {
      trial.outcome = Outcome::NoSchedule;
      continue;
    }
    any = true;
    if (trial.form == BackwardForm::Split && request.anyForm)
      covers = own->coversAll();
    trial.bound = own->bound(std::nullopt).value_or(0);
    layouts[i] = std::move(own);
  }
  if (any)
    return success();
  // Reports why.
  return Layouts(search, requestOf(request, trials.front()), warnings, used,
                 diags)
      .start();
}

/// Searches all trials, those with the smallest bounds first, with half of the
/// effort.
LogicalResult AllLayouts::searchAll() {
  std::vector<unsigned> order;
  for (unsigned i = 0; i != trials.size(); ++i)
    if (layouts[i])
      order.push_back(i);
  // Mixed backwards start from the best layouts of the other forms.
  auto isMixed = [&](unsigned i) {
    return trials[i].form == BackwardForm::Mixed;
  };
  llvm::stable_sort(order, [&](unsigned a, unsigned b) {
    return std::pair(isMixed(a), *trials[a].bound) <
           std::pair(isMixed(b), *trials[b].bound);
  });
  for (auto [place, i] : enumerate(order)) {
    Layouts &own = *layouts[i];
    if (known && *trials[i].bound >= *known)
      continue;
    for (const auto &other : layouts)
      if (isMixed(i) && other && other->best && other->isSame(own) &&
          failed(own.also(other->bestStages, known, request.work() / 16)))
        return failure();
    if (known && request.stop && *request.stop) {
      own.wasStopped = true;
      continue;
    }
    uint64_t share = (left - request.work() / 2) / (order.size() - place);
    if (failed(own.run(known, share)))
      return failure();
    left -= std::min(left - request.work() / 2, own.spent);
    if (own.best && (!known || own.best->found.makespan < *known)) {
      better = i;
      known = own.best->found.makespan;
    }
  }
  return success();
}

/// Searches the best layouts, of at most three trials, with the rest.
LogicalResult AllLayouts::finishBest() {
  constexpr unsigned most = 3;
  std::vector<unsigned> order;
  for (unsigned i = 0; i != trials.size(); ++i)
    if (layouts[i] && layouts[i]->best)
      order.push_back(i);
  auto makespan = [&](unsigned i) { return layouts[i]->best->found.makespan; };
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return makespan(a) < makespan(b); });
  // A longer search of others is not likely to gain so much.
  erase_if(order, [&](unsigned i) {
    const FoundSchedule &found = layouts[i]->best->found;
    return found.isOptimal() ||
           excess(found.makespan, *known).value_or(1) > *Rational::make(2, 100);
  });
  if (order.size() > most)
    order.resize(most);
  for (auto [place, i] : enumerate(order)) {
    Layouts &own = *layouts[i];
    if (own.best->found.bound >= *known || (request.stop && *request.stop)) {
      own.wasStopped |= request.stop && *request.stop;
      continue;
    }
    // The best one gets half, or all if it is the only one.
    uint64_t share = place + 1 == order.size() ? left : left / 2;
    uint64_t before = own.spent;
    if (failed(own.finish(share)))
      return failure();
    left -= std::min(left, own.spent - before);
    if (makespan(i) < *known) {
      better = i;
      known = makespan(i);
    }
  }
  return success();
}

/// Searches the best layout with the other form as well, so that its bound is
/// one of both.
LogicalResult AllLayouts::searchOther() {
  Layouts &best = *layouts[better];
  for (auto [i, own] : enumerate(layouts)) {
    if (!own || own.get() == &best || !own->isSame(best))
      continue;
    if (failed(own->also(best.bestStages, known, request.work() / 8)))
      return failure();
    if (own->best && own->best->found.makespan < *known) {
      better = i;
      known = own->best->found.makespan;
    }
  }
  return success();
}

LayoutResult AllLayouts::take() {
  Layouts &best = *layouts[better];
  LayoutResult all{std::move(*best.best), std::move(best.summary)};
  all.summary.best = layoutText(best.bestStages);
  PlacementResult &result = all.result;
  result.coverage = request.anyForm ? Coverage::All
                    : request.split ? Coverage::Split
                                    : Coverage::Whole;
  all.summary.bound = *known;
  for (auto [i, trial] : enumerate(trials)) {
    Layouts *own = layouts[i].get();
    if (!own) {
      all.summary.each.push_back(trial);
      continue;
    }
    if (std::optional<Rational> bound = own->bound(*known)) {
      trial.bound = bound;
      all.summary.bound = std::min(all.summary.bound, *bound);
    }
    if (i == better)
      trial.makespan = result.found.makespan;
    else if (own->best)
      trial.makespan = own->best->found.makespan;
    trial.outcome = i == better ? Outcome::Best : lostTo(*known, *trial.bound);
    if (!trial.makespan && trial.outcome != Outcome::Excluded)
      trial.outcome = Outcome::NotSearched;
    own->list(trial, all.summary.each);
    result.found.stopped |= own->wasStopped;
    if (i == better)
      continue;
    all.summary.searched += own->summary.searched;
    all.summary.bounded += own->summary.bounded;
    if (!own->isSame(best))
      continue;
    const auto &even = own->summary.evenMakespan;
    if (even &&
        (!all.summary.evenMakespan || *even < *all.summary.evenMakespan))
      all.summary.evenMakespan = even;
    if (best.form() == BackwardForm::Mixed)
      continue;
    if (own->form() == BackwardForm::Mixed)
      result.coverage = Coverage::All;
    else
      result.coverage = Coverage::Either;
    result.other = own->boundOf(best.bestStages);
  }
  // The bound of a schedule whose order is kept is its makespan.
  if (request.isFixed)
    result.other = {all.summary.bound, search::BoundSource::Paths};
  result.trials = std::move(trials);
  return all;
}

FailureOr<LayoutResult> AllLayouts::run() {
  left = request.work();
  if (failed(start()) || failed(searchAll()))
    return failure();
  if (known) {
    if (failed(finishBest()) || failed(searchOther()))
      return failure();
    return take();
  }
  for (const auto &own : layouts)
    if (own && !own->reason.empty())
      return diags.report(DiagLoc(), diag::SearchNoLayout, own->reason);
  return diags.report(DiagLoc(), diag::SearchNoLayout, trials.front().reason);
}

FailureOr<LayoutResult> searchLayouts(ScheduleSearch &search,
                                      const SearchRequest &request,
                                      DiagEngine &diags) {
  return AllLayouts(search, request, diags).run();
}

} // namespace pipec
