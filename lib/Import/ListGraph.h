//===- ListGraph.h - The stage graph of a list of steps ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of steps has no header with a stage graph. A transfer that does not
// name the stage at its other end is on an edge of the chain, stage s to stage
// s + 1; one that does (`0>3SEND_F2` in a CSV) is on the edge that it names.
//
// The graph is given on the command line, or inferred from transfers that name
// stages:
//
//   edge that a transfer names             in the graph
//   edge of the chain between two ranks    if a transfer is on it
//   edge of the chain within one rank      in the graph
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Import/Readers.h"

namespace pipec {

/// Collects the transfers of lists that name the stage at their other end, and
/// sets the stage graph of a schedule and the ports of its transfers.
class ListGraph {
public:
  /// Records that `step`, which gets this index in the list of a rank, names
  /// `peer`. Its port is a mark until `apply`.
  void note(Step &step, uint32_t rank, uint32_t index, unsigned peer) {
    step.setPort(markedPort);
    named.push_back({rank, index, peer});
  }

  /// Sets the graph and the ports. `schedule` must be complete otherwise.
  /// Reports a graph that is invalid, and transfers on edges that it lacks.
  llvm::LogicalResult apply(Schedule &schedule, const ListOptions &options,
                            DiagEngine &diags) const;

private:
  /// The port of steps that name a stage, until `apply`. All others
  /// have port 0.
  static constexpr unsigned markedPort = 1;

  struct Named {
    uint32_t rank;
    uint32_t index;
    unsigned peer;
  };

  llvm::LogicalResult infer(const Schedule &schedule, GraphBuilder &builder,
                            DiagEngine &diags) const;
  llvm::LogicalResult setPorts(Schedule &schedule, DiagEngine &diags) const;

  std::vector<Named> named;
};

} // namespace pipec
