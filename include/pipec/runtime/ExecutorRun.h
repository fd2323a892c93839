//===- ExecutorRun.h - Start, end and failure of a run ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORRUN_H
#define PIPEC_RUNTIME_EXECUTORRUN_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

template <class M, class T>
template <class Body>
void Executor<M, T>::runSteps(const Schedule &newSchedule, int newRank,
                              Body &body) {
  if (broken)
    throw Error("pipec: this executor failed in an earlier run");
  broken = true;
  explained = false;
  try {
    start(newSchedule, newRank);
    body(*this);
    finish();
  } catch (const StoppedError &) {
    throw; // the rank that failed has told everyone
  } catch (const Error &error) {
    // Anything else comes from the model, a handler or the transport.
    if (!explained)
      failModel(newRank, error.what());
    if constexpr (FailureTransport<T>)
      transport.fail("rank " + std::to_string(newRank) + ": " + error.what());
    throw;
  } catch (const std::exception &error) {
    failModel(newRank, error.what());
  } catch (...) {
    failModel(newRank, "an exception that is not a std::exception");
  }
  broken = false;
}

/// Ends all ranks because of the exception that is being handled, and throws it
/// nested in one that names the step.
template <class M, class T>
void Executor<M, T>::failModel(int newRank, const char *what) {
  std::string text = "rank " + std::to_string(newRank);
  RankState state = RankState::unpack(status->state.load());
  if (state.activity == RankState::Running ||
      state.activity == RankState::Waiting)
    text += " in " + describe({RankState::Running, state.kind, state.stage,
                               state.unit, state.line},
                              {});
  text += ": ";
  text += what;
  if constexpr (FailureTransport<T>)
    transport.fail(text);
  std::throw_with_nested(ModelError(text));
}

namespace detail {
/// FNV-1a of an order, and never 0; 0 for one that changes nothing.
inline std::uint32_t hashOfOrder(std::span<const int> order) {
  std::uint32_t hash = 2166136261u;
  bool changes = false;
  for (std::size_t i = 0; i != order.size(); ++i) {
    changes |= order[i] != int(i);
    for (int shift = 0; shift != 32; shift += 8)
      hash = (hash ^ (std::uint32_t(order[i]) >> shift & 255)) * 16777619u;
  }
  return changes ? std::max(hash, 1u) : 0;
}
} // namespace detail

template <class M, class T>
void Executor<M, T>::reorder(std::span<const int> newOrder) {
  std::vector<bool> seen(newOrder.size());
  for (int number : newOrder) {
    bool isInside = number >= 0 && std::size_t(number) < seen.size();
    if (!isInside || seen[std::size_t(number)])
      throw RefusedError("the order of the batch is not a permutation of " +
                         std::to_string(newOrder.size()) +
                         " micro-batches: it has " + std::to_string(number) +
                         (isInside ? " twice" : ""));
    seen[std::size_t(number)] = true;
  }
  givenOrder.assign(newOrder.begin(), newOrder.end());
}

