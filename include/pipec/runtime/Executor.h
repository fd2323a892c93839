//===- Executor.h - Runs the steps of one rank ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An executor joins a model and a transport and keeps the books of one rank:
// its tensors, the steps that need them, and the transfers that were posted and
// are not complete. Generated code calls one function per step and does nothing
// else:
//
//   pipec::runtime::Executor worker(model, transport);
//   for (int step = 0; step < steps; ++step) {
//     one_f_one_b::run(rank, worker);   // all micro-batches
//     model.update();                   // the optimizer is the user's
//   }
//
// How a run waits. A receive is posted at its step and waited for at the step
// that uses it; a send is posted at its step, and its tensor goes back to the
// pool when it is complete; the end of a run waits for all others. In a
// schedule with WAIT_SEND steps a send is waited for at its wait, and its
// tensor goes back to the pool there and not before; likewise a reduction at
// its WAIT_REDUCE_GRAD. A copy back to the device is waited for at the step
// that uses the activation. The sums that REDUCE_TIED steps post run at the
// end, after all transfers (ExecutorTies.h). `Options::blocking` waits for
// every transfer, or batch of transfers, where it is posted, and
// `Options::blockingReceives` for every receive or batch. Neighbour stages on
// one rank hand tensors over without a copy.
//
// Checks. Every step finds its data there and runs once; transfers
// have two ends, on two ranks; messages are the expected ones; shard state fits
// the computes; at the end each micro-batch of each stage is complete, nothing
// is left and gradients were reduced after the last of them. A step that breaks
// this throws, and every rank ends with the message (Errors.h).
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTOR_H
#define PIPEC_RUNTIME_EXECUTOR_H

#include "pipec/runtime/Errors.h"
#include "pipec/runtime/ExecutorBooks.h"
#include "pipec/runtime/Model.h"
#include "pipec/runtime/Pool.h"
#include "pipec/runtime/Ring.h"
#include "pipec/runtime/Schedule.h"
#include "pipec/runtime/StepContext.h"
#include "pipec/runtime/Steps.h"
#include "pipec/runtime/Trace.h"
#include "pipec/runtime/TransferParts.h"
#include "pipec/runtime/Transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace pipec::runtime {

/// How an executor runs.
struct Options {
  /// Wait for every transfer, or batch of transfers, where it is posted.
  bool blocking = false;
  /// Wait for every receive, or batch of transfers, where it is posted; a send
  /// is posted and does not hold up the steps after it.
  bool blockingReceives = false;
  /// A rank that waits longer for one transfer ends the run with a report.
  std::chrono::nanoseconds patience = std::chrono::seconds(60);
  /// Where to record time stamps; null for none.
  RankTrace *trace = nullptr;
};

/// Counts of one executor over all its runs.
struct Statistics {
  /// The most activations that were kept at one time: a chunk's activation is
  /// held from the start of its F, or of its R if it has one, to the end of its
  /// B or W, except from its WAIT_OFFLOAD to its RELOAD.
  int peakActivations = 0;
  /// The most received tensors at one time: the input of an F from the posting
  /// of its receive to the end of the F, the gradient from the posting to the
  /// end of the B or W.
  int peakReceived = 0;
  /// The most tensors in use for whatever reason, unfinished sends included.
  int peakTensors = 0;
  /// The most sends at one time whose tensors were still held. A send counts
  /// from its posting to the end of its WAIT_SEND step; in a schedule without
  /// these, until the executor finds it complete, which depends on timing.
  int peakSends = 0;
};

