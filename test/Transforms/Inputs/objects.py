# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recomputation and copies to the host: recorded orders, the limits of others, and random
lists with all choices of what to recompute."""

import itertools
import json
import pathlib
import random
import re
import subprocess
import sys

FOLDER = pathlib.Path(sys.argv[1])
INPUTS = pathlib.Path(__file__).parent


def report(*args):
    run = subprocess.run(["pipec", *args, "--emit=report", "--format=json"], capture_output=True, text=True)
    if run.returncode:
        return None
    data = json.loads(run.stdout)
    return data["makespan"], [rank["peak"] for rank in data["ranks"]]


def rows(*args):
    return subprocess.run(["pipec", *args, "--emit=csv"], check=True, capture_output=True, text=True).stdout.splitlines()


def count(kind, lines):
    return [len(re.findall(rf"\d{kind}\d", line)) for line in lines]


def recompute():
    """Limits of 1F1B, with the least number of recomputations."""
    cases = json.loads((INPUTS / "recompute.json").read_text())
    for case in cases:
        args = [case["schedule"], f"ranks={case['ranks']}", f"microbatches={case['microbatches']}"]
        for place in "late", "early":
            passes = f"--passes=inject-recompute{{limit={case['limit']},place={place}}}"
            assert report(*args, passes) == (case["makespan"], case["peak"]), case
            assert count("R", rows(*args, passes)) == case["recomputations"], case
    return len(cases)


def limits():
    cases = json.loads((INPUTS / "limits.json").read_text())
    steps, costs = FOLDER / "limits.steps", FOLDER / "limits.json"
    for case in cases:
        steps.write_text(case["steps"])
        costs.write_text(json.dumps(case["cost"]))
        args = [steps, f"--cost-profile={costs}", f"--passes=inject-offload{{limit={case['limit']}}}"]
        makespan, peaks = report(*args)
        copies = sum(count("OFFLOAD", rows(*args)))
        assert makespan <= case["reached"] and max(peaks) <= case["limit"] and copies <= case["copies"], (case, makespan, peaks, copies)
    return len(cases)


def recorded():
    """Orders of other schedulers: their peaks, in chunks."""
    cases = json.loads((INPUTS / "copies.json").read_text())
    for case in cases:
        ranks, chunks = case["ranks"], case["chunks"]
        place = {"loop": lambda c, r: c * ranks + r, "v": lambda c, r: c * ranks + (r if c % 2 == 0 else ranks - 1 - r)}[case["placement"]]

        def cell(step, rank):
            kind, chunk, microbatch = step.split()
            return f"{place(int(chunk[1:]), rank)}{kind}{microbatch[1:]}"

        order = FOLDER / "recorded.csv"
        order.write_text("".join(",".join(cell(step, rank) for step in steps) + "\n" for rank, steps in enumerate(case["order"])))
        makespan, peaks = report(order)
        assert peaks == case["peak"], (case["origin"], peaks, case["peak"])
    return len(cases)


def fewest():
    """No choice of units recomputes fewer, for activations of one size."""
    rng = random.Random(7)
    for number in range(60):
        order, waiting = [], []
        left = list(range(6))
        while left or waiting:
            if left and (not waiting or rng.random() < 0.6):
                waiting.append(left.pop(0))
                order.append(("F", waiting[-1]))
            else:
                order.append(("B", waiting.pop(rng.randrange(len(waiting)))))
        limit = rng.randint(1, 3)
        path = FOLDER / "random.csv"
        path.write_text(",".join(f"0{kind}{unit}" for kind, unit in order) + "\n")
        found = sum(count("R", rows(path, f"--passes=inject-recompute{{limit={limit}}}")))

        def fits(dropped):
            level = 0
            for kind, unit in order:
                level += kind == "F" and unit not in dropped
                level += kind == "B" and unit in dropped
                if level > limit:
                    return False
                level -= kind == "B"
            return True

        least = next(size for size in range(7) if any(fits(set(chosen)) for chosen in itertools.combinations(range(6), size)))
        assert found == least, (order, limit, found, least)
    return 60


def never_slower():
    """place=early is never slower than place=late, and both keep the limit; copies keep it, too, and delay nothing."""
    sizes = 0
    for name in "one_f_one_b", "interleaved", "zb1p", "gpipe":
        for limit in 2, 3, 5:
            args = [name, "ranks=4", "microbatches=8", "--cost=F=2,I=2,W=1,R=1,p2p=1/2,offload=1,reload=1"]
            late = report(*args, f"--passes=inject-recompute{{limit={limit}}}")
            early = report(*args, f"--passes=inject-recompute{{limit={limit},place=early}}")
            if late is None:  # weight gradients that are put off keep too much
                assert name == "zb1p" and early is None, (args, limit)
                continue
            assert early[0] <= late[0] and max(early[1]) <= limit and max(late[1]) <= limit, (args, limit, late, early)
            copied = report(*args, f"--passes=inject-offload{{limit={limit}}}")
            if copied:
                plain = report(*args)
                assert copied[0] == plain[0] and max(copied[1]) <= limit, (args, limit, copied, plain)
            both = report(*args, f"--passes=inject-offload{{limit={limit},else=recompute}}")
            assert max(both[1]) <= limit, (args, limit, both)
            sizes += copied is not None
    return sizes


FOLDER.mkdir(parents=True, exist_ok=True)
print(recompute(), "limits of recomputation,", limits(), "of copies,", recorded(), "recorded orders,", fewest(), "random lists,",
      never_slower(), "lists with copies")
