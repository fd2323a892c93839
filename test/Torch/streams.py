# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s
"""Executors of schedules whose stages run on several streams: a model whose layers are cut
into sections trains as the same model in one piece, and on a device with streams each
step waits for what it uses, and for nothing else."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import os
import sys
import unittest.mock

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import pipec
import pipec.torch
from pipec.torch import _worker
from pipec.torch._copies import Streams

RANKS, MICROBATCHES, SIZE, TOLERANCE = 2, 4, 6, 1e-12
PAIRS = """\
schedule pairs(ranks p, microbatches m) {
  placement loop;
  sections(1) { attention; dispatch on network; mlp; combine on network; }
  overlap F & B {
    B.combine F.attention F.dispatch B.mlp %sB.dispatch F.mlp F.combine
    B.attention
  }
  cost {
    section attention { F = 3; B = 4 };
    section mlp { F = 4; B = 4%s };
    section dispatch { F = 2; B = 2 };
    section combine { F = 2; B = 2 };
  }
  let k = min(m, p - rank);
  warmup   { repeat k     { F } }
  steady   { repeat m - k { F & B } }
  cooldown { repeat k     { B } }
}
"""
WHOLE, SPLIT = PAIRS % ("", ""), PAIRS % ("W.mlp ", "; W = 4")
# Copies of a stage on a stream, and its optimizer step.
COPIED = """\
pipec-steps 1
schedule @copied { ranks 1 stages 2 microbatches 1
  map 0 0
  stream "the network" 1
  rank 0 {
    F s0 m0
    F s1 m0
    OFFLOAD s1 m0
    WAIT_OFFLOAD s1 m0
    RELOAD s1 m0
    B s1 m0
    B s0 m0
    UPDATE s0
    UPDATE s1
  }
}
"""


def compiled(source):
    if source.startswith("pipec-steps"):
        return pipec.Schedule.from_steps(source, target="pytorch")
    return pipec.compile(None, source=source, ranks=RANKS, microbatches=MICROBATCHES, passes="expand-sections,pytorch")


# ---------------------------------------------------------------- training

class Residual(nn.Module):
    """A section that computes, and hands on what comes by."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(SIZE, SIZE)

    def forward(self, x):
        return x + self.layer(x).tanh()


class Shuffle(nn.Module):
    """A section that stands for communication: the transposed order makes its gradient
    another tensor than its input's."""

    def forward(self, x):
        return x.flip(-1) * 1.25


def make_sections(stages):
    """The modules of all sections, with the same values on each rank."""
    torch.manual_seed(1)
    return [Residual() if stage % 2 == 0 else Shuffle() for stage in range(stages)]


def train(mesh, source):
    rank = mesh["pp"].get_local_rank()
    torch.set_default_dtype(torch.float64)
    plan = compiled(source)
    assert plan.streams == {"network": [1, 3, 5, 7]}, plan.streams
    modules, whole = make_sections(plan.stages), nn.Sequential(*make_sections(plan.stages))
    mine = plan.stages_of(rank)
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = pipec.torch.executor(plan, parts, nn.functional.mse_loss, MICROBATCHES, patience=20)
    problems = []
    for step in range(2):
        torch.manual_seed(10 + step)
        x, target = torch.randn(2, MICROBATCHES * 3, SIZE).unbind()
        losses = []
        schedule.step(*((x,) if rank == 0 else ()), **(dict(target=target, losses=losses) if rank == RANKS - 1 else {}))
        due = torch.stack([nn.functional.mse_loss(whole(a), b) for a, b in zip(x.chunk(MICROBATCHES), target.chunk(MICROBATCHES))])
        due.mean().backward()
        if losses and not torch.allclose(torch.stack(losses), due, rtol=0, atol=TOLERANCE):
            problems.append(f"losses of step {step}")
        for stage in mine:
            for ours, theirs in zip(modules[stage].parameters(), whole[stage].parameters(), strict=True):
                if not torch.allclose(ours.grad, theirs.grad, rtol=0, atol=TOLERANCE):
                    problems.append(f"gradients of stage {stage} of step {step}")
    return problems


# ---------------------------------------------------------------- the order on a device

class Stream:
    """A stream of a device that writes down what it is told."""

    log: list = []
    current: list = []
    last = ""


    def __init__(self, name):
        self.name = name

    def wait_stream(self, other):
        Stream.log.append(f"{self.name} waits for all of {other.name}")

    def wait_event(self, event):
        Stream.log.append(f"{self.name} waits for {event}")

    def record_event(self):
        return Stream.last

    def __enter__(self):
        Stream.current.append(self)

    def __exit__(self, *_):
        Stream.current.pop()


def watched(name):
    """A method of a worker that writes down its steps."""
    do = getattr(_worker.Worker, name)

    def run(worker, *numbers):
        Stream.last = f"{name} {' '.join(map(str, numbers))}"
        if "send" in name or "recv" in name:
            Stream.log.append(Stream.last)
        do(worker, *numbers)

    return unittest.mock.patch.object(_worker.Worker, name, run)


