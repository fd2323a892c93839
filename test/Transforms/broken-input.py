# Schedules that no verifier would let pass, through every pass and target: each
# run ends with status 0 or 1, and a pass that fails prints no schedule.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s 30

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))

import models
import schedules

PASSES = (
    "strip-bubbles", "align-bubbles", "align-bubbles{mode=lockstep}", "insert-p2p",
    "insert-p2p{order=column}", "insert-p2p{order=timed}", "batch-p2p", "merge-backward",
    "merge-backward{which=all}", "split-backward", "pair-overlap", "unpair", "defer-weight",
    "defer-weight{max-peak=2}", "inject-fsdp", "inject-fsdp{max-active=1,prefetch=1}",
    "detect-deadlock", "torch-compute", "torch", "torch-timed", "torch-search", "hyperparallel", "cpp",
)
KINDS = ("F", "B", "I", "W")


def break_list(rng, schedule, steps):
    """Drops, doubles, moves and renames some steps of one list."""
    for _ in range(rng.randint(1, 4)):
        if not steps:
            return
        i = rng.randrange(len(steps))
        kind = rng.randrange(5)
        if kind == 0:
            del steps[i]
        elif kind == 1:
            steps.insert(rng.randrange(len(steps) + 1), steps[i])
        elif kind == 2:
            steps.insert(rng.randrange(len(steps)), steps.pop(i))
        elif kind == 3:
            steps[i] = (rng.choice(KINDS), rng.randrange(schedule.stages),
                        rng.randrange(schedule.microbatches))
        else:
            steps[i] = ["overlap"] + [(rng.choice(KINDS), rng.randrange(schedule.stages),
                                       rng.randrange(schedule.microbatches))
                                      for _ in range(rng.randint(2, 3))]


def main():
    rounds = int(sys.argv[1])
    rng = random.Random(rounds)
    outcomes = set()
    for _ in range(rounds):
        schedule = schedules.random_schedule(rng, fsdp=rng.random() < 0.3,
                                             bubbles=rng.random() < 0.3)
        if rng.random() < 0.4:
            schedule.lists = models.insert_simulate(schedule)
        for steps in schedule.lists:
            if rng.random() < 0.7:
                break_list(rng, schedule, steps)
        if rng.random() < 0.1:
            # Where the first rank has nothing to do, and one has it all.
            schedule.lists = [[] for _ in schedule.lists[1:]] + [sum(schedule.lists, [])]
        for name in PASSES:
            # A status that is neither 0 nor 1 ends the test, and so does a
            # schedule from a run that failed.
            text, messages = schedules.run_passes(schedule, name, "none")
            outcomes.add((name, text is not None))
    missed = [name for name in PASSES if len({out for n, out in outcomes if n == name}) == 0]
    if missed or not {out for _, out in outcomes} == {True, False}:
        raise SystemExit(f"not every case was met: {missed}")


if __name__ == "__main__":
    main()
