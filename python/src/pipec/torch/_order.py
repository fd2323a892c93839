"""The lists of steps of schedule objects of PyTorch."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import csv
import io
from typing import Any, Mapping, NamedTuple, Sequence

from torch.distributed.pipelining.schedules import PipelineScheduleSingle

from .._schedule import Schedule
from ._record import record


class Order(NamedTuple):
    """The lists of an object."""

    name: str
    """The name of the object's class."""
    text: str
    is_csv: bool
    """A CSV, or else step IR."""
    sizes: tuple[str, ...] = ()
    """The sizes that the object has besides its list, as arguments of pipec."""


def _rows(order: Mapping[int, Sequence[object]]) -> str:
    """The CSV of `{rank: actions}`."""
    ranks = sorted(order)
    if ranks != list(range(len(ranks))):
        raise ValueError(f"the order has the ranks {', '.join(map(str, ranks))}; it needs those from 0 on")
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        ["" if action is None else str(action) for action in order[rank]] for rank in ranks)
    return text.getvalue()


def order_of(schedule: Any, name: str | None = None) -> Order:
    """The list that an object runs: `pipeline_order_with_comms`, or
    `pipeline_order` when it was not lowered; what the code of a schedule for one
    stage per rank runs; or a mapping of ranks to lists. `name` is that of the
    schedule in step IR. Raises TypeError for other objects.
    """
    if isinstance(schedule, Mapping):
        if not schedule:
            raise TypeError("the order has no ranks")
        return Order("pipeline_order", _rows(schedule), True)
    kind = type(schedule).__name__
    if isinstance(schedule, PipelineScheduleSingle):
        return Order(kind, record(schedule, name), False)
    order = getattr(schedule, "pipeline_order_with_comms", None) or getattr(schedule, "pipeline_order", None)
    if not order:
        raise TypeError(f"{kind} holds no order of steps")
    return Order(kind, _rows(order), True,
                 (f"--stages={schedule._num_stages}", f"--microbatches={schedule._n_microbatches}"))


def from_torch(schedule: Any, *, name: str | None = None) -> Schedule:
    """A schedule object of PyTorch as a `pipec.Schedule`, with everything that one
    can do: pictures, reports, comparisons, other formats.

        pipec.torch.from_torch(schedule).emit("svg")

    `schedule` is an object of any class of torch.distributed.pipelining, or a
    `pipeline_order`: a mapping of ranks to lists of actions (or of their texts, or
    None). A list is taken with its transfers where it has them. `ScheduleGPipe`,
    `Schedule1F1B` and own classes like them hold no list that they run; their
    code is run on stages that only record it. `name` is that of the result, by
    default that of the class.

    The list is not verified, so that `lint` can tell what is wrong with it; all
    outputs verify it. Raises TypeError for objects without a list, and
    CompileError for a list that cannot be read.
    """
    order = order_of(schedule, name)
    if order.is_csv:
        return Schedule.from_csv(order.text, name=name or order.name, args=("--verify=none", *order.sizes))
    return Schedule.from_steps(order.text, args=("--verify=none",))
