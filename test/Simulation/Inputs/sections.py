# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random programs with sections: their expanded lists run alike however they are run."""

import json
import pathlib
import random
import subprocess
import sys


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    seeds = range(int(sys.argv[2]), int(sys.argv[3]))
    for seed in seeds:
        check(folder / f"{seed}.pipe", random.Random(seed))
    print(f"{len(seeds)} programs")


def check(program, rng):
    program.write_text(text(rng))
    free = report([program, "--passes=expand-sections"])
    steps = pipec([program, "--passes=expand-sections", "--emit=ir"])
    assert pipec(["-", "--emit=ir"], steps) == steps, program
    # A resource that no step uses makes it a run in the order of time.
    shared = report(["-"], steps.replace("  rank 0 {", "  cost share 1 gather\n  rank 0 {", 1))
    assert ends(shared) == ends(free), (program, ends(shared), ends(free))
    # Transfers under a model are never earlier.
    for model in "edge", "stream", "buffered":
        run = report([program, "--passes=expand-sections,insert-p2p", f"--model={model}"])
        assert run["makespan"] >= free["makespan"] - 1e-9 and run["free_makespan"] in (None, free["makespan"]), (program, model)
    # The level *timed* accepts the times of the simulator.
    timed = pipec([program, "--passes=expand-sections,insert-p2p,simulate", "--emit=ir"])
    pipec(["-", "--emit=ir"], timed)


def pipec(args, stdin=None):
    run = subprocess.run(["pipec", *map(str, args)], input=stdin, capture_output=True, text=True)
    assert run.returncode == 0, (args, run.stderr)
    return run.stdout


def report(args, stdin=None):
    return json.loads(pipec([*args, "--emit=report", "--format=json"], stdin))


def ends(run):
    return [rank["end"] for rank in run["ranks"]]


def text(rng):
    ranks, microbatches, chunks, count = rng.randint(1, 4), rng.randint(1, 6), rng.randint(1, 2), rng.randint(1, 5)
    sections = [f"s{k}" + (f" on n{rng.randint(0, 1)}" if rng.random() < 0.4 else "") for k in range(count)]
    split = [k for k in range(count) if rng.random() < 0.5]
    costs = [f"section s{k} {{ F = {rng.randint(0, 5)}; B = {rng.randint(0, 5)}"
             + (f"; W = {rng.randint(0, 5)} }}" if k in split else " }") for k in range(count)]
    costs += [f"p2p = {rng.choice([0, 0, 1, 2])}", f"occupancy = {rng.choice([0, 0, 2])}"]
    back = rng.choice(["B", "I"])
    rest = "W*" if back == "I" else ""
    last = chunks - 1
    return f"""schedule sections(ranks p = {ranks}, microbatches m = {microbatches}, chunks v = {chunks}) {{
  placement loop(v);
  sections({rng.choice(["2", "1", "stage % 2 + 1", "3"])}) {{ {"; ".join(sections)} }}
  overlap F & B {{ {body(rng, count, split)} }}
  cost {{ {"; ".join(costs)} }}
  let k = min(m, p - rank);
  warmup {{ {"repeat m { F[0] }" if last else ""} repeat k {{ F[{last}] }} }}
  steady {{ repeat m - k {{ F[{last}] & {back}[{last}] }} }}
  cooldown {{ repeat k {{ {back}[{last}] }} {f"repeat m {{ {back}[0] }}" if last else ""} {rest} }}
}}
"""


def body(rng, count, split):
    """A random order in which each step follows the one that it needs."""
    forward, backward, weights = [f"F.s{k}" for k in range(count)], [*range(count)], list(split)
    steps = []
    while forward or backward or weights:
        ready = [k for k in weights if k not in backward]
        choice = rng.choice(["F"] * bool(forward) + ["B"] * bool(backward) + ["W"] * bool(ready))
        if choice == "F":
            steps.append(forward.pop(0))
        elif choice == "B":
            steps.append(f"B.s{backward.pop()}")
        else:
            weights.remove(k := rng.choice(ready))
            steps.append(f"W.s{k}")
    if rng.random() < 0.5:
        steps[-1] = "last " + steps[-1]
    return " ".join(steps)


main()
