//===- MpiTransport.h - Ranks are MPI processes -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   MPI_Init(&argc, &argv);
//   {
//     pipec::runtime::MpiTransport transport(MPI_COMM_WORLD);
//     ...
//   }
//   MPI_Finalize();
//
// A message is two MPI messages with one tag, the header and the bytes, both
// posted at once and never waited for in the call. MPI keeps messages of one
// sender, receiver and tag in order, so the k-th send of an edge meets its k-th
// receive. Sends are synchronous by default: complete only when the receive has
// begun, so that a receive that is missing shows as a stall of the sender even
// when the message would fit a buffer; `Buffering::Allowed` gives MPI the
// choice.
//
// Every rank shows its state in a window of memory that the others read when
// they stall. Where MPI has no windows (Open MPI 4.1 between hosts that are
// joined by TCP), they ask for it by messages, which a rank answers while it
// waits. A rank that fails prints its message and ends the job.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_MPITRANSPORT_H
#define PIPEC_RUNTIME_MPITRANSPORT_H

#include "pipec/runtime/Errors.h"
#include "pipec/runtime/Transport.h"

// The C++ bindings left MPI long ago, and their headers give warnings.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>

namespace pipec::runtime {

/// The end of one rank; see Transport.h for the meaning of the functions.
/// Made and destroyed by all ranks of the communicator together.
class MpiTransport {
public:
  enum class Buffering { Forbidden, Allowed };

  struct Request {
    MPI_Request parts[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    Header header;
    bool done = false;
  };

  explicit MpiTransport(MPI_Comm parent,
                        Buffering buffering = Buffering::Forbidden)
      : MpiTransport(parent, 0, buffering) {}
  /// For several pipelines in one job, such as copies that share the data: one
  /// of the processes that give the same `pipeline`, in their order in
  /// `parent`. A failure ends all pipelines.
  MpiTransport(MPI_Comm parent, int pipeline,
               Buffering buffering = Buffering::Forbidden)
      : buffering(buffering) {
    // Messages of the model's own must not meet these.
    MPI_Comm_dup(parent, &job);
    MPI_Comm_rank(job, &own);
    MPI_Comm_split(job, pipeline, own, &comm);
    MPI_Comm_set_errhandler(job, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &own);
    MPI_Comm_size(comm, &ranks);
    // One window for the whole job: Open MPI 4.1 mixes up windows that the
    // communicators of one split make at the same time on one machine.
    void *memory = nullptr;
    int allocated = MPI_Win_allocate(sizeof(StatusCell), 1, MPI_INFO_NULL, job,
                                     &memory, &window) == MPI_SUCCESS;
    int byAll = 0;
    check(MPI_Allreduce(&allocated, &byAll, 1, MPI_INT, MPI_MIN, job));
    if (!byAll) {
      window = MPI_WIN_NULL;
      cell = &ownCell;
      listen();
      return;
    }
    cell = new (memory) StatusCell;
    MPI_Barrier(job);
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window));
  }
  ~MpiTransport() {
    if (window == MPI_WIN_NULL) {
      MPI_Cancel(&question);
      MPI_Wait(&question, MPI_STATUS_IGNORE);
    } else {
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    }
    MPI_Comm_free(&comm);
    MPI_Comm_free(&job);
  }
  MpiTransport(const MpiTransport &) = delete;
  MpiTransport &operator=(const MpiTransport &) = delete;

  int rank() const { return own; }
  int size() const { return ranks; }

  void isend(int peer, const Header &header, std::span<const std::byte> bytes,
             Request &request) {
    auto begin = buffering == Buffering::Allowed ? MPI_Isend : MPI_Issend;
    request.done = false;
    request.header = header;
    check(begin(&request.header, sizeof(Header), MPI_BYTE, peer, tag, comm,
                &request.parts[0]));
    check(begin(bytes.data(), count(bytes.size()), MPI_BYTE, peer, tag, comm,
                &request.parts[1]));
  }
  void irecv(int peer, const Header &, std::span<std::byte> bytes,
             Request &request) {
    request.done = false;
    check(MPI_Irecv(&request.header, sizeof(Header), MPI_BYTE, peer, tag, comm,
                    &request.parts[0]));
    check(MPI_Irecv(bytes.data(), count(bytes.size()), MPI_BYTE, peer, tag,
                    comm, &request.parts[1]));
  }

