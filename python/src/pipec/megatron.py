"""Schedules of Megatron-LM: what it really runs, and the orders of Transformer Engine.

    import pipec.megatron

    schedule = pipec.megatron.record(ranks=4, microbatches=8, chunks=2)
    schedule.lint().safe                        # can its transfers finish?
    pipec.megatron.read_te_order("order.json")  # what --emit=te-order writes
    pipec.megatron.costs("train.log", ranks=4, microbatches=8)  # a cost profile of the timers of a job

`python3 -m pipec.megatron train.log --ranks=4 --microbatches=8 -o costs.json` writes the
profile. `record` needs megatron-core, which it imports when it is called, and neither a GPU
nor a process group. docs/Megatron.md describes both.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import math
import os
import re
import statistics
import sys
import types
from typing import Any, Iterator, NamedTuple, Sequence, Union
from unittest import mock

from ._files import write_text
from ._lists import group_line, placed, step_ir
from ._schedule import Schedule

__all__ = ["costs", "read_te_order", "record", "te_order"]

TE_ORDER = "pipec-te-order 1"
"""The format of the files that --emit=te-order writes."""


class _Action(NamedTuple):
    """A step of one rank; of a receive, what is received follows from its peer."""

    kind: str
    chunk: int = 0
    microbatch: int = 0


_Line = list[_Action]
"""The members of an overlap or a batch, or one step."""


class _Recording(NamedTuple):
    """What one rank does."""

    lines: list[_Line]
    sent: dict[str, list[_Action]]
    """The sends to the next and to the previous rank, in order."""
    asynchronous: bool
    """Some sends are waited for later."""


class _Tensor:
    """A substitute for a tensor: the output of the forward, or the gradient of the
    input, of a chunk and a micro-batch."""

    def __init__(self, chunk: int = 0, microbatch: int = 0):
        self.chunk = chunk
        self.microbatch = microbatch


class _Group:
    """A substitute for a process group."""

    def __init__(self, rank: int, size: int):
        self._rank = rank
        self._size = size

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self._size


class _Settings(types.SimpleNamespace):
    """A substitute for the configuration: what is not set is None."""

    def __getattr__(self, name: str) -> None:
        return None


class _Recorder:
    """Runs one rank of a schedule and writes down what it does."""

    def __init__(self, rank: int, ranks: int, chunks: int, settings: _Settings):
        self.rank = rank
        self.ranks = ranks
        self.chunks = chunks
        self.settings = settings
        self.recording = _Recording([], {"next": [], "prev": []}, settings.overlap_p2p_comm is True)

    def forward(self, *_: Any, current_microbatch: int, vp_stage: int | None = None, **__: Any) -> tuple[Any, int]:
        """For `forward_step`; returns the output and a number of tokens."""
        chunk = vp_stage or 0
        self.recording.lines.append([_Action("F", chunk, current_microbatch)])
        output = _Tensor(chunk, current_microbatch)
        return ([output] if self.chunks == 1 else output), 0

    def backward(self, _input: Any, output: Any, *_: Any) -> Any:
        """For `backward_step`; returns the gradient of the input."""
        if isinstance(output, list):
            output = output[0]
        self.recording.lines.append([_Action("B", output.chunk, output.microbatch)])
        gradient = _Tensor(output.chunk, output.microbatch)
        return [gradient] if self.chunks == 1 else gradient

    def forward_backward(self, *arguments: Any, f_model_chunk_id: int | None = None,
                         current_microbatch: int | None = None, pre_forward: Any = None, pre_backward: Any = None,
                         post_forward: Any = None, post_backward: Any = None, **_: Any) -> tuple[Any, int, Any]:
        """For `combined_forward_backward_step`: a forward, a backward, or an overlap
        of both, with the transfers before and after it."""
        output: Any = arguments[8]
        line: _Line = []
        produced = gradient = None
        if f_model_chunk_id is not None and current_microbatch is not None:
            line.append(_Action("F", f_model_chunk_id, current_microbatch))
            produced = _Tensor(f_model_chunk_id, current_microbatch)
            if pre_forward:
                pre_forward()
        if output is not None:
            line.append(_Action("B", output.chunk, output.microbatch))
            gradient = _Tensor(output.chunk, output.microbatch)
            if pre_backward:
                pre_backward()
        self.recording.lines.append(line)
        if produced and post_forward:
            post_forward(produced)
        if gradient and post_backward:
            post_backward(gradient)
        return produced, 0, gradient

    def communicate(self, *, tensor_send_next: _Tensor | None, tensor_send_prev: _Tensor | None, recv_prev: bool,
                    recv_next: bool, wait_on_reqs: bool = True, **_: Any) -> tuple[Any, Any, Any]:
        """For `P2PCommunicator._communicate`, through which all transfers go."""
        started: dict[str, _Action] = {}
        for end, kind, tensor in ("next", "SEND_F", tensor_send_next), ("prev", "SEND_B", tensor_send_prev):
            if tensor is not None:
                send = _Action(kind, tensor.chunk, tensor.microbatch)
                self.recording.sent[end].append(send)
                started[f"send_{end}"] = send
        if recv_prev:
            started["recv_prev"] = _Action("RECV_F")
        if recv_next:
            started["recv_next"] = _Action("RECV_B")
        # The order of _batched_p2p_ops, and that of _p2p_ops.
        order = ("send_prev", "recv_prev", "send_next", "recv_next")
        if not self.settings.batch_p2p_comm:
            order = (("send_next", "recv_prev", "send_prev", "recv_next") if self.rank % 2 == 0 else
                     ("recv_prev", "send_next", "recv_next", "send_prev"))
        actions = [started[name] for name in order if name in started]
        handles = None
        if not wait_on_reqs:
            self.recording.lines.extend([action] for action in actions)
            handles = {name: types.SimpleNamespace(wait=lambda action=action: self.wait(action))
                       for name, action in started.items()}
        elif actions:
            self.recording.lines.append(actions)
            if self.recording.asynchronous:
                for action in actions:
                    self.wait(action)
        return _Tensor() if recv_prev else None, _Tensor() if recv_next else None, handles

    def wait(self, action: _Action) -> None:
        """Waits for a transfer. A received tensor is waited for by the step that uses
        it, in step IR, too."""
        if action.kind.startswith("SEND"):
            self.recording.lines.append([action._replace(kind="WAIT_" + action.kind)])

    def run(self, microbatches: int) -> _Recording:
        """Runs the rank."""
        schedules = importlib.import_module("megatron.core.pipeline_parallel.schedules")
        combined = importlib.import_module("megatron.core.pipeline_parallel.combined_1f1b")
        utils = importlib.import_module("megatron.core.pipeline_parallel.utils")
        torch = importlib.import_module("torch")
        group = _Group(self.rank, self.ranks)
        communicator_class = importlib.import_module("megatron.core.pipeline_parallel.p2p_communication").P2PCommunicator
        communicator = communicator_class.__new__(communicator_class)
        communicator.pp_group = group
        communicator.config = self.settings
        communicator.virtual_pipeline_model_parallel_size = self.chunks if self.chunks > 1 else None
        communicator._communicate = self.communicate
        alone = _Group(0, 1)
        groups = types.SimpleNamespace(tp=alone, cp=alone, dp_cp=alone, pp=group, embd=None, pos_embd=None)
        chunks = [torch.nn.Identity() for _ in range(self.chunks)]
        zeros = torch.zeros
        arguments = {"forward_step_func": None, "num_microbatches": microbatches, "seq_length": 1, "micro_batch_size": 1,
                     "p2p_communicator": communicator, "pg_collection": groups}
        with contextlib.ExitStack() as stack:
            stack.enter_context(mock.patch.multiple(
                schedules, forward_step=self.forward, backward_step=self.backward,
                get_model_config=lambda _: self.settings, get_model_type=lambda _: None,
                deallocate_output_tensor=lambda *_: None))
            stack.enter_context(mock.patch.multiple(
                combined, set_streams=lambda: None, combined_forward_backward_step=self.forward_backward))
            # Megatron takes rank 0 of 1 where torch.distributed is not initialised.
            stack.enter_context(mock.patch.multiple(
                utils, get_pg_rank=lambda group: group.rank(), get_pg_size=lambda group: group.size()))
            # The counter of tokens, which Megatron keeps on the GPU.
            stack.enter_context(mock.patch.object(
                torch, "zeros", lambda *sizes, **options: zeros(*sizes, **{**options, "device": "cpu"})))
            if self.chunks > 1:
                schedules.forward_backward_pipelining_with_interleaving(
                    model=chunks, data_iterator=[None] * self.chunks, **arguments)
            else:
                schedules.forward_backward_pipelining_without_interleaving(
                    model=chunks[0], data_iterator=None, **arguments)
        return self.recording


def _with_all_waits(recording: _Recording) -> list[_Line]:
    """The lines of a rank; a send that is not waited for is waited for at the end, as
    the process does."""
    if not recording.asynchronous:
        return recording.lines
    pending: dict[_Action, None] = {}
    for line in recording.lines:
        for action in line:
            if action.kind.startswith("SEND"):
                pending[action] = None
            elif action.kind.startswith("WAIT"):
                pending.pop(action._replace(kind=action.kind.removeprefix("WAIT_")), None)
    return [*recording.lines, *([send._replace(kind="WAIT_" + send.kind)] for send in pending)]


def record(ranks: int, microbatches: int, chunks: int = 1, group: int | None = None, *,
           overlap_p2p: bool | None = None, overlap_moe: bool = False, **settings: Any) -> Schedule:
    """What each rank of a job of Megatron runs, in order, with its transfers.

    Runs the functions of megatron-core that train with pipeline parallelism, for one
    rank after the other, with substitutes for tensors, forward, backward and transfers.
    With `chunks` (Megatron's virtual stages per rank) above 1 that is interleaved
    1F1B; `group` is `microbatch_group_size_per_vp_stage`, which is `ranks` by default.
    `overlap_p2p` is `overlap_p2p_comm`: on by default for several chunks, as in
    Megatron, which refuses it for one. `overlap_moe` is
    `overlap_moe_expert_parallel_comm`. `settings` are further attributes of Megatron's
    configuration; what is not given is None there.

    Transfers of one call that waits for them are one batch. With overlapped transfers,
    each is a step of its own, and waits for sends are steps too.

    The result is not verified; `lint` says whether it can run. Raises ValueError for
    sizes that Megatron does not run, and if a rank receives what its neighbour never
    sends. Megatron's own errors are raised as they are.
    """
    if ranks < 2 or microbatches < 1 or chunks < 1:
        raise ValueError(f"a pipeline has 2 ranks, 1 micro-batch and 1 chunk or more, not {ranks}, {microbatches}, {chunks}")
    overlap_p2p = chunks > 1 if overlap_p2p is None else overlap_p2p
    given = {"microbatch_group_size_per_vp_stage": group or ranks, "overlap_p2p_comm": overlap_p2p,
             "batch_p2p_comm": not overlap_p2p, "overlap_moe_expert_parallel_comm": overlap_moe,
             "virtual_pipeline_model_parallel_size": chunks if chunks > 1 else None,
             "pipeline_model_parallel_size": ranks, "hidden_size": 1, "deallocate_pipeline_outputs": False,
             "sequence_parallel": False, **settings}
    recordings = [_Recorder(rank, ranks, chunks, _Settings(**given)).run(microbatches) for rank in range(ranks)]
    lists = [list(_lines(rank, ranks, recordings)) for rank in range(ranks)]
    params = {"ranks": ranks, "chunks": chunks, "microbatches": microbatches}
    if chunks > 1:
        params["group"] = given["microbatch_group_size_per_vp_stage"]
    header = ["param " + ", ".join(f"{key} = {value}" for key, value in params.items())]
    return Schedule(step_ir("megatron", lists, placed("loop", ranks, ranks * chunks), microbatches, header))


def _lines(rank: int, ranks: int, recordings: Sequence[_Recording]) -> Iterator[str]:
    """The lines of step IR of a rank. The n-th receive of an edge gets its n-th send."""
    before, after = (rank - 1) % ranks, (rank + 1) % ranks
    arriving = {"RECV_F": iter(recordings[before].sent["next"]), "RECV_B": iter(recordings[after].sent["prev"])}

    def text(action: _Action) -> str:
        kind, chunk, microbatch = action
        if kind.startswith("RECV"):
            sent = next(arriving[kind], None)
            if sent is None:
                raise ValueError(f"rank {rank} waits for {'an activation' if kind == 'RECV_F' else 'a gradient'} "
                                 f"that rank {before if kind == 'RECV_F' else after} does not send")
            stage = (sent.chunk * ranks + before + 1) if kind == "RECV_F" else (sent.chunk * ranks + after - 1)
            return f"{kind} s{stage} m{sent.microbatch} <- r{before if kind == 'RECV_F' else after}"
        step = f"{kind} s{chunk * ranks + rank} m{microbatch}"
        peers = {"SEND_F": after, "SEND_B": before}
        return f"{step} -> r{peers[kind]}" if kind in peers else step

    for line in _with_all_waits(recordings[rank]):
        yield group_line(list(map(text, line)))


Order = Sequence[Union[int, float]]
"""The order of one rank: `+c` and `-c` are a forward and a backward of chunk c, from
1, and `-c - 0.5` the gradients of weights of one. The n-th of each is micro-batch n."""


def te_order(orders: Sequence[Order], *, stage_to_rank: Sequence[int] | None = None, name: str = "te_order") -> Schedule:
    """The schedule of `_order` of each rank, as Transformer Engine's
    `make_graphed_callables` takes it and as Megatron logs it.

    The stages are placed in a loop unless `stage_to_rank` says otherwise; chunk c of a
    rank is its c-th stage. A backward is whole in orders without gradients of weights.
    The result is not verified. Raises ValueError for lists that are not orders.
    """
    chunks = max((math.ceil(abs(entry)) for order in orders for entry in order), default=0)
    if not chunks:
        raise ValueError("the orders are empty")
    places = list(stage_to_rank) if stage_to_rank is not None else list(range(len(orders))) * chunks
    split = any(entry != int(entry) for order in orders for entry in order)
    lists = []
    microbatches = 0
    for rank, order in enumerate(orders):
        stages = [stage for stage, place in enumerate(places) if place == rank]
        seen: dict[tuple[str, int], int] = {}
        lines = []
        for position, entry in enumerate(order):
            half = entry < 0 and entry != int(entry)
            chunk = int(-entry - 0.5) if half else int(abs(entry))
            if not 1 <= chunk <= len(stages) or entry not in (chunk, -chunk, -chunk - 0.5):
                raise ValueError(f"entry {position} of rank {rank} is {entry!r}; an entry is +c, -c or -c - 0.5 of a "
                                 f"chunk c from 1 to {len(stages)}")
            kind = "F" if entry > 0 else "W" if half else "I" if split else "B"
            microbatch = seen.get((kind, chunk), 0)
            seen[kind, chunk] = microbatch + 1
            microbatches = max(microbatches, microbatch + 1)
            lines.append(f"{kind} s{stages[chunk - 1]} m{microbatch}")
        lists.append(lines)
    if any(not 0 <= place < len(orders) for place in places):
        raise ValueError(f"stage_to_rank names a rank other than 0 to {len(orders) - 1}")
    return Schedule(step_ir(name, lists, [places], microbatches))


_LOGGED = re.compile(r"Rank (\d+): ORDER (\[[^\]]*\])")


def read_te_order(path: str | os.PathLike[str]) -> Schedule:
    """Reads a file of --emit=te-order, or a log of Megatron at debug level, in which
    each rank has a line `Rank R: ORDER [...]`; the last of each rank counts.

    Raises ValueError for anything else, as `te_order` does.
    """
    with open(path, encoding="utf-8") as file:
        text = file.read()
    name = re.sub(r"\W", "_", os.path.splitext(os.path.basename(path))[0], flags=re.ASCII)
    name = name if re.match(r"[A-Za-z_]", name) else f"_{name}"
    if logged := dict(_LOGGED.findall(text)):
        ranks = sorted(map(int, logged))
        if ranks != list(range(len(ranks))):
            raise ValueError(f"{path}: the log has the orders of ranks {ranks}, and not of all from 0 on; a log of "
                             f"several pipelines has to be split")
        return te_order([json.loads(logged[str(rank)]) for rank in ranks], name=name)
    try:
        data = json.loads(text)
    except ValueError as error:
        raise ValueError(f"{path}: no line `Rank R: ORDER [...]` of a log, and no JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != TE_ORDER:
        raise ValueError(f"{path}: this is not an order: \"format\" is not \"{TE_ORDER}\"")
    orders = data.get("order")
    if not isinstance(orders, list) or not all(isinstance(order, list) for order in orders):
        raise ValueError(f"{path}: \"order\" is not a list of lists, one for each rank")
    if bad := [entry for order in orders for entry in order if isinstance(entry, bool) or not isinstance(entry, (int, float))]:
        raise ValueError(f"{path}: {bad[0]!r} in \"order\" is not a number")
    try:
        schedule = te_order(orders, stage_to_rank=data.get("stage_to_rank"), name=name)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if data.get("microbatches") not in (None, schedule.microbatches):
        raise ValueError(f"{path}: \"microbatches\" is {data['microbatches']}, and the orders have {schedule.microbatches}")
    return schedule


_TIMERS = {"forward-compute": "F", "backward-compute": "B"}
_ALL_RANKS = "times across ranks (ms):"
"""What Megatron-LM logs with `--timing-log-level 2 --timing-log-option all`."""


def costs(log: str | os.PathLike[str], ranks: int, microbatches: int, chunks: int = 1) -> dict[str, Any]:
    """The times of `forward-compute` and `backward-compute` in a log of Megatron-LM as a
    cost profile, in milliseconds. `microbatches` is the number per training step and
    pipeline. A rank is timed as a whole, so that its chunks share its times equally; of
    ranks with the same stages, which Megatron-LM numbers one after the other, the
    slowest counts, and of all training steps but the first the median.

    Raises ValueError for a log without times of all ranks, and for another number of
    ranks."""
    if min(ranks, microbatches, chunks) < 1:
        raise ValueError(f"{ranks} ranks, {microbatches} micro-batches and {chunks} chunks are not all positive")
    with open(log, encoding="utf-8", errors="replace") as file:
        logged = [_rank_times(part) for part in file.read().split(_ALL_RANKS)[1:]]
    logged = [times for times in logged if all(times.values())]
    if not logged:
        raise ValueError(f"{os.fspath(log)}: no times of forward-compute and backward-compute of all ranks; run with "
                         f"--timing-log-level 2 --timing-log-option all")
    per_rank: dict[str, list[list[float]]] = {kind: [[] for _ in range(ranks)] for kind in _TIMERS.values()}
    for times in logged[1:] or logged:
        for kind, of in times.items():
            world = max(of) + 1
            if len(of) != world or world % ranks:
                raise ValueError(f"{os.fspath(log)}: the log has times of {len(of)} ranks, which are not {ranks} "
                                 f"times as many for each stage")
            for rank, measured in enumerate(per_rank[kind]):
                measured.append(max(of[i] for i in range(rank * world // ranks, (rank + 1) * world // ranks)))
    parts = microbatches * chunks
    stages = {str(chunk * ranks + rank): {kind: float(f"{statistics.median(measured[rank]) / parts:.6g}")
                                          for kind, measured in per_rank.items()}
              for chunk in range(chunks) for rank in range(ranks)}
    return {"per": "stage", "stages": stages}


def _rank_times(text: str) -> dict[str, dict[int, float]]:
    """The times of the ranks, by kind of step, in the lines after `_ALL_RANKS`."""
    times: dict[str, dict[int, float]] = {kind: {} for kind in _TIMERS.values()}
    kind = None
    for line in text.splitlines()[1:]:
        line = re.sub(r"^\[\w+\]:", "", line)  # torchrun's
        if found := re.fullmatch(r" +rank +(\d+): ([\d.]+)", line):
            if kind:
                times[kind][int(found[1])] = float(found[2])
        elif found := re.fullmatch(r" +([a-z0-9-]+):", line):
            kind = _TIMERS.get(found[1])
        else:
            break
    return times


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python3 -m pipec.dump megatron`."""
    parser.add_argument("--order", metavar="FILE", help="read a file of --emit=te-order, or a log of Megatron-LM, and run nothing")
    for name, text in (("ranks", "number of ranks"), ("microbatches", "number of micro-batches")):
        parser.add_argument(f"--{name}", type=int, metavar="N", help=text)
    parser.add_argument("--chunks", type=int, default=1, metavar="N", help="virtual stages per rank (default 1)")
    parser.add_argument("--group", type=int, metavar="N", help="micro-batches of a group (default: the number of ranks)")
    parser.add_argument("--no-overlap-p2p", dest="overlap_p2p", action="store_const", const=False,
                        help="with several chunks: batch transfers, and wait for them")
    parser.add_argument("--overlap-moe", action="store_true", help="overlap forwards with backwards")
    parser.add_argument("--overlap-warmup-flush", action="store_true", help="overlap the transfers of warm-up and cool-down too")


def dump_command(options: argparse.Namespace) -> str:
    """What `python3 -m pipec.dump megatron` prints: step IR."""
    if options.order is not None:
        return read_te_order(options.order).ir
    if options.ranks is None or options.microbatches is None:
        raise ValueError("--ranks and --microbatches are needed, or --order")
    settings = {"overlap_p2p_comm_warmup_flush": True} if options.overlap_warmup_flush else {}
    try:
        return record(options.ranks, options.microbatches, options.chunks, options.group, overlap_p2p=options.overlap_p2p,
                      overlap_moe=options.overlap_moe, **settings).ir
    except RuntimeError as error:  # Megatron's, about sizes
        raise ValueError(str(error)) from None


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="pipec.megatron", description="Makes a cost profile of the timers in a log of Megatron-LM.")
    parser.add_argument("log", metavar="LOG", help="a log with --timing-log-level 2 --timing-log-option all")
    for name, text in (("ranks", "pipeline ranks"), ("microbatches", "micro-batches per training step")):
        parser.add_argument(f"--{name}", type=int, metavar="N", required=True, help=f"number of {text}")
    parser.add_argument("--chunks", type=int, default=1, metavar="N", help="virtual stages per rank (default 1)")
    parser.add_argument("-o", dest="output", metavar="FILE", required=True, help="the profile")
    options = parser.parse_args(arguments)
    try:
        profile = costs(options.log, options.ranks, options.microbatches, options.chunks)
        write_text(options.output, json.dumps(profile, indent=2) + "\n")
    except (OSError, ValueError) as error:
        sys.exit(f"pipec.megatron: error: {error}")


if __name__ == "__main__":
    main()
