# Random schedules through insert-p2p, align-bubbles and defer-weight, and through the same
# definitions written a second time (Inputs/models.py).
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s 150

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))

import models
import schedules


def compare(schedule, passes, expected, blocked, verify=None):
    text, messages = schedules.run_passes(schedule, passes, verify)
    if expected is None:
        if text is None and blocked in messages:
            return
    elif text is not None and schedules.read_lists(text) == expected:
        return
    print(schedule.text(), file=sys.stderr)
    if expected is not None:
        wanted = schedules.Schedule(schedule.ranks, schedule.stages, schedule.microbatches,
                                    schedule.maps, expected)
        print("expected:", wanted.text(), file=sys.stderr)
    print(text if text is not None else messages, file=sys.stderr)
    raise SystemExit(f"{passes} differs from its model")


def check_deferral(rng, seen):
    """One schedule through defer-weight, with a peak and costs of any kind."""
    schedule = schedules.random_schedule(rng, bubbles=rng.random() < 0.2)
    costs = models.Costs(rng)
    schedule.settings = costs.lines(schedule)
    peak = rng.choice((None, None, rng.randint(1, 12)))
    passes = "defer-weight" if peak is None else f"defer-weight{{max-peak={peak}}}"
    try:
        expected = models.defer_weight(schedule, costs, peak)
        seen["moved" if expected != schedule.lists else "stayed"] += 1
    except models.PeakPassed:
        expected = None
        seen["peak"] += 1
    compare(schedule, passes, expected, "[DeferPeak]")


def main():
    rounds = int(sys.argv[1])
    rng = random.Random(rounds)
    failures = columns = 0
    deferrals = {"moved": 0, "stayed": 0, "peak": 0}
    for _ in range(rounds):
        schedule = schedules.random_schedule(rng, fsdp=rng.random() < 0.3,
                                             bubbles=rng.random() < 0.3)
        # FSDP actions at random places do not verify.
        verify = "none" if "SHARD" in schedule.text() or "REDUCE" in schedule.text() else None
        compare(schedule, "insert-p2p", models.insert_simulate(schedule), "", verify)
        compare(schedule, "align-bubbles", models.align_dependency(schedule), "", verify)
        lockstep = models.align_lockstep(schedule)
        compare(schedule, "align-bubbles{mode=lockstep}", lockstep, "", verify)
        aligned = schedules.Schedule(schedule.ranks, schedule.stages, schedule.microbatches,
                                     schedule.maps, lockstep)
        column = models.insert_column(aligned)
        assert column is not None
        compare(aligned, "insert-p2p{order=column}", column, "", verify)

        # Orders that were not made to run, and lists that were not aligned.
        compare(schedule, "insert-p2p{order=column}", models.insert_column(schedule),
                "[ColumnNotAligned]", verify)
        columns += models.insert_column(schedule) is None
        broken = schedules.shuffled(rng, schedule)
        simulated = models.insert_simulate(broken)
        failures += simulated is None
        compare(broken, "insert-p2p", simulated, "[OrderCannotRun]", "none")
        compare(broken, "align-bubbles", models.align_dependency(broken), "[OrderCannotRun]",
                "none")
        check_deferral(rng, deferrals)
    # The test has met every outcome.
    if not 0 < failures < rounds or not 0 < columns < rounds:
        raise SystemExit(f"{failures} and {columns} of {rounds} cannot run")
    if not all(deferrals.values()):
        raise SystemExit(f"not every case was met: {deferrals}")


if __name__ == "__main__":
    main()
