"""A schedule, read from step IR (docs/StepIR.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import functools
import json
import os
import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Callable, Iterable, Literal, Mapping, Sequence, Union, overload

from ._diagnostics import CompileError, Diagnostic
from ._files import write_text
from ._inputs import Cost, Inputs, Profile, options, words
from ._kinds import NEXT_STAGE, Kind, Step, StepList
from ._lint import LintResult, lint_text
from ._notebook import SHOWN_STEPS, Page, Svg
from ._packages import numpy_or_none
from ._program import run

if TYPE_CHECKING:
    import numpy.typing

    from ._lists import Placement
    from ._report import Report
    from ._times import Times

    Steps = Union[numpy.typing.NDArray[Any], tuple["Step", ...]]

__all__ = ["Kind", "Schedule", "Step"]

_NAME = r'(\w+|"(?:[^"\\]|\\.)*")'
_HEAD = re.compile(rf"schedule @{_NAME} \{{ ranks (\d+) stages (\d+) microbatches (\d+)(?: slices (\d+))?$")
_PARAM = re.compile(rf"{_NAME} = (-?\d+)")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_STEP = re.compile(r"([A-Z]\w*) [st](\d+)(?: m(\d+)(?:\.(\d+))?)?(?: (?:->|<-) (?:r(\d+)|s(\d+)))?")
_EDGE = re.compile(r"(\d+) -> (\d+)")
_STREAM = re.compile(rf"stream {_NAME} ([\d ]+)$")
_OTHER = {kind.name: step for kind, step in NEXT_STAGE.items()}
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
        self.streams: dict[str, list[int]] = {}
        """The stages whose computes run on a stream of their own, by its name."""
        self.order: list[int] | None = None
        """By micro-batch, its number in the batch whose weights the costs have; None
        if they are the same."""
        self.layout: str | None = None
        """The layers of each stage (docs/Simulation.md); None if they are not known."""
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
            elif line.startswith("order "):
                self.order = [int(number) for number in line.split()[1:]]
            elif line.startswith("stream "):
                name, stages = _STREAM.findall(line)[0]
                self.streams[_name(name)] = [int(stage) for stage in stages.split()]
            elif line.startswith("layout "):
                self.layout = line.split('"')[1]
            elif line.startswith("rank "):
                break
        if not ir.startswith("pipec-steps ") or head is None:
            raise ValueError(f"this is not step IR: {ir[:60]!r}" if ir else "this is not step IR: there is no text")
        self.name = _name(head[1])
        self.ranks, self.stages, self.microbatches = (int(head[i]) for i in (2, 3, 4))
        self.slices = int(head[5] or 1)
        """The slices of a micro-batch along its sequence; 1 without slices."""
        self.units = self.microbatches * self.slices
        """The micro-batches or, with slices, the slices of all of them."""
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
        if not isinstance(text, str):
            raise TypeError(f"text is {text!r}, not a text")
        with Inputs() as inputs:
            file = inputs.path(f"{name}.csv")
            inputs.names[file] = f"<{name}>"
            write_text(file, text)
            return cls(*run(["--emit=ir", *words(args), file], names=inputs.names))

    @classmethod
    def from_steps(cls, steps: str | Sequence[Iterable[Any]], *, stages: int | None = None, placement: Placement = "loop",
                   microbatches: int | None = None, slices: int | None = None,
                   edges: Iterable[tuple[int, int]] | None = None, name: str = "steps",
                   cost: Cost | None = None, profile: Profile | None = None,
                   target: str | None = None, passes: str | None = None, args: Sequence[str] = ()) -> Schedule:
        """The schedule of these lists of steps, one per rank, verified by the
        compiler; or of step IR as text (docs/StepIR.md), which has its own sizes.

        A step is `"F0"` (a kind and a micro-batch, on a rank with one stage),
        `"2F0"` (the stage first, as in a CSV), `"F s2 m0"` (as in step IR), a tuple
        of kind, stage and micro-batch, or an element of `Schedule.steps`; None is an
        idle slot. A list or tuple of steps is an overlap, or a batch if they are
        transfers.

        `placement` is `"loop"` or `"v"`, or the rank of each stage; `stages` is their
        number, by default that of the ranks or of the list. `microbatches` is by
        default one more than the highest. With `slices`, the numbers of steps are
        units, micro-batch * slices + slice, but in step IR. `edges` are all edges of a stage graph that
        is not a chain. Without a backward the schedule is forward-only. `cost`,
        `profile`, `target`, `passes` and `args` are those of `pipec.compile`.

        Raises ValueError for what is not a step, and CompileError, whose diagnostics
        have the rank and the position of the step and point into the lists as step
        IR."""
        if isinstance(steps, str):
            if (stages, placement, microbatches, slices, edges, name) != (None, "loop", None, None, None, "steps"):
                raise TypeError("step IR has its own sizes, placement, edges and name")
            text = steps
        else:
            from ._lists import lists_ir

            text = lists_ir(steps, stages, placement, microbatches, edges, name, slices)
        with Inputs() as inputs:
            command = ["-", "--input=steps", "--emit=ir", *inputs.costs(cost, profile),
                       *options(target=target, passes=passes), *words(args)]
            return cls(*run(command, text, names=inputs.names))

    def __repr__(self) -> str:
        return (f"<pipec.Schedule {self.name}: {self.ranks} ranks, {self.stages} stages, "
                f"{self.microbatches} micro-batches{f' of {self.slices} slices' if self.slices > 1 else ''}>")

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
        fields of Step if NumPy is installed, else a tuple of Steps. The text of a
        list of one stage has kinds and micro-batches, `F0`; of others, `F s1 m0`."""
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
                    stage, microbatch, part, peer, other = (int(n) if n else -1 for n in numbers)
                    unit = microbatch * self.slices + part if part >= 0 else microbatch
                    if other < 0 and kind in _OTHER:
                        other = stage + _OTHER[kind]
                    elif other >= 0 and not kind.startswith("WAIT"):
                        peer = self.maps[0][other]
                    lists[-1].append((_KINDS[kind], stage, unit, peer, line_of_rank, other))
                line_of_rank += 1
        if numpy_or_none() is None:
            return [StepList(Step(Kind(k), *rest) for k, *rest in steps) for steps in lists]
        from ._step_array import step_array

        return [step_array(steps) for steps in lists]

    def lint(self, *, require: str = "stream", grades: Mapping[str, str] | None = None,
             args: Sequence[str] = ()) -> LintResult:
        """The findings in the schedule, and the communication models under
        which it is deadlock-free; positions are those of `ir`. The arguments are
        those of `pipec.lint`."""
        return lint_text(self.ir, require=require, grades=grades, args=args)

    def emit(self, kind: str, *args: str) -> str:
        """The schedule in another form (`pipec --emit=KIND`); `args` are
        further arguments of pipec."""
        return run(["-", f"--emit={kind}", *args], self.ir)[0]

    def _simulated(self, kind: str, model: str | None, cost: Cost | None, profile: Profile | None,
                   args: Sequence[str]) -> str:
        with Inputs() as inputs:
            command = ["-", f"--emit={kind}", *options(model=model), *inputs.costs(cost, profile), *words(args)]
            return run(command, self.ir, names=inputs.names)[0]

    @overload
    def report(self, *, model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
               exact: Literal[False] = False, args: Sequence[str] = ()) -> Report[float]: ...

    @overload
    def report(self, *, model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
               exact: Literal[True], args: Sequence[str] = ()) -> Report[Fraction]: ...

    def report(self, *, model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
               exact: bool = False, args: Sequence[str] = ()) -> Report[Any]:
        """The figures of the schedule (docs/Report.md): `report().makespan`. `model`
        is the communication model for a schedule with transfers, `edge` by default;
        `cost` and `profile` replace the costs that it was compiled with. With `exact`
        the figures are fractions. Raises CompileError."""
        from ._report import read_report

        return read_report(self._simulated("report", model, cost, profile, ["--format=json", *words(args)]), exact)

    @functools.cached_property
    def makespan(self) -> float:
        """The makespan under the costs that it was compiled with: `report().makespan`."""
        return self.report().makespan

    def simulate(self, *, model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
                 args: Sequence[str] = ()) -> Times:
        """When every step runs, as arrays; the arguments are those of `report`."""
        from ._times import Times

        return Times(self._simulated("times", model, cost, profile, args))

    def to_dataframe(self, *, model: str | None = None, cost: Cost | None = None, profile: Profile | None = None,
                     args: Sequence[str] = ()) -> Any:
        """A pandas DataFrame with a row for each step and when it runs: that of
        `simulate()`. Raises PackageNotFound without pandas."""
        return self.simulate(model=model, cost=cost, profile=profile, args=args).to_dataframe()

    def svg(self, *args: str) -> Svg:
        """A picture of the schedule over time (docs/Pictures.md): a text, which a
        notebook shows as a picture. `args` are further arguments of pipec."""
        return Svg(self.emit("svg", *args))

    def html(self, *args: str) -> Page:
        """An interactive page: a text, which a notebook shows in a frame. `args` are
        further arguments of pipec."""
        return Page(self.emit("html", *args))

    def _is_shown(self) -> bool:
        """Whether notebooks show it as more than text. It has at most a line per step."""
        return self.ir.count("\n", self.ir.find("  rank 0 {")) <= SHOWN_STEPS

    def _repr_svg_(self) -> str | None:
        return _none_if_refused(self.svg) if self._is_shown() else None

    def _repr_html_(self) -> str | None:
        return _none_if_refused(lambda: self.html()._repr_html_()) if self._is_shown() else None

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


def _none_if_refused(make: Callable[[], str]) -> str | None:
    """What notebooks show of a schedule that cannot run: its text."""
    try:
        return make()
    except CompileError:
        return None