template <class M, class T>
void Executor<M, T>::start(const Schedule &newSchedule, int newRank) {
  explained = true;
  auto refuse = [&](int found, const char *who, int wanted, const char *what) {
    throw RefusedError("`" + std::string(newSchedule.name) +
                       "` is compiled for " + std::to_string(wanted) + " " +
                       what + ", and the " + who + " has " +
                       std::to_string(found));
  };
  if (int(transport.size()) != newSchedule.ranks)
    refuse(transport.size(), "transport", newSchedule.ranks, "ranks");
  if (int(model.stages()) != newSchedule.stages)
    refuse(model.stages(), "model", newSchedule.stages, "stages");
  if (int(model.microbatches()) != newSchedule.microbatches)
    refuse(model.microbatches(), "model", newSchedule.microbatches,
           "micro-batches");
  if constexpr (ModelSlices<M>) {
    if (int(model.slices()) != newSchedule.slices)
      refuse(model.slices(), "model", newSchedule.slices, "slices");
  } else if (newSchedule.slices != 1) {
    throw RefusedError("`" + std::string(newSchedule.name) +
                       "` is compiled for " +
                       std::to_string(newSchedule.slices) +
                       " slices, and the model has no int slices() const");
  }
  if (newRank < 0 || newRank >= newSchedule.ranks)
    throw RefusedError("`" + std::string(newSchedule.name) + "` has no rank " +
                       std::to_string(newRank));
  if (int(transport.rank()) != newRank)
    throw RefusedError("rank " + std::to_string(newRank) +
                       " was given the transport of rank " +
                       std::to_string(int(transport.rank())));

  if (!newSchedule.edges.empty() && !ModelGraphForward<M>)
    throw RefusedError(
        "the stages of `" + std::string(newSchedule.name) +
        "` form a graph, and the model has no forward(" + placeText() +
        "std::span<const Tensor *const> inputs, Tensor *output, " + keptText());

  std::span<const int> newOrder =
      givenOrder.empty() ? newSchedule.order : std::span<const int>(givenOrder);
  order.assign(newOrder.begin(), newOrder.end());
  if (!order.empty() && int(order.size()) != newSchedule.microbatches)
    throw RefusedError("the order of the batch has " +
                       std::to_string(order.size()) + " micro-batches, and `" +
                       std::string(newSchedule.name) + "` has " +
                       std::to_string(newSchedule.microbatches));
  orderHash = detail::hashOfOrder(order);

  explained = false;

  if constexpr (StatusTransport<T>)
    status = &transport.statusCell();
  line = 0;
  early.clear();
  if constexpr (hasLoss<M>)
    lossOf.assign(std::size_t(newSchedule.units()), std::nullopt);
  uses.clear();
  unsent = 0;
  unwaited = 0;
  received = 0;
  tied.clear();
  unsummed.clear();
  laterUpdates.clear();
  keptNow = 0;
  if (schedule == &newSchedule && serial == newSchedule.serial &&
      rank == newRank) {
    for (StageBooks &stage : books)
      stage = {stage.stage,   stage.expected, stage.managed, stage.inputs,
               stage.targets, stage.ports,    stage.lists,   stage.contexts};
    std::fill(cells.begin(), cells.end(), Cell());
    markRecomputed();
    return;
  }
  schedule = &newSchedule;
  serial = newSchedule.serial;
  rank = newRank;
  makeBooks();
  markRecomputed();
}

template <class M, class T> void Executor<M, T>::markRecomputed() {
  if (schedule->forwardOnly) // no backward uses what an R makes
    return;
  for (const RecomputedUnits &units : schedule->recomputed)
    for (int i = 0; i != units.count; ++i)
      if (Cell *cell = find(units.stage, units.first + i * units.stride))
        cell->flags |= Recomputed;
}

/// Lists the edges of each stage. The schedule has them sorted, so both
/// lists of a stage are in ascending order.
template <class M, class T> void Executor<M, T>::findEnds() {
  ends.assign(isGraph() ? std::size_t(numStages) : 0, StageEnds());
  for (StageEdge edge : schedule->edges) {
    StageEnds &from = ends[std::size_t(edge.from)];
    StageEnds &to = ends[std::size_t(edge.to)];
    from.targets.push_back({edge.to, int(to.sources.size())});
    to.sources.push_back({edge.from, int(from.targets.size()) - 1});
  }
}

