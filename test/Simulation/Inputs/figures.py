# Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""figures.py TABLE: each line names a schedule of the library, its parameters,
costs, and the figures that it has: pipec fills in the times, and they are added
up here."""

import fractions
import pathlib
import subprocess
import sys

import model


def run(name, params, costs):
    options = [f"-D{param}" for param in params] + ([f"--cost={costs}"] if costs else [])
    made = subprocess.run(["pipec", name, *options, "--passes=simulate", "--emit=ir"],
                          capture_output=True, text=True, check=True, timeout=120)
    schedule = model.Schedule(made.stdout)
    times = [[line.time for line in lines] for lines in schedule.lists]
    return model.figures(schedule, times)


def main():
    lines = 0
    for text in pathlib.Path(sys.argv[1]).read_text().splitlines():
        if not text or text.startswith("#"):
            continue
        name, params, costs, *wanted = text.split()
        makespan, span, works = run(name, params.split(","), costs if costs != "-" else "")
        ranks = len(works)
        found = {
            "makespan": makespan,
            "span": span,
            "bubble_makespan": 1 - sum(works) / (ranks * makespan),
            "bubble_span": 1 - sum(works) / (ranks * span),
        }
        for clause in wanted:
            figure, value = clause.split("=")
            if value.startswith("."):  # rounded to its digits
                shown = f"{float(found[figure]):.{len(value) - 1}f}".lstrip("0")
                assert shown == value, (text, figure, found[figure], shown)
            else:
                assert found[figure] == fractions.Fraction(value), (text, figure, found[figure])
        lines += 1
    print(lines, "schedules")


if __name__ == "__main__":
    main()
