"""What insert-p2p{order=timed} promises, for every schedule of the library."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import fractions
import subprocess
import sys

import replay

UNIT = {"F": 1, "B": 2, "I": 1, "W": 1}
UNEVEN = {kind: fractions.Fraction(cost)
          for kind, cost in {"F": "1", "B": "2.1", "I": "1.2", "W": "0.9"}.items()}


def pipec(name, arguments):
    run = subprocess.run(["pipec", name, "--emit=ir", "-o", "-", *arguments],
                         capture_output=True, text=True)
    return run.stdout if run.returncode == 0 else None


names = [line.split()[0] for line in subprocess.run(
    ["pipec", "--list"], capture_output=True, text=True, check=True).stdout.splitlines()
    if line.strip()]
compared, better = 0, 0
for name in names:
    ran = 0
    for ranks, microbatches in ((2, 4), (4, 8), (4, 9)):
        for costs in (UNIT, UNEVEN):
            arguments = [f"-Dranks={ranks}", f"-Dmicrobatches={microbatches}", "--cost",
                         "F={},I={},W={}".format(*(float(costs[k]) for k in "FIW"))]
            plain = pipec(name, arguments + ["--passes=strip-bubbles"])
            if plain is None:
                continue  # a size that the schedule does not have
            where = f"{name} {ranks} {microbatches}"
            lists = replay.Schedule(plain)
            free = replay.free(lists, costs, 0)
            if costs is UNIT and lists.expected is not None:
                assert lists.expected == free, f"{where}: {lists.expected} {free}"
            for options in ("", ",at=ready", ",at=mid", ",rounds=2"):
                timed = pipec(name, arguments + [
                    "--passes=strip-bubbles,insert-p2p{order=timed" + options +
                    "},detect-deadlock"])
                assert timed is not None, f"{where} {options}: refused"
                time = replay.stream(replay.Schedule(timed), costs, 0)
                assert time is not None, f"{where} {options}: deadlock"
                assert time >= free, f"{where} {options}: {time} {free}"
                if options in ("", ",rounds=2"):
                    assert time == free, f"{where} {options}: {time} {free}"
            rounds = pipec(name, arguments + ["--passes=strip-bubbles,insert-p2p"])
            better += free < replay.stream(replay.Schedule(rounds), costs, 0)
            ran += 1
            compared += 1
    assert ran, f"{name} has none of these sizes"
print(f"{len(names)} schedules, {compared} sizes, {better} of them slower in order=simulate")
assert better * 4 > compared
