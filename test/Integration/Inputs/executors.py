"""Builds and runs many executors in one program.

    executors.py train  --cxx ... --root ... --build ... -o DIR CASES
    executors.py expand ...
    executors.py mutate ... --count N
    executors.py faults ...

CASES is a file with one case a line: arguments of pipec, in which %S is the
folder of the file. Every case is compiled to C++ in each form named by
--forms, all of them become one source, which is compiled once.

train: each executor trains the example model, ranks as threads, or with
--mpirun as processes (all cases then have the same number of ranks). Prints one
line a case; fails unless losses and gradients of all are equal to the
unpipelined model's, and the peaks of every rank those that its list tells, with no
more activations than the report of pipec says.

expand: each executor runs with a worker that writes down what it is told, and
the result is compared with the step list of `pipec --emit=ir`.

mutate: each case becomes step IR, and `--count` random faults are put into
lists of it, one each: a step dropped, doubled, moved or swapped with another.
The verifier and detect-deadlock judge the result, and the executor is made and
run in any case. It has to train to equal gradients exactly where they accept
the list, and to end with a reported error where they refuse it.

faults: as mutate, but with the faults that people make, every one of which has to
be refused: a step of each kind dropped, two sends or two receives of an edge
swapped, a receive moved after the step that needs it.

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import argparse
import collections
import json
import os
import random
import re
import shlex
import subprocess
import sys

parser = argparse.ArgumentParser()
parser.add_argument("mode", choices=["train", "expand", "mutate", "faults"])
parser.add_argument("cases")
parser.add_argument("--cxx", required=True)
parser.add_argument("--root", required=True)
parser.add_argument("--build", required=True)
parser.add_argument("--forms", default="loops,table")
parser.add_argument("--arguments", default="--steps 2")
parser.add_argument("--mpirun", help="run over MPI, with this command (--cxx is mpicxx)")
parser.add_argument("--count", type=int, default=10)
parser.add_argument("--example", default="train", help="the folder of examples/ that trains")
parser.add_argument("--link", help="what its programs link, in place of its library in the build")
parser.add_argument("--again", action="store_true", help="train the models of Again.h, which has its own loop")
parser.add_argument("-o", dest="out", required=True)
options = parser.parse_args()
os.makedirs(options.out, exist_ok=True)


def pipec(arguments):
    return subprocess.run(["pipec", *arguments], check=True, stdout=subprocess.PIPE,
                          text=True).stdout


def read_cases():
    folder = os.path.dirname(os.path.abspath(options.cases))
    for line in open(options.cases):
        line = line.split("#")[0].strip()
        if line:
            yield line.replace("%S", folder)


def mutate(text, rng):
    """Puts one fault into a list of steps; returns it and what it is."""
    lines = text.splitlines()
    ranks, current = [], None
    for i, line in enumerate(lines):
        word = line.strip()
        if re.match(r"rank \d+ \{", word):
            current = []
            ranks.append(current)
        elif current is not None and re.match(r"[A-Zob]\w* ", word):
            current.append(i)
    steps = rng.choice([rank for rank in ranks if len(rank) > 2])
    a = rng.choice(steps)
    kind = rng.choice(["drop", "double", "move", "swap", "swap-alike"])
    if kind == "drop":
        what = f"drop `{lines[a].strip()}`"
        del lines[a]
    elif kind == "double":
        b = rng.choice(steps)
        what = f"double `{lines[a].strip()}`"
        lines.insert(b, lines[a])
    elif kind == "move":
        b = rng.choice(steps)
        what = f"move `{lines[a].strip()}` to `{lines[b].strip()}`"
        line = lines.pop(a)
        lines.insert(b, line)
    else:
        # Alike: two sends of one rank, two receives, ...
        word = lines[a].split()[0]
        others = [b for b in steps if lines[b] != lines[a]
                  and (kind == "swap" or lines[b].split()[0] == word)]
        if not others:
            return mutate(text, rng)
        b = rng.choice(others)
        what = f"swap `{lines[a].strip()}` and `{lines[b].strip()}`"
        lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines) + "\n", what


def faults(text):
    """The faults that people make, each once, with their names."""
    lines = text.splitlines()
    steps, rank = [], -1
    for i, line in enumerate(lines):
        words = line.split()
        if words[:1] == ["rank"]:
            rank += 1
        elif rank >= 0 and re.match(r"\s*[A-Z]\w* [st]\d", line):
            steps.append((rank, i, words))

    def without(i):
        return "\n".join(lines[:i] + lines[i + 1:]) + "\n"

    def swapped(i, k):
        changed = list(lines)
        changed[i], changed[k] = changed[k], changed[i]
        return "\n".join(changed) + "\n"

    # The last of each kind, which is the easiest to forget. Without an R, a list is
    # right too: it keeps more.
    for kind, i in {words[0]: i for _, i, words in steps if words[0] != "R"}.items():
        yield without(i), f"drop `{lines[i].strip()}`"
    for kind, what in ("SEND_F", "sends"), ("RECV_F", "receives"):
        edge = [(rank, i) for rank, i, words in steps if words[0] == kind]
        edge = [i for rank, i in edge if rank == edge[0][0]]
        yield swapped(edge[0], edge[1]), f"swap the {what} `{lines[edge[0]].strip()}` and `{lines[edge[1]].strip()}`"
    i, words = next((i, words) for _, i, words in steps if words[0] == "RECV_F")
    k = next(k for _, k, others in steps if others[:3] == ["F", *words[1:3]])
    yield (without(k).replace(lines[i], f"{lines[k]}\n{lines[i]}", 1),
           f"move `{lines[i].strip()}` after its F")


def mutations():
    rng = random.Random(20)
    for i, text in enumerate(read_cases()):
        arguments = shlex.split(text)
        if not any(a.startswith("--passes") for a in arguments):
            arguments.append("--target=cpp")
        steps = pipec([*arguments, "--emit=ir"])
        changes = (faults(steps) if options.mode == "faults" else
                   (mutate(steps, rng) for _ in range(options.count)))
        for k, (mutated, what) in enumerate(changes):
            path = f"{options.out}/mutation{i}-{k}.steps"
            with open(path, "w") as file:
                file.write(mutated)
            yield path, f"{text}: {what}"


class Case:
    def __init__(self, index, text, form):
        self.text, self.form = f"{text} ({form})", form
        if mutates:
            path, self.text = text
            judge = subprocess.run(["pipec", path, "--passes=detect-deadlock{require=edge}",
                                    "--emit=ir", "-o", f"{options.out}/judged.steps"],
                                   stderr=subprocess.PIPE, text=True)
            self.accepted = judge.returncode == 0
            self.judgement = judge.stderr
            text = f"{path} --verify=none --passes="
        self.arguments = shlex.split(text)
        self.name = f"case{index}"
        self.header = f"{options.out}/{self.name}.h"
        code = pipec([*self.arguments, "--emit=cpp", f"--cpp={form}"])
        with open(self.header, "w") as file:
            file.write(code)
        self.guard = re.search(r"^#ifndef (PIPEC_SCHEDULE_\w+)$", code, re.M).group(1)


mutates = options.mode in ("mutate", "faults")
forms = options.forms.split(",")
cases = [Case(i * len(forms) + k, text, form)
         for i, text in enumerate(
             mutations() if mutates else read_cases())
         for k, form in enumerate(forms)]
if not cases:
    sys.exit("no cases")

with open(f"{options.out}/main.cpp", "w") as main:
    inputs = os.path.dirname(os.path.abspath(__file__))
    main.write('#include "%s"\n#include <cstdio>\n'
               % (f"{inputs}/Recorder.h" if options.mode == "expand" else
                  f"{inputs}/Again.h" if options.again else
                  "Mpi.h" if options.mpirun else "Threads.h"))
    main.write("#define PIPEC_SCHEDULE_ALIAS compiled\n")
    for case in cases:
        main.write(f'#undef {case.guard}\nnamespace {case.name} {{\n#include "{case.name}.h"\n}}\n')
    main.write("int main(int argc, char **argv) {\n  (void)argc, (void)argv;\n  int failed = 0;\n")
    if options.mpirun:
        main.write("  MPI_Init(&argc, &argv);\n  int rank = 0;\n"
                   "  MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n")
    over = "Mpi" if options.mpirun else "Threads"
    worker = "MpiWorker" if options.mpirun else "ThreadWorker"
    space = "again" if options.again else "train"
    once = "if (rank == 0) " if options.mpirun else ""
    for case in cases:
        if options.mode != "expand":
            main.write(
                f'  {once}std::printf("== {case.name}\\n");\n'
                f"  if ({space}::trainOn{over}(argc, argv, {case.name}::compiled::schedule,\n"
                f"                      {case.name}::compiled::run<{space}::{worker}>))\n"
                f"    ++failed;\n")
        else:
            main.write(f'  record("{case.name}", {case.name}::compiled::schedule,\n'
                       f"         {case.name}::compiled::run<Recorder>);\n")
    if options.mpirun:
        main.write("  MPI_Finalize();\n")
    main.write("  return failed != 0;\n}\n")

program = f"{options.out}/main"
command = [*shlex.split(options.cxx), "-std=c++20", "-O0", "-Wall", "-Wextra", "-Werror",
           f"-I{options.root}/include", f"-I{options.root}/examples/{options.example}", f"-I{options.out}",
           f"{options.out}/main.cpp", "-o", program, "-pthread"]
if options.mode != "expand":
    command += shlex.split(options.link or f"{options.build}/examples/{options.example}/libpipec-example-"
                           f"{'mpi' if options.mpirun else 'threads'}.a")
subprocess.run(command, check=True)
if mutates:
    options.arguments += " --patience 1"
launcher = shlex.split(options.mpirun) if options.mpirun else []
run = subprocess.run([*launcher, program, *shlex.split(options.arguments)] if options.mode != "expand"
                     else [program], stdout=subprocess.PIPE,
                     stderr=subprocess.STDOUT, text=True)

failed = refused = 0
texts = {case.name: [] for case in cases}
current = None
for line in run.stdout.splitlines():
    if line.startswith("== "):
        current = texts[line[3:]]
    else:
        current.append(line)


def expected_steps(case):
    """The list of `pipec --emit=ir`, one string a step, without bubbles."""
    target = [] if any(a.startswith(("--passes", "--target")) for a in case.arguments) else ["--target=cpp"]
    steps = []
    for line in pipec([*case.arguments, *target, "--emit=ir"]).splitlines():
        line = re.sub(r"\s*(@\S+|//.*)?$", "", line.strip())
        if re.match(r"rank \d+ \{$", line):
            steps.append(line[:-2])
        elif re.match(r"(overlap|batch|F|B|I|W|R|OFFLOAD|RELOAD|UPDATE|SEND_[FB]|RECV_[FB]|UNSHARD|RESHARD|REDUCE_GRAD|REDUCE_TIED|WAIT_\w+) ", line):
            steps.append(re.sub(r" (->|<-) r\d+", "", line))
    return steps


def expected_peaks(case):
    """What each rank's list says of its largest counts, as the program prints it: an
    activation lives from the start of its F, or of its R, to the end of its B or W (to
    that of the F when there is no backward), but not on the host, a received tensor from its posting to the end of its F, or
    of its B or W, and a send in a list with waits from its posting to its wait. Members of
    an overlap acquire at its start and release at its end."""
    ranks, forward_only = [], True
    for line in expected_steps(case):
        if line.startswith("rank "):
            ranks.append([])
            continue
        members = [tuple(re.fullmatch(r"(?:overlap |batch )?(\w+) [st](\d+)(?: m([\d.]+))?(?: (?:->|<-) s\d+)?", part).groups())
                   for part in re.split(r" & |, ", line)]
        ranks[-1].append(members)
        forward_only &= all(kind not in ("B", "I", "W") for kind, _, _ in members)
    waits = any(kind.startswith("WAIT_SEND") for groups in ranks for members in groups
                for kind, *_ in members)
    lines = []
    for rank, groups in enumerate(ranks):
        # The units whose F keeps no activation; they leave the set at their R.
        stashed = {tuple(which) for members in groups for kind, *which in members if kind == "R"}
        live = peak = got = most = sends = outstanding = 0
        received = collections.Counter()  # a step of a graph may have several inputs
        for members in groups:
            for kind, *which in members:
                if kind in ("RECV_F", "RECV_B"):
                    got += 1
                    received[kind, *which] += 1
                if kind == "R":
                    stashed.remove(tuple(which))
                live += kind in ("F", "R", "RELOAD") and tuple(which) not in stashed
                sends += kind in ("SEND_F", "SEND_B")
            peak, most, outstanding = max(peak, live), max(most, got), max(outstanding, sends)
            for kind, *which in members:
                sends -= kind in ("WAIT_SEND_F", "WAIT_SEND_B")
                live -= kind in ("B", "W") or (kind == "F" and forward_only)
                live -= kind == "WAIT_OFFLOAD" and tuple(which) not in stashed
                used = {"F": "RECV_F", "B": "RECV_B", "W": "RECV_B"}.get(kind)
                got -= received.pop((used, *which), 0)
        lines.append(f"rank {rank}: peak {peak} activations, {most} received tensors"
                     + (f", {outstanding} sends" if waits else ""))
    return lines


def reported_peaks(case):
    """The most activations of each rank, by the report of pipec."""
    target = [] if any(a.startswith(("--passes", "--target")) for a in case.arguments) else ["--target=cpp"]
    steps = os.path.join(options.out, f"{case.name}.counted.steps")
    with open(steps, "w") as file:
        # The sizes of activations, such as the parts of sections, become 1.
        file.write(re.sub(r"(?m)^  memory (?!limit).*\n", "", pipec([*case.arguments, *target, "--emit=ir"])))
    report = json.loads(pipec([steps, "--emit=report", "--format=json"]))
    return [rank["memory"]["activations"] for rank in report["ranks"]]


for case in cases:
    text = texts[case.name]
    if options.mode == "train":
        verdict = text[-1] if text else "no output"
        good = verdict.startswith("equal:")
        peaks = [line for line in text if line.startswith("rank ")]
        if good and peaks != expected_peaks(case):
            good, verdict = False, "the peaks are not those of the list: " + "; ".join(
                a for a, b in zip(expected_peaks(case), peaks) if a != b)
        elif good and any(int(line.split()[3]) > most for line, most in zip(peaks, reported_peaks(case))):
            good, verdict = False, f"more activations than the report says: {reported_peaks(case)}"
    elif mutates:
        errors = [line for line in text if line.startswith("error: ")]
        verdict = errors[0] if errors else text[-1] if text else "no output"
        good = (not errors and verdict.startswith("equal:")) if case.accepted else bool(errors)
        good &= options.mode == "mutate" or not case.accepted
        verdict = f"{'accepted' if case.accepted else 'refused'}; {verdict}"
        refused += not case.accepted
    else:
        wanted = expected_steps(case)
        good = text == wanted and len(wanted) > 0
        verdict = f"{len(wanted)} lines equal" if good else next(
            (f"line {i}: wrote `{a}`, the list has `{b}`"
             for i, (a, b) in enumerate(zip(text + [""], wanted + [""])) if a != b), "no steps")
    print(f"{'ok' if good else 'FAILED'}: {case.text}: {verdict}")
    if not good and options.mode != "expand":
        print("\n".join("    " + line for line in text))
    if not good and mutates:
        print(case.judgement)
    failed += not good
print(f"{len(cases) - failed} of {len(cases)} executors are right")
if mutates:
    print(f"{refused} of them were refused by the verifier or detect-deadlock")
    sys.exit(failed != 0)
sys.exit(1 if failed or run.returncode else 0)
