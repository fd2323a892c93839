//===- VerifierTimed.cpp - Start times that can be kept ----===//
//
// Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Start times are checked, not computed: a line without one is free. On each
// rank a line with a time must not start before the lines above it have ended,
// where lines without a time take as long as they take. A compute step must not
// start before its data is there: the end of the step that makes it and, from
// another rank, one hop after its send (or after that end when the send has no
// time). A receive takes no time, but its user does not start before it.
//
// The first walk finds when each timed step ends, the second one compares. All
// values are exact fractions.
//
//===----------------------------------------------------------------------===//

#include "IR/VerifierDetail.h"

#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace pipec {

namespace {

class TimedVerifier {
public:
  TimedVerifier(const Schedule &schedule, DiagEngine &diags)
      : schedule(schedule), reporter(schedule, diags), cells(schedule),
        rows(cells.size()), hop(schedule.costs.p2p.value_or(Rational(0))) {}

  bool run() {
    // Without a duration of every step nothing can be compared.
    if (!findEnds())
      return false;
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank)
      checkRank(rank);
    return !reporter.failed;
  }

private:
  using Time = std::optional<Rational>;

  /// By the data that steps make: where its producer stands and when it ends;
  /// where its send stands.
  struct Data {
    Time end;
    StepRef producer;
    StepRef send;
  };
  struct Row {
    Data forward, backward;
  };

  Time timeOf(uint32_t rank, size_t i) const { return schedule.times[rank][i]; }

  /// The time that the line [begin, end) takes its rank, nothing on overflow.
  Time duration(ArrayRef<Step> line) const {
    if (!isCompute(line.front().kind()))
      return Rational(0);
    if (line.size() > 1) {
      SmallVector<StepKind, 4> kinds;
      for (Step step : line)
        kinds.push_back(step.kind());
      if (Time cost = schedule.costs.ofOverlap(kinds))
        return cost;
    }
    Time sum = Rational(0);
    for (Step step : line) {
      Time cost = isCompute(step.kind())
                      ? schedule.costs.of(step.kind(), step.stage())
                      : Rational(0);
      if (!cost || !(sum = Rational::add(*sum, *cost)))
        return std::nullopt;
    }
    return sum;
  }

  bool findEnds() {
    for (uint32_t rank = 0; rank != schedule.ranks.size(); ++rank) {
      ArrayRef<Step> list = schedule.ranks[rank];
      for (size_t i = 0, end = 0; i != list.size(); i = end) {
        end = lineEnd(list, i);
        Time start = timeOf(rank, i);
        Time length = duration(list.slice(i, end - i));
        Time stop = start && length ? Rational::add(*start, *length) : start;
        if (!length || (start && !stop)) {
          (void)reporter.report({rank, uint32_t(i)}, diag::TimeOverflow);
          if (reporter.full())
            return false;
          continue;
        }
        for (size_t k = i; k != end; ++k)
          note(list[k], {rank, uint32_t(k)}, stop);
      }
    }
    return !reporter.failed;
  }

  void note(Step step, StepRef ref, Time end) {
    if (!hasMicrobatch(step.kind()))
      return;
    Row &row = rows[cells.index(step)];
    if (step.kind() == StepKind::F || makesInputGradient(step.kind())) {
      Data &data = step.kind() == StepKind::F ? row.forward : row.backward;
      data.end = end;
      data.producer = ref;
    } else if (step.kind() == StepKind::SendF) {
      row.forward.send = ref;
    } else if (step.kind() == StepKind::SendB) {
      row.backward.send = ref;
    }
  }

  void checkRank(uint32_t rank) {
    ArrayRef<Step> list = schedule.ranks[rank];
    // When the rank is free again, as far as that is known, and the last timed
    // line before.
    Time busyUntil;
    StepRef before;
    for (size_t i = 0, end = 0; i != list.size() && !reporter.full(); i = end) {
      end = lineEnd(list, i);
      if (list[i].kind() == StepKind::Bubble)
        continue;
      StepRef ref{rank, uint32_t(i)};
      Time start = timeOf(rank, i);
      if (start) {
        if (busyUntil && *start < *busyUntil) {
          auto diagnostic =
              reporter.report(ref, diag::StartWhileBusy, *start, *busyUntil);
          reporter.noteHere(diagnostic, before);
        }
        for (size_t k = i; k != end; ++k)
          checkData(rank, list.slice(i, end - i), i, k, *start);
        before = ref;
      }
      Time from = start ? start : busyUntil;
      if (!from)
        continue;
      // The sums that `findEnds` formed fit; those over lines without a time
      // may not.
      busyUntil = Rational::add(*from, *duration(list.slice(i, end - i)));
      if (!busyUntil)
        (void)reporter.report(ref, diag::TimeOverflow);
    }
  }

  /// Compares the start of one member of a line with its data.
  void checkData(uint32_t rank, ArrayRef<Step> line, size_t lineBegin,
                 size_t index, Rational start) {
    Step step = line[index - lineBegin];
    StepRef ref{rank, uint32_t(index)};
    unsigned s = step.stage();
    unsigned m = step.microbatch();
    auto find = [&](unsigned stage, bool forward) -> const Data * {
      size_t cell = cells.index(stage, m);
      if (cell == Cells::none)
        return nullptr;
      return forward ? &rows[cell].forward : &rows[cell].backward;
    };
    switch (step.kind()) {
    case StepKind::F:
      if (s != 0)
        compare(ref, start, find(s - 1, true), s - 1, m);
      return;
    case StepKind::B:
    case StepKind::I:
      if (!schedule.isLastStage(s))
        compare(ref, start, find(s + 1, false), s + 1, m);
      return;
    default:
      // The producer of a send and the `I` of a `W` stand on this rank, where
      // one line starts after the other.
      return;
    }
  }

  void compare(StepRef ref, Rational start, const Data *data, unsigned stage,
               unsigned m) {
    if (!data || !data->producer.isValid())
      return;
    bool away = schedule.rankOf(stage, m) != ref.rank;
    Time sent = away && data->send.isValid()
                    ? timeOf(data->send.rank, data->send.index)
                    : std::nullopt;
    Time from = sent ? sent : data->end;
    if (!from)
      return;
    Time there = away ? Rational::add(*from, hop) : from;
    if (there && start >= *there)
      return;
    if (!there) {
      (void)reporter.report(sent ? data->send : data->producer,
                            diag::TimeOverflow);
      return;
    }
    auto diagnostic =
        reporter.report(ref, diag::StartBeforeData, start, *there);
    if (sent)
      diagnostic.note(reporter.step(data->send).source(), diag::NoteSentAt,
                      reporter.name(data->send), *sent, hop);
    else
      diagnostic.note(reporter.step(data->producer).source(), diag::NoteEndsAt,
                      reporter.name(data->producer), *data->end);
  }

  const Schedule &schedule;
  StepReporter reporter;
  Cells cells;
  std::vector<Row> rows;
  Rational hop;
};

} // namespace

LogicalResult verifyTimed(const Schedule &schedule, DiagEngine &diags) {
  if (schedule.times.empty())
    return success();
  return success(TimedVerifier(schedule, diags).run());
}

} // namespace pipec
