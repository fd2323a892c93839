//===- Again.h - The example model with other ways to recompute -*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A model without `recompute`, whose forward runs again from the kept input:
// one that destroys its input, with CONST_INPUT one that cannot, and with
// STASH_COPIES a model with a stash of its own that is copied to the host too.
// The value of each first forward is the number of its unit, plus 1.
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <pipec/runtime/Executor.h>
#include <pipec/runtime/ThreadTransport.h>

#include <cmath>
#include <cstdio>
#include <functional>
#include <set>
#include <stdexcept>

namespace again {

using namespace pipec::runtime;

class Model : public train::Model {
public:
  using Base = train::Model;
  using Base::Base;
  using Tensors = std::span<const Tensor *const>;

  void clear() { seen.clear(); }

#ifdef STASH_COPIES
  struct Stash {
    Base::Stash device, host;
    bool isOnHost = false;
  };
  double forward(int stage, int microbatch, int slice, Tensor *input,
                 Tensor *output, Stash &stash, Context &context) {
    Base::forward(stage, microbatch, slice, input, output, stash.device,
                  context);
    return value(stage, microbatch, slice);
  }
  double forward(int stage, int microbatch, int slice, Tensors inputs,
                 Tensor *output, Stash &stash, Context &context) {
    Base::forward(stage, microbatch, slice, inputs, output, stash.device,
                  context);
    return value(stage, microbatch, slice);
  }
  void recompute(int stage, int microbatch, int slice, Stash &stash,
                 Activation &kept, Context &context) {
    if (stash.isOnHost)
      throw std::logic_error("a stash is used that is not on the device");
    Base::recompute(stage, microbatch, slice, stash.device, kept, context);
  }

  struct Copy {
    std::function<void()> end;
    void wait() { end(); }
  };
  template <class Started> static Copy copyOf(Started started) {
    auto shared = std::make_shared<Started>(std::move(started));
    return {[shared] { shared->wait(); }};
  }
  Copy offload(int stage, int microbatch, int slice, Activation &kept) {
    return copyOf(Base::offload(stage, microbatch, slice, kept));
  }
  Copy reload(int stage, int microbatch, int slice, Activation &kept) {
    return copyOf(Base::reload(stage, microbatch, slice, kept));
  }
  Copy offload(int, int, int, Stash &stash) {
    return {[&stash] {
      stash.host.swap(stash.device);
      stash.device.assign(stash.host.size(), NAN);
      stash.isOnHost = true;
      ++stashCopies;
    }};
  }
  Copy reload(int, int, int, Stash &stash) {
    return {[&stash] {
      stash.device.swap(stash.host);
      stash.isOnHost = false;
    }};
  }
  inline static std::atomic<int> stashCopies = 0;
#else
  using Stash = void;
#endif

#ifdef CONST_INPUT
  double forward(int stage, int microbatch, int slice, const Tensor *input,
                 Tensor *output, Activation &kept, Context &context) {
    Base::forward(stage, microbatch, slice, const_cast<Tensor *>(input), output,
                  kept, context);
    return value(stage, microbatch, slice);
  }
#else
  double forward(int stage, int microbatch, int slice, Tensor *input,
                 Tensor *output, Activation &kept, Context &context) {
    Base::forward(stage, microbatch, slice, input, output, kept, context);
    if (input)
      input->assign(input->size(), NAN);
    return value(stage, microbatch, slice);
  }
#endif
  double forward(int stage, int microbatch, int slice, Tensors inputs,
                 Tensor *output, Activation &kept, Context &context) {
    Base::forward(stage, microbatch, slice, inputs, output, kept, context);
    return value(stage, microbatch, slice);
  }

private:
  double value(int stage, int microbatch, int slice) {
    int unit = microbatch * slices() + slice;
    return seen.insert({stage, unit}).second ? unit + 1 : -1;
  }
  std::set<std::pair<int, int>> seen;
};

#ifdef STASH_COPIES
static_assert(ModelRecompute<Model> && ModelStashCopies<Model>);
#elif defined(CONST_INPUT)
static_assert(!ModelRecompute<Model> && ModelConstForward<Model>);
#else
static_assert(!ModelRecompute<Model> && !ModelConstForward<Model>);
#endif

using ThreadWorker = Executor<Model, ThreadTransport>;

/// As train::trainOnThreads, for this model.
inline int trainOnThreads(int, char **, const Schedule &schedule,
                          std::span<const double> (*run)(int rank,
                                                         ThreadWorker &)) {
  train::Config config = train::configOf(schedule);
  train::Reference reference(config);
  ThreadGroup group(schedule.ranks);
  std::vector<std::unique_ptr<Model>> models;
  std::vector<std::unique_ptr<ThreadTransport>> transports;
  std::vector<std::unique_ptr<ThreadWorker>> workers;
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    models.push_back(std::make_unique<Model>(config, schedule.stagesOf(rank)));
    transports.push_back(std::make_unique<ThreadTransport>(group, rank));
    workers.push_back(
        std::make_unique<ThreadWorker>(*models.back(), *transports.back()));
  }
  train::Difference total;
  try {
    for (int step = 1; step <= 2; ++step) {
      reference.run(step, schedule.forwardOnly);
      group.run([&](int rank) {
        Model &model = *models[std::size_t(rank)];
        model.beginStep(step);
        model.clear();
        std::span<const double> losses = run(rank, *workers[std::size_t(rank)]);
        double unit = 0;
        bool isSecond = schedule.directions == 2 && !losses.empty() &&
                        losses[0] > schedule.units() / 2;
        for (double loss : losses)
          if (loss != ++unit + (isSecond ? schedule.units() / 2 : 0))
            throw std::runtime_error("a loss that is not that of its unit");
      });
      for (std::unique_ptr<Model> &model : models)
        total.merge(
            reference.compare(*model, schedule.forwardOnly, total.allExact));
      reference.update();
      for (std::unique_ptr<Model> &model : models) {
        model->update();
        if (schedule.updates)
          total.merge(reference.compareParameters(*model));
      }
    }
  } catch (const std::exception &error) {
    std::printf("error: %s\n", error.what());
    return 1;
  }
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    Statistics statistics = workers[std::size_t(rank)]->statistics();
    train::printPeaks(rank, schedule, statistics.peakActivations,
                      statistics.peakReceived, statistics.peakSends);
  }
#ifdef STASH_COPIES
  std::printf("%d copies of stashes\n", Model::stashCopies.exchange(0));
#endif
  return train::printVerdict(total, schedule) ? 0 : 1;
}

} // namespace again