template <class M, class T> void Executor<M, T>::makeBooks() {
  numStages = schedule->stages;
  numUnits = schedule->units();
  secondHalf = schedule->directions == 2
                   ? schedule->microbatches / 2 * schedule->slices
                   : numUnits;
  auto isOurs = [&](int direction, int stage) {
    return schedule->rankOfStage[direction * numStages + stage] == rank;
  };
  formsGraph = !schedule->edges.empty();
  findEnds();
  books.clear();
  std::size_t numCells = 0, numLists = 0;
  for (int stage = 0; stage != numStages; ++stage)
    if (isOurs(0, stage) || (schedule->directions == 2 && isOurs(1, stage))) {
      StageBooks &book = books.emplace_back(StageBooks{
          stage, schedule->microbatchesOf(stage, rank) * schedule->slices,
          schedule->sharded && schedule->sharded[stage]});
      book.inputs =
          isGraph() ? int(ends[std::size_t(stage)].sources.size()) : stage != 0;
      book.targets = isGraph() ? int(ends[std::size_t(stage)].targets.size())
                               : !isLast(stage);
      book.ports = std::max({book.inputs, book.targets, 1});
      numCells += std::size_t(book.ports) * std::size_t(numUnits);
    }
  if (givesLists())
    numLists = 3 * numCells;
  cells.assign(numCells, Cell());
  lists.assign(numLists, nullptr);
  if constexpr (ModelSlices<M>)
    held.assign(books.size() * std::size_t(schedule->microbatches),
                HeldContext());
  places.assign(std::size_t(2 * numStages), Place());
  std::size_t cell = 0;
  for (StageBooks &book : books) {
    if (givesLists())
      book.lists = lists.data() + 3 * cell;
    if constexpr (ModelSlices<M>)
      book.contexts =
          held.data() + (&book - books.data()) * schedule->microbatches;
    for (int d = 0; d != schedule->directions; ++d)
      if (isOurs(d, book.stage))
        places[std::size_t(d * numStages + book.stage)] = {cells.data() + cell,
                                                           &book};
    cell += std::size_t(book.ports) * std::size_t(numUnits);
  }
  tiedHolders.clear();
  for (int group = 0; group != int(schedule->ties.size()); ++group)
    tiedHolders.push_back(schedule->tiedRanks(group));
  // The number of transfers in flight depends on timing; with these objects
  // made ahead, the steady state does not allocate.
  std::size_t ahead = std::min<std::size_t>(2 * cells.size() + 16, 512);
  tensors.reserve(int(ahead));
  transfers.reserve(int(ahead));
  sends.reserve(ahead);
  group.reserve(16);
  groupContexts.reserve(16);
  groupMembers.reserve(16);
  early.reserve(16);
  groupPosted.reserve(16);
}

template <class M, class T> void Executor<M, T>::checkComplete() {
  for (const StageBooks &stage : books) {
    int owed = schedule->forwardOnly ? 0 : stage.expected;
    if (stage.forwards == stage.expected && stage.gradients == owed &&
        stage.weights == owed)
      continue;
    for (int u = 0; u != numUnits; ++u) {
      const Cell *cell = find(stage.stage, u);
      if (!cell)
        continue;
      unsigned flags = cell->flags;
      auto missing = [&](StepKind kind) {
        return textOf({kind, stage.stage, u});
      };
      if (!(flags & ForwardDone))
        fail("the run ended without " + missing(StepKind::Forward));
      if (owed && !(flags & GradientDone))
        fail("the run ended without B or " + missing(StepKind::BackwardInput));
      if (owed && !(flags & WeightDone))
        fail("the run ended without " + missing(StepKind::BackwardWeight));
    }
  }
  if (unsent != 0)
    for (const StageBooks &stage : books)
      for (int u = 0; u != numUnits; ++u) {
        for (int port = 0; port != stage.ports; ++port) {
          const Cell *cell = find(stage.stage, u, port);
          if (!cell)
            continue;
          auto end = [&](EdgeEnd (Executor::*of)(int, int) const) {
            return isGraph() ? " to stage " +
                                   std::to_string(
                                       (this->*of)(stage.stage, port).stage)
                             : std::string();
          };
          if (cell->output && !(cell->flags & OutputSent))
            fail("the output of " +
                 textOf({StepKind::Forward, stage.stage, u}) +
                 " was never sent" + end(&Executor::targetOf));
          if (cell->inputGradient && !(cell->flags & InputGradientSent))
            fail("the gradient that stage " + std::to_string(stage.stage) +
                 " made for m" + std::to_string(u / schedule->slices) +
                 (schedule->slices == 1
                      ? ""
                      : "." + std::to_string(u % schedule->slices)) +
                 " was never sent" + end(&Executor::sourceOf));
        }
      }
  if (unwaited != 0)
    for (const StageBooks &stage : books)
      for (int u = 0; u != numUnits; ++u) {
        for (int port = 0; port != stage.ports; ++port) {
          const Cell *cell = find(stage.stage, u, port);
          for (StepKind kind :
               {StepKind::WaitSendForward, StepKind::WaitSendBackward}) {
            bool isForward = kind == StepKind::WaitSendForward;
            unsigned sent = isForward ? OutputSent : InputGradientSent;
            unsigned freed = isForward ? OutputFreed : InputGradientFreed;
            if (cell && (cell->flags & sent) && !(cell->flags & freed))
              fail("the run ended without " +
                   textOf({kind, stage.stage, u, 0, false,
                           (isForward ? targetOf(stage.stage, port)
                                      : sourceOf(stage.stage, port))
                               .stage}));
          }
        }
      }
  if (!early.empty()) {
    const Step &step = early.front();
    fail("the run ended without " + textOf(step) +
         ", which an overlap has sent");
  }
  for (int group = 0;
       !schedule->forwardOnly && group != int(schedule->ties.size()); ++group) {
    std::span<const int> stages = schedule->ties[std::size_t(group)];
    if (std::any_of(stages.begin(), stages.end(),
                    [&](int stage) { return booksOf(stage); }) &&
        std::find(tied.begin(), tied.end(), group) == tied.end())
      fail("the run ended without " + stepText(StepKind::ReduceTied, group, 0));
  }
  for (const StageBooks &stage : books) {
    if (stage.unsharded)
      fail("stage " + std::to_string(stage.stage) +
           " is left unsharded at the end of the run");
    if (reduces(stage.stage) && !stage.reduced)
      fail("the run ended without REDUCE_GRAD s" + std::to_string(stage.stage));
    if (stage.reducing)
      fail("the run ended without " +
           stepText(StepKind::WaitReduceGrad, stage.stage, 0));
    if (schedule->updates && !stage.updated)
      fail("the run ended without " +
           stepText(StepKind::Update, stage.stage, 0));
  }
}

