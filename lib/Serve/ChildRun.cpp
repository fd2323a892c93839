//===- ChildRun.cpp - Runs of pipec in processes of their own -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/ChildRun.h"

#include "llvm/Support/Compiler.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace llvm;

extern char **environ;

namespace pipec {

using Clock = std::chrono::steady_clock;

/// How often `wish` is asked.
static constexpr int pollMilliseconds = 10;

static std::atomic<bool> allEnd;
static std::atomic<unsigned> numRunning;

namespace {

/// One end of a pipe, closed on destruction.
class PipeEnd {
public:
  PipeEnd() = default;
  ~PipeEnd() { close(); }
  PipeEnd(const PipeEnd &) = delete;
  PipeEnd &operator=(const PipeEnd &) = delete;

  void close() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
  int fd = -1;
};

/// One process.
class Child {
public:
  explicit Child(const ChildRequest &request) : request(request) {}

  ChildResult run();

private:
  bool start();
  bool spawn();
  void become(char *const *arguments, pid_t parent) const;
  void feed();
  void drain(PipeEnd &from, std::string &into, bool isMessage);
  void follow();
  void check();
  void endWith(ChildResult::End end);

  const ChildRequest &request;
  ChildResult result;
  PipeEnd input, output, messages;
  /// The ends of the process.
  PipeEnd inputOther, outputOther, messagesOther;
  size_t fed = 0;
  pid_t pid = -1;
  bool interrupted = false, ended = false;
  const Clock::time_point begin = Clock::now();
};

} // namespace

static bool makePipe(PipeEnd &read, PipeEnd &write) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC))
    return false;
  read.fd = ends[0];
  write.fd = ends[1];
  return true;
}

static void setNonBlocking(int fd) {
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool Child::start() {
  if (!makePipe(inputOther, input) || !makePipe(output, outputOther) ||
      !makePipe(messages, messagesOther))
    return false;
  for (int fd : {input.fd, output.fd, messages.fd})
    setNonBlocking(fd);
  if (!spawn())
    return false;
  inputOther.close();
  outputOther.close();
  messagesOther.close();
#if !LLVM_ADDRESS_SANITIZER_BUILD
  if (request.memory) {
    rlimit limit{request.memory, request.memory};
    prlimit(pid, RLIMIT_AS, &limit, nullptr);
  }
#endif
  return true;
}

/// Runs in the new process, with only functions that may be called between fork
/// and exec. Ends by a signal if the program cannot be run.
void Child::become(char *const *arguments, pid_t parent) const {
  // Ends with its parent, also if that is killed and ends nothing itself.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    raise(SIGKILL);
  setpgid(0, 0);
  // The parent blocks and ignores signals that the program needs.
  for (int number : {SIGINT, SIGTERM, SIGPIPE})
    std::signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  bool connected = dup2(inputOther.fd, STDIN_FILENO) >= 0 &&
                   dup2(outputOther.fd, STDOUT_FILENO) >= 0 &&
                   dup2(messagesOther.fd, STDERR_FILENO) >= 0;
  // Sockets of the server would stay open until the program ends.
  closefrom(STDERR_FILENO + 1);
  bool found = request.folder.empty() || chdir(request.folder.c_str()) == 0;
  if (connected && found)
    execve(request.program.c_str(), arguments, environ);
  raise(SIGKILL);
}

bool Child::spawn() {
  std::vector<char *> arguments;
  arguments.push_back(const_cast<char *>(request.program.c_str()));
  for (const std::string &argument : request.arguments)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t parent = getpid();
  pid = fork();
  if (pid == 0)
    become(arguments.data(), parent);
  // Also here: the new process may not have done it yet when it is ended.
  if (pid > 0)
    setpgid(pid, pid);
  return pid > 0;
}

void Child::endWith(ChildResult::End end) {
  if (ended)
    return;
  ended = true;
  result.end = end;
  kill(-pid, SIGKILL);
}

/// Writes the next part of the input.
void Child::feed() {
  ssize_t written =
      write(input.fd, request.input.data() + fed, request.input.size() - fed);
  if (written > 0)
    fed += written;
  bool failed = written < 0 && errno != EAGAIN && errno != EINTR;
  if (failed || fed == request.input.size())
    input.close();
}

/// Reads the available output.
void Child::drain(PipeEnd &from, std::string &into, bool isMessage) {
  std::array<char, 1 << 16> buffer;
  ssize_t size = read(from.fd, buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR))
    return;
  if (size <= 0)
    return from.close();
  into.append(buffer.data(), size);
  if (isMessage && request.onMessages)
    request.onMessages(StringRef(buffer.data(), size));
  if (into.size() > request.output)
    endWith(ChildResult::End::TooMuchOutput);
}

/// Applies the time limit and the wish of the caller.
void Child::check() {
  if (Clock::now() - begin > request.time)
    return endWith(ChildResult::End::TimeOut);
  using Wish = ChildRequest::Wish;
  Wish wish = request.wish ? request.wish() : Wish::GoOn;
  if (wish == Wish::End || allEnd)
    return endWith(ChildResult::End::Ended);
  if (wish == Wish::Interrupt && !interrupted)
    kill(pid, SIGINT);
  interrupted |= wish == Wish::Interrupt;
}

void Child::follow() {
  while (output.fd >= 0 || messages.fd >= 0) {
    // poll skips closed ends.
    std::array<pollfd, 3> ends{{{input.fd, POLLOUT, 0},
                                {output.fd, POLLIN, 0},
                                {messages.fd, POLLIN, 0}}};
    poll(ends.data(), ends.size(), pollMilliseconds);
    if (ends[0].revents)
      feed();
    if (ends[1].revents)
      drain(output, result.output, /*isMessage=*/false);
    if (ends[2].revents)
      drain(messages, result.messages, /*isMessage=*/true);
    check();
    if (ended)
      return;
  }
}

ChildResult Child::run() {
  if (!start()) {
    result.end = ChildResult::End::Crashed;
    return result;
  }
  follow();
  int status = 0;
  pid_t waited;
  while ((waited = waitpid(pid, &status, WNOHANG)) == 0) {
    // The process closed its outputs and still runs.
    check();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (ended)
    return result;
  if (waited == pid && WIFEXITED(status))
    result.status = WEXITSTATUS(status);
  else
    result.end =
        interrupted ? ChildResult::End::Ended : ChildResult::End::Crashed;
  return result;
}

ChildResult runChild(const ChildRequest &request) {
  // A process that ends early must not end this one.
  static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  (void)ignored;
  ++numRunning;
  ChildResult result = Child(request).run();
  --numRunning;
  return result;
}

void endChildren() {
  allEnd = true;
  for (int i = 0; i != 100 && numRunning; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(pollMilliseconds));
}

} // namespace pipec
