// Streams, events and communicators as threads, and a model on them: a chain of numbers
// trains with NcclTransport, the host running ahead. With an argument, the waits of
// streams for events are left out, which must give other gradients.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "schedule.h"

#include <pipec/runtime/NcclTransport.h>

#include <cmath>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

using Work = std::function<void()>;

struct cudaStreamTag {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<Work> works;
  bool ends = false, runs = false;
  std::thread thread{[this] {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [&] { return ends || !works.empty(); });
      if (works.empty())
        return;
      Work work = std::move(works.front());
      works.pop_front();
      runs = true;
      lock.unlock();
      work();
      lock.lock();
      runs = false;
      changed.notify_all();
    }
  }};
  void add(Work work) {
    std::lock_guard lock(mutex);
    works.push_back(std::move(work));
    changed.notify_all();
  }
};

// What is recorded outlives the event, as on a device.
struct Counters {
  std::mutex mutex;
  std::condition_variable changed;
  long recorded = 0, done = 0;
};
struct cudaEventTag {
  std::shared_ptr<Counters> counters = std::make_shared<Counters>();
};
bool waits = true;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = new cudaStreamTag;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  std::unique_lock lock(stream->mutex);
  stream->changed.wait(lock, [&] { return stream->works.empty() && !stream->runs; });
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  {
    std::lock_guard lock(stream->mutex);
    stream->ends = true;
    stream->changed.notify_all();
  }
  stream->thread.join();
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned) {
  *event = new cudaEventTag;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  auto counters = event->counters;
  long number = ++counters->recorded;
  stream->add([=] {
    std::lock_guard lock(counters->mutex);
    counters->done = number;
    counters->changed.notify_all();
  });
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  auto counters = event->counters;
  long number = counters->recorded;
  if (waits)
    stream->add([=] {
      std::unique_lock lock(counters->mutex);
      counters->changed.wait(lock, [&] { return counters->done >= number; });
    });
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  std::lock_guard lock(event->counters->mutex);
  return event->counters->done >= event->counters->recorded ? cudaSuccess : cudaErrorNotReady;
}
const char *cudaGetErrorString(cudaError_t) { return "an error"; }

// A message of an edge: its data, until they are taken.
struct Message {
  const void *data;
  bool taken = false;
};
struct World {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::pair<int, int>, std::deque<Message *>> edges;
};
struct ncclComm {
  World &world;
  int rank, size;
};
struct Transfer {
  bool isSend;
  const void *from;
  void *to;
  std::size_t size;
  int peer;
  ncclComm_t comm;
  cudaStream_t stream;
};
thread_local bool inGroup = false;
thread_local std::vector<Transfer> group;

// Sends first, so that the transfers of a group do not wait for each other.
void start(std::vector<Transfer> transfers) {
  if (transfers.empty())
    return;
  transfers.front().stream->add([=] {
    World &world = transfers.front().comm->world;
    int self = transfers.front().comm->rank;
    std::unique_lock lock(world.mutex);
    std::deque<Message> messages;
    for (const Transfer &transfer : transfers)
      if (transfer.isSend)
        world.edges[{self, transfer.peer}].push_back(&messages.emplace_back(Message{transfer.from}));
    world.changed.notify_all();
    for (const Transfer &transfer : transfers)
      if (!transfer.isSend) {
        auto &edge = world.edges[{transfer.peer, self}];
        world.changed.wait(lock, [&] { return !edge.empty(); });
        std::memcpy(transfer.to, edge.front()->data, transfer.size);
        edge.front()->taken = true;
        edge.pop_front();
        world.changed.notify_all();
      }
    for (Message &message : messages)
      world.changed.wait(lock, [&] { return message.taken; });
  });
}
void post(Transfer transfer) {
  group.push_back(transfer);
  if (!inGroup)
    start(std::exchange(group, {}));
}
ncclResult_t ncclSend(const void *data, std::size_t size, ncclDataType_t, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
  post({true, data, nullptr, size, peer, comm, stream});
  return ncclSuccess;
}
ncclResult_t ncclRecv(void *data, std::size_t size, ncclDataType_t, int peer, ncclComm_t comm, cudaStream_t stream) {
  post({false, nullptr, data, size, peer, comm, stream});
  return ncclSuccess;
}
ncclResult_t ncclGroupStart() {
  inGroup = true;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  inGroup = false;
  start(std::exchange(group, {}));
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  *rank = comm->rank;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(ncclComm_t comm, int *size) {
  *size = comm->size;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t *state) {
  *state = ncclSuccess;
  return ncclSuccess;
}
const char *ncclGetErrorString(ncclResult_t) { return "an error"; }

// Every function puts its arithmetic into the stream of the computes and returns.
struct Chain {
  using Tensor = double;
  using Activation = double;

  cudaStream_t stream;
  std::vector<double> gradients = std::vector<double>(schedule::stages);

  void launch(Work work) {
    stream->add([work = std::move(work), delay = delays() % 300] {
      std::this_thread::sleep_for(std::chrono::microseconds(delay));
      work();
    });
  }
  std::minstd_rand delays;

  int stages() const { return schedule::stages; }
  int microbatches() const { return schedule::microbatches; }
  void forward(int, int microbatch, double *input, double *output, double &kept) {
    launch([=, &kept] {
      kept = input ? *input : 1 + 0.1 * microbatch;
      if (output)
        *output = 0.9 * kept;
    });
  }
  void backward(int stage, int, const double *outputGradient, double *inputGradient, double &kept) {
    launch([=, this, &kept] {
      double gradient = outputGradient ? *outputGradient : 1;
      if (inputGradient)
        *inputGradient = 0.9 * gradient;
      gradients[std::size_t(stage)] += gradient * kept;
    });
  }
  void prepareInput(int, int, double &) {}
  void prepareGradient(int, int, double &) {}
  std::span<std::byte> bytes(double &tensor) { return std::as_writable_bytes(std::span(&tensor, 1)); }
};

int main(int count, char **) {
  waits = count == 1;
  World world;
  std::vector<double> sums(schedule::ranks);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank != schedule::ranks; ++rank)
    ranks.emplace_back([&, rank] {
      cudaStream_t transfers, computes;
      cudaStreamCreateWithFlags(&transfers, cudaStreamNonBlocking);
      cudaStreamCreateWithFlags(&computes, cudaStreamNonBlocking);
      ncclComm comm{world, rank, schedule::ranks};
      Chain model{computes, std::vector<double>(schedule::stages), std::minstd_rand(unsigned(rank) + 1)};
      pipec::runtime::NcclTransport transport(&comm, transfers, computes);
      pipec::runtime::Executor worker(model, transport);
      for (int step = 0; step != 3; ++step)
        schedule::run(rank, worker);
      cudaStreamSynchronize(computes);
      cudaStreamSynchronize(transfers);
      transport.check();
      for (double gradient : model.gradients)
        sums[std::size_t(rank)] += gradient;
      cudaStreamDestroy(computes);
      cudaStreamDestroy(transfers);
    });
  for (std::thread &rank : ranks)
    rank.join();
  double sum = 0, expected = 0;
  for (double part : sums)
    sum += part;
  for (int microbatch = 0; microbatch != schedule::microbatches; ++microbatch)
    expected += 3 * schedule::stages * std::pow(0.9, schedule::stages - 1) * (1 + 0.1 * microbatch);
  std::printf("gradients %s\n", std::abs(sum - expected) < 1e-9 ? "equal" : "differ");
}