template <class M, class T> class Executor {
  static_assert(ModelTypes<M>,
                "pipec: the model must name two default-constructible types, "
                "Tensor and Activation");
  static_assert(ModelSizes<M>,
                "pipec: the model must have int stages() const and "
                "int microbatches() const");
  static_assert(ModelSlices<M> || ModelForward<M> || ModelGraphForward<M>,
                "pipec: the model must have forward(int stage, int microbatch, "
                "Tensor *input, Tensor *output, Activation &kept)");
  static_assert(
      !requires(const M &model) { model.slices(); } || ModelSlices<M>,
      "pipec: a model with int slices() const must name a "
      "default-constructible type Context");
  static_assert(!ModelSlices<M> || ModelForward<M> || ModelGraphForward<M>,
                "pipec: a model with int slices() const must have forward(int "
                "stage, int microbatch, int slice, Tensor *input, Tensor "
                "*output, Activation &kept, Context &context)");
  static_assert(
      !ModelRecompute<M> || ModelStashForward<M>,
      "pipec: a model with a type Stash and recompute must have a forward that "
      "keeps a Stash & in place of the Activation &");
  static_assert(Transport<T>,
                "pipec: the transport must have a type Request and the "
                "functions rank, size, isend, irecv, test, wait and header; "
                "see pipec/runtime/Transport.h");
  static_assert(
      !requires { typename M::Minibatch; } || ModelMinibatches<M>,
      "pipec: a model with a type Minibatch must have split(const "
      "Minibatch &, int stage, int microbatch, Tensor &input) and "
      "loss(const Minibatch &, int microbatch, const Tensor &output, "
      "Tensor *gradient), with slices each with int slice after microbatch");
  static_assert(
      !requires { typename M::Outputs; } || ModelOutputs<M>,
      "pipec: a model with a type Outputs must take mini-batches and "
      "have merge(Outputs &, int microbatch, const Tensor &output)");
  static_assert(!std::is_same_v<LossOf<M>, bool>,
                "pipec: what the model's forward or loss returns is the loss "
                "of a micro-batch, and a bool is not one");

public:
  using Tensor = typename M::Tensor;
  using Activation = typename M::Activation;
  using Context = StepContext<M>;
  using SliceContext = SliceContextOf<M>;
  using Loss = LossOf<M>;
  using Minibatch = MinibatchOf<M>;
  using Outputs = OutputsOf<M>;
  /// Runs all steps of a kind.
  using Handler = std::function<void(Context &)>;

  Executor(M &model, T &transport, Options options = {})
      : model(model), transport(transport), options(options) {
    observed.fill(options.trace != nullptr);
  }
  Executor(const Executor &) = delete;
  Executor &operator=(const Executor &) = delete;

  /// From now on `handler` is called for every step of `kind`, with the data of
  /// the step; see StepContext. An empty handler ends that.
  void handle(StepKind kind, Handler handler) {
    handled[int(kind)] = bool(handler);
    observed[int(kind)] = handler || options.trace;
    handlers[int(kind)] = std::move(handler);
  }

  /// From the next run on, micro-batch k of the schedule is number `order[k]`
  /// of the batch, as `pipec order` finds it, in place of the order of the
  /// schedule itself. Functions of the model and contexts of handlers have the
  /// number in the batch, and losses are in its order. Every rank is given the
  /// same order: a run ends with a MessageError at a message from a rank with
  /// another, where the transport sends headers. An empty order ends this.
  /// Throws a RefusedError for what is not a permutation.
  void reorder(std::span<const int> order);

  Statistics statistics() const {
    return {peakKept, peakReceived, tensors.peak(), peakSends};
  }
  /// Runs that have completed.
  unsigned runs() const { return runNumber; }

  //===--------------------------------------------------------------------===//
  // What generated code calls
  //===--------------------------------------------------------------------===//

  /// One run of the schedule on this rank; `body` calls the steps. If the model
  /// has losses, returns a `std::span<const Loss>` of this rank's losses in the
  /// order of the batch, valid until the next run: all of them on the rank with
  /// the last stage (half of them on each where two ranks hold it), none
  /// elsewhere.
  template <class Body>
  auto run(const Schedule &schedule, int rank, Body &&body) {
    static_assert(!ModelMinibatches<M>,
                  "pipec: the model takes mini-batches, so every run must be "
                  "given one");
    runSteps(schedule, rank, body);
    return runLosses();
  }
  /// A run on a mini-batch. Every rank may be given the whole; ranks with the
  /// first stage read its inputs, and ranks with the last its targets.
  template <class Body>
  auto run(const Schedule &schedule, int rank, Body &&body,
           const Minibatch &all) {
    minibatch = &all;
    outputs = nullptr;
    runSteps(schedule, rank, body);
    return runLosses();
  }
  /// The same; the outputs of the last stage are merged into `into`.
  template <class Body>
  auto run(const Schedule &schedule, int rank, Body &&body,
           const Minibatch &all, Outputs &into) {
    minibatch = &all;
    outputs = &into;
    runSteps(schedule, rank, body);
    return runLosses();
  }

  /// The line of the schedule's source that the following steps come from.
  Executor &at(int sourceLine) {
    line = sourceLine <= RankState::maxLine ? sourceLine : 0;
    return *this;
  }

  // `unit` is a micro-batch, or a slice of one; see Schedule.

  void forward(int stage, int unit) {
    runCompute<StepKind::Forward>(stage, unit);
  }
  void backward(int stage, int unit) {
    runCompute<StepKind::Backward>(stage, unit);
  }
  void backwardInput(int stage, int unit) {
    runCompute<StepKind::BackwardInput>(stage, unit);
  }
  void backwardWeight(int stage, int unit) {
    runCompute<StepKind::BackwardWeight>(stage, unit);
  }
  void recompute(int stage, int unit) {
    runCompute<StepKind::Recompute>(stage, unit);
  }

  void offload(int stage, int unit) { copy(StepKind::Offload, stage, unit); }
  void waitOffload(int stage, int unit) {
    copy(StepKind::WaitOffload, stage, unit);
  }
  void reload(int stage, int unit) { copy(StepKind::Reload, stage, unit); }
  void update(int stage);

  // `other` is the stage at the other end, see Step::other.
  void sendForward(int stage, int unit, int other = -1) {
    settle(send({StepKind::SendForward, stage, unit, 0, false, other}));
  }
  void recvForward(int stage, int unit, int other = -1) {
    settle(recv({StepKind::RecvForward, stage, unit, 0, false, other}));
  }
  void sendBackward(int stage, int unit, int other = -1) {
    settle(send({StepKind::SendBackward, stage, unit, 0, false, other}));
  }
  void recvBackward(int stage, int unit, int other = -1) {
    settle(recv({StepKind::RecvBackward, stage, unit, 0, false, other}));
  }

  void waitSendForward(int stage, int unit, int other = -1) {
    waitSend({StepKind::WaitSendForward, stage, unit, 0, false, other});
  }
  void waitSendBackward(int stage, int unit, int other = -1) {
    waitSend({StepKind::WaitSendBackward, stage, unit, 0, false, other});
  }

  void unshard(int stage);
  void reshard(int stage);
  void reduceGrad(int stage);
  void waitReduceGrad(int stage);
  void reduceTied(int group);

  /// Compute steps that run together, in issue order.
  template <class... Members> void overlap(Members... members) {
    const Step steps[] = {Step(members)...};
    runOverlap(steps);
  }
  /// Transfers that are posted together.
  template <class... Members> void batch(Members... members) {
    const Step steps[] = {Step(members)...};
    runBatch(steps);
  }
  /// Steps from a table.
  void steps(std::span<const Step> table);

  /// From now on, inputs that are kept for an R are copied where the forward
  /// may change them. Called before the runs of schedules with an R.
  template <int = 0> void copyInputs();
  /// Adds up the gradients of every stage that another rank holds too. Called
  /// once, after all steps.
  template <int = 0> void sumReplicas();

private:
  // ExecutorBooks.h
  using Books = ExecutorBooks<M, T>;
  using Request = typename Books::Request;
  using Reduction = typename Books::Reduction;
  using Stash = typename Books::Stash;
  using Copies = typename Books::Copies;
  using Transfer = typename Books::Transfer;
  using Cell = typename Books::Cell;
  using HeldContext = typename Books::HeldContext;
  using StageBooks = typename Books::StageBooks;
  using Place = typename Books::Place;
  using Work = typename Books::Work;
  using EdgeEnd = typename Books::EdgeEnd;
  using StageEnds = typename Books::StageEnds;
  using Posted = typename Books::Posted;
  using TiedPart = typename Books::TiedPart;
  using enum detail::CellFlag;

  /// The books of a unit on a stage of the model, null when another rank
  /// has them.
  Cell *find(int stage, int unit, int port = 0) const {
    Cell *cells = placeOf(stage, unit).cells;
    return cells ? &portOf(cells[unit], port) : nullptr;
  }
  /// False for a model that is not given lists, and so runs chains only. The
  /// compiler then knows that all ports are 0.
  static constexpr bool mayBeGraph = ModelGraphForward<M>;
  bool isGraph() const { return mayBeGraph && formsGraph; }
  /// The cell of another port, given the cell of port 0.
  Cell &portOf(Cell &cell, int port) const {
    if constexpr (!mayBeGraph)
      return cell;
    else
      return (&cell)[port * numUnits];
  }
  Cell *find(EdgeEnd end, int unit) const {
    return find(end.stage, unit, end.port);
  }
  /// The other end of the edge of a port of a stage.
  EdgeEnd sourceOf(int stage, int port) const {
    return isGraph() ? ends[std::size_t(stage)].sources[std::size_t(port)]
                     : EdgeEnd{stage - 1, 0};
  }
  EdgeEnd targetOf(int stage, int port) const {
    return isGraph() ? ends[std::size_t(stage)].targets[std::size_t(port)]
                     : EdgeEnd{stage + 1, 0};
  }
  /// The stage at the other end of a transfer, or of a wait for one.
  static int otherOf(const Step &step) {
    return step.other >= 0 ? step.other : neighbourOf(step.kind, step.stage);
  }
  int portOf(const Step &step) const;
  /// The cell of a transfer, whose port must exist.
  Cell &cellOf(const Step &step) const {
    return *find(step.stage, step.unit, isGraph() ? portOf(step) : 0);
  }
  /// True if the model is given lists.
  bool givesLists() const { return !ModelForward<M> || isGraph(); }
  const Place &placeOf(int stage, int unit) const {
    return places[std::size_t(unit >= secondHalf ? numStages + stage : stage)];
  }
  bool isLast(int stage) const { return stage + 1 == numStages; }

  // ExecutorSteps.h
  const Place &enter(StepKind kind, int stage, int unit);
  template <StepKind K> void runCompute(int stage, int unit);
  template <StepKind K> Work enterCompute(int stage, int unit);
  template <StepKind K> void begin(Work &work);
  void beginForward(Work &work);
  void beginBackward(Work &work);
  void beginWeight(Work &work);
  template <StepKind K> void end(const Work &work);
  void endForward(const Work &work);
  void endBackward(const Work &work);
  void endGradient(const Work &work);
  void releaseInputs(const Work &work);
  void dropKept(const Work &work);
  HeldContext &contextHeldBy(const Work &work) const;
  void releaseContext(const Work &work);

  // ExecutorRecompute.h
  void copyInput(Work &work);
  void beginRecompute(Work &work);
  void endRecompute(const Work &work);

  // ExecutorCalls.h
  template <StepKind K> void compute(const Work &work);
  void computeObserved(const Work &work);
  static void proceedCompute(void *executor, Context &step);
  template <StepKind K> void callModel(const Work &work);
  template <class Kept>
  decltype(auto) callForward(const Work &work, Kept &kept);
  template <StepKind K, class Output, class Input>
  void callBackward(const Work &work, Output outputGradient,
                    Input inputGradient);
  void takeLoss(Cell &cell, int unit);
  Tensor **listsOf(const Work &work) const;
  std::span<const Tensor *const> listInputs(const Work &work) const;
  std::span<const Tensor *const> listOutputGradients(const Work &work) const;
  template <class Call> decltype(auto) withSlice(int unit, Call &&call) const;
  /// The number in the batch of a micro-batch, and of a unit.
  int inBatch(int microbatch) const {
    return order.empty() ? microbatch : order[std::size_t(microbatch)];
  }
  std::size_t unitInBatch(int unit) const {
    return std::size_t(inBatch(unit / schedule->slices) * schedule->slices +
                       unit % schedule->slices);
  }
  /// The last argument of a function of the model with a slice.
  static SliceContext &contextFor(const Work &work, int) {
    return *work.context;
  }
  // For messages: the first and the last arguments of the functions.
  static std::string placeText() {
    return std::string("int stage, int microbatch, ") +
           (ModelSlices<M> ? "int slice, " : "");
  }
  static std::string keptText() {
    return std::string("Activation &kept") +
           (ModelSlices<M> ? ", Context &context)" : ")");
  }

  std::size_t record(RankState::Activity activity, StepKind kind, int stage,
                     int unit, int other = -1) {
    return options.trace->begin({activity, kind, stage, unit, line}, runNumber,
                                other);
  }
  std::size_t record(RankState::Activity activity, const Step &step) {
    return record(activity, step.kind, step.stage, step.unit, step.other);
  }

  /// At a change of the number of activations that are on the device.
  void countKept(int by) { peakKept = std::max(peakKept, keptNow += by); }

  // ExecutorCopies.h
  void copy(StepKind kind, int stage, int unit);
  static void proceedCopy(void *executor, Context &step);
  void useKept(StepKind kind, int stage, int unit, Cell &cell);
  void runLaterUpdates();

  // ExecutorStreams.h
  struct Mark {
    int stream = 0;
    /// The computes of the stream that are done at the event; 0 for none.
    std::uint64_t number = 0;
    std::optional<EventOf<M>> event;
  };
  void enterStream(int stage);
  void switchStream(int to);
  template <class Visit> void forEachOperand(const Work &work, Visit &&visit);
  void waitForUses(int user, const void *object);
  void waitForMark(int user, const Mark &mark);
  void waitForOperands(const Work &work);
  void markOperands(const Work &work);
  void beginReceive(const Tensor *tensor);
  void endStreams();
  /// The list of pools for what the current stream uses, and that for what
  /// transfers use.
  int ownList() const { return ModelEvents<M> ? stream : 0; }
  static constexpr int transferList = ModelEvents<M> ? rankStream : 0;

  // ExecutorTies.h
  static void proceedTied(void *executor, Context &step);
  void sumTies();
  void sumTied(int group);

  // ExecutorOverlap.h
  void runOverlap(std::span<const Step> members);
  template <class Member> void callOverlapped(std::vector<Member> &members);
  void beginMember(Work &work);
  void beginMember(Work &work, Context &member);
  static void proceedMember(void *executor, Context &member);
  static bool isMemberReady(void *executor, Context &member);
  static void waitForMember(void *executor, Context &member);
  static void finishMember(void *executor, Context &member);
  static void sendMember(void *executor, Context &member);
  bool passEarly(const Step &send, int peer);

  // ExecutorContexts.h
  Context contextOf(const Step &step);
  Context contextOf(const Work &work);
  void takeOver(Context &step, const typename Context::Actions &actions,
                void *state = nullptr);
  static bool isReady(void *, Context &) { return true; }
  static void doNothing(void *, Context &) {}

  // ExecutorFsdp.h
  void fsdp(StepKind kind, int stage);
  static void proceedFsdp(void *executor, Context &step);
  StageBooks &enterFsdp(StepKind kind, int stage);
  StageBooks *booksOf(int stage);
  /// The list has a REDUCE_GRAD of the stage.
  bool reduces(int stage) const {
    return schedule->reducesGradients &&
           (!schedule->reduced || schedule->reduced[stage]);
  }

  // ExecutorTransfers.h
  Posted post(const Step &step);
  Posted send(const Step &step);
  Posted sendNow(const Step &step, int peer);
  Posted recv(const Step &step);
  void prepare(const Step &step, Tensor &tensor);
  void runBatch(std::span<const Step> members);
  void settle(const Posted &posted, bool isBatch = false);
  void startTransfer(Posted &posted, int peer);
  void postTransfer(Posted &posted, int peer);
  template <class Bytes>
  void startMessage(bool sends, int peer, const Header &header, Bytes &&bytes,
                    Request &request);
  void resize(const Step &step, Tensor &tensor, int peer);
  static void proceedTransfer(void *executor, Context &step);
  static bool isTransferReady(void *executor, Context &step);
  static void waitForTransfer(void *executor, Context &step);
  int peerOf(const Step &step) const;
  Header expectedHeader(const Step &step, std::size_t bytes) const;

  // ExecutorWaiting.h
  void waitSend(const Step &step);
  void awaitSend(Transfer &transfer, const Step &step);
  static void proceedSendWait(void *executor, Context &step);
  static bool isSendComplete(void *executor, Context &step);
  void endTransfer(Transfer *transfer);
  void joinBatch();
  void free(const Posted &posted);
  void await(Request &request, const Step &step);
  void arrive(Transfer &transfer, Tensor &into, const Step &step);
  [[noreturn]] void failMessage(const Step &step, const Header &wanted,
                                const Header &got);
  void awaitSlowly(Request &request, const Step &step);
  void reclaimSends();
  Tensor *acquireTensor() { return acquireTensor(ownList()); }
  Tensor *acquireTensor(int list) {
    if (!sends.empty())
      reclaimSends();
    return tensors.acquire(list);
  }
  /// Returns a tensor to its pool, or ends one of its uses if it has several.
  void release(Tensor *tensor, int list) {
    for (std::pair<Tensor *, int> &one : uses)
      if (one.first == tensor) {
        if (--one.second != 0)
          return;
        one = uses.back();
        uses.pop_back();
        break;
      }
    tensors.release(tensor, list);
  }
  [[noreturn]] void stall(std::chrono::nanoseconds waited);
  void stopIfOthersFailed();

  // ExecutorRun.h
  template <class Body>
  void runSteps(const Schedule &newSchedule, int newRank, Body &body);
  auto runLosses() const {
    if constexpr (hasLoss<M>)
      return std::span<const Loss>(losses);
  }
  void keepLosses();
  void start(const Schedule &newSchedule, int newRank);
  void makeBooks();
  void markRecomputed();
  void findEnds();
  void finish();
  void checkComplete();
  [[noreturn]] void failModel(int newRank, const char *what);
  std::string describe(const RankState &state,
                       std::chrono::nanoseconds waited) const;
  std::string place() const;
  std::string textOf(const Step &step) const {
    return stepText(step, schedule->slices);
  }
  template <class E = ScheduleError> [[noreturn]] void fail(std::string what);
  [[noreturn]] void failStep(StepKind kind, int stage, int unit,
                             const char *what);
  [[noreturn]] void failStep(const Step &step, const char *what);
  void publish(RankState::Activity activity, StepKind kind, int stage,
               int unit) {
    status->state.store(RankState{activity, kind, stage, unit, line}.pack(),
                        std::memory_order_relaxed);
  }

  M &model;
  detail::TransportFor<M, T> transport;
  Options options;

  const Schedule *schedule = nullptr;
  std::uint64_t serial = 0;
  int rank = -1;
  unsigned runNumber = 0;
  bool broken = false;
  /// The exception that is being thrown names its step.
  bool explained = false;
  int line = 0;

  int numStages = 0;
  int numUnits = 0;
  bool formsGraph = false;
  /// By stage, in a graph.
  std::vector<StageEnds> ends;
  /// See `StageBooks::lists`.
  std::vector<Tensor *> lists;
  /// The outputs that several stages still need, and how many.
  std::vector<std::pair<Tensor *, int>> uses;
  /// The first unit of direction 1.
  int secondHalf = 0;
  /// One per stage, and in a bidirectional schedule another one per stage for
  /// direction 1.
  std::vector<Place> places;
  std::vector<StageBooks> books;
  std::vector<Cell> cells;
  Pool<Tensor> tensors;
  Pool<Activation> activations;
  /// Set where inputs are copied.
  void (*copyTensor)(Tensor &to, const Tensor &from) = nullptr;
  /// The activations of forwards with an R, where the input is kept for that.
  Pool<Activation> scratch;
  Pool<Stash> stashes;
  Pool<Copies> copies;
  /// That of the last compute step.
  int stream = 0;
  /// Where computes may return before their work is done: the last use of each
  /// object, and of each stage by its books; that of each stream; and by
  /// stream + 1 and stream the number of the last compute that was waited for.
  std::unordered_map<const void *, Mark> marks;
  std::vector<Mark> last;
  std::vector<std::vector<std::uint64_t>> waited;
  int keptNow = 0;
  int peakKept = 0;
  Pool<SliceContext> contexts;
  /// See `StageBooks::contexts`.
  std::vector<HeldContext> held;
  Pool<Transfer> transfers;
  /// Sends that no step waits for.
  Ring<Posted> sends;
  int unsent = 0;
  /// Sends whose WAIT_SEND step has not come.
  int unwaited = 0;
  int peakSends = 0;
  int received = 0;
  int peakReceived = 0;
  std::vector<Work> group;
  std::vector<Context> groupContexts;
  std::vector<OverlapMember<M>> groupMembers;
  std::vector<Posted> groupPosted;
  /// Sends that an overlap has posted and whose steps have not come, in the
  /// order in which they were posted.
  std::vector<Step> early;

  /// The groups whose REDUCE_TIED has run, in their order, and the groups among
  /// them that the executor sums at the end.
  std::vector<int> tied;
  std::vector<int> unsummed;
  /// The stages whose UPDATE waits for the sums at the end.
  std::vector<int> laterUpdates;
  /// By group, the ranks that hold a stage of it.
  std::vector<std::vector<int>> tiedHolders;
  /// Of the sum that is being made, in the order of their ranks.
  std::vector<TiedPart> tiedParts;
  std::vector<const Tensor *> tiedTensors;

  const Minibatch *minibatch = nullptr;
  Outputs *outputs = nullptr;
  /// What `reorder` was given, the order of this run, and a hash of it.
  std::vector<int> givenOrder, order;
  std::uint32_t orderHash = 0;
  /// By unit of the batch, and in their order without those that are not here.
  std::vector<std::optional<Loss>> lossOf;
  std::vector<Loss> losses;

  std::array<bool, numStepKinds> handled{};
  /// Handled, or traced.
  std::array<bool, numStepKinds> observed{};
  std::array<Handler, numStepKinds> handlers;
  StatusCell ownStatus;
  StatusCell *status = &ownStatus;
};

} // namespace pipec::runtime

#include "pipec/runtime/ExecutorCalls.h"
#include "pipec/runtime/ExecutorContexts.h"
#include "pipec/runtime/ExecutorCopies.h"
#include "pipec/runtime/ExecutorFsdp.h"
#include "pipec/runtime/ExecutorOverlap.h"
#include "pipec/runtime/ExecutorRecompute.h"
#include "pipec/runtime/ExecutorRun.h"
#include "pipec/runtime/ExecutorSteps.h"
#include "pipec/runtime/ExecutorStreams.h"
#include "pipec/runtime/ExecutorTables.h"
#include "pipec/runtime/ExecutorTies.h"
#include "pipec/runtime/ExecutorTransfers.h"
#include "pipec/runtime/ExecutorWaiting.h"

#endif // PIPEC_RUNTIME_EXECUTOR_H
