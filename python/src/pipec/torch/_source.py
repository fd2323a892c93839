"""Executors of `pipec --emit=python` as modules."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import hashlib
import inspect
import linecache
import os
import re
import types
from typing import Any, Callable, NamedTuple, Union

COMMUNICATORS = ("one", "pair", "edge")
"""The communicators of an executor, the fewest first."""

METHODS = {"F": "forward", "B": "backward", "I": "backward_input", "W": "backward_weight", "SEND_F": "send_forward",
           "RECV_F": "recv_forward", "SEND_B": "send_backward", "RECV_B": "recv_backward",
           "WAIT_SEND_F": "wait_send_forward", "WAIT_SEND_B": "wait_send_backward", "UNSHARD": "unshard",
           "RESHARD": "reshard", "REDUCE_GRAD": "reduce_grad", "WAIT_REDUCE_GRAD": "wait_reduce_grad",
           "REDUCE_TIED": "reduce_tied", "R": "recompute", "OFFLOAD": "offload", "WAIT_OFFLOAD": "wait_offload",
           "RELOAD": "reload", "UPDATE": "update"}
"""The methods of a worker by the kinds of steps."""
KINDS = {method: kind for kind, method in METHODS.items()}


class Recorder:
    """A worker that notes the steps that a source runs."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []

    def __getattr__(self, method: str) -> Callable[..., None]:
        kind = KINDS[method]
        return lambda *numbers: self.steps.append((kind, *numbers))

    def overlap(self, *members: tuple[Any, ...]) -> None:
        self.steps += members

    batch = overlap

    def sum_replicas(self) -> None: ...


Unit = tuple[int, int]
"""A stage and a unit."""


class Extras(NamedTuple):
    """What the list of a rank has besides forwards, backwards and transfers."""

    remade: frozenset[Unit] = frozenset()
    """The units that have an `R`."""
    copied: frozenset[Unit] = frozenset()
    """Those whose saved tensors are copied to the host."""
    updated: tuple[int, ...] = ()
    """The stages that have an `UPDATE`, ascending."""
    split: bool = False
    """Whether any backwards are split."""


