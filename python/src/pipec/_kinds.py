"""The kinds of steps, and steps."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import enum
from typing import NamedTuple, Sequence, Tuple

from ._data import counted


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
    R = 16
    UPDATE = 17
    OFFLOAD = 18
    WAIT_OFFLOAD = 19
    RELOAD = 20

    def __str__(self) -> str:
        return self.name


NEXT_STAGE = {Kind.SEND_F: 1, Kind.RECV_F: -1, Kind.SEND_B: -1, Kind.RECV_B: 1, Kind.WAIT_SEND_F: 1, Kind.WAIT_SEND_B: -1}
"""In a chain, from the stage of a transfer, or of a wait for one, to the stage at its
other end."""


class Step(NamedTuple):
    """One step of one rank. A number that the kind does not have is -1."""

    kind: Kind
    stage: int
    """Of a REDUCE_TIED, the number of its group."""
    microbatch: int
    """With slices, the number of its unit: micro-batch * slices + slice."""
    peer: int
    """The rank at the other end of a transfer."""
    group: int
    """The line of the rank's list: members of one overlap or batch share it."""
    other: int = -1
    """The stage at the other end of a transfer, or of the send that is waited for."""

    def __repr__(self) -> str:
        return step_text(*self)


SHOWN_IN_TEXT = 60
"""How many steps the text of a list shows."""


class StepList(Tuple[Step, ...]):
    """The steps of a rank, without NumPy."""

    def __repr__(self) -> str:
        stages = {step.stage for step in self if step.kind != Kind.BUBBLE}
        return list_text(self[:SHOWN_IN_TEXT], len(self), sorted(stages))


def list_text(first: Sequence[tuple[int, ...]], count: int, stages: Sequence[int]) -> str:
    """The text of a list of `count` steps of these stages, of which `first` are shown:
    `F0`, a kind and a micro-batch, in a list of one stage, else `F s1 m0`."""
    texts: list[str] = []
    line = None
    is_short = len(stages) == 1 and all(step[0] != Kind.REDUCE_TIED for step in first)
    for step in first:
        text = step_text(*step)
        if is_short:
            text = text.replace(f" s{step[1]} m", "").replace(f" s{step[1]}", "")
        if texts and step[4] == line:
            texts[-1] += " & " + text
        else:
            texts.append(text)
        line = step[4]
    if count > len(first):
        texts.append("...")
    head = counted(count, "step") + (f" of stage {stages[0]}" if is_short else "")
    return f"<{head}{': ' if texts else ''}{', '.join(texts)}>"


def step_text(kind: int, stage: int, microbatch: int, peer: int, group: int = 0, other: int = -1) -> str:
    """A step as `Schedule.from_steps` takes it: `F s0 m1`, `SEND_F s0 m1 -> r1`."""
    if kind == Kind.BUBBLE:
        return "bubble"
    name = Kind(kind).name
    text = f"{name} {'t' if kind == Kind.REDUCE_TIED else 's'}{stage}"
    if microbatch >= 0:
        text += f" m{microbatch}"
    if peer >= 0:
        text += f" {'<-' if name.startswith('RECV') else '->'} r{peer}"
    return text
