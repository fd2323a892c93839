"""Schedules of pipec as tables of Primus' pipeline for Megatron-LM, and the reverse.

    pipec zb1p ranks=4 microbatches=16 --emit=primus -o zb1p.json

    pipec.primus.use("zb1p.json")       # in the job, before training: replaces "zero-bubble"

Primus is imported when `algorithm` or `use` is called. Tables are read by the
attributes of their nodes, so Primus need not be there.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import csv
import importlib
import io
import json
import os
import sys
import types
from typing import Any, Iterator, NamedTuple, Sequence

from ._lists import group_line, placed, step_ir

__all__ = ["algorithm", "dump", "use"]

_SCHEDULER = "primus.core.pipeline_parallel.scheduler"


# ---------------------------------------------------------------- from pipec to Primus

def _read(path: str | os.PathLike[str]) -> Any:
    """The contents of a file of `--emit=primus`."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if not isinstance(data, dict) or data.get("format") != "pipec-primus 1":
        raise ValueError(f"{os.fspath(path)} is not a file of `--emit=primus`")
    return data


def _fitting_name(data: Any) -> str:
    """The algorithm of Primus with the same placement and form of backwards: the
    launcher decides by its name how many chunks there are and whether weight
    gradients are computed apart."""
    if data["placement"] == "v":
        return "zbv-formatted"
    split = any(node[0] == "W" for row in data["nodes"] for node in row)
    if data["chunks"] == 1:
        return "zero-bubble" if split else "1f1b"
    if split:
        raise ValueError(f"{data['schedule']} has split backwards and a loop of {data['chunks']} chunks, and Primus has "
                         "no algorithm with both")
    return "1f1b-interleaved"


def _algorithm(path: str | os.PathLike[str], data: Any) -> type:
    base: Any = importlib.import_module(f"{_SCHEDULER}.algorithms.base").PipelineScheduleAlgo
    node = importlib.import_module(f"{_SCHEDULER}.scheduler_node")

    class FromFile(base):  # type: ignore[misc, unused-ignore]
        """A table of pipec, for one size."""

        def __init__(self, pp_size: int, vpp_size: int, micro_batches: int, **options: Any):
            sizes = (data["ranks"], data["chunks"], data["microbatches"])
            if (pp_size, vpp_size, micro_batches) != sizes:
                raise ValueError(f"{os.fspath(path)} is for {sizes[0]} ranks with {sizes[1]} chunks and {sizes[2]} "
                                 f"micro-batches, not for {pp_size} with {vpp_size} and {micro_batches}")
            if options.get("offload"):
                raise ValueError(f"{os.fspath(path)} has no nodes that offload activations")
            super().__init__(pp_size, vpp_size, micro_batches)

        def generate_schedule_table(self) -> list[list[Any]]:
            return [[node.SchedulerNode(node.FuncType[kind], microbatch, chunk, args=dict(*args))
                     for kind, microbatch, chunk, *args in row] for row in data["nodes"]]

        def direction_map(self, rank: int, chunk: int, func_type: Any) -> dict[str, Any]:
            raise NotImplementedError("the table has its transfers")

        def last_pp_stage_rank(self) -> int:
            return 0 if data["placement"] == "v" else int(self.pp_size) - 1

    return FromFile


def algorithm(path: str | os.PathLike[str]) -> type:
    """The class of a schedule, for an entry of Primus' `pp_algorithm_map`, from a
    file of `--emit=primus`. Its objects are for the sizes of the file: the
    constructor raises ValueError for others."""
    return _algorithm(path, _read(path))


