//===- LiveJobs.h - What the live page waits for -------------- -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_SERVE_LIVEJOBS_H
#define PIPEC_SERVE_LIVEJOBS_H

#include "Serve/Jobs.h"
#include "Serve/LiveSettings.h"
#include "Serve/ProgramOrder.h"
#include "Serve/TemporaryFile.h"
#include "Serve/TraceUpload.h"

namespace pipec {

/// The runs of the compiler that take seconds. Each function starts a job and
/// returns its number, nothing if too many are running; the members of the
/// answer are named at each.
class LiveJobs {
public:
  LiveJobs(const LiveSettings &settings, TemporaryFolder &folder, RunChild run)
      : settings(settings), folder(folder), jobs(std::move(run)) {}

  /// `diagnostics`, and the `comparison` of `pipec compare`.
  std::optional<uint64_t> compare(const ProgramOrder &order);
  /// `diagnostics`, the result of `pipec search` as `search`, and the `steps`
  /// that it found.
  std::optional<uint64_t> search(const ProgramOrder &order);
  /// `diagnostics`, the summary of `pipec calibrate` as `calibration`, and the
  /// text of the `profile`.
  std::optional<uint64_t> calibrate(const TraceUpload &traces);

  std::optional<llvm::json::Object> state(uint64_t id) {
    return jobs.state(id);
  }
  bool cancel(uint64_t id) { return jobs.cancel(id); }

private:
  const LiveSettings &settings;
  TemporaryFolder &folder;
  Jobs jobs;
};

} // namespace pipec

#endif // PIPEC_SERVE_LIVEJOBS_H
