//===- SearchCertificate.h - The bound of all that was searched -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "Search/Writers.h"
#include "SearchRun/PlacementSearch.h"

namespace pipec {

/// A bound of all placements, forms and layouts of a search, with the proof of
/// each but the best one, which is the first.
struct CertifiedBound {
  Rational bound;
  std::vector<search::CertifiedVariant> variants;
};

/// Proves the bound of all, as far as that is possible, if there are several;
/// `layouts` is null unless layouts were searched, and `own` is the bound that
/// is proven of the best one.
std::optional<CertifiedBound> certifyAll(ScheduleSearch &search,
                                         const SearchRequest &request,
                                         const PlacementResult &result,
                                         const LayoutSummary *layouts,
                                         Rational own, DiagEngine &diags);

} // namespace pipec
