"""Reports as objects (docs/Report.md).

The classes have the attributes of the JSON of `--emit=report`, under the same
names; `from_` is `from`. docs/Report.md defines every figure.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
from typing import Any, Generic, Mapping

from ._data import Number, counted, load, read, records, rounded
from ._packages import pandas


@dataclasses.dataclass(frozen=True)
class Memory(Generic[Number]):
    """The largest values of a rank, or of all ranks, each at its own time, in the
    unit of the sizes."""

    activations: Number
    receives: Number
    """The buffers of received tensors."""
    receive_buffers: int
    """The number of these buffers."""
    parameters: Number
    total: Number
    """The largest sum of the others at any one time."""


@dataclasses.dataclass(frozen=True)
class Waiting(Generic[Number]):
    """What ranks wait for before their compute steps, as times."""

    dependency: Number
    latency: Number
    queue: Number
    wait: Number
    gather: Number
    copy: Number
    exposed: Number
    """All but `dependency`: the input has been computed."""


@dataclasses.dataclass(frozen=True, repr=False)
class RankReport(Generic[Number]):
    """The figures of one rank."""

    rank: int
    start: Number
    """The start of its first compute step, and the end of its last one."""
    end: Number
    work: Number
    idle: Number
    """The makespan, and the span, minus `work`."""
    idle_span: Number
    gaps: Number
    """The time between `start` and `end` in which it does not compute."""
    bubble_makespan: Number
    bubble_span: Number
    peak: Number
    """The largest number of live activations."""
    host: Number
    """The most that it keeps on the host."""
    memory: Memory[Number]
    over_limit: bool | None
    """Whether the rank exceeds its memory limit; None without one."""
    waiting: Waiting[Number]
    outstanding_sends: int
    unshards: int
    refetches: int
    memory_limit: Number | None = None
    """Its memory limit, if it differs from that of the schedule."""

    def __repr__(self) -> str:
        return f"<RankReport {self.rank}: work {rounded(self.work)}, idle {rounded(self.idle)}, peak {rounded(self.peak)}>"


@dataclasses.dataclass(frozen=True)
class StageStream:
    """Stages whose computes run beside the others of their rank."""

    name: str
    stages: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class StageEdge:
    """An edge of the stage graph: `to` takes the output of `from_`."""

    from_: int
    to: int


@dataclasses.dataclass(frozen=True)
class Traffic(Generic[Number]):
    """The transfers from one rank to another."""

    from_: int
    to: int
    kind: str
    """`activations` or `gradients`."""
    transfers: int
    volume: Number | None
    """Their size; None if the schedule does not give that of a received tensor."""


@dataclasses.dataclass(frozen=True, repr=False)
class Communication(Generic[Number]):
    """The transfers and the FSDP actions of all ranks."""

    transfers: int
    volume: Number | None
    exposed: Number
    edges: tuple[Traffic[Number], ...]
    unshards: int
    refetches: int

    def __repr__(self) -> str:
        return f"<Communication: {counted(self.transfers, 'transfer')} on {counted(len(self.edges), 'edge')}, exposed {rounded(self.exposed)}>"


@dataclasses.dataclass(frozen=True)
class StepPlace:
    """A step and its place."""

    rank: int
    position: int
    """The line of the rank's list, from 0."""
    step: str
    """Its text, such as `F s0 m1`."""


@dataclasses.dataclass(frozen=True)
class Link(Generic[Number]):
    """A step of the critical path, or of a gap."""

    rank: int
    position: int
    step: str
    start: Number
    end: Number
    latency: Number
    """The time from the end of the link before it to its start."""
    reason: str
    """Why it does not start earlier."""


@dataclasses.dataclass(frozen=True, repr=False)
class Gap(Generic[Number]):
    """A time in which a rank is idle before a step."""

    rank: int
    start: Number
    end: Number
    length: Number
    binds: str
    """What prevents a step in the gap, such as `memory` or `dependency`."""
    waiting: Waiting[Number]
    next: Link[Number]
    """The step before which the rank is idle."""
    waits_for: Link[Number] | None
    ready: StepPlace | None
    """A later step of the rank that would fit."""

    def __repr__(self) -> str:
        return f"<Gap of rank {self.rank}: {rounded(self.start)} to {rounded(self.end)}, before {self.next.step}>"


@dataclasses.dataclass(frozen=True)
class PlacedTransfers(Generic[Number]):
    """The result of the search that placed the transfers."""

    model: str
    makespan: Number
    free: Number
    """Without P2P contention."""
    bound: Number | None
    """No order of the transfers takes less time."""
    optimal: bool
    starts: Mapping[str, float]
    """The makespans of other orders, by the options of `insert-p2p`."""


@dataclasses.dataclass(frozen=True, repr=False)
class Report(Generic[Number]):
    """The figures of a schedule under its costs. Times are in their unit."""

    name: str
    num_ranks: int
    num_stages: int
    num_microbatches: int
    num_slices: int
    """The slices of a micro-batch; 1 without slices."""
    costs: str
    """The costs in force, per stage."""
    per: str
    parts: int | None
    layout: str | None
    """The layers of the stages; None if they are not known."""
    assumed: tuple[str, ...]
    """The kinds of steps, `F`, `B`, `I` and `W`, whose costs were not given."""
    cost_grid: float | None
    """What costs with many digits were rounded to multiples of."""
    factor_grid: float | None
    size_grid: float | None
    stage_edges: tuple[StageEdge, ...] | None
    """The edges of the stage graph; None for a chain."""
    streams: tuple[StageStream, ...] | None
    """The streams of stages beside `compute`; None without one."""
    params: Mapping[str, int]
    model: str | None
    """The communication model; None for a schedule without transfers."""
    makespan: Number
    """The time from the first start to the last end over all ranks."""
    span: Number
    """The longest time from a rank's own first start to its own last end."""
    bubble_makespan: Number
    """The idle fraction of the makespan, from 0 to 1, and that of the span."""
    bubble_span: Number
    work: Number
    """The duration of the compute steps of all ranks together."""
    free_makespan: Number | None
    """The makespan without P2P contention; None if `model` is."""
    transfers: PlacedTransfers[Number] | None
    """Of a search with `insert-p2p{order=search}`; None without one."""
    peak: Number
    host: Number
    memory: Memory[Number]
    memory_limit: Number | None
    over_limit: bool | None
    ranks: tuple[RankReport[Number], ...]
    waiting: Waiting[Number]
    communication: Communication[Number]
    critical_path: tuple[Link[Number], ...]
    gaps: tuple[Gap[Number], ...]
    """The largest idle gaps."""

    def __repr__(self) -> str:
        return (f"<pipec.Report {self.name}: makespan {rounded(self.makespan)}, bubble {rounded(self.bubble_makespan)}, "
                f"peak {rounded(self.peak)}>")

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each rank; `memory.total` and the like
        are columns. Raises PackageNotFound without pandas."""
        return pandas("Report.to_dataframe").DataFrame(records(self.ranks)).set_index("rank")


def read_report(text: str, exact: bool) -> Report[Any]:
    """A report of the JSON of `--emit=report`."""
    return read(Report, load(text, exact), exact)
