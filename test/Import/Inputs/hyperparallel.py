"""The order of every schedule of the library that HyperParallel takes is read back
as what was written, as JSON and as HyperParallel prints it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys


def pipec(*args, stdin=None, check=True):
    return subprocess.run(["pipec", *args], input=stdin, capture_output=True, text=True, check=check)


def printed(step):
    """The step as MetaStep's repr."""
    if step is None:
        return "None"
    kind, *rest = step
    if kind.startswith("OVERLAP"):
        members = ", ".join(map(printed, rest))
        return f"MetaStep(type=MetaStepType.{kind}, micro_index=None, stage_index=None, sub_steps=[{members}])"
    return f"MetaStep(type=MetaStepType.{kind}, micro_index={rest[0]}, stage_index={rest[1]})"


names = [line.split()[0] for line in pipec("--list").stdout.splitlines() if line.startswith("  ") or line[:1].islower()]
equal, refused = 0, []
for name in names:
    for sizes in ("ranks=2 microbatches=4", "ranks=4 microbatches=8", "ranks=3 microbatches=6"):
        base = [name, *sizes.split()]
        made = pipec(*base, "--target=hyperparallel", "--emit=hyperparallel", check=False)
        passes = "--target=hyperparallel"
        if made.returncode:
            # Split backwards are an order too, of a runtime with functions for them.
            passes = "--passes=align-bubbles{mode=lockstep},insert-p2p{order=column}"
            made = pipec(*base, passes, "--emit=hyperparallel", check=False)
        if made.returncode:
            refused.append(name)
            continue
        order = json.loads(made.stdout)
        steps = pipec(*base, passes, "--emit=ir").stdout

        def bare(text):
            """The steps without what an order does not have: phases, and the rest of the header."""
            lines = [line.strip() for line in text.split("\n")]
            return [line for line in lines if line and not line.endswith(":")
                    and line.split()[0] not in ("param", "cost", "memory", "fsdp", "expect", "//", "schedule")]

        again = pipec("-", "--input=hyperparallel", "--passes=", "--emit=hyperparallel", stdin=made.stdout).stdout
        assert again == made.stdout, base
        read = pipec("-", "--passes=", "--emit=ir", stdin=made.stdout).stdout
        assert bare(read) == bare(steps), base
        text = "{" + ", ".join(f"{rank}: [{', '.join(map(printed, row))}]" for rank, row in enumerate(order["exec_order"])) + "}"
        read = pipec("-", "--passes=", "--emit=ir", stdin=text).stdout
        assert bare(read) == bare(steps), base
        equal += 1
print(f"{equal} orders equal, refused: {' '.join(sorted(set(refused)))}")
sys.exit(equal < 30)
