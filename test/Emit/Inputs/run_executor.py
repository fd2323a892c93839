"""Runs a module of --emit=python with a worker that prints its steps as step IR does,
transfers without their peers.

    run_executor.py MODULE.py

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import runpy
import sys

module = runpy.run_path(sys.argv[1])

MOST = module.get("most_sends")
KINDS = {"forward": "F", "backward": "B", "backward_input": "I", "backward_weight": "W", "send_forward": "SEND_F",
         "recv_forward": "RECV_F", "send_backward": "SEND_B", "recv_backward": "RECV_B",
         "wait_send_forward": "WAIT_SEND_F", "wait_send_backward": "WAIT_SEND_B", "recompute": "R"}


def text(kind, stage, *microbatch):
    return f"{kind} s{stage}" + "".join(f" m{k}" for k in microbatch)


class Recorder:
    """Prints the waits, too, that `most_sends` says."""

    def __init__(self):
        self.sums, self.sends = 0, []

    def __getattr__(self, method):
        def run(*numbers):
            kind = KINDS.get(method, method.upper())
            if kind.startswith("SEND") and MOST:
                self.wait(MOST - 1)
                self.sends.append((kind, numbers))
            print(text(kind, *numbers))
        return run

    def wait(self, left):
        while len(self.sends) > left:
            kind, numbers = self.sends.pop(0)
            print(text(f"WAIT_{kind}", *numbers))

    def overlap(self, *members):
        print("overlap", " & ".join(text(*member) for member in members))

    def batch(self, *members):
        print("batch", ", ".join(text(*member) for member in members))

    def sum_replicas(self):
        self.sums += 1


assert all(0 <= rank < module["ranks"] for rank in module["rank_of_stage"])
assert len(module["rank_of_stage"]) == module["stages"] * module["directions"]
for number in range(module["ranks"]):
    print(f"rank {number}")
    recorder = Recorder()
    module["run"](number, recorder)
    recorder.wait(0)
    assert recorder.sums == (module["directions"] == 2)
