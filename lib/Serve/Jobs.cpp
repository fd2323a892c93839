//===- Jobs.cpp - Long runs that a page follows ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Serve/LiveApi.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace pipec {

using Clock = std::chrono::steady_clock;

static constexpr unsigned maxRunning = 4;
static constexpr unsigned maxKept = 16;
/// A job that was not polled for this time is ended.
static constexpr auto forgotten = std::chrono::seconds(20);
/// The time between SIGINT and the end.
static constexpr auto patience = std::chrono::seconds(3);

struct Jobs::Job {
  const Clock::time_point begin = Clock::now();
  std::atomic<bool> done = false;
  std::atomic<bool> stop = false;
  /// Guards the members below.
  std::mutex mutex;
  Clock::time_point asked = begin;
  std::optional<Clock::time_point> cancelled;
  std::string messages;
  double seconds = 0;
  std::string answer;
  std::thread thread;

  ChildRequest::Wish wish();
  double elapsed() const {
    return std::chrono::duration<double>(Clock::now() - begin).count();
  }
};

ChildRequest::Wish Jobs::Job::wish() {
  using Wish = ChildRequest::Wish;
  std::lock_guard<std::mutex> lock(mutex);
  Clock::time_point now = Clock::now();
  if (stop || now - asked > forgotten)
    return Wish::End;
  if (!cancelled)
    return Wish::GoOn;
  return now - *cancelled > patience ? Wish::End : Wish::Interrupt;
}

Jobs::~Jobs() {
  for (auto &[id, job] : all) {
    job->stop = true;
    job->thread.join();
  }
}

/// Makes place for one more job.
void Jobs::forgetOld() {
  for (auto it = all.begin(); it != all.end() && all.size() >= maxKept;) {
    if (!it->second->done) {
      ++it;
      continue;
    }
    it->second->thread.join();
    it = all.erase(it);
  }
}

std::optional<uint64_t> Jobs::start(ChildRequest request, Finish finish) {
  std::lock_guard<std::mutex> lock(mutex);
  forgetOld();
  if (count_if(all, [](const auto &entry) { return !entry.second->done; }) >=
      maxRunning)
    return std::nullopt;
  auto job = std::make_shared<Job>();
  // The thread is joined before the job is destroyed.
  Job *the = job.get();
  request.wish = [the] { return the->wish(); };
  request.onMessages = [the](StringRef piece) {
    std::lock_guard<std::mutex> lock(the->mutex);
    the->messages += piece;
  };
  job->thread = std::thread(
      [this, the, request = std::move(request), finish = std::move(finish)] {
        ChildResult result = run(request);
        std::string answer = finish(result);
        std::lock_guard<std::mutex> lock(the->mutex);
        the->seconds = the->elapsed();
        the->answer = std::move(answer);
        the->done = true;
      });
  all.emplace(++last, std::move(job));
  return last;
}

std::shared_ptr<Jobs::Job> Jobs::find(uint64_t id) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = all.find(id);
  return it == all.end() ? nullptr : it->second;
}

/// The last line of a text; the last piece may be part of a line.
static StringRef lastLine(StringRef text) {
  text = text.rtrim();
  return text.substr(text.rfind('\n') + 1);
}

std::optional<std::string> Jobs::state(uint64_t id) {
  std::shared_ptr<Job> job = find(id);
  if (!job)
    return std::nullopt;
  std::lock_guard<std::mutex> lock(job->mutex);
  job->asked = Clock::now();
  StringRef line = lastLine(job->messages).trim();
  std::string text;
  raw_string_ostream os(text);
  json::OStream json(os);
  json.object([&] {
    json.attribute("done", job->done.load());
    json.attribute("seconds", job->done ? job->seconds : job->elapsed());
    // A message is part of the answer.
    json.attribute("progress",
                   json::fixUTF8(line.starts_with("{") ? "" : line));
    json.attributeBegin("answer");
    json.rawValue(job->done ? job->answer : "null");
    json.attributeEnd();
  });
  return text;
}

bool Jobs::cancel(uint64_t id) {
  std::shared_ptr<Job> job = find(id);
  if (!job)
    return false;
  std::lock_guard<std::mutex> lock(job->mutex);
  if (!job->cancelled)
    job->cancelled = Clock::now();
  return true;
}

} // namespace pipec
