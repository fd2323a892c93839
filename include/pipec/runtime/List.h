//===- List.h - Schedules that are read at run time -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program that includes this header instead of a generated one runs any
// schedule that pipec has compiled for it, of any number of ranks and
// micro-batches:
//
//   pipec zb1p ranks=4 microbatches=16 --target=cpp --emit=ir -o zb1p.steps
//
//   auto list = pipec::runtime::List::read("zb1p.steps");
//   pipec::runtime::run(list, rank, worker);
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_LIST_H
#define PIPEC_RUNTIME_LIST_H

#include "pipec/runtime/Executor.h"
#include "pipec/runtime/ListText.h"

#include <atomic>
#include <fstream>
#include <iterator>
#include <memory>
#include <type_traits>

namespace pipec::runtime {

/// The lists of all ranks, and what an executor needs to know of them. Copies
/// share the lists.
class List {
public:
  /// Reads a file with step IR or a CSV, which its first word tells apart.
  /// Throws a `RefusedError`, with the line, for a file that is neither, and
  /// for one without the transfers that its ranks need.
  static List read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
      throw RefusedError(path + ": cannot open the file");
    std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse(text, path);
  }
  /// The same for a text; `name` is its name in messages.
  static List parse(std::string_view text, const std::string &name) {
    auto made = std::make_shared<Parts>();
    made->source = name;
    std::size_t start = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
    std::string_view first = start == text.npos ? "" : text.substr(start, 2);
    if (first == "pi" || first == "//")
      detail::StepIRText(text, *made).read();
    else
      detail::CsvListText(text, *made).read();
    made->finish();
    return List(std::move(made));
  }

  /// The header, for `Executor::run` and for the sizes of a model.
  const Schedule &schedule() const { return parts->schedule; }
  std::span<const Step> steps(int rank) const {
    return parts->lists.at(std::size_t(rank));
  }

private:
  struct Parts : detail::ListParts {
    Schedule schedule{};
    std::vector<int> rankOfStage;
    std::unique_ptr<bool[]> sharded, reducedStages;
    std::vector<std::span<const int>> tieSpans;
    std::vector<const char *> streamTexts;
    std::vector<RecomputedUnits> recomputed;

    void finish();
    std::uint32_t digest() const;
    void checkTransfers() const;
  };

  explicit List(std::shared_ptr<const Parts> parts) : parts(std::move(parts)) {}

  std::shared_ptr<const Parts> parts;
};

/// A stage without a transfer to a neighbour on another rank would wait
/// forever.
inline void List::Parts::checkTransfers() const {
  for (const std::vector<Step> &list : lists)
    for (const Step &step : list)
      if (isTransfer(step.kind))
        return;
  for (const std::vector<int> &map : maps)
    for (int stage = 0; stage + 1 < stages; ++stage)
      if (map[std::size_t(stage)] != map[std::size_t(stage) + 1])
        throw RefusedError(source +
                           ": there are no transfers between ranks "
                           "(`pipec " +
                           source + " --target=cpp --emit=ir` adds them)");
}

/// FNV-1a of the steps of all ranks without lines and names, and never 0.
inline std::uint32_t List::Parts::digest() const {
  std::uint32_t hash = 2166136261u;
  auto add = [&](int value) {
    for (int shift = 0; shift != 32; shift += 8)
      hash = (hash ^ (std::uint32_t(value) >> shift & 255)) * 16777619u;
  };
  for (int value : {ranks, stages, microbatches, slices, int(maps.size())})
    add(value);
  for (int rank : rankOfStage)
    add(rank);
  for (const std::vector<Step> &list : lists) {
    add(int(list.size()));
    for (const Step &step : list)
      for (int value : {int(step.kind), step.stage, step.unit, int(step.joined),
                        step.other})
        add(value);
  }
  return std::max(hash, 1u);
}

