# batch-p2p with all its options on random schedules whose transfers were moved
# about: where a list ends under stream, it still does with batches, and under the
# milder models too; one that ends under pair does so as well or is refused; where
# it ends under neither, it is refused. Nothing is printed for what is refused.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s 150

import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent / "Inputs"))

import models
import schedules

WAITS = ("stream", "pair", "edge", "buffered")
OPTIONS = ("", "{peers=any}", "{receives=late}", "{peers=any,receives=late}")
COMMUNICATION = ("SEND_F", "RECV_F", "SEND_B", "RECV_B")


def with_moved_transfers(rng, schedule):
    """The schedule with transfers, some of which have changed places with a neighbour.

    Only receives move up past computes, and only sends move down.
    """
    lists = models.insert_simulate(schedule)
    for steps in lists:
        for _ in range(rng.randint(0, len(steps))):
            i = rng.randrange(len(steps) - 1) if len(steps) > 1 else None
            if i is None or isinstance(steps[i], list) or isinstance(steps[i + 1], list):
                continue
            a, b = steps[i], steps[i + 1]
            sends = a[0].startswith("SEND"), b[0].startswith("SEND")
            p2p = a[0] in COMMUNICATION, b[0] in COMMUNICATION
            if all(p2p):
                # Two transfers of one directed edge would cross.
                moves = sends[0] != sends[1] or schedule.peer(a) != schedule.peer(b)
            else:
                moves = (p2p[0] and sends[0]) or (p2p[1] and not sends[1])
            if moves and rng.random() < 0.5:
                steps[i], steps[i + 1] = b, a
    return schedules.Schedule(schedule.ranks, schedule.stages, schedule.microbatches,
                              schedule.maps, lists)


def read(schedule, text):
    return schedules.Schedule(schedule.ranks, schedule.stages, schedule.microbatches,
                              schedule.maps, schedules.read_lists(text))


def ends(schedule):
    """The models under which the schedule ends, as a prefix cut of WAITS."""
    good = set()
    for model in WAITS:
        text, _ = schedules.run_passes(
            schedule, f"detect-deadlock{{model={model},require={model}}}", "none")
        if text is not None:
            return set(WAITS[WAITS.index(model):])
    return good


def flat(schedule):
    """The steps of all ranks without their groups."""
    return [[member for step in steps for member in schedules.members(step)] for steps in schedule.lists]


def main():
    rounds = int(sys.argv[1])
    rng = random.Random(rounds)
    seen = {"batched": 0, "refused": 0, "pair": 0, "moved": 0}
    for _ in range(rounds):
        schedule = with_moved_transfers(rng, schedules.random_schedule(rng))
        text, messages = schedules.run_passes(schedule, "strip-bubbles", "placed")
        if text is None:
            continue  # a transfer crosses another or comes too late: no input for the pass
        before = ends(schedule)
        options = rng.choice(OPTIONS)
        text, messages = schedules.run_passes(schedule, "batch-p2p" + options, "placed")
        if "pair" not in before:
            if text is not None or "[BatchUnsafe]" not in messages:
                raise SystemExit(f"not refused: {before}\n{schedule.text()}{text}{messages}")
            seen["refused"] += 1
            continue
        if text is None and "stream" not in before and "[BatchDeadlocks]" in messages:
            continue  # the batches would deadlock
        if text is None:
            raise SystemExit(f"refused: {before}\n{schedule.text()}{messages}")
        batched = read(schedule, text)
        after = ends(batched)
        if not before <= after:
            raise SystemExit(f"worse: {before} became {after}\n{schedule.text()}{text}")
        seen["batched"] += "batch" in text
        seen["moved"] += flat(batched) != flat(schedule)
        seen["pair"] += "stream" not in before
    if not all(seen.values()):
        raise SystemExit(f"not every case was met: {seen}")


if __name__ == "__main__":
    main()
