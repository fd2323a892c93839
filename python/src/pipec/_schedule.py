"""A schedule as Python sees it: read from step IR (docs/StepIR.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import enum
import functools
import json
import os
import re
import tempfile
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence, Union

from ._diagnostics import Diagnostic
from ._files import write_text
from ._lint import LintResult, lint_text
from ._program import run

try:
    import numpy
except ImportError:  # steps are tuples then
    numpy = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import numpy.typing

    Steps = Union[numpy.typing.NDArray[Any], tuple["Step", ...]]


class Kind(enum.IntEnum):
    """The kinds of steps; `str(kind)` is the name in step IR and CSV."""

    F = 0
    B = 1
    I = 2  # noqa: E741 (the field's name of the input half of a backward)
    W = 3
    SEND_F = 4
    RECV_F = 5
    SEND_B = 6
    RECV_B = 7
    UNSHARD = 8
    RESHARD = 9
    REDUCE_GRAD = 10
    BUBBLE = 11
    WAIT_SEND_F = 12
    WAIT_SEND_B = 13
    WAIT_REDUCE_GRAD = 14
    REDUCE_TIED = 15

    def __str__(self) -> str:
        return self.name


class Step(NamedTuple):
    """One step of one rank. A number that the kind does not have is -1."""

    kind: Kind
    stage: int
    """Of a REDUCE_TIED, the number of its group."""
    microbatch: int
    peer: int
    """The rank at the other end of a transfer."""
    group: int
    """The line of the rank's list: members of one overlap or batch share it."""
    other: int = -1
    """The stage at the other end of a transfer, or of the send that is waited for."""


_NAME = r'(\w+|"(?:[^"\\]|\\.)*")'
_HEAD = re.compile(rf"schedule @{_NAME} \{{ ranks (\d+) stages (\d+) microbatches (\d+)$")
_PARAM = re.compile(rf"{_NAME} = (-?\d+)")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_STEP = re.compile(r"([A-Z]\w*) [st](\d+)(?: m(\d+))?(?: (?:->|<-) (?:r(\d+)|s(\d+)))?")
_EDGE = re.compile(r"(\d+) -> (\d+)")
# From a stage to that at the other end of a transfer in a chain.
_OTHER = {"SEND_F": 1, "RECV_F": -1, "SEND_B": -1, "RECV_B": 1, "WAIT_SEND_F": 1, "WAIT_SEND_B": -1}
_KINDS = Kind.__members__


def _name(text: str) -> str:
    """A name of step IR as the text that it is; bytes that are not UTF-8 become
    `\\xFF`."""
    if not text.startswith('"'):
        return text
    found, last = b"", 1
    for escape in _ESCAPE.finditer(text):
        found += text[last:escape.start()].encode()
        found += bytes.fromhex(escape[1]) if len(escape[1]) == 2 else escape[1].encode()
        last = escape.end()
    return (found + text[last:-1].encode()).decode("utf-8", "backslashreplace")


