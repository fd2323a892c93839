//===- GraphBuilder.h - A stage graph from its edges ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#pragma once

#include "IR/StageGraph.h"
#include "Support/DiagEngine.h"

#include <map>
#include <vector>

namespace pipec {

/// The maximum number of edges of a graph that is not a chain.
inline constexpr unsigned maxGraphEdges = 1u << 20;

/// The edges of a stage graph that a command line gives.
struct GivenGraph {
  /// The edges of `--graph`, which replace a chain or the edges of a program.
  std::vector<StageGraph::Edge> all;
  /// The edges of `--connect`, which are added.
  std::vector<StageGraph::Edge> more;

  bool replaces() const { return !all.empty(); }
  bool empty() const { return all.empty() && more.empty(); }
};

/// Collects the edges of a stage graph and reports those that no graph can
/// have.
class GraphBuilder {
public:
  GraphBuilder(unsigned numStages, DiagEngine &diags)
      : numStages(numStages), diags(diags) {}

  /// Makes the edges that are added the only ones. Otherwise they are added to
  /// a chain. `where` is the place of the whole graph; invalid if it has none.
  void replaceChain(llvm::SMRange where) { replaceChain(Origin{where, ""}); }
  /// Adds an edge. Reports one that is out of range, goes to an earlier stage,
  /// or is already there.
  llvm::LogicalResult add(int64_t from, int64_t to, llvm::SMRange where) {
    return add(from, to, Origin{where, ""});
  }
  /// The same for the edges of a command line, which have no places; notes name
  /// their options.
  llvm::LogicalResult add(const GivenGraph &given);
  /// The graph. Reports a stage that does not reach the last one.
  llvm::FailureOr<StageGraph> finish();

private:
  /// Where an edge or a graph comes from.
  struct Origin {
    /// Its place; invalid if it has none.
    llvm::SMRange range;
    /// The option that gives it; empty if none does.
    llvm::StringRef option;
  };

  void replaceChain(Origin origin) {
    replaces = true;
    graphOrigin = origin;
  }
  llvm::LogicalResult add(int64_t from, int64_t to, Origin origin);
  /// Attaches the note with the option that gives `what`, if one does.
  static InFlightDiagnostic withOption(InFlightDiagnostic error, Origin origin,
                                       llvm::StringRef what = "edge");

  unsigned numStages;
  DiagEngine &diags;
  /// True if the edges that were added are the only ones.
  bool replaces = false;
  /// The origin of the graph that replaces the chain.
  Origin graphOrigin;
  /// The edges that were added.
  std::map<StageGraph::Edge, Origin> edges;
};

} // namespace pipec
