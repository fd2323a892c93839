# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""`derive`, `diff` and `explain` return what the commands print."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess

import pipec


def printed(*args):
    return subprocess.run([pipec.program(), *args], check=True, capture_output=True, text=True).stdout


assert pipec.derive("gpipe", ranks=[2, 3, 4], microbatches="2..6") == printed("derive", "gpipe", "ranks=2,3,4", "microbatches=2..6")
assert pipec.diff("gpipe", "one_f_one_b", ranks=2) == printed("diff", "gpipe", "one_f_one_b", "ranks=2")
assert pipec.explain("one_f_one_b", rank=2, at=7) == printed("explain", "one_f_one_b", "--rank=2", "--at=7")
assert pipec.explain("zb1p", step="I3", cost={"p2p": "1/2"}, ranks=2) == printed("explain", "zb1p", "--step=I3", "--cost=p2p=1/2", "ranks=2")
# Prompts show them as they are.
assert repr(pipec.diff("gpipe", "one_f_one_b", ranks=2)) == printed("diff", "gpipe", "one_f_one_b", "ranks=2")
assert repr(pipec.CostProfile('{\n  "F": 1,\n  "B": 2\n}\n')) == '<pipec.CostProfile: { "F": 1, "B": 2 }>'
assert len(repr(pipec.CostProfile('{"F": [' + "1, " * 1000 + "1]}"))) < 100
# Schedules have names.
mine = pipec.Schedule.from_steps([["F0", "F1", "B0", "B1"], ["F0", "B0", "F1", "B1"]], name="mine")
text = pipec.explain(mine, rank=0, at=2.5)
assert "<mine>:" in text and "/tmp" not in text, text
text = pipec.diff("gpipe", mine, ranks=2, microbatches=2)
assert "(<mine>:" in text and "mine" in text.splitlines()[0], text
for wrong in lambda: pipec.explain("gpipe"), lambda: pipec.derive("nothing"), lambda: pipec.diff("gpipe", "gpipe", ranks=0):
    try:
        wrong()
        raise SystemExit("no error")
    except pipec.CompileError as error:
        assert error.errors
