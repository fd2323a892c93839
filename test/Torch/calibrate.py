# RUN: rm -rf %t && mkdir -p %t
# RUN: env PYTHONPATH=%root/python/src %torch-python %s %t %root/docs/Calibrate.md
"""Costs of real jobs: the profile that is made of their traces predicts the time of
a training step within 10 %. The best of three jobs counts, since the machine may
have other work. If processes wait for a processor all the time, 25 % count, since
steps then take longer in one job than in another."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import gzip
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import alone
import measured
import pipec.torch
from torch.distributed.pipelining.schedules import Schedule1F1B

lock = alone.wait()

TRIES, TOLERANCE, TOLERANCE_BUSY = 3, 0.10, 0.25
root = sys.argv[1]


def output(*words):
    return subprocess.run(["pipec", *words], check=True, capture_output=True, text=True).stdout


def calibrated(folder, name, *words):
    """The summary of the traces of a folder, which get a profile there."""
    return json.loads(output("calibrate", *sorted(glob.glob(os.path.join(folder, "rank*.json.gz"))), f"--for={name}", *words,
                             "--format=json", "-o", os.path.join(folder, "costs.json")))


def values(summary, figure):
    return {found["of"]: found["value"] for found in summary["figures"]
            if found["figure"] == figure and found["block"] == "cost"}


def measure(name, ranks, microbatches, kind, **sizes):
    """The summary of the job whose time is predicted best."""
    best = None
    for attempt in range(TRIES):
        folder = os.path.join(root, f"{kind}-{name}-{attempt}")
        try:
            measured.run(folder, name, ranks, microbatches, kind, **sizes)
        except AssertionError:
            # On a busy machine oneMKL now and then fails to load a library that is there.
            continue
        words = [f"{key}={value}" for key, value in sizes.items()]
        summary = calibrated(folder, name, *words)
        report = json.loads(output(name, f"ranks={ranks}", f"microbatches={microbatches}", *words, "-Wno-split-backward",
                                   f"--target={pipec.torch.fitting_target()}", "--emit=report", "--format=json",
                                   f"--cost-profile={folder}/costs.json"))
        error = report["makespan"] / summary["step_time"]["median"] - 1
        print(f"{kind} {name}: predicted {report['makespan']:.1f} ms, measured {summary['step_time']}, error {error:+.1%}",
              flush=True)
        if best is None or abs(error) < abs(best[0]):
            best = (error, summary, folder)
        if abs(error) <= TOLERANCE:
            break
    # More than two processes per processor are ready to run.
    busy = os.getloadavg()[0] > 2 * os.cpu_count()
    # The collectives of FSDP take time of the processors on which the computes run.
    accepted = TOLERANCE_BUSY if busy or kind == "fsdp" else TOLERANCE
    assert best and abs(best[0]) <= accepted, (kind, name, best)
    return best[1:]


JOBS = [("one_f_one_b", {}), ("interleaved", {"chunks": 2}), ("zbv", {})]
for name, sizes in JOBS:
    summary, folder = measure(name, 4, 8, "sleep", **sizes)
    assert summary["ranks"] == 4 and summary["microbatches"] == 8 and summary["training_steps"] == measured.STEPS - 1
    # Each step took at least as long as it slept; the waits are not in it.
    for stage, time in values(summary, "F").items():
        slept = 20 + 2 * int(stage.split()[1])
        assert slept <= time < 1.5 * slept, (name, stage, time)
    assert {found["found_in"] for found in summary["figures"] if found["figure"] == "F"} == {"spans without waits"}
    assert values(summary, "p2p"), summary["left_out"]
    assert summary["clocks"] == []

# The same traces without the spans of waits say less, and say so.
assert name == "zbv"
plain = os.path.join(root, "plain")
os.makedirs(plain)
for path in glob.glob(os.path.join(folder, "rank*.json.gz")):
    with gzip.open(path, "rt") as file:
        trace = json.load(file)
    assert any(event.get("name", "").startswith("PPWAIT:") for event in trace["traceEvents"]), path
    trace["traceEvents"] = [event for event in trace["traceEvents"] if not event.get("name", "").startswith("PPWAIT:")]
    with gzip.open(os.path.join(plain, os.path.basename(path)), "wt") as file:
        json.dump(trace, file)
without = calibrated(plain, "zbv")
found = {found["found_in"] for found in without["figures"] if found["figure"] in "FIW"}
assert found <= {"steps whose input was there", "lower quartile of spans with waits"} and len(found) == 2, found
assert any(line.startswith("p2p: the traces do not show when receives end") for line in without["left_out"])

for name, sizes in JOBS:
    summary, _ = measure(name, 2, 6, "matmul", **sizes)
    memory = {found["of"]: found["value"] for found in summary["figures"]
              if found["figure"] == "F" and found["block"] == "memory"}
    # What a later stage keeps is more: it has more layers.
    assert memory and sorted(memory.values()) == [memory[f"stage {i}"] for i in range(len(memory))], memory

# With FSDP the waits for parameters are spans too.
summary, folder = measure("one_f_one_b", 2, 4, "fsdp")
for path in glob.glob(os.path.join(folder, "rank*.json.gz")):
    with gzip.open(path, "rt") as file:
        names = {event.get("name", "") for event in json.load(file)["traceEvents"]}
    assert any(re.fullmatch(r"PPWAIT:\dUNSHARD", found) for found in names), path
assert any(line.startswith("UNSHARD, RESHARD, REDUCE_GRAD: the spans show when") for line in summary["left_out"]), summary

# The page's job.
with open(sys.argv[2], encoding="utf-8") as file:
    script = re.search(r"^```python train.py\n(.*?)^```", file.read(), re.M | re.S)[1]
job = os.path.join(root, "page")
os.makedirs(job)
with open(os.path.join(job, "train.py"), "w", encoding="utf-8") as file:
    file.write(script)
for _ in range(TRIES):
    done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2", "train.py",
                           "one_f_one_b"], cwd=job, env=dict(os.environ, OMP_NUM_THREADS="1"), capture_output=True, text=True,
                          timeout=120)
    if "oneMKL FATAL ERROR: Cannot load" not in done.stderr:
        break
assert done.returncode == 0, done.stderr
summary = calibrated(os.path.join(job, "traces"), "one_f_one_b")
assert (summary["ranks"], summary["microbatches"], summary["training_steps"]) == (2, 8, 4), summary

try:
    with pipec.torch.profile(Schedule1F1B.__new__(Schedule1F1B), os.path.join(root, "none")):
        raise AssertionError("not refused")
except TypeError as error:
    assert "has no list of steps" in str(error), error
    assert "run the same order as a CSV of pipec: `pipec one_f_one_b ranks=P microbatches=M --target=torch -o schedule.csv`" in str(error), error
assert not os.path.exists(os.path.join(root, "none"))
