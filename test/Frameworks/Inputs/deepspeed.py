"""Replays the files of --emit=deepspeed by the meaning of the instructions."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import itertools
import json

import pipec

END = [["ReduceTiedGrads"], ["ReduceGrads"], ["OptimizerStep"]]


class Rank:
    def __init__(self, rank, ranks):
        self.rank, self.loads = rank, rank in (0, ranks - 1)
        self.inputs, self.outputs, self.gradients = {}, {}, {}
        self.labels, self.loss, self.gradient, self.loaded = {}, None, None, 0
        self.used, self.done, self.live, self.peak = set(), [], 0, 0

    def begin(self, buffer, microbatch):
        assert buffer not in self.inputs
        self.inputs[buffer] = microbatch
        self.live += 1
        self.peak = max(self.peak, self.live)
        self.used.add(buffer)

    def end(self, buffer):
        del self.inputs[buffer]
        self.live -= 1

    def run(self, name, buffer, edges):
        r = self.rank
        if name == "LoadMicroBatch":
            assert self.loads
            if r == 0:
                self.begin(buffer, self.loaded)
            self.labels[buffer] = self.loaded
            self.loaded += 1
        elif name == "RecvActivation":
            edge = edges[r - 1, r]
            if not edge:
                return False
            self.begin(buffer, edge.popleft())
            self.gradient = None  # the buffer of receives is overwritten
        elif name == "ForwardPass":
            self.outputs[buffer] = self.loss = self.inputs[buffer]
            assert not self.loads or self.labels[buffer] == self.inputs[buffer]
            self.done.append(f"F{self.inputs[buffer]}")
        elif name == "SendActivation":
            edges[r, r + 1].append(self.outputs[buffer])
        elif name == "RecvGrad":
            edge = edges[r + 1, r]
            if not edge:
                return False
            assert self.outputs[buffer] is not None
            self.gradient = edge.popleft()
        elif name == "BackwardPass":
            last = (r, r + 1) not in edges
            assert (self.loss if last else self.gradient) == self.outputs.pop(buffer)
            self.gradients[buffer] = self.inputs[buffer]
            self.done.append(f"B{self.inputs[buffer]}")
            if r == 0:
                self.end(buffer)
        elif name == "SendGrad":
            edges[r, r - 1].append(self.gradients.pop(buffer))
            self.end(buffer)
        else:
            raise AssertionError(name)
        return True


def replay(name, costs, **sizes):
    plan = pipec.compile(name, **sizes)
    data = json.loads(plan.emit("deepspeed", *costs))
    p, m = plan.ranks, plan.microbatches
    assert data["format"] == "pipec-deepspeed 1" and (data["ranks"], data["stages"], data["microbatches"]) == (p, p, m)
    edges = {(a, b): collections.deque() for a in range(p) for b in (a - 1, a + 1) if 0 <= b < p}
    ranks = [Rank(r, p) for r in range(p)]
    todo = []
    for steps in data["instructions"]:
        assert steps[-1][-3:] == END
        todo.append(collections.deque(itertools.chain(*steps)))
    while any(len(queue) > 3 for queue in todo):
        moved = False
        for rank, queue in zip(ranks, todo):
            while len(queue) > 3 and rank.run(*queue[0], edges):
                queue.popleft()
                moved = True
        assert moved
    for rank, count, order in zip(ranks, data["buffers"], data["order"], strict=True):
        assert rank.used == set(range(count)) and count == rank.peak and not rank.live
        assert rank.done == order == [f"{s.kind}{s.microbatch}" for s in map(step, plan.steps[rank.rank])]
    assert not any(edges.values())


def step(found):
    return pipec.Step(pipec.Kind(int(found[0])), *map(int, list(found)[1:]))


for p, m in [(1, 1), (1, 3), (2, 1), (2, 4), (3, 2), (4, 4), (4, 9), (7, 16)]:
    for costs in [], ["--cost=F=1,B=3,p2p=1"], ["--cost=F=3,B=1"], ["--cost=F=2,B=5,p2p=3/2"]:
        for name in "one_f_one_b", "eager_one_f_one_b":
            replay(name, costs, ranks=p, microbatches=m)
