//===- RecordedKinds.h - An engine that records kinds -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef PIPEC_UNITTESTS_SUPPORT_RECORDEDKINDS_H
#define PIPEC_UNITTESTS_SUPPORT_RECORDEDKINDS_H

#include "Support/DiagEngine.h"

namespace pipec::test {

using Kinds = std::vector<diag::Id>;

/// An engine without files that records the kinds of its diagnostics, notes
/// excluded, in order.
struct RecordedKinds {
  Kinds kinds;
  SourceFiles files;
  DiagEngine diags{files, [this](const Diagnostic &diagnostic) {
                     kinds.push_back(diagnostic.id);
                   }};

  RecordedKinds() = default;
  RecordedKinds(const RecordedKinds &) = delete;
  RecordedKinds &operator=(const RecordedKinds &) = delete;
};

} // namespace pipec::test

#endif // PIPEC_UNITTESTS_SUPPORT_RECORDEDKINDS_H
