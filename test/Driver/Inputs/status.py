"""Exit statuses of pipec, and the length of what it says of a long argument."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess


def run(*args):
    return subprocess.run(["pipec", *args], capture_output=True, text=True, check=False)


STATUSES = {
    ("gpipe",): 0,
    ("--help",): 0,
    ("help", "diff"): 0,
    ("derive", "gpipe"): 0,
    ("diff", "gpipe", "zb1p"): 0,
    ("diff", "gpipe", "zb1p", "--exit-code"): 1,
    ("no_such_schedule",): 1,
    ("zbh2", "m=1"): 1,
    (): 2,
    ("gpipe", "--emti=csv"): 2,
    ("gpipe", "--emit"): 2,
    ("gpipe", "--emit=png"): 2,
    ("gpipe", "--width=x"): 2,
    ("gpipe", "q=1"): 2,
    ("gpipe", "--passes=no-such"): 2,
    ("gpipe", "--verify=no-such"): 2,
    ("help", "no-such"): 2,
    ("compare",): 2,
    ("derive",): 2,
    ("derive", "gpipe", "--parts=4"): 2,
    ("derive", "gpipe", "--cost=F=1", "--cost=F=2"): 2,
    ("derive", "gpipe", "ranks=4", "microbatches=4..8"): 1,
    ("lint", "gpipe", "--grade=x=error"): 2,
    ("lint", "gpipe", "--format=json", "q=1"): 2,
}
for args, status in STATUSES.items():
    assert run(*args).returncode == status, (args, run(*args))

for args in [["--" + "x" * 90000], ["x" * 90000], ["gpipe", "--emit=" + "x" * 90000], ["gpipe", "x" * 90000 + "=3"],
             ["gpipe", "m=" + "x" * 90000], ["gpipe", "--passes=" + "x" * 90000], ["gpipe", "--grade" + "x" * 90000],
             ["gpipe", "-W" + "x" * 90000], ["gpipe", "--window=" + "x" * 90000], ["gpipe", "--verify=" + "x" * 90000],
             ["explain", "gpipe", "--step=" + "x" * 90000], ["help", "x" * 90000]]:
    ran = run(*args)
    assert ran.returncode in (1, 2) and "error:" in ran.stderr, (args[0][:20], ran.returncode)
    assert len(ran.stderr) < 2000, (args[0][:20], ran.stderr[:300])