class Schedule:
    """A compiled schedule."""

    def __init__(self, ir: str, diagnostics: Sequence[Diagnostic] = ()):
        """Takes step IR as pipec prints it. Raises ValueError for anything else."""
        self.ir = ir
        """The schedule as step IR."""
        self.diagnostics = tuple(diagnostics)
        """Warnings and notes of the compilation."""
        self.forward_only = False
        self.params: dict[str, int] = {}
        """The parameters that it was made with, by name."""
        self.maps: list[list[int]] = []
        """The rank of each stage; a second list for the other direction of a
        bidirectional schedule."""
        self.ties: list[list[int]] = []
        """The groups of stages that share parameters."""
        head = edges = None
        extra: list[tuple[int, int]] = []
        for line in ir.split("\n"):
            line = line.strip()
            if head is None:
                head = _HEAD.match(line)
            elif line == "forward_only":
                self.forward_only = True
            elif line.startswith("param "):
                self.params = {_name(name): int(value) for name, value in _PARAM.findall(line.removeprefix("param "))}
            elif line.startswith("map "):
                self.maps.append([int(rank) for rank in line.split()[1:]])
            elif line.startswith("graph "):
                edges = [(int(a), int(b)) for a, b in _EDGE.findall(line)]
            elif line.startswith("connect "):
                extra += [(int(a), int(b)) for a, b in _EDGE.findall(line)]
            elif line.startswith("tie "):
                self.ties.append([int(stage) for stage in line.split()[1:]])
            elif line.startswith("rank "):
                break
        if not ir.startswith("pipec-steps ") or head is None:
            raise ValueError(f"this is not step IR: {ir[:60]!r}" if ir else "this is not step IR: there is no text")
        self.name = _name(head[1])
        self.ranks, self.stages, self.microbatches = (int(head[i]) for i in (2, 3, 4))
        if edges is None:
            edges = [(stage, stage + 1) for stage in range(self.stages - 1)]
        self.edges = sorted(edges + extra)
        """The edges of the stage graph: pairs of a stage and one that takes its
        output, ascending."""

    @classmethod
    def from_csv(cls, text: str, *, name: str = "csv", args: Sequence[str] = ()) -> Schedule:
        """The schedule of a CSV of PyTorch (docs/Csv.md). `name` is that of the
        schedule; `args` are further arguments of pipec, such as
        `--dialect=torch-2.5`. Raises CompileError."""
        if not re.fullmatch(r"\w+", name, re.ASCII):
            raise ValueError(f"{name!r} is not a name: letters, digits and `_`")
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, f"{name}.csv")
            write_text(file, text)
            return cls(*run(["--emit=ir", *args, file]))

    @classmethod
    def from_steps(cls, text: str, *, args: Sequence[str] = ()) -> Schedule:
        """The schedule of step IR (docs/StepIR.md) as anyone writes it. `args` are
        further arguments of pipec. Raises CompileError."""
        return cls(*run(["-", "--input=steps", "--emit=ir", *args], text))

    def __repr__(self) -> str:
        return (f"<pipec.Schedule {self.name}: {self.ranks} ranks, {self.stages} stages, "
                f"{self.microbatches} micro-batches>")

    @property
    def stage_to_rank(self) -> list[int]:
        """The rank of each stage (of direction 0)."""
        return self.maps[0]

    def stages_of(self, rank: int) -> list[int]:
        """The stages that a rank holds, ascending."""
        return sorted({stage for ranks in self.maps for stage, on in enumerate(ranks) if on == rank})

    @functools.cached_property
    def steps(self) -> list[Steps]:
        """The steps of each rank, in order: a structured NumPy array with the
        fields of Step where NumPy is there, else a tuple of Steps."""
        lists: list[list[tuple[int, ...]]] = []
        line_of_rank = 0
        for line in self.ir.split("\n"):
            text = line.strip()
            if text.startswith("rank "):
                lists.append([])
                line_of_rank = 0
            elif not lists or text.endswith(":") or text == "}":
                continue
            elif text.partition(" ")[0] == "bubble":
                lists[-1].append((Kind.BUBBLE, -1, -1, -1, line_of_rank, -1))
                line_of_rank += 1
            elif found := _STEP.findall(text.partition("@")[0]):
                for kind, *numbers in found:
                    stage, microbatch, peer, other = (int(n) if n else -1 for n in numbers)
                    if other < 0 and kind in _OTHER:
                        other = stage + _OTHER[kind]
                    elif other >= 0 and not kind.startswith("WAIT"):
                        peer = self.maps[0][other]
                    lists[-1].append((_KINDS[kind], stage, microbatch, peer, line_of_rank, other))
                line_of_rank += 1
        if numpy is None:
            return [tuple(Step(Kind(k), *rest) for k, *rest in steps) for steps in lists]
        fields = numpy.dtype([("kind", "u1"), *((name, "i4") for name in Step._fields[1:])])
        return [numpy.array(steps, dtype=fields) for steps in lists]

    def lint(self, *, require: str = "stream", grades: Mapping[str, str] | None = None) -> LintResult:
        """The findings in the schedule, and the communication models under
        which it is deadlock-free; positions are those of `ir`."""
        return lint_text(self.ir, require=require, grades=grades)

    def emit(self, kind: str, *args: str) -> str:
        """The schedule in another form (`pipec --emit=KIND`); `args` are
        further arguments of pipec."""
        return run(["-", f"--emit={kind}", *args], self.ir)[0]

    @functools.cached_property
    def csv(self) -> str:
        """The schedule as a PyTorch CSV."""
        return self.emit("csv")

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Writes `csv` to a file, whole or not at all."""
        write_text(path, self.csv)

    @functools.cached_property
    def torch_config(self) -> dict[str, Any]:
        """How PyTorch, torchtitan and NeMo AutoModel use `csv`
        (docs/Csv.md)."""
        config: dict[str, Any] = json.loads(self.emit("torch-config", "--passes="))
        return config
