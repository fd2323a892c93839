"""The schedules of the library run on stage graphs too: with skip connections, two
encoders, two paths."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess

GRAPHS = ["--connect=0->3", "--connect=0->2,0->3,1->3", "--graph=0->2,1->2,2->3", "--graph=0->1,0->2,1->3,2->3"]


def run(*words):
    return subprocess.run(["pipec", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


for name in "gpipe", "one_f_one_b", "eager_one_f_one_b", "zb1p", "zbh2":
    for graph in GRAPHS:
        sizes = [name, "ranks=4", "microbatches=8", graph]
        lint = run("lint", *sizes)
        assert lint.returncode == 0 and "safe under: stream pair edge buffered" in lint.stdout, (sizes, lint.stdout)
        for target in "cpp", "pytorch":
            result = run(*sizes, f"--target={target}", "--verify-each", "--emit=ir")
            assert result.returncode == 0 and "SEND_F s0 m0 -> s" in result.stdout, (sizes, target, result.stdout)

# The two encoders run at the same time.
times = [run("one_f_one_b", "ranks=4", "microbatches=8", *graph, "--emit=report", "--format=json").stdout
         for graph in ([], ["--graph=0->2,1->2,2->3"])]
assert '"makespan": 33,' in times[0] and '"makespan": 30,' in times[1], times

# Schedules of two directions do not.
both = run("chimera", "ranks=4", "microbatches=8", "--connect=0->3")
assert both.returncode == 1 and "`--connect` in a schedule with a bidirectional placement" in both.stdout, both.stdout
