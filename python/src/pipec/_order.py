"""`pipec order` as a function (docs/Order.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import array
import ctypes
import dataclasses
import functools
import json
import math
import os
import weakref
from typing import Any, Iterable, Sequence, Union

from ._data import rounded
from ._files import write_text
from ._inputs import Inputs, counts, integer, listed
from ._program import program, run
from ._schedule import Schedule

Weights = Union[Sequence[float], Sequence[Sequence[float]]]
"""A weight per micro-batch, or one list of these per stage."""


@dataclasses.dataclass(frozen=True, repr=False)
class Order:
    """The best order of a batch that was found."""

    order: list[int]
    """`[batch[i] for i in order]` is the batch for the schedule."""
    makespan: float
    given: float
    """The makespan of the batch as it is."""
    bound: float
    """No order has a smaller makespan."""
    optimal: bool

    def __repr__(self) -> str:
        how = "optimal" if self.optimal else f"no order is below {rounded(self.bound)}"
        return (f"<pipec.Order of {len(self.order)} micro-batches: makespan {rounded(self.makespan)}, "
                f"{rounded(self.given)} as given, {how}>")


def order(schedule: Schedule, weights: Weights, *, sizes: Iterable[float] | None = None, limit: float | None = None,
          effort: int | None = None, seed: int = 1) -> Order:
    """Finds the best order of the micro-batches of a batch. `weights` multiply the
    times of the steps of a micro-batch, under the costs of the schedule, and `sizes`
    what they keep; `limit` is that of every rank. `effort` is that of `pipec order`.
    From the second call for a schedule on, nothing is started: the library that comes
    with the compiler finds the order in this process. Raises CompileError."""
    rows, per_stage = _rows(weights)
    own = None if sizes is None else _numbers(sizes, "sizes")
    if not isinstance(schedule, Schedule):
        raise TypeError(f"schedule is {schedule!r}, not a pipec.Schedule")
    bound = None if limit is None else _number(limit, "limit")
    effort = 1 if effort is None else integer(effort, "effort")
    seed = integer(seed, "seed")
    if 1 <= effort < 1 << 32 and 0 <= seed < 1 << 63:
        found = _in_process(schedule, rows, own, bound, effort, seed)
        if found is not None:
            return found
    return _by_program(schedule, rows, per_stage, own, bound, effort, seed)


def _number(value: Any, what: str) -> float:
    if isinstance(value, (str, bytes)):
        raise TypeError(f"{what} is {value!r}, not a number")
    try:
        return float(value)
    except TypeError:
        raise TypeError(f"{what} is {value!r}, not a number") from None


def _numbers(values: Iterable[Any], what: str) -> list[float]:
    return [_number(value, f"{what}[{i}]") for i, value in enumerate(listed(values, what, "numbers"))]


def _rows(weights: Weights) -> tuple[list[list[float]], bool]:
    """The rows of the weights, and whether there is one per stage."""
    given = listed(weights, "weights", "numbers")
    if given and isinstance(given[0], Iterable) and not isinstance(given[0], (str, bytes)):
        return [_numbers(row, f"weights[{i}]") for i, row in enumerate(given)], True
    return [_numbers(given, "weights")], False


def _in_process(schedule: Schedule, rows: list[list[float]], sizes: list[float] | None, limit: float | None,
                effort: int, seed: int) -> Order | None:
    """The result of the library; None without it, and after any error, which the
    program then reports."""
    count = schedule.microbatches
    if any(len(row) != count for row in rows) or (sizes is not None and len(sizes) != count):
        return None
    if not all(0 <= value < math.inf for value in (*(sizes or ()), *(() if limit is None else (limit,)))):
        return None
    library = _library()
    lists = library and _lists(schedule)
    if not library or not lists:
        return None
    doubles = ctypes.POINTER(ctypes.c_double)
    flat = array.array("d", [value for row in rows for value in row])
    own = array.array("d", sizes or ())
    order = (ctypes.c_uint32 * count)()
    times = (ctypes.c_double * 3)()
    state = library.pipec_order_find(
        lists, ctypes.cast(flat.buffer_info()[0], doubles), len(rows),
        None if sizes is None else ctypes.cast(own.buffer_info()[0], doubles),
        math.nan if limit is None else limit, effort, seed, order, times)
    makespan, given, bound = times
    return Order(list(order), makespan, given, bound, state == 2) if state else None


@functools.cache
def _load(path: str) -> ctypes.CDLL | None:
    try:
        library = ctypes.CDLL(path)
        doubles = ctypes.POINTER(ctypes.c_double)
        library.pipec_order_read.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
        library.pipec_order_read.restype = ctypes.c_void_p
        library.pipec_order_free.argtypes = [ctypes.c_void_p]
        library.pipec_order_free.restype = None
        library.pipec_order_find.argtypes = [
            ctypes.c_void_p, doubles, ctypes.c_size_t, doubles, ctypes.c_double, ctypes.c_uint64, ctypes.c_uint64,
            ctypes.POINTER(ctypes.c_uint32), doubles]
        library.pipec_order_find.restype = ctypes.c_int
    except (OSError, AttributeError):
        return None
    return library


def _library() -> ctypes.CDLL | None:
    """The library beside the compiler; None if there is none."""
    folder = os.path.dirname(os.path.dirname(os.path.realpath(program())))
    return _load(os.path.join(folder, "lib", "libpipec-order.so"))


_known: weakref.WeakKeyDictionary[Schedule, Any] = weakref.WeakKeyDictionary()


def _lists(schedule: Schedule) -> Any:
    """The lists of a schedule, which the program makes once."""
    if schedule not in _known:
        library = _library()
        assert library is not None
        text = run(["order", "-", "--input=steps", "--lists"], schedule.ir)[0].encode()
        lists = library.pipec_order_read(text, len(text))
        _known[schedule] = lists
        if lists:
            weakref.finalize(schedule, library.pipec_order_free, lists)
    return _known[schedule]


def _by_program(schedule: Schedule, rows: list[list[float]], per_stage: bool, sizes: list[float] | None,
                limit: float | None, effort: int, seed: int) -> Order:
    batch: dict[str, Any] = {"weights": rows if per_stage else rows[0]}
    if sizes is not None:
        batch["sizes"] = sizes
    if limit is not None:
        batch["limit"] = limit
    with Inputs() as inputs:
        path = inputs.path("weights.json")
        inputs.names[path] = "<weights>"
        write_text(path, json.dumps(batch))
        out, _ = run(["order", "-", "--input=steps", f"--weights={path}", *counts(effort=effort, seed=seed),
                      "--format=json"], schedule.ir, names=inputs.names)
    data = json.loads(out)
    return Order(data["order"], data["makespan"], data["given"], data["bound"], data["optimal"])
