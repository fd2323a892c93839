#!/usr/bin/env python3
"""Measures `insert-p2p{order=search}` on 48 random settings.

    benchmarks/search/transfers.py [--build=FOLDER] [--settings=N] [--best=EFFORT]

Each setting is a schedule of the library with 4 to 16 ranks, 8 to 64 micro-batches,
F of 10 to 40, transfers of 0.1 to 1 of it, and a model: half of them `stream`, a
quarter each `pair` and `edge`. In a third, the stages have costs of their own. The
best known makespan is the least of all efforts and orders. Prints the rows of the
tables of benchmarks/README.md.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
#: Schedules with their parameters and stages per rank.
SCHEDULES = {"one_f_one_b": ([], 1), "eager_one_f_one_b": ([], 1), "zb1p": ([], 1),
             "interleaved": (["chunks=2"], 2), "interleaved_zb": (["chunks=2"], 2), "zbv": ([], 2), "v_half": ([], 2),
             "dualpipev": ([], 2), "looped_bfs": (["chunks=2"], 2)}
MODELS = ["stream", "stream", "pair", "edge"]


def settings(count):
    rng = random.Random(29)
    for number in range(count):
        name = list(SCHEDULES)[number % len(SCHEDULES)]
        words, chunks = SCHEDULES[name]
        ranks = rng.choice([4, 6, 8, 16])
        microbatches = ranks * rng.choice([k for k in (1, 2, 3, 4, 8) if 8 <= ranks * k <= 64])
        if name == "dualpipev":
            microbatches = max(microbatches, 2 * ranks)
        unit = rng.choice([10, 20, 40])
        own = rng.random() < 1 / 3
        stages = {}
        for stage in range(ranks * chunks):
            f, i, w = (rng.randint(unit * 7 // 10, unit * 3 // 2) if own else unit for _ in range(3))
            stages[str(stage)] = {"F": f, "I": i, "W": w, "B": i + w}
        yield ([name, f"ranks={ranks}", f"microbatches={microbatches}", *words], MODELS[number % len(MODELS)],
               {"p2p": max(1, round(unit * rng.choice([0.1, 0.25, 0.5, 1]))), "stages": stages})


def run(pipec, words, model, profile, effort):
    begin = time.monotonic()
    out = subprocess.run([pipec, *words, f"--cost-profile={profile}", "--emit=report", "--format=json", f"--model={model}",
                          f"--passes=insert-p2p{{order=search,model={model},effort={effort}}}"],
                         check=True, capture_output=True, text=True).stdout
    taken = time.monotonic() - begin
    report = json.loads(out)
    return report["transfers"], taken, report["communication"]["transfers"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default=ROOT / "build/release")
    parser.add_argument("--settings", type=int, default=48)
    parser.add_argument("--best", type=int, default=20)
    options = parser.parse_args()
    pipec = pathlib.Path(options.build) / "bin/pipec"
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "costs.json"
        for words, model, costs in settings(options.settings):
            profile.write_text(json.dumps(costs))
            dispatched = run(pipec, words, model, profile, 0)[0]
            found, taken, transfers = run(pipec, words, model, profile, 1)
            best = found["makespan"]
            if not found["optimal"]:
                best = min(best, run(pipec, words, model, profile, options.best)[0]["makespan"])
            starts = found["starts"]
            timed = min(value for name, value in starts.items() if name != "simulate")
            rows.setdefault(model, []).append(
                {"effort 0": dispatched["makespan"] / best, "effort 1": found["makespan"] / best,
                 "simulate": starts.get("simulate", timed) / best, "best start": min(starts.values()) / best,
                 "bound": best / found["bound"], "optimal": found["optimal"], "time": taken})
            print(*words, model, f"{transfers} transfers", f"{found['makespan']} (best {best}, bound {found['bound']})",
                  f"{taken:.2f} s", flush=True)
    print("| model | settings | `simulate`: median, most | best other: median, most | effort 0: within 1 % | "
          "effort 1: within 1 %, most | optimal | within 1 % of the bound | seconds: median, most |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")

    def percent(values, how):
        return f"{100 * (how(values) - 1):.1f} %"

    for model, all_rows in rows.items():
        column = {key: [row[key] for row in all_rows] for key in all_rows[0]}
        print("|", model, "|", len(all_rows), "|", percent(column["simulate"], statistics.median) + ",",
              percent(column["simulate"], max), "|", percent(column["best start"], statistics.median) + ",",
              percent(column["best start"], max), "|", sum(x <= 1.01 for x in column["effort 0"]), "|",
              f"{sum(x <= 1.01 for x in column['effort 1'])},", percent(column["effort 1"], max), "|",
              sum(column["optimal"]), "|", sum(x <= 1.01 for x in column["bound"]), "|",
              f"{statistics.median(column['time']):.2f}, {max(column['time']):.2f} |")


if __name__ == "__main__":
    main()