  bool test(Request &request) {
    if (request.done)
      return true;
    int complete = 0;
    MPI_Status statuses[2];
    int result = MPI_Testall(2, request.parts, &complete, statuses);
    if (result == MPI_ERR_IN_STATUS) {
      for (const MPI_Status &status : statuses) {
        int kind = MPI_SUCCESS;
        if (status.MPI_ERROR == MPI_ERR_PENDING)
          return false;
        if (status.MPI_ERROR != MPI_SUCCESS)
          MPI_Error_class(status.MPI_ERROR, &kind);
        // The header says how long the message was; the executor compares.
        if (kind != MPI_SUCCESS && kind != MPI_ERR_TRUNCATE)
          check(status.MPI_ERROR);
      }
      complete = 1;
    } else {
      check(result);
    }
    request.done = complete != 0;
    return request.done;
  }
  bool wait(Request &request, std::chrono::nanoseconds atMost) {
    auto end = std::chrono::steady_clock::now() + atMost;
    do {
      // MPI makes progress inside its calls; other ranks may share the core.
      for (int i = 0; i != 32; ++i)
        if (test(request))
          return true;
      answer();
      std::this_thread::yield();
    } while (std::chrono::steady_clock::now() < end);
    return false;
  }
  Header header(const Request &request) const { return request.header; }

  StatusCell &statusCell() { return *cell; }
  /// Nothing when the other rank, or its memory, does not answer within a
  /// second; without windows a rank in a compute step does not.
  std::optional<StatusView> statusOf(int rank) {
    // A read that is given up may still write here.
    static std::uint64_t words[2];
    static_assert(sizeof(StatusCell) == sizeof(words));
    MPI_Request request = MPI_REQUEST_NULL;
    int other = processOf(rank);
    if (window == MPI_WIN_NULL) {
      int nothing = 0;
      if (MPI_Irecv(words, sizeof(words), MPI_BYTE, other, answerTag, job,
                    &request) != MPI_SUCCESS ||
          MPI_Send(&nothing, 1, MPI_INT, other, questionTag, job) !=
              MPI_SUCCESS)
        return std::nullopt;
    } else if (MPI_Rget(words, sizeof(words), MPI_BYTE, other, 0, sizeof(words),
                        MPI_BYTE, window, &request) != MPI_SUCCESS) {
      return std::nullopt;
    }
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    int complete = 0;
    while (!complete) {
      if (MPI_Test(&request, &complete, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return std::nullopt;
      answer();
      if (!complete && std::chrono::steady_clock::now() > end) {
        MPI_Request_free(&request);
        return std::nullopt;
      }
    }
    return StatusView{RankState::unpack(words[0]),
                      std::chrono::nanoseconds(words[1])};
  }

  /// Prints the message and ends the job, all ranks of it.
  [[noreturn]] void fail(const std::string &message) {
    std::fprintf(stderr, "pipec: error: %s\n", message.c_str());
    std::fflush(stderr);
    MPI_Abort(job, 1);
    std::abort();
  }
  std::optional<std::string> failure() { return std::nullopt; }

private:
  static constexpr int tag = 0;
  // In `job`.
  static constexpr int questionTag = 1;
  static constexpr int answerTag = 2;

  /// Without windows: waits for the next question of another rank.
  void listen() {
    check(MPI_Irecv(&asked, 1, MPI_INT, MPI_ANY_SOURCE, questionTag, job,
                    &question));
  }
  /// Tells the ranks that have asked the state of this rank.
  void answer() {
    if (window != MPI_WIN_NULL)
      return;
    int came = 0;
    MPI_Status status;
    check(MPI_Test(&question, &came, &status));
    if (!came)
      return;
    std::uint64_t words[2] = {cell->state.load(), cell->waited.load()};
    check(MPI_Send(words, sizeof(words), MPI_BYTE, status.MPI_SOURCE, answerTag,
                   job));
    listen();
  }

  static int count(std::size_t bytes) {
    if (bytes > INT_MAX)
      throw Error("a tensor of " + std::to_string(bytes) +
                  " bytes is longer than one MPI message may be");
    return int(bytes);
  }
  static void check(int result) {
    if (result == MPI_SUCCESS)
      return;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(result, text, &length);
    throw Error("MPI: " + std::string(text, std::size_t(length)));
  }

  /// The rank in `job` of a rank of `comm`.
  int processOf(int rank) const {
    MPI_Group from = MPI_GROUP_NULL, to = MPI_GROUP_NULL;
    MPI_Comm_group(comm, &from);
    MPI_Comm_group(job, &to);
    int process = MPI_UNDEFINED;
    MPI_Group_translate_ranks(from, 1, &rank, to, &process);
    MPI_Group_free(&from);
    MPI_Group_free(&to);
    return process;
  }

  MPI_Comm job = MPI_COMM_NULL;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Request question = MPI_REQUEST_NULL;
  int asked = 0;
  StatusCell ownCell;
  StatusCell *cell = nullptr;
  Buffering buffering;
  int own = 0;
  int ranks = 0;
};

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_MPITRANSPORT_H
