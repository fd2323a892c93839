//===- Communicators.h - The communicators of a job -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A job divides its directed edges among communicators. Each rank has one queue
// per communicator that it is in. The models `stream`, `pair` and `edge` are
// three such divisions; others come from files:
//
//   {"communicators": [{"ranks": [0, 1, 2], "edges": [[0, 1], [1, 2]]}, ...]}
//
//===----------------------------------------------------------------------===//

#pragma once

#include "Support/DiagEngine.h"
#include "Waiting/WaitModel.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace pipec {

struct Schedule;
class Transfers;

/// A set of communicators with their directed edges, each in one of them.
class Communicators {
public:
  /// The source and the destination.
  using Edge = std::pair<unsigned, unsigned>;
  static constexpr unsigned none = ~0u;

  Communicators() = default;
  /// `place` is that of the list in the file called `name`.
  explicit Communicators(std::vector<std::vector<Edge>> edges,
                         std::string name = "", SourceLoc place = {});

  size_t size() const { return members.size(); }
  llvm::ArrayRef<Edge> edges(size_t number) const { return members[number]; }
  /// The ranks of a communicator, ascending.
  std::vector<unsigned> ranks(size_t number) const;
  /// The communicator of an edge; `none` if no communicator has it.
  unsigned find(unsigned from, unsigned to) const {
    auto it = numbers.find({from, to});
    return it == numbers.end() ? none : it->second;
  }
  llvm::StringRef name() const { return fileName; }
  SourceLoc place() const { return listPlace; }

private:
  std::vector<std::vector<Edge>> members;
  llvm::DenseMap<Edge, unsigned> numbers;
  std::string fileName;
  SourceLoc listPlace;
};

/// A communication model of a run: a row of WaitModels.def, or the
/// communicators of a file, under which ranks wait as under `edge`.
class CommModel {
public:
  CommModel(WaitModel model) : row(model) {}
  explicit CommModel(std::shared_ptr<const Communicators> communicators)
      : row(WaitModel::Edge), groups(std::move(communicators)) {}

  /// The row; for a file that of `edge`, which says when ranks wait.
  WaitModel kind() const { return row; }
  /// Null for a row of the table.
  const Communicators *communicators() const { return groups.get(); }
  /// `stream`, or the path of the file.
  llvm::StringRef name() const {
    return groups ? groups->name() : waitModelName(row);
  }
  /// The model in messages: `one in-order stream per rank`.
  std::string phrase() const;
  /// True for this row of the table.
  friend bool operator==(const CommModel &a, WaitModel b) {
    return !a.groups && a.row == b;
  }

private:
  WaitModel row;
  std::shared_ptr<const Communicators> groups;
};

/// Reads the communicators of a file. Reports what is not as above, and edges
/// that are in two of them. `name` is the path, for messages.
llvm::FailureOr<Communicators> readCommunicators(llvm::StringRef text,
                                                 llvm::StringRef name,
                                                 DiagEngine &diags);
/// The model of the file at `path`, which is read.
llvm::FailureOr<CommModel> openCommunicators(llvm::StringRef path,
                                             DiagEngine &diags);
/// True for the path of a file, and not for a name of a model.
inline bool isModelFile(llvm::StringRef text) {
  return text.find_first_of("./") != llvm::StringRef::npos;
}

/// Reports a transfer of `schedule` whose edge has no communicator in `model`.
llvm::LogicalResult checkEdges(const Schedule &schedule, const CommModel &model,
                               DiagEngine &diags);

/// Communicators under which a schedule finishes.
struct NeededCommunicators {
  /// In the order of their first edges; empty if it finishes under none.
  Communicators communicators;
  /// No fewer communicators suffice. Without it, no two of these can be one.
  bool smallest = false;
};

/// Starts from one communicator, one for each direction, one per pair of ranks
/// or one per edge, the first under which the schedule finishes, and joins them
/// while it does. At most one run per edge and communicator of the result.
NeededCommunicators neededCommunicators(const Schedule &schedule,
                                        const Transfers &transfers);

} // namespace pipec
