//===- ExecutorStreams.h - Streams and events -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of Executor.h. A model with `onStream` runs the computes of a stage on
// the stream that the schedule names. If it has `record` and `wait` too, its
// computes may return before their work is done: every object that a compute
// uses has a mark, the event that the compute has recorded after its work, and
// whatever uses the object on another stream waits for it first. That includes
// the next user of memory that has returned to a pool, so pools have one list
// per stream, and one for transfers: an object is taken from the list that it
// was last returned to, where it has little to wait for.
//
//===----------------------------------------------------------------------===//

#ifndef PIPEC_RUNTIME_EXECUTORSTREAMS_H
#define PIPEC_RUNTIME_EXECUTORSTREAMS_H

#include "pipec/runtime/Executor.h"

namespace pipec::runtime {

/// Before a compute step of a stage.
template <class M, class T> void Executor<M, T>::enterStream(int stage) {
  if constexpr (ModelStreams<M>)
    switchStream(schedule->streamOf(stage));
}

template <class M, class T> void Executor<M, T>::switchStream(int to) {
  if constexpr (ModelStreams<M>) {
    if (to == stream)
      return;
    stream = to;
    model.onStream(to);
  }
}

/// Calls `visit` with the objects that a compute step uses.
template <class M, class T>
template <class Visit>
void Executor<M, T>::forEachOperand(const Work &work, Visit &&visit) {
  const void *single[] = {work.input,         work.output, work.outputGradient,
                          work.inputGradient, work.kept,   work.stash,
                          work.context,       work.copied};
  for (const void *object : single)
    if (object)
      visit(object);
  for (const Tensor *tensor : work.inputs)
    visit(tensor);
  for (const Tensor *tensor : work.outputGradients)
    visit(tensor);
  for (const Tensor *tensor : work.inputGradients)
    visit(tensor);
}

/// What `user`, a stream or `rankStream`, does from now on waits for the last
/// use of an object on another stream.
template <class M, class T>
void Executor<M, T>::waitForUses(int user, const void *object) {
  if constexpr (ModelEvents<M>)
    if (auto mark = marks.find(object); mark != marks.end())
      waitForMark(user, mark->second);
}

template <class M, class T>
void Executor<M, T>::waitForMark(int user, const Mark &mark) {
  if constexpr (ModelEvents<M>) {
    if (!mark.number || mark.stream == user)
      return;
    std::size_t row = std::size_t(user + 1), of = std::size_t(mark.stream);
    if (waited.size() <= row)
      waited.resize(row + 1);
    if (waited[row].size() <= of)
      waited[row].resize(of + 1);
    if (waited[row][of] >= mark.number)
      return;
    waited[row][of] = mark.number;
    model.wait(user, *mark.event);
  }
}

/// Before the work of a compute step whose operands are known.
template <class M, class T>
void Executor<M, T>::waitForOperands(const Work &work) {
  if constexpr (ModelEvents<M>)
    forEachOperand(work,
                   [&](const void *object) { waitForUses(stream, object); });
}

/// After it, before its operands return to their pools.
template <class M, class T>
void Executor<M, T>::markOperands(const Work &work) {
  if constexpr (ModelEvents<M>) {
    if (last.size() <= std::size_t(stream))
      last.resize(std::size_t(stream) + 1);
    Mark &mark = last[std::size_t(stream)];
    mark = {stream, mark.number + 1, model.record(stream)};
    forEachOperand(work, [&](const void *object) { marks[object] = mark; });
    marks[work.books] = mark;
  }
}

/// A tensor that a receive will write: nothing waits for its earlier uses after
/// that.
template <class M, class T>
void Executor<M, T>::beginReceive(const Tensor *tensor) {
  if constexpr (ModelEvents<M>) {
    if (auto mark = marks.find(tensor); mark != marks.end()) {
      waitForMark(rankStream, mark->second);
      mark->second = {};
    }
  }
}

/// At the end of a run: what follows it waits for all computes.
template <class M, class T> void Executor<M, T>::endStreams() {
  switchStream(0);
  if constexpr (ModelEvents<M>) {
    for (const Mark &mark : last)
      waitForMark(rankStream, mark);
    // The books of stages may move before the next run.
    for (const StageBooks &stage : books)
      marks[&stage] = {};
  }
}

} // namespace pipec::runtime

#endif // PIPEC_RUNTIME_EXECUTORSTREAMS_H
