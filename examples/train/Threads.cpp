//===- Threads.cpp - Training with ranks as threads -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"

#include "Compare.h"
#include "ThreadShards.h"

#include <cstdio>
#include <fstream>
#include <memory>

using namespace pipec::runtime;

template class pipec::runtime::Executor<train::Model, ThreadTransport>;

namespace train {

namespace {

/// One rank of one copy of the pipeline.
struct Member {
  Member(const Config &config, const Schedule &schedule, ThreadGroup &group,
         ShardBoard &board, int rank, Options options)
      : model(config, schedule.stagesOf(rank)),
        shards(board, config.copy, model, schedule.stagesOf(rank)),
        transport(group, rank), worker(model, transport, options) {
    if (schedule.reducesGradients)
      model.shardOver(shards, schedule.sharded);
  }

  Model model;
  ThreadShards shards;
  ThreadTransport transport;
  ThreadWorker worker;
};

/// One copy of the pipeline: one thread per rank.
struct Copy {
  Copy(const Config &config, const Schedule &schedule, Options options,
       std::vector<std::unique_ptr<ShardBoard>> &boards,
       std::vector<RankTrace> *traces)
      : group(schedule.ranks) {
    for (int rank = 0; rank != schedule.ranks; ++rank) {
      options.trace = traces ? &(*traces)[std::size_t(rank)] : nullptr;
      members.push_back(std::make_unique<Member>(
          config, schedule, group, *boards[std::size_t(rank)], rank, options));
    }
  }

  ThreadGroup group;
  std::vector<std::unique_ptr<Member>> members;
};

/// Runs a step of all copies at the same time. After all have ended, rethrows
/// the first exception that is not the echo of another copy's failure.
template <class Body>
void runCopies(std::vector<std::unique_ptr<Copy>> &copies,
               std::vector<std::unique_ptr<ShardBoard>> &boards, Body body) {
  std::vector<std::exception_ptr> thrown(copies.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i != copies.size(); ++i)
      threads.emplace_back([&, i] {
        try {
          copies[i]->group.run([&](int rank) {
            body(*copies[i]->members[std::size_t(rank)], rank);
          });
        } catch (...) {
          thrown[i] = std::current_exception();
          for (std::unique_ptr<ShardBoard> &board : boards)
            board->close();
          for (std::unique_ptr<Copy> &other : copies)
            other->group.fail("another copy of the pipeline failed");
        }
      });
  }
  rethrowCause(thrown);
}

int train(const Arguments &arguments, const Schedule &schedule,
          void (*run)(int rank, ThreadWorker &worker)) {
  checkCopies(arguments.copies, schedule);
  Config config = configOf(schedule);
  config.microbatches = schedule.microbatches * arguments.copies;
  Reference reference(config);
  config.microbatches = schedule.microbatches;
  config.copies = arguments.copies;
  std::printf("%s: %d ranks as threads, %s, %zu parameters%s\n", schedule.name,
              schedule.ranks, sizesText(config).c_str(),
              reference.numParameters(), copiesText(arguments.copies).c_str());

  Options options;
  options.blocking = arguments.blocking;
  options.blockingReceives = arguments.blockingReceives;
  options.patience =
      std::chrono::nanoseconds(std::int64_t(arguments.patience * 1e9));
  std::vector<RankTrace> traces(std::size_t(schedule.ranks));
  std::vector<std::unique_ptr<ShardBoard>> boards;
  for (int rank = 0; rank != schedule.ranks; ++rank)
    boards.push_back(
        std::make_unique<ShardBoard>(arguments.copies, schedule.stages));
  std::vector<std::unique_ptr<Copy>> copies;
  for (config.copy = 0; config.copy != arguments.copies; ++config.copy) {
    bool traced = !arguments.trace.empty() && config.copy == 0;
    copies.push_back(std::make_unique<Copy>(config, schedule, options, boards,
                                            traced ? &traces : nullptr));
  }
  auto forAll = [&](auto &&visit) {
    for (std::unique_ptr<Copy> &copy : copies)
      for (std::unique_ptr<Member> &member : copy->members)
        visit(member->model);
  };

  Difference total;
  for (int step = 1; step <= arguments.steps; ++step) {
    reference.run(step, schedule.forwardOnly);
    runCopies(copies, boards, [&](Member &member, int rank) {
      member.model.beginStep(step);
      run(rank, member.worker);
    });
    forAll([&](Model &model) { model.finishStep(); });
    double loss = 0;
    Difference here;
    forAll([&](Model &model) {
      here.merge(
          reference.compare(model, schedule.forwardOnly, total.allExact));
      if (model.holds(schedule.stages - 1))
        loss += model.loss();
    });
    total.merge(here);
    std::printf("step %d: loss %.15f, unpipelined %.15f\n", step, loss,
                reference.loss());
    if (schedule.forwardOnly)
      continue;
    reference.update();
    forAll([&](Model &model) {
      model.update();
      if (schedule.updates)
        total.merge(reference.compareParameters(model));
    });
  }

  for (int rank = 0; rank != schedule.ranks; ++rank) {
    const Member &member = *copies.front()->members[std::size_t(rank)];
    Statistics statistics = member.worker.statistics();
    checkKept(member.model, schedule, rank, statistics.peakActivations);
    printPeaks(rank, schedule, statistics.peakActivations,
               statistics.peakReceived, statistics.peakSends);
  }
  if (!arguments.trace.empty()) {
    std::ofstream file(arguments.trace);
    writeChromeTrace(file, schedule, traces);
    if (!file.flush())
      throw std::runtime_error("cannot write " + arguments.trace);
  }
  return printVerdict(total, schedule) ? 0 : 1;
}

} // namespace

int trainOnThreads(int argc, char **argv, const Schedule &schedule,
                   void (*run)(int rank, ThreadWorker &worker)) {
  Arguments arguments = parseArguments(argc, argv);
  try {
    return train(arguments, schedule, run);
  } catch (const std::exception &error) {
    std::fflush(stdout);
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

} // namespace train
