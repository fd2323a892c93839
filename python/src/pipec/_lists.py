"""Step IR of lists of steps in Python."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import operator
import re
from typing import Any, Iterable, Iterator, Mapping, Sequence, Union

from ._inputs import integer
from ._kinds import NEXT_STAGE, Kind

Placement = Union[str, Sequence[int], Sequence[Sequence[int]]]
"""`"loop"`, `"v"`, the rank of each stage, or two such lists for the two directions
of a bidirectional schedule."""

_NAMES = sorted((kind.name for kind in Kind), key=len, reverse=True)
_CELL = re.compile(rf"(\d*)(?:>(\d+))?({'|'.join(_NAMES)})(\d*)")
_TEXT = re.compile(r"[A-Z]\w* [st]\d+( .*)?|bubble")
_TRANSFERS = {Kind.SEND_F, Kind.RECV_F, Kind.SEND_B, Kind.RECV_B}
_WHOLE_STAGE = {Kind.UNSHARD, Kind.RESHARD, Kind.REDUCE_GRAD, Kind.WAIT_REDUCE_GRAD, Kind.REDUCE_TIED, Kind.UPDATE}


def placed(placement: Placement, ranks: int, stages: int) -> list[list[int]]:
    """The rank of each stage, one list per direction. Raises ValueError for a
    placement of another form."""
    if isinstance(placement, str):
        if placement == "loop":
            return [[stage % ranks for stage in range(stages)]]
        if placement == "v":
            return [[stage % ranks if stage // ranks % 2 == 0 else ranks - 1 - stage % ranks for stage in range(stages)]]
        raise ValueError(f"placement is {placement!r}: it is 'loop', 'v', or the rank of each stage")
    given: list[Any] = list(placement)
    if given and not hasattr(given[0], "__index__"):
        return [list(map(operator.index, ranks_of)) for ranks_of in given]
    return [list(map(operator.index, given))]


def step_ir(name: str, lists: Sequence[Sequence[str]], maps: Sequence[Sequence[int]], microbatches: int,
            header: Iterable[str] = (), slices: int = 1) -> str:
    """Step IR of these lines per rank. `header` has further entries of the header."""
    sliced = f" slices {slices}" if slices != 1 else ""
    text = [f"pipec-steps {2 if sliced else 1}",
            f"schedule @{_quoted(name)} {{ ranks {len(lists)} stages {len(maps[0])} microbatches {microbatches}{sliced}",
            *(f"  {entry}" for entry in header),
            *(f"  map {' '.join(map(str, ranks))}" for ranks in maps)]
    for rank, lines in enumerate(lists):
        text += [f"  rank {rank} {{", *(f"    {line}" for line in lines), "  }"]
    return "\n".join([*text, "}", ""])


def group_line(steps: Sequence[str]) -> str:
    """The line of these steps: a single one, a batch of transfers, or an overlap."""
    if len(steps) == 1:
        return steps[0]
    return "batch " + ", ".join(steps) if steps[0].startswith(("SEND_", "RECV_")) else "overlap " + " & ".join(steps)


def lists_ir(lists: Sequence[Iterable[Any]], stages: int | None, placement: Placement, microbatches: int | None,
             edges: Iterable[tuple[int, int]] | None, name: str, slices: int | None = None,
             ties: Sequence[Sequence[int]] = ()) -> str:
    """Step IR of lists of steps; the arguments are those of `Schedule.from_steps`, and
    `ties` are groups of tied stages."""
    if isinstance(lists, (bytes, Mapping)) or not isinstance(lists, Iterable) or not hasattr(lists, "__len__"):
        raise TypeError(f"steps is {lists!r}, not a list of steps per rank")
    for rank, steps in enumerate(lists):
        if isinstance(steps, (str, bytes)) or not isinstance(steps, Iterable):
            raise TypeError(f"the steps of rank {rank} are {steps!r}, not a list")
    if not len(lists):
        raise ValueError("there are no lists of steps, one per rank")
    maps = placed(placement, len(lists), len(lists) if stages is None else stages)
    if stages is not None and any(len(ranks) != stages for ranks in maps):
        raise ValueError(f"the placement is for {len(maps[0])} stages, not {stages}")
    pieces = 1 if slices is None else integer(slices, "slices")
    if pieces < 1:
        raise ValueError(f"slices is {pieces}, not a positive number")
    reader = ListReader(maps, pieces)
    lines = [list(reader.lines(rank, steps)) for rank, steps in enumerate(lists)]
    pairs = None if edges is None else [_edge(edge) for edge in edges]
    if pairs is not None and not pairs and len(maps[0]) > 1:
        raise ValueError(f"edges is empty, and there are {len(maps[0])} stages")
    header = [f"graph {', '.join(pairs)}"] if pairs else []
    header += [f"tie {' '.join(map(str, group))}" for group in ties]
    if not reader.backward:
        header.append("forward_only")
    count = reader.microbatches if microbatches is None else integer(microbatches, "microbatches")
    return step_ir(name, lines, maps, count, header, pieces)


def _edge(edge: Any) -> str:
    if not isinstance(edge, Sequence) or isinstance(edge, str) or len(edge) != 2:
        raise TypeError(f"{edge!r} in edges is not a pair of stages")
    return " -> ".join(str(integer(stage, "a stage in edges")) for stage in edge)


def _quoted(name: str) -> str:
    """A name as step IR writes it."""
    if re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        return name
    return '"' + "".join(chr(byte) if 32 <= byte < 127 and byte not in b'"\\' else f"\\{byte:02X}" for byte in name.encode()) + '"'


class ListReader:
    """The lines of step IR for lists of steps of any form."""

    def __init__(self, maps: Sequence[Sequence[int]], slices: int = 1):
        self._slices = slices
        self._stages: dict[int, set[int]] = {}
        """The stages of each rank."""
        for ranks in maps:
            for stage, rank in enumerate(ranks):
                self._stages.setdefault(rank, set()).add(stage)
        self.microbatches = 0
        """One more than the highest micro-batch so far."""
        self.backward = False
        """Whether there was a backward."""

    def lines(self, rank: int, steps: Iterable[Any]) -> Iterator[str]:
        """The lines of one rank. Raises ValueError for what is not a step, and
        TypeError for an object of another type."""
        for position, members in enumerate(_groups(steps)):
            where = f"rank {rank} step {position}"
            texts = [self._step(rank, member, where) for member in members]
            if not texts:
                raise ValueError(f"{where} is an empty group")
            yield group_line(texts)

    def _step(self, rank: int, entry: Any, where: str) -> str:
        if entry is None:
            return "bubble"
        if isinstance(entry, str):
            if "//" in entry:
                raise ValueError(f"{where}: {entry!r} has a comment")
            if _TEXT.fullmatch(entry.strip()):
                return self._seen(entry.strip())
            cell = _CELL.fullmatch(entry)
            if not cell:
                raise ValueError(f"{where}: {entry!r} is not a step, such as 'F0', '2F0' or 'F s2 m0'")
            stage, other, microbatch = (int(cell[i]) if cell[i] else -1 for i in (1, 2, 4))
            return self._line(rank, Kind[cell[3]], stage, microbatch, other, where)
        if not isinstance(entry, (tuple, list)) and not hasattr(entry, "dtype"):
            raise TypeError(f"{where} is {entry!r}, not a step")
        first, *numbers = entry
        try:
            kind = Kind[first] if isinstance(first, str) else Kind(first)
            stage, microbatch, _, _, other = map(operator.index, [*numbers, *[-1] * 5][:5])
        except (KeyError, ValueError, TypeError) as error:
            raise ValueError(f"{where}: {entry!r} is not a kind, a stage and a micro-batch") from error
        return self._line(rank, kind, stage, microbatch, other, where)

    def _line(self, rank: int, kind: Kind, stage: int, microbatch: int, other: int, where: str) -> str:
        if kind == Kind.BUBBLE:
            return "bubble"
        if stage < -1:
            raise ValueError(f"{where}: {kind} is of stage {stage}")
        if stage < 0:
            mine = self._stages.get(rank, set())
            if len(mine) != 1:
                raise ValueError(f"{where}: {kind} names no stage, and the rank has {len(mine)}")
            stage, = mine
        text = f"{kind} {'t' if kind == Kind.REDUCE_TIED else 's'}{stage}"
        if kind in _WHOLE_STAGE:
            return text
        if microbatch < 0:
            raise ValueError(f"{where}: {kind} names no micro-batch")
        text += f" m{microbatch}" if self._slices == 1 else f" m{microbatch // self._slices}.{microbatch % self._slices}"
        if kind in _TRANSFERS:
            to = stage + NEXT_STAGE[kind] if other < 0 else other
            # Stage 0 has no predecessor, which the compiler reports.
            text += (" -> " if kind.name.startswith("SEND") else " <- ") + (f"s{to}" if to >= 0 else "r0")
        elif other >= 0 and abs(other - stage) != 1:
            text += f" -> s{other}"
        return self._seen(text)

    def _seen(self, line: str) -> str:
        if found := re.search(r" m(\d+)", line):
            self.microbatches = max(self.microbatches, int(found[1]) + 1)
        self.backward |= line.startswith(("B ", "I "))
        return line


def _groups(steps: Iterable[Any]) -> Iterator[Sequence[Any]]:
    """The overlaps, batches and single steps of a list: a list or tuple of steps, or
    consecutive elements of `Schedule.steps` with one `group`."""
    pending: list[Any] = []
    for entry in steps:
        is_step = hasattr(entry, "dtype") or isinstance(entry, (tuple, list)) and _is_step(entry)
        group = int(entry[4]) if is_step and len(entry) > 4 else -1
        if pending and (group < 0 or group != int(pending[0][4])):
            yield pending
            pending = []
        if group >= 0:
            pending.append(entry)
        elif is_step or not isinstance(entry, (tuple, list)):
            yield [entry]
        else:
            yield entry
    if pending:
        yield pending


def _is_step(entry: Sequence[Any]) -> bool:
    """A kind and a stage; a group has steps."""
    return len(entry) > 1 and hasattr(entry[1], "__index__")