def use(path: str | os.PathLike[str], name: str | None = None) -> str:
    """Makes Primus run a file of `--emit=primus` where its configuration names the
    algorithm `name`, and returns the name. The launcher knows certain names only,
    so the entry of one of them is replaced; by default the one with the same
    placement and form of backwards. Raises ValueError when there is none."""
    data = _read(path)
    factory = importlib.import_module(f"{_SCHEDULER}.schedule_table_factory")
    name = name or _fitting_name(data)
    if name not in factory.pp_algorithm_map:
        raise ValueError(f"{name!r} is not an algorithm of Primus: {', '.join(factory.pp_algorithm_map)}")
    factory.pp_algorithm_map[name] = _algorithm(path, data)
    # Primus keeps the objects that it made.
    getattr(factory, "_schedule_instance_cache", {}).clear()
    return name


# ---------------------------------------------------------------- from Primus to pipec

_COMPUTES = {"F": "F", "BW": "B", "B": "I", "W": "W"}
_TRANSFERS = {"SF": "SEND_F", "RF": "RECV_F", "SB": "SEND_B", "RB": "RECV_B"}


class _Node(NamedTuple):
    """A node of a table, as a step."""

    kind: str
    stage: int
    microbatch: int
    peer: int
    """The rank at the other end of a transfer, or -1."""
    time_step: int | None
    group: tuple[str, ...]
    """The printed forms of the nodes that are combined with this one."""

    def cell(self) -> str:
        return f"{self.stage}{self.kind}{self.microbatch}"

    def text(self) -> str:
        """The step in step IR."""
        arrow = "" if self.peer < 0 else f" {'->' if self.kind.startswith('SEND') else '<-'} r{self.peer}"
        return f"{self.kind} s{self.stage} m{self.microbatch}{arrow}"


def _type(node: Any) -> str:
    """The name of a node's type, which is a member of an enumeration or a text."""
    return str(getattr(node.func_type, "name", node.func_type))


def _is_v(table: Sequence[Sequence[Any]]) -> bool:
    """Whether chunk 1 comes back from the last rank to the first."""
    for rank, row in enumerate(table):
        for node in row:
            if _type(node) == "RF" and node.chunk == 1:
                source = node.args["from_pp_rank"]
                if source != (rank - 1) % len(table):
                    return True
                if len(table) > 2:
                    return False
    if len(table) == 1 or all(node.chunk == 0 for row in table for node in row):
        return False
    # Two ranks: chunk 1 of rank 0 follows rank 1 in both; that of rank 1 follows rank 0 in a loop only.
    received = {node.args["from_pp_rank"] for node in table[1] if _type(node) == "RF" and node.chunk == 1}
    return received == {1}


def _nodes(row: Sequence[Any], rank: int, ranks: int, is_v: bool) -> Iterator[_Node]:
    """The steps of a rank, without those that hand data over inside of it."""
    for node in row:
        name, args = _type(node), node.args or {}
        if name not in _COMPUTES and name not in _TRANSFERS:
            raise ValueError(f"rank {rank} has a node `{name}` for micro-batch {node.mini_batch}, which is not a step of a "
                             "schedule")
        peer = -1
        if name in _TRANSFERS:
            peer = args["to_pp_rank" if name.startswith("S") else "from_pp_rank"]
            if peer == rank:
                continue
        odd = is_v and node.chunk % 2 == 1
        stage = node.chunk * ranks + (ranks - 1 - rank if odd else rank)
        yield _Node(_COMPUTES.get(name) or _TRANSFERS[name], stage, node.mini_batch, peer, args.get("time_step"),
                    tuple(args.get("combined_group") or ()))


def _groups(nodes: Sequence[_Node]) -> Iterator[list[_Node]]:
    """The steps that run together: a combined forward and backward, whose
    transfers follow them, and transfers that are one batch."""
    i = 0
    while i != len(nodes):
        node = nodes[i]
        if node.group and node.kind == "F":
            end = i + 1
            while end != len(nodes) and nodes[end].group == node.group and nodes[end].kind not in "BI":
                end += 1
            inside = nodes[i + 1:end]
            yield [node, nodes[end]] if end != len(nodes) else [node]
            yield from _groups(inside)
            i = min(end + 1, len(nodes))
            continue
        end = i + 1
        if node.peer >= 0:
            # The nodes up to the next compute, or of one time step if they have one.
            while end != len(nodes) and nodes[end].peer >= 0 and nodes[end].time_step in (None, nodes[end - 1].time_step):
                end += 1
        yield list(nodes[i:end])
        i = end


