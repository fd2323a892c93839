# RUN: %python %s
"""Calibrating spans that run at one time takes memory in proportion to their
number: of an executor they are one overlap, of a profiler they share kernels."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import resource
import subprocess
import tempfile

SPANS = 20000


def calibrate(events, status):
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "trace.json")
        with open(trace, "w") as file:
            json.dump({"displayTimeUnit": "ns", "traceEvents": events}, file)
        run = subprocess.run(["pipec", "calibrate", trace, "-o", os.path.join(folder, "costs.json")],
                             capture_output=True, text=True)
        assert run.returncode == status, run.stderr
    used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # KiB
    assert used < 1 << 20, used
    return run


step = dict(ph="X", pid=1, tid=1, ts=0, dur=1, name="F s0 m0", cat="compute",
            args=dict(kind="F", stage=0, microbatch=0, chunk=0, run=0))
run = calibrate([step] * SPANS, status=0)
assert "never run alone" in run.stdout + run.stderr, run

steps = [dict(ph="X", pid=1, tid=1, ts=0, dur=100, name="PP:0F0")] * SPANS
launches = [dict(ph="X", pid=1, tid=1, ts=1, dur=1, cat="cuda_runtime", name="launch", args=dict(correlation=i + 1))
            for i in range(SPANS)]
kernels = [dict(ph="X", pid=0, tid=7, ts=2, dur=1, cat="kernel", name="k", args=dict(correlation=i + 1))
           for i in range(SPANS)]
calibrate(steps + launches + kernels, status=0)
