#!/usr/bin/env python3
"""Generates the table of faults in docs/Torch.md: the findings of `pipec lint` for
files that break a rule, and their effect in PyTorch's runtime.

    torch-page.py [--bin FOLDER] [ROOT]                  writes the table
    torch-page.py --check [--all] [--bin FOLDER] [ROOT]  compares it

The faults are those of test/Lint/Inputs/faults.py. Each file is trained by gloo
processes (test/Torch/Inputs/train.py), with and without FSDP. Without --all,
--check trains with FSDP only if that makes a difference. Requires a Python with
PyTorch.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import difflib
import os
import pathlib
import re
import sys
import tempfile

BEGIN = "<!-- made by utils/torch-page.py: begin -->\n"
END = "<!-- made by utils/torch-page.py: end -->\n"
#: The time limit of a transfer in seconds; that of a retry on slow machines; and
#: that of another one, since what a wrong list comes to can depend on which
#: process is first.
PATIENCE = [6, 60, 6]


def ending(outcome):
    """What a run comes to, and the message that says so."""
    if outcome == "equal":
        return faults.RIGHT, ""
    problems = [problem for number in sorted(outcome) for problem in outcome[number]]
    first = min(problem.step for problem in problems)
    results = {"refused": faults.REFUSED, "error": faults.LATE if first else faults.ERROR, "ended": faults.ERROR,
               "time-out": faults.WAITS, "different": faults.WRONG}
    for kind, result in results.items():
        for problem in problems:
            if problem.kind == kind and problem.step == first:
                return result, problem.text if kind in ("refused", "error", "ended") else ""
    return "a process lost the others", ""


def readable(message):
    """The first sentence of a message, without what differs from run to run."""
    message = re.sub(r"\[(enforce fail at )?/[^\]]*\] *", "", message)
    message = re.sub(r"^\w*Error: .* \d+ vs \d+\. | *\(\[[\d.]+\].*", "", message)
    message = re.sub(r"^\w*Error: (?=\w+ \w+)", "", message)
    return message.split(". ")[0].split(", should be")[0].rstrip(".").replace("|", "\\|")


def refusal(path, format, like):
    """The message with which PyTorch does not load a file, or None."""
    try:
        oracle.runtime(path, format, oracle.sizes(oracle.read(like)))
    except Exception as error:  # noqa: BLE001 (whatever torch raises)
        return train.problem_of(error, None).text
    return None


def settings(fault, all):
    """Whether to train with FSDP: without it, with it, or both."""
    return [None, "fsdp"] if all or fault.result[0] != fault.result[1] else [None]


def measure(folder, all):
    """{(fault, wrap): (result, message)} for every fault."""
    measured, files = {}, {}
    for number, fault in enumerate(faults.FAULTS):
        path, like = (os.path.join(folder, f"{number}.{kind}.csv") for kind in ("broken", "good"))
        pathlib.Path(path).write_text(faults.broken(fault))
        pathlib.Path(like).write_text(faults.text(faults.base(fault.base)))
        files[fault] = path, like
        if message := refusal(path, fault.format, like):
            measured.update({(fault, wrap): (faults.REFUSED, message) for wrap in (None, "fsdp")})
    keys = [(fault, wrap) for fault in faults.FAULTS for wrap in settings(fault, all) if (fault, wrap) not in measured]
    # Runs that wait use no CPU time.
    keys.sort(key=lambda key: key[0].result[0] != faults.WAITS)
    for patience in PATIENCE:
        jobs = []
        for fault, wrap in keys:
            path, like = files[fault]
            jobs.append(([(path, fault.format)], train.Setting(
                wrap=wrap, uneven=fault.uneven, communicators=fault.communicators, like=like, timeout=patience)))
        for key, outcome in zip(keys, train.train_all(jobs, at_once=4)):
            measured[key] = ending(next(iter(outcome.values())))
        keys = [(fault, wrap) for fault, wrap in keys if measured[fault, wrap][0] != fault.result[wrap == "fsdp"]]
    return measured


def lint_says(fault):
    found, _ = faults.lint(faults.broken(fault))
    kind, cell = fault.finding
    finding = next(f for f in found["findings"] if f["kind"] == kind and cell in (None, f["cell"]))
    if kind.startswith("Csv"):
        return f"not read: {finding['message']}"
    safe = [model for model, is_safe in found["safe"].items() if is_safe]
    # The effect of a deadlock depends on the communicators.
    note = f"; safe under: {' '.join(safe) or 'nothing'}" if kind == "Deadlock" else ""
    return f"{finding['severity']}: {finding['message']}{note}"


def told(result, message):
    return f"{result}: `{readable(message)}`" if message else result


def table(measured):
    lines = ["| what is wrong | what `pipec lint` says | what PyTorch 2.13 does |", "| --- | --- | --- |"]
    last = None
    for fault in faults.FAULTS:
        if fault.rule != last:
            lines.append(f"| **{fault.rule}** | | |")
            last = fault.rule
        plain = told(*measured[fault, None])
        sharded = told(*measured[fault, "fsdp"]) if (fault, "fsdp") in measured else plain
        run = plain if plain == sharded else f"{plain}; with FSDP {sharded}"
        lines.append(f"| {fault.name} | {lint_says(fault)} | {run} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Makes the table of faults in docs/Torch.md.")
    parser.add_argument("--check", action="store_true", help="compare the table, write nothing")
    parser.add_argument("--all", action="store_true", help="with --check: train everything with FSDP, too")
    parser.add_argument("--bin", type=pathlib.Path, help="the folder of pipec (default: ROOT/build/release/bin)")
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    root = options.root.resolve()
    os.environ["PATH"] = f"{(options.bin or root / 'build/release/bin').resolve()}{os.pathsep}{os.environ['PATH']}"
    sys.path[:0] = [str(root / "test/Lint/Inputs"), str(root / "test/Torch/Inputs")]
    global faults, oracle, train
    import faults
    import oracle
    import train

    with tempfile.TemporaryDirectory() as folder:
        measured = measure(folder, options.all or not options.check)
    failures = [f"{fault.rule}: {fault.name} ({wrap or 'without FSDP'}): {result}{': ' + message if message else ''}"
                for (fault, wrap), (result, message) in measured.items() if result != fault.result[wrap == "fsdp"]]
    page = root / "docs/Torch.md"
    head, rest = page.read_text(encoding="utf-8").split(BEGIN)
    old, tail = rest.split(END)
    new = table(measured)
    if not options.check:
        page.write_text(head + BEGIN + new + END + tail, encoding="utf-8")
    elif old != new:
        failures.append("the table is not up to date; utils/torch-page.py makes it:\n" + "".join(
            difflib.unified_diff(old.splitlines(True), new.splitlines(True), "docs/Torch.md", "now")))
    print("\n".join(failures))
    print(f"{len(faults.FAULTS)} faults, {len(measured)} runs, {len(failures)} wrong")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
