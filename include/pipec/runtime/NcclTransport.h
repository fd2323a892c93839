//===- NcclTransport.h - Transfers between GPUs by NCCL ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All transfers of a rank are on one stream, beside the stream of its computes.
// Events order the two, so the host waits for neither and can run ahead:
//
//   post a transfer   the transfer stream waits for what the compute stream has
//                     been given so far: it makes the data of a send, and has
//                     the last use of the memory of a receive
//   wait for one      the compute stream waits for the transfer
//
// The executor passes a wait when it has been put into the compute stream, so
// `Options::patience` does not apply, and a transfer that never ends is found
// by `check` or by NCCL's own time limits. With one stream, schedules must be
// deadlock-free under the communication model `stream`:
//
//   pipec zb1p --passes='insert-p2p{order=timed},detect-deadlock' --emit=cpp
//
// Tensors are memory of the device. Nothing compares the headers of messages,
// which NCCL does not carry.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_NCCLTRANSPORT_H
#define PIPEC_RUNTIME_NCCLTRANSPORT_H

#include "pipec/runtime/Errors.h"
#include "pipec/runtime/Transport.h"

#include <cuda_runtime.h>
#include <nccl.h>

#include <vector>

namespace pipec::runtime {

/// Moves tensors between the ranks of a communicator. The caller owns the
/// communicator and the streams; the ranks of the schedule are its ranks.
class NcclTransport {
public:
  /// An event, which is made once and used again.
  struct Request {
    Request() = default;
    Request(const Request &) = delete;
    Request &operator=(const Request &) = delete;
    ~Request() {
      if (done)
        cudaEventDestroy(done);
    }
    cudaEvent_t done = nullptr;
    Header header;
  };

  /// `transfers` and `computes` are streams of the device of `comm`, not the
  /// same one. The computes of the model run on `computes`, or another stream
  /// waits for it.
  NcclTransport(ncclComm_t comm, cudaStream_t transfers, cudaStream_t computes)
      : comm(comm), transfers(transfers), computes(computes) {
    checkNccl(ncclCommUserRank(comm, &ownRank));
    checkNccl(ncclCommCount(comm, &numRanks));
    checkCuda(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
  }
  NcclTransport(const NcclTransport &) = delete;
  NcclTransport &operator=(const NcclTransport &) = delete;
  ~NcclTransport() { cudaEventDestroy(ready); }

  int rank() const { return ownRank; }
  int size() const { return numRanks; }

  void isend(int peer, const Header &header, std::span<const std::byte> bytes,
             Request &request) {
    begin(header, request);
    checkNccl(ncclSend(bytes.data(), bytes.size(), ncclChar, peer, comm,
                       transfers));
    end(request);
  }
  void irecv(int peer, const Header &expected, std::span<std::byte> bytes,
             Request &request) {
    begin(expected, request);
    checkNccl(ncclRecv(bytes.data(), bytes.size(), ncclChar, peer, comm,
                       transfers));
    end(request);
  }

  /// A batch is one group of NCCL.
  void beginBatch() {
    waitForComputes();
    checkNccl(ncclGroupStart());
    inBatch = true;
  }
  void endBatch() {
    checkNccl(ncclGroupEnd());
    inBatch = false;
    for (Request *request : batch)
      end(*request);
    batch.clear();
  }

  /// True once the device has completed the transfer.
  bool test(Request &request) {
    cudaError_t state = cudaEventQuery(request.done);
    if (state != cudaErrorNotReady)
      checkCuda(state);
    return state == cudaSuccess;
  }
  /// Makes the stream of the computes wait, and not the host.
  bool wait(Request &request, std::chrono::nanoseconds) {
    checkCuda(cudaStreamWaitEvent(computes, request.done, 0));
    return true;
  }
  Header header(const Request &request) const { return request.header; }

  /// Throws an `Error` if NCCL has found that a transfer failed, which it does
  /// after its start.
  void check() const {
    ncclResult_t state = ncclSuccess;
    checkNccl(ncclCommGetAsyncError(comm, &state));
    checkNccl(state);
  }

private:
  void begin(const Header &header, Request &request) {
    request.header = header;
    if (!request.done)
      checkCuda(
          cudaEventCreateWithFlags(&request.done, cudaEventDisableTiming));
    if (!inBatch)
      waitForComputes();
  }
  /// The transfers of a batch start only after its end.
  void end(Request &request) {
    if (inBatch)
      batch.push_back(&request);
    else
      checkCuda(cudaEventRecord(request.done, transfers));
  }
  void waitForComputes() {
    checkCuda(cudaEventRecord(ready, computes));
    checkCuda(cudaStreamWaitEvent(transfers, ready, 0));
  }
  static void checkCuda(cudaError_t result) {
    if (result != cudaSuccess)
      throw Error(std::string("CUDA: ") + cudaGetErrorString(result));
  }
  static void checkNccl(ncclResult_t result) {
    if (result != ncclSuccess)
      throw Error(std::string("NCCL: ") + ncclGetErrorString(result));
  }

  ncclComm_t comm;
  cudaStream_t transfers, computes;
  cudaEvent_t ready = nullptr;
  int ownRank = 0, numRanks = 0;
  bool inBatch = false;
  std::vector<Request *> batch;
};

static_assert(Transport<NcclTransport> && BatchTransport<NcclTransport>);

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_NCCLTRANSPORT_H
