# RUN: rm -rf %t && mkdir -p %t && cd %t
# RUN: %deepspeed-python %s %S/Inputs
"""What the rules of the target are for. A receive between that of a gradient and its
backward gives other gradients and the right loss; two forwards of the last stage before
a backward end with an error. Lint finds both in what `dump` makes of such schedules."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess
import sys

sys.path.insert(0, sys.argv[1])
import engine
import unchecked

import pipec

STAGES, MICRO_BATCHES = 3, 4


def faulty(name, passes):
    """Writes a file for the order `name` with transfers of these passes, which
    --emit=deepspeed refuses."""
    plan = pipec.compile(name, ranks=STAGES, microbatches=MICRO_BATCHES, passes=passes)
    unchecked.write(plan.csv, f"{name}.json")
    return f"{name}.json"


def findings(file):
    """The kinds of errors that lint reports for the dumped class of a file."""
    with open("dumped.csv", "w", encoding="ascii") as out:
        out.write(pipec.deepspeed.dump(pipec.deepspeed.use(file), STAGES, MICRO_BATCHES))
    return {finding.kind for finding in pipec.lint("dumped.csv", args=["--for=deepspeed"]).errors}


overwritten = faulty("one_f_one_b", "insert-p2p")
assert findings(overwritten) == {"TargetReceiveOverGradient"}
[results] = engine.run(STAGES, MICRO_BATCHES, [overwritten])
print(results)
assert all(result.loss < 1e-6 for result in results), results
assert max(result.error for result in results) > 1e-3, results

kept = faulty("gpipe", "insert-p2p{order=timed,favor=receives}")
assert findings(kept) == {"TargetLossNotNext"}
try:
    print(engine.run(STAGES, MICRO_BATCHES, [kept]))
    raise SystemExit("the engine runs GPipe")
except RuntimeError as error:
    # The last stage has no gradient to send, or another rank has lost it.
    assert "_exec_instr" in str(error), error

# Files that the compiler writes have neither.
for name in "one_f_one_b", "eager_one_f_one_b":
    subprocess.run(["pipec", name, f"ranks={STAGES}", f"microbatches={MICRO_BATCHES}", "--emit=deepspeed", "-o", "good.json"],
                   check=True)
    assert findings("good.json") == set(), name