template <class M, class T> void Executor<M, T>::finish() {
  line = 0;
  checkComplete();
  while (!sends.empty()) {
    Posted posted = sends.front();
    sends.pop();
    await(posted.transfer->request, posted.step);
    free(posted);
  }
  endStreams();
  sumTies();
  runLaterUpdates();
  keepLosses();
  ++runNumber;
  status->state.store(RankState{RankState::Finished}.pack(),
                      std::memory_order_relaxed);
  stopIfOthersFailed();
}

template <class M, class T> void Executor<M, T>::keepLosses() {
  if constexpr (hasLoss<M>) {
    losses.clear();
    losses.reserve(lossOf.size());
    for (int u = 0; u != numUnits; ++u)
      if (!lossOf[unitInBatch(u)] && find(numStages - 1, u))
        fail("`" + textOf({StepKind::Forward, numStages - 1, u}) +
             "` has left no loss");
    for (std::optional<Loss> &loss : lossOf)
      if (loss)
        losses.push_back(std::move(*loss));
  }
}

template <class M, class T>
template <class E>
void Executor<M, T>::fail(std::string what) {
  explained = true;
  throw E(what + " (" + place() + ")");
}

template <class M, class T>
void Executor<M, T>::failStep(StepKind kind, int stage, int unit,
                              const char *what) {
  failStep(Step{kind, stage, unit}, what);
}

template <class M, class T>
void Executor<M, T>::failStep(const Step &step, const char *what) {
  fail("`" + textOf(step) + "` " + what);
}

/// `rank 1, zb1p.pipe:9`
template <class M, class T> std::string Executor<M, T>::place() const {
  std::string text = "rank " + std::to_string(rank);
  if (line)
    text += ", " + std::string(schedule->source) + ":" + std::to_string(line);
  if (runNumber)
    text += ", run " + std::to_string(runNumber);
  return text;
}

/// `RECV_F s2 m5 from rank 1 at zb1p.pipe:9, for 5.0 s`
template <class M, class T>
std::string Executor<M, T>::describe(const RankState &state,
                                     std::chrono::nanoseconds waited) const {
  std::string text = stepText(state.kind, state.stage, state.unit, -1,
                              schedule ? schedule->slices : 1);
  bool known = schedule && state.stage < schedule->stages &&
               state.unit < schedule->units();
  // In a graph, the state does not say which of several transfers it is.
  if ((isTransfer(state.kind) || isSendWait(state.kind)) && known &&
      !isGraph()) {
    int peer = peerOf({state.kind, state.stage, state.unit});
    bool isRecv = isTransfer(state.kind) && !isSend(state.kind);
    text += (isRecv ? " from rank " : " to rank ") + std::to_string(peer);
  }
  if (state.line && schedule && *schedule->source)
    text += " at " + std::string(schedule->source) + ":" +
            std::to_string(state.line);
  if (state.activity == RankState::Waiting) {
    auto tenths =
        std::chrono::duration_cast<std::chrono::milliseconds>(waited).count() /
        100;
    text += ", for " + std::to_string(tenths / 10) + "." +
            std::to_string(tenths % 10) + " s";
  }
  return text;
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORRUN_H
