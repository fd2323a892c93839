//===- Candidates.h - Another list for each training step -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules that were compiled ahead for one model, of which each training step
// runs the best one for its batch, with the best order of the batch:
//
//   pipec zb1p ranks=4 microbatches=16 --target=cpp --emit=ir -o zb1p.steps
//   pipec order zb1p ranks=4 microbatches=16 --lists -o zb1p.lists
//
//   pipec::runtime::Candidates candidates;
//   candidates.add("zb1p.steps", "zb1p.lists");
//   candidates.add("dispatched.steps", "dispatched.lists");
//   ...
//   candidates.run(candidates.choose(weights), rank, worker);
//
// All ranks choose from the same weights, and so the same. Messages carry the
// digests of lists and order; a rank with others ends the run with a
// `MessageError`, before it uses data of them.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_CANDIDATES_H
#define PIPEC_RUNTIME_CANDIDATES_H

#include "pipec/order.h"
#include "pipec/runtime/List.h"

namespace pipec::runtime {

class Candidates {
public:
  /// A candidate, and by its micro-batch the number in the batch.
  struct Choice {
    std::size_t number = 0;
    std::vector<int> order;
    /// The times of `pipec order`: of this choice, and of the first candidate
    /// with the batch as given.
    double makespan = 0, given = 0;
  };

  /// Reads a candidate: its lists with transfers, and the file of
  /// `pipec order --lists` for the choice. Throws a `RefusedError` for files
  /// that cannot be read, and for lists that the model of the others does not
  /// run: with other sizes, or with stages on other ranks.
  void add(const std::string &steps, const std::string &lists) {
    order::Lists own;
    std::ifstream file(lists);
    if (!file || !own.read(file))
      throw RefusedError(lists + ": cannot read the lists");
    add(List::read(steps), std::move(own));
  }
  void add(List list, order::Lists lists) {
    const Schedule &own = list.schedule();
    auto refuse = [&](const std::string &what) {
      throw RefusedError(std::string(own.source) + ": " + what);
    };
    if (int(lists.microbatches) != own.microbatches ||
        int(lists.stages) != own.stages)
      refuse("the lists for the order are of " +
             std::to_string(lists.microbatches) + " micro-batches and " +
             std::to_string(lists.stages) +
             " stages, and those of the steps "
             "of " +
             std::to_string(own.microbatches) + " and " +
             std::to_string(own.stages));
    if (!all.empty()) {
      const Schedule &first = all.front().list.schedule();
      for (auto [what, here, there] :
           {std::tuple("ranks", own.ranks, first.ranks),
            std::tuple("stages", own.stages, first.stages),
            std::tuple("micro-batches", own.microbatches, first.microbatches),
            std::tuple("slices", own.slices, first.slices),
            std::tuple("directions", own.directions, first.directions)})
        if (here != there)
          refuse(std::to_string(here) + " " + what +
                 ", and the first "
                 "candidate has " +
                 std::to_string(there));
      for (int i = 0; i != own.stages * own.directions; ++i)
        if (own.rankOfStage[i] != first.rankOfStage[i])
          refuse("stage " + std::to_string(i % own.stages) + " is on rank " +
                 std::to_string(own.rankOfStage[i]) +
                 ", and in the first candidate on rank " +
                 std::to_string(first.rankOfStage[i]));
    }
    all.push_back({std::move(list), std::move(lists)});
  }

  std::size_t size() const { return all.size(); }
  const List &list(std::size_t number) const { return all.at(number).list; }

  /// The candidate and the order with the least makespan for a batch, the first
  /// of equal ones: `pipec::order::find` for each. Throws a `RefusedError` for
  /// weights that do not fit, and if no order is within the limits.
  Choice choose(const order::Weights &weights,
                const order::Options &options = {}) const {
    std::optional<Choice> best;
    double given = 0;
    for (std::size_t i = 0; i != all.size(); ++i) {
      order::Result found = order::find(all[i].lists, weights, options);
      using State = order::Result::State;
      if (found.state == State::Invalid || found.state == State::TooLarge)
        throw RefusedError("the weights of the batch do not fit the lists of " +
                           std::string(list(i).schedule().source));
      if (i == 0)
        given = found.given;
      if (found.state == State::Found &&
          (!best || found.makespan < best->makespan))
        best = {i, {found.order.begin(), found.order.end()}, found.makespan};
    }
    if (!best)
      throw RefusedError(all.empty() ? "there are no candidates"
                                     : "no order of the batch fits the memory "
                                       "of a candidate");
    best->given = given;
    return *best;
  }

  /// Runs one training step of a choice, as `run` of a list does.
  template <class Worker, class... Data>
  auto run(const Choice &choice, int rank, Worker &worker,
           Data &&...data) const {
    worker.reorder(choice.order);
    return runtime::run(list(choice.number), rank, worker,
                        std::forward<Data>(data)...);
  }

private:
  struct Candidate {
    List list;
    order::Lists lists;
  };
  std::vector<Candidate> all;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_CANDIDATES_H