def order(mesh, source):
    """What the streams of a rank do in one training step."""
    rank = mesh["pp"].get_local_rank()
    Stream.current = [Stream("compute")]
    plan = compiled(source)
    modules = make_sections(plan.stages)
    for stage, module in enumerate(modules):
        module.register_forward_pre_hook(lambda *_, stage=stage: Stream.log.append(f"F s{stage} on {Stream.current[-1].name}"))
        module.register_full_backward_pre_hook(lambda *_, stage=stage: Stream.log.append(f"B s{stage} on {Stream.current[-1].name}"))
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in plan.stages_of(rank)]
    optimizers = {s: unittest.mock.Mock(step=lambda: Stream.log.append("step")) for s in plan.stages_of(rank)}
    schedule = pipec.torch.executor(plan, parts, nn.functional.mse_loss, plan.microbatches, patience=20,
                                    optimizers=optimizers if source == COPIED else None)
    x, target = torch.randn(2, plan.microbatches * 3, SIZE).unbind()
    inputs = (x,) if rank == 0 else ()
    keywords = dict(target=target) if rank == plan.ranks - 1 else {}
    schedule.step(*inputs, **keywords)
    streams = schedule._worker._streams
    assert isinstance(streams, Streams) and not streams.stages
    streams.stages, streams.sends = [Stream("network")], Stream("sends")
    streams.out, streams.back = Stream("out"), Stream("back")
    Stream.log = []
    post = schedule._transfers.post

    def posted(sends, *rest):
        Stream.log.append(f"posted on {Stream.current[-1].name}")
        return post(sends, *rest)

    with contextlib.ExitStack() as stack:
        stack.enter_context(unittest.mock.patch("torch.cuda.current_stream", lambda device: Stream.current[-1]))
        stack.enter_context(unittest.mock.patch("torch.cuda.stream", lambda stream: stream))
        stack.enter_context(unittest.mock.patch("torch.Tensor.record_stream",
                                                lambda tensor, stream: Stream.log.append(f"{stream.name} holds a tensor")))
        stack.enter_context(unittest.mock.patch.object(schedule._transfers, "post", posted))
        for name in "forward", "backward", "offload", "reload", "send_forward", "send_backward", "recv_forward", "recv_backward":
            stack.enter_context(watched(name))
        schedule.step(*inputs, **keywords)
    return Stream.log


def check_batch():
    """A batch of sends and receives is posted on one stream, which waits for what the
    sends need and for the memory of the receives."""
    Stream.log, Stream.current = [], [Stream("compute")]
    streams, network = Streams(torch.device("cpu")), Stream("network")
    tensor = torch.ones(1)
    with unittest.mock.patch("torch.cuda.current_stream", lambda device: Stream.current[-1]), \
            unittest.mock.patch("torch.cuda.stream", lambda stream: stream), \
            unittest.mock.patch("torch.Tensor.record_stream", lambda tensor, stream: Stream.log.append(f"{stream.name} holds it")):
        with streams.posting(([tensor], None), receives=True):
            assert not Stream.log and len(Stream.current) == 1  # as without streams
        assert streams.made() is streams.room() is None
        streams.stages, streams.sends = [network], Stream("sends")
        Stream.last = "F"
        room = streams.room()
        with streams.on(1):
            made = streams.made()
        with streams.posting(([tensor], made), receives=True):
            assert Stream.current[-1] is streams.sends
        with streams.on(1):
            streams.use([tensor], made)  # its own
            streams.use([tensor], room)
    assert Stream.log == ["sends waits for all of compute", "sends waits for F", "sends holds it", "network holds it"], Stream.log


START = ["network waits for all of compute", "F s0 on compute", "network waits for forward 0 0", "network holds a tensor",
         "F s1 on network", "compute waits for forward 1 0"]
# Copies are on the stream of their stage, an optimizer waits for all.
ORDER = """\
network waits for all of compute
F s0 on compute
network waits for forward 0 0
network holds a tensor
F s1 on network
out waits for all of network
network waits for offload 1 0
back waits for all of network
back waits for offload 1 0
network waits for reload 1 0
network waits for reload 1 0
B s1 on network
compute waits for backward 1 0
compute holds a tensor
B s0 on compute
compute waits for all of network
step
compute waits for all of network
step
compute waits for all of network""".splitlines()
PAIR = """\
recv_backward 3 0
network holds a tensor
B s3 on network
F s0 on compute
network waits for forward 0 2
network holds a tensor
F s1 on network
compute waits for backward 3 0
compute holds a tensor
B s2 on compute
network waits for backward 2 0
network holds a tensor
B s1 on network
compute waits for forward 1 2
compute holds a tensor
F s2 on compute
network waits for forward 2 2
network holds a tensor
F s3 on network
send_forward 3 2
sends waits for forward 3 2
sends holds a tensor
posted on sends
compute waits for backward 1 0
compute holds a tensor
B s0 on compute""".splitlines()

if __name__ == "__main__":
    for source in WHOLE, SPLIT:
        (results,) = executors.run(RANKS, [source], function=train)
        assert not any(results), results
    ((first, second),) = executors.run(RANKS, [WHOLE], function=order)
    # The first pair of rank 0: forward of micro-batch 2, backward of 0.
    first = [line for line in first if line != "posted on compute"]  # receives ahead of the list
    assert first[:6] == START, first
    begin = first.index("recv_backward 3 0")
    assert first[begin:begin + len(PAIR)] == PAIR, first[begin:]
    # What comes from another rank is used by the stream of its stage.
    assert second[0] == "network waits for all of compute" and "F s4 on compute" in second, second
    # Both ends: nothing of a run is left to wait for.
    assert first[-1] == second[-1] == "compute waits for all of network", (first[-1], second[-1])
    check_batch()
    ((copied,),) = executors.run(1, [COPIED], function=order)
    assert copied == ORDER, copied
