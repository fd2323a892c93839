#!/usr/bin/env python3
"""Searches layouts for the layer costs in `data/profiled_data.py` of
https://github.com/Sullivan-24/PipelineSimulator, for docs/Results.md:

    benchmarks/search/layouts.py build/release/bin/pipec FILE [--effort=N]

Costs are F, I and W of two kinds of layers and of the head, in units of a forward. Gemma
has 32 equal layers; of DeepSeek, three dense layers come first (as one layer, `E`), then
13 with experts. 4 ranks, 16 micro-batches, at most two chunks, no limit of memory. Prints
rows of the table: makespans of 1F1B and of interleaved 1F1B on the even layout, and of
what was found, over its bound.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import ast
import json
import pathlib
import statistics
import subprocess
import tempfile

SIZES = ["ranks=4", "microbatches=16"]


def costs(figures, times=1):
    f, i, w = (round(times * max(figure, 0.01), 4) for figure in figures)
    return {"F": f, "I": i, "W": w, "B": round(i + w, 4)}


def problems(data):
    for model, layers in (("GEMMA", "t*32,L"), ("DEEPSEEK", "E,t*13,L")):
        for sequences in data[model].values():
            for length, heads in sequences.items():
                for vocabulary, row in heads.items():
                    kinds = {"L": costs(row[6:9])}
                    if model == "DEEPSEEK":
                        kinds["E"] = costs(row[:3], 3)
                    block = row[3:6] if model == "DEEPSEEK" else row[:3]
                    yield model, length, vocabulary, layers, {**costs(block), "per": "layer", "layers": kinds}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("pipec")
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--effort", type=int, default=6)
    options = parser.parse_args()
    data = ast.literal_eval(options.file.read_text().split("=", 1)[1].strip())
    rows = {}
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder) / "costs.json"

        def run(*words):
            return json.loads(subprocess.run([options.pipec, *words, f"--cost-profile={profile}", "--format=json"], check=True,
                                             capture_output=True, text=True).stdout)

        for model, length, vocabulary, layers, written in problems(data):
            profile.write_text(json.dumps(written))
            library = {row["name"]: row["makespan"] for row in run(
                "compare", *SIZES, f"--layers={layers}", "--chunks=2")["schedules"] if "makespan" in row}
            found = run("search", *SIZES, f"--layers={layers}", "--layouts", "--placement=best", "--chunks=2",
                        f"--effort={options.effort}")
            best, bound = found["makespan"], found["bound_all"]
            rows.setdefault(model, []).append(
                (library["one_f_one_b"] / best, library["interleaved"] / best, best / bound))
            print(model, length, vocabulary, f"1F1B {library['one_f_one_b']}, interleaved {library['interleaved']},",
                  f"found {best}, bound {bound}", flush=True)
    print("| model | cost sets | 1F1B: median, most | interleaved: median, most | optimal | over the bound: most |")
    print("| --- | --- | --- | --- | --- | --- |")
    for model, ratios in rows.items():
        one, interleaved, gap = zip(*ratios)
        print(f"| {model} | {len(ratios)} | {statistics.median(one):.2f}, {max(one):.2f} | "
              f"{statistics.median(interleaved):.2f}, {max(interleaved):.2f} | "
              f"{sum(value < 1 + 1e-9 for value in gap)} | {100 * (max(gap) - 1):.2f} % |")


if __name__ == "__main__":
    main()