def dump(table: Sequence[Sequence[Any]], *, microbatches: int | None = None, placement: str | None = None,
         form: str = "steps", name: str = "primus") -> str:
    """A table as step IR, in which transfers that Primus posts together are batches,
    or with `form="csv"` as a CSV, which has no batches.

    A table is a list by rank of nodes, that is, of objects with `func_type`,
    `mini_batch`, `chunk` and `args`. `microbatches` is the number that it is for,
    by default one more than the highest in it. `placement` is `"loop"` or `"v"`; by
    default it follows from the transfers of chunk 1. Nodes that hand data over
    inside of a rank are left out; nodes that offload activations raise ValueError.
    """
    ranks = len(table)
    is_v = _is_v(table) if placement is None else placement == "v"
    lists = [list(_groups(list(_nodes(row, rank, ranks, is_v)))) for rank, row in enumerate(table)]
    if form == "csv":
        text = io.StringIO()
        cells = csv.writer(text, lineterminator="\n")
        for groups in lists:
            cells.writerow([cell for group in groups for cell in _cells(group)])
        return text.getvalue()
    every = [node for groups in lists for group in groups for node in group]
    if not every:
        raise ValueError("the table has no nodes")
    chunks = 1 + max(node.stage for node in every) // ranks
    microbatches = microbatches or 1 + max(node.microbatch for node in every)
    return step_ir(name, [[group_line([node.text() for node in group]) for group in groups] for groups in lists],
                   placed("v" if is_v else "loop", ranks, chunks * ranks), microbatches)


def _cells(group: Sequence[_Node]) -> list[str]:
    if len(group) == 2 and group[0].kind == "F":
        return [f"({group[0].cell()};{group[1].cell()})OVERLAP_F_B"]
    return [node.cell() for node in group]


def _scheduler_of(path: str) -> None:
    """Makes the scheduler of a source tree of Primus importable alone: the package
    itself imports a training framework and needs GPUs."""
    for package in "primus", "primus.core", "primus.core.pipeline_parallel", "primus.core.utils":
        module = types.ModuleType(package)
        module.__path__ = [os.path.join(path, *package.split("."))]
        sys.modules.setdefault(package, module)
    logging = types.ModuleType("primus.core.utils.module_utils")
    logging.log_rank_0 = lambda text: print(text, file=sys.stderr)  # type: ignore[attr-defined]
    sys.modules.setdefault(logging.__name__, logging)


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python3 -m pipec.dump primus`."""
    parser.add_argument("algorithm", help="a name of Primus' `pp_algorithm_map`, such as zero-bubble")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--microbatches", type=int, required=True)
    parser.add_argument("--chunks", type=int, default=1)
    parser.add_argument("--form", choices=["steps", "csv"], default="steps",
                        help="step IR, in which transfers that are posted together are batches, or a CSV (default: steps)")
    parser.add_argument("--path", metavar="FOLDER", default=os.environ.get("PIPEC_PRIMUS"),
                        help="a source tree of Primus, of which only the scheduler is imported (default: $PIPEC_PRIMUS)")


def dump_command(options: argparse.Namespace) -> str:
    """What one of Primus' own algorithms runs."""
    if options.path:
        _scheduler_of(options.path)
    factory = importlib.import_module(f"{_SCHEDULER}.schedule_table_factory")
    made = factory.produce_schedule_instance(options.algorithm, options.ranks, options.chunks, options.microbatches)
    is_v = made.last_pp_stage_rank() == 0 and options.ranks > 1
    return dump(made.generate_schedule_table(), microbatches=options.microbatches, placement="v" if is_v else "loop",
                form=options.form, name="primus_" + options.algorithm.replace("-", "_"))
