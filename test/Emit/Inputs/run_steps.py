"""Runs the module that examples/templates/python.mustache wrote, and prints its
steps as step IR does, transfers without their peers.

    run_steps.py MODULE.py

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import contextlib
import runpy
import sys

module = runpy.run_path(sys.argv[1])


class Recorder:
    def __init__(self):
        self.group = None

    def __call__(self, kind, stage, microbatch):
        text = f"{kind} s{stage}" + ("" if microbatch is None else f" m{microbatch}")
        if self.group is None:
            print(text)
        else:
            self.group.append(text)

    @contextlib.contextmanager
    def together(self, name, separator):
        self.group = []
        yield
        print(name, separator.join(self.group))
        self.group = None

    def overlap(self):
        return self.together("overlap", " & ")

    def batch(self):
        return self.together("batch", ", ")


assert all(0 <= rank < module["NUM_RANKS"] for rank in module["RANK_OF_STAGE"])
for number in range(module["NUM_RANKS"]):
    print(f"rank {number}")
    module["run"](number, Recorder())
