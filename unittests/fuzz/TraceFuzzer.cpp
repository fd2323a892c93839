//===- TraceFuzzer.cpp - Traces of real runs from hostile text ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes, which lines `-----` divide into traces, are either refused with an
// error or calibrated. The profile is one that `--cost-profile` reads.
//
//===----------------------------------------------------------------------===//

#include "FuzzSession.h"

#include "Calibrate/Calibration.h"
#include "Import/CostText.h"

using namespace llvm;
using namespace pipec;

/// Reads the traces and puts them together.
static FailureOr<Recording> readAll(StringRef text, DiagEngine &diags) {
  SmallVector<StringRef, 4> parts;
  text.split(parts, "\n-----\n");
  TraceCells cells;
  std::vector<RankTrace> traces;
  for (size_t i = 0; i != parts.size(); ++i) {
    std::string name = "rank" + std::to_string(i) + ".json";
    if (failed(readTrace(name, MemoryBuffer::getMemBufferCopy(parts[i], name),
                         cells, traces, diags)))
      return failure();
  }
  return makeRecording(std::move(traces), std::move(cells), RecordingOptions(),
                       diags);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  StringRef text(reinterpret_cast<const char *>(data), size);
  FuzzSession session;
  FailureOr<Recording> recording = readAll(text, session.diags);
  PIPEC_CHECK(session.agrees(recording));
  if (failed(recording))
    return 0;

  Calibration calibration = calibrate(*recording);
  std::string profile;
  raw_string_ostream os(profile);
  writeCostProfile(calibration, os);
  FailureOr<GivenSettings> again =
      readCostProfile(session.add(profile, "costs.json"), session.diags);
  PIPEC_CHECK(succeeded(again));
  PIPEC_CHECK(again->allCosts() == calibration.costs);
  PIPEC_CHECK(again->allMemory() == calibration.memory);
  return 0;
}