inline void List::Parts::finish() {
  if (ranks == 0 || stages == 0 || microbatches == 0)
    throw RefusedError(source + ": there are no steps");
  if (maps.empty())
    throw RefusedError(source + ": there is no `map` of the stages");
  checkTransfers();
  for (const std::vector<int> &map : maps)
    rankOfStage.insert(rankOfStage.end(), map.begin(), map.end());
  std::sort(edges.begin(), edges.end(), [](StageEdge a, StageEdge b) {
    return std::pair(a.from, a.to) < std::pair(b.from, b.to);
  });
  sharded = std::make_unique<bool[]>(std::size_t(stages));
  reducedStages = std::make_unique<bool[]>(std::size_t(stages));
  bool isSharded = false;
  static std::atomic<std::uint64_t> count = 0;
  schedule.serial = ++count;
  schedule.name = name.empty() ? "schedule" : name.c_str();
  schedule.source = source.c_str();
  schedule.ranks = ranks;
  schedule.stages = stages;
  schedule.microbatches = microbatches;
  schedule.forwardOnly = forwardOnly;
  schedule.directions = int(maps.size());
  schedule.rankOfStage = rankOfStage.data();
  schedule.slices = slices;
  for (const std::vector<Step> &list : lists)
    for (const Step &step : list)
      switch (step.kind) {
      case StepKind::Unshard:
      case StepKind::Reshard:
        isSharded = sharded[std::size_t(step.stage)] = true;
        break;
      case StepKind::ReduceGrad:
        schedule.reducesGradients = true;
        break;
      case StepKind::WaitSendForward:
      case StepKind::WaitSendBackward:
        schedule.waitsForSends = true;
        break;
      case StepKind::WaitReduceGrad:
        schedule.waitsForReductions = true;
        break;
      case StepKind::Recompute:
        recomputed.push_back({step.stage, step.unit, 1, 1});
        break;
      case StepKind::Update:
        schedule.updates = true;
        break;
      default:
        break;
      }
  schedule.sharded = isSharded ? sharded.get() : nullptr;
  if (reduced && schedule.reducesGradients) {
    for (int stage : *reduced)
      reducedStages[std::size_t(stage)] = true;
    schedule.reduced = reducedStages.get();
  }
  schedule.edges = edges;
  for (const std::vector<int> &group : ties)
    tieSpans.push_back(group);
  schedule.ties = tieSpans;
  schedule.recomputed = recomputed;
  schedule.order = order;
  schedule.digest = digest();
  if (!streamNames.empty()) {
    for (const std::string &stream : streamNames)
      streamTexts.push_back(stream.c_str());
    schedule.streams = streamTexts;
    schedule.streamOfStage = streamOfStage.data();
  }
}

namespace detail {
template <class M, class T> constexpr bool sumsReplicas(Executor<M, T> *) {
  return ModelReplicas<M>;
}
} // namespace detail

/// Runs one training step of `list` on `rank`, as the `run` of a generated
/// executor does. A worker may run several lists.
template <class Worker, class... Data>
auto run(const List &list, int rank, Worker &worker, Data &&...data) {
  const Schedule &schedule = list.schedule();
  if (!schedule.recomputed.empty())
    // Otherwise the first F that needs a copy says so.
    if constexpr (std::is_copy_assignable_v<typename Worker::Tensor>)
      worker.copyInputs();
  constexpr bool sums = detail::sumsReplicas(static_cast<Worker *>(nullptr));
  if (schedule.directions == 2 && !sums)
    throw RefusedError("two ranks hold each stage of `" +
                       std::string(schedule.name) +
                       "`, and the model has no exportGradient(int stage, "
                       "Tensor &) and addGradient(int stage, const Tensor &)");
  auto steps = [&](auto &x) {
    x.steps(list.steps(rank));
    if constexpr (sums)
      if (schedule.directions == 2)
        x.sumReplicas();
  };
  return worker.run(schedule, rank, steps, data...);
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_LIST_H