class Source:
    """What an executor says of its schedule; importing it runs none of its steps. Its
    attributes are those of `pipec.Schedule`, as far as it has them."""

    def __init__(self, text: str, file: str | None = None):
        """`file` is where the text is. Raises ValueError for another text."""
        self.text = text
        steps = re.sub(r"(?ms)^order = \[\n.*?^\]\n", "", text)
        self.text_digest = hashlib.sha256(steps.encode()).hexdigest()
        """What ranks compare; an executor runs every order of the batch."""
        found = re.search(r'^name = "(.*)"$', text, re.M)
        if file is None:
            # Lines of this file show in tracebacks, where another source of this name
            # has another digest.
            file = f"<pipec {found[1] if found else ''} {self.text_digest[:8]}>"
            linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        self.file = file
        try:
            names: dict[str, Any] = {}
            exec(compile(text, file, "exec"), names)  # noqa: S102 (written by pipec)
            self.run: Callable[[int, Any], None] = names["run"]
            """Runs one training step on a rank with a worker."""
            self.name, self.program = _text(names["name"]), _text(names["program"])
            """The schedule, and the file of its program."""
            self.digest: str = names["digest"]
            """The digest of the schedule as step IR."""
            self.communicators: str | None = names["communicators"]
            """One of COMMUNICATORS, or None if the lists deadlock with all of them."""
            self.rank_pairs: list[tuple[int, int]] = names["rank_pairs"]
            """The ranks between which there are transfers."""
            self.most_sends: int = names.get("most_sends", 0)
            """How many sends of a rank may be outstanding; 0 if the lists say when to wait."""
            self.ranks, self.stages, self.microbatches = (int(names[size]) for size in ("ranks", "stages", "microbatches"))
            self.slices = int(names.get("slices", 1))
            self.forward_only: bool = names["forward_only"]
            homes = names["rank_of_stage"]
        except (KeyError, SyntaxError) as error:
            raise ValueError(f"{file} is not an executor of --emit=python: {error}") from None
        self.units = self.microbatches * self.slices
        self.maps: list[list[int]] = [homes[at:at + self.stages] for at in range(0, len(homes), self.stages)]
        self.edges: list[tuple[int, int]] = names.get("edges") or [(stage, stage + 1) for stage in range(self.stages - 1)]
        self.ties: list[list[int]] = names.get("ties", [])
        self.order: list[int] | None = names.get("order")
        """By micro-batch, its number in the batch; None if they are the same."""
        numbers = names.get("stream_of_stage", [])
        self.streams = {_text(stream): [stage for stage, on in enumerate(numbers) if on == number]
                        for number, stream in enumerate(names.get("streams", ()), 1)}

    def __repr__(self) -> str:
        return (f"<executor of {self.name}: {self.ranks} ranks, {self.stages} stages, {self.microbatches} micro-batches, "
                f"digest {self.digest}>")

    def stages_of(self, rank: int) -> list[int]:
        """The stages that a rank holds, ascending."""
        return sorted({stage for ranks in self.maps for stage, on in enumerate(ranks) if on == rank})

    def steps_of(self, rank: int) -> list[tuple[Any, ...]]:
        """The kinds and numbers of the steps of a rank, in order."""
        recorder = Recorder()
        self.run(rank, recorder)
        return recorder.steps

    def extras_of(self, rank: int) -> Extras:
        """What the list of a rank has besides forwards, whole backwards and transfers."""
        split = re.search(r'\bx\.backward_input\(|"I"', self.text) is not None
        if not re.search(r'\bx\.(recompute|offload|update)\(|"R"', self.text):
            return Extras(split=split)
        remade = frozenset((step[1], step[2]) for step in self.steps_of(rank) if step[0] == "R")
        saved, copied, updated = set(), set(), set()
        for kind, stage, *units in self.steps_of(rank):
            if kind == "R" or kind == "F" and (stage, units[0]) not in remade:
                saved.add((stage, units[0]))
            elif kind == "OFFLOAD" and (stage, units[0]) in saved:
                copied.add((stage, units[0]))
            elif kind == "UPDATE":
                updated.add(stage)
        return Extras(remade, frozenset(copied), tuple(sorted(updated)), split)

    def line_of(self, line: int) -> int | None:
        """The line of the program that a line of this source comes from."""
        for text in reversed(self.text.splitlines()[:line]):
            if found := re.fullmatch(r"\s*# line (\d+)", text):
                return int(found[1])
            if text.startswith("def "):
                break
        return None

    def communicators_for(self, wanted: str | None) -> str:
        """The communicators to use: those that are wanted, or else the fewest. Raises
        ValueError when the lists deadlock with them."""
        if wanted is not None and wanted not in COMMUNICATORS:
            raise ValueError(f"communicators are {', '.join(COMMUNICATORS)}, and not `{wanted}`")
        if self.communicators is None:
            raise ValueError(f"{self.name} deadlocks whatever the communicators; `pipec lint` shows the cycle")
        if wanted is not None and COMMUNICATORS.index(wanted) < COMMUNICATORS.index(self.communicators):
            raise ValueError(f"{self.name} deadlocks with communicators `{wanted}`; it needs `{self.communicators}`")
        return wanted or self.communicators


Given = Union[str, "os.PathLike[str]", types.ModuleType]


def load_source(given: Any) -> Source | None:
    """The executor in a file of `--emit=python` or in such a module; None for anything
    else. Raises ValueError for another file or module, and OSError."""
    if isinstance(given, types.ModuleType):
        file = inspect.getsourcefile(given)
        if file is None:
            raise ValueError(f"the module {given.__name__} has no source")
    elif isinstance(given, (str, os.PathLike)) and os.fspath(given).endswith(".py"):
        file = os.fspath(given)
    else:
        return None
    with open(file, encoding="utf-8") as stream:
        return Source(stream.read(), file)


def _text(literal: str) -> str:
    """A literal of C in UTF-8, as Python reads it."""
    return literal.replace("\\?", "?").encode("latin-1").decode("utf-8", "backslashreplace")
