//===- Recorder.h - A worker that writes down its steps ---------*- C++ -*-===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <pipec/runtime/Executor.h>

#include <cstdio>

/// Prints what generated code tells it, in the words of step IR.
class Recorder {
public:
  using Step = pipec::runtime::Step;
  using Kind = pipec::runtime::StepKind;

  template <class Body>
  void run(const pipec::runtime::Schedule &schedule, int rank, Body &&body) {
    slices = schedule.slices;
    std::printf("rank %d\n", rank);
    body(*this);
  }
  Recorder &at(int) { return *this; }
  void sumReplicas() {}

  void forward(int s, int m) { one({Kind::Forward, s, m}); }
  void backward(int s, int m) { one({Kind::Backward, s, m}); }
  void backwardInput(int s, int m) { one({Kind::BackwardInput, s, m}); }
  void backwardWeight(int s, int m) { one({Kind::BackwardWeight, s, m}); }
  void sendForward(int s, int m, int other = -1) {
    one({Kind::SendForward, s, m, 0, false, other});
  }
  void recvForward(int s, int m, int other = -1) {
    one({Kind::RecvForward, s, m, 0, false, other});
  }
  void sendBackward(int s, int m, int other = -1) {
    one({Kind::SendBackward, s, m, 0, false, other});
  }
  void recvBackward(int s, int m, int other = -1) {
    one({Kind::RecvBackward, s, m, 0, false, other});
  }
  void unshard(int s) { one({Kind::Unshard, s, 0}); }
  void reshard(int s) { one({Kind::Reshard, s, 0}); }
  void reduceGrad(int s) { one({Kind::ReduceGrad, s, 0}); }
  void waitSendForward(int s, int m, int other = -1) {
    one({Kind::WaitSendForward, s, m, 0, false, other});
  }
  void waitSendBackward(int s, int m, int other = -1) {
    one({Kind::WaitSendBackward, s, m, 0, false, other});
  }
  void reduceTied(int group) { one({Kind::ReduceTied, group, 0}); }
  void recompute(int s, int m) { one({Kind::Recompute, s, m}); }
  void offload(int s, int m) { one({Kind::Offload, s, m}); }
  void waitOffload(int s, int m) { one({Kind::WaitOffload, s, m}); }
  void reload(int s, int m) { one({Kind::Reload, s, m}); }
  void update(int s) { one({Kind::Update, s, 0}); }
  void waitReduceGrad(int s) { one({Kind::WaitReduceGrad, s, 0}); }
  template <class... Members> void overlap(Members... members) {
    const Step steps[] = {Step(members)...};
    group("overlap ", " & ", steps);
  }
  template <class... Members> void batch(Members... members) {
    const Step steps[] = {Step(members)...};
    group("batch ", ", ", steps);
  }
  void steps(std::span<const Step> table) {
    for (std::size_t i = 0; i != table.size(); ++i) {
      std::size_t first = i;
      while (table[i].joined)
        ++i;
      if (i == first)
        one(table[i]);
      else if (pipec::runtime::isCompute(table[i].kind))
        group("overlap ", " & ", table.subspan(first, i - first + 1));
      else
        group("batch ", ", ", table.subspan(first, i - first + 1));
    }
  }

private:
  void print(const Step &step) {
    std::printf("%s", pipec::runtime::stepText(step, slices).c_str());
  }
  void one(const Step &step) {
    print(step);
    std::printf("\n");
  }
  void group(const char *head, const char *between,
             std::span<const Step> members) {
    std::printf("%s", head);
    for (std::size_t i = 0; i != members.size(); ++i) {
      if (i != 0)
        std::printf("%s", between);
      print(members[i]);
    }
    std::printf("\n");
  }

  int slices = 1;
};

inline void record(const char *name, const pipec::runtime::Schedule &schedule,
                   void (*run)(int rank, Recorder &recorder)) {
  std::printf("== %s\n", name);
  for (int rank = 0; rank != schedule.ranks; ++rank) {
    Recorder recorder;
    run(rank, recorder);
  }
}
