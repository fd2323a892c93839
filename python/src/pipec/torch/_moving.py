"""The transfers among the steps of a rank."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._copies import Streams
from ._metas import HEADER, Meta, Tensors, header_of, metas_in
from ._parts import Edge, Part
from ._source import METHODS
from ._transfers import Ahead, Posted, Transfers, text_of

WAITS = {kind: METHODS[f"WAIT_{kind}"] for kind in ("SEND_F", "SEND_B")}
HEADERS = 1
"""The tag of headers; those of what follows them are larger, and 0 is that of the rest."""


class Moving:
    """The transfers of one rank.

    Where shapes are known, a transfer is one message for each tensor. Where they are
    not (`headers`), a header goes before the outputs of a stage, and the receive of
    the tensors is posted when it has arrived."""

    def __init__(self, parts: Sequence[Mapping[int, Part]], split: int, transfers: Transfers, slices: int):
        # By direction and stage; units from `split` on flow in direction 1. Steps are
        # numbered by unit, a micro-batch or a slice of one.
        self._parts, self._split = parts, split
        self.slices = slices
        self._transfers = transfers
        self._streams = Streams(transfers.device, max((part.stream for part in self.all_parts()), default=0))
        self._sends: dict[tuple[Any, ...], Posted] = {}
        self._ahead = Ahead(transfers.receives_ahead)
        self.most_sends = 0
        """How many sends may be outstanding, if the list has no waits for them; 0 for any."""
        self.headers = False
        """Whether the outputs of stages go with headers in this run."""
        self.handled: set[str] = set()
        """The kinds of steps that have a handler."""

    def part(self, stage: int, unit: int) -> Part:
        return self._parts[unit >= self._split][stage]

    def all_parts(self) -> list[Part]:
        return [part for parts in self._parts for part in parts.values()]

    def edge(self, kind: str, stage: int, unit: int, other: int | None = None) -> Edge:
        """The edge of a transfer. `other` is the stage at the other end, if it is not
        the next or the one before."""
        part = self.part(stage, unit)
        if kind in ("SEND_F", "RECV_B"):
            return part.target(stage + 1 if other is None else other)
        return part.source(stage - 1 if other is None else other)

    def arrived(self, values: dict[int, Posted], unit: int) -> Tensors:
        """Waits for what a step of a unit uses, which stays in `values`."""
        posted = values[unit]
        if posted.works:
            self._transfers.wait(posted)
        if posted.rest:  # it was the header
            posted = posted.rest(*posted.tensors)
            self._transfers.wait(posted)
            values[unit] = posted
        if posted.made is not None:
            self._streams.use(posted.tensors, posted.made)
        return posted.tensors

    def take(self, values: dict[int, Posted], unit: int) -> Tensors:
        """The same, and removes it."""
        tensors = self.arrived(values, unit)
        del values[unit]
        return tensors

    # Sends

    def _to_send(self, step: tuple[Any, ...]) -> tuple[int, Posted]:
        """The peer of a send, and what is posted."""
        kind, stage, unit = step[:3]
        edge = self.edge(*step)
        peer, values = (edge.target_rank, edge.outputs) if kind == "SEND_F" else (edge.source_rank, edge.gradients)
        posted = values.pop(unit)
        posted.name = step, self.slices, peer
        for tensor in posted.tensors:
            if not tensor.is_contiguous():
                with self._streams.on(self.part(stage, unit).stream):
                    posted.tensors = tuple([tensor.contiguous() for tensor in posted.tensors])
                    posted.made = self._streams.made()
                break
        return peer, posted

    def _send(self, *step: Any) -> None:
        sends = self._sends
        if not self._transfers.independent:  # (gloo never says that a work is completed)
            while sends and all([work.is_completed() for work in next(iter(sends.values())).works]):
                self._wait_send(next(iter(sends)))  # (does not wait)
        # Where headers travel, ranks wait at receives, for which the budget is not proven.
        while len(sends) >= self.most_sends > 0 and not self.headers:
            oldest = next(iter(sends))
            getattr(self, WAITS[oldest[0]])(*oldest[1:])
            sends.pop(oldest, None)  # (which a handler may have left)
        peer, posted = self._to_send(step)
        if self._streams.sends is None:
            self._post_send(step, peer, posted)
        else:
            with self._streams.posting((posted.tensors, posted.made)):
                self._post_send(step, peer, posted)
        sends[step] = posted

    def _post_send(self, step: tuple[Any, ...], peer: int, posted: Posted) -> None:
        if not self.headers or step[0] == "SEND_B":
            return self._transfers.post(True, peer, posted)
        header = Posted(posted.works, (header_of(Meta.of(posted.tensors), self._transfers.device),), posted.name)
        self._transfers.post(True, peer, header, HEADERS)
        self._transfers.post(True, peer, posted, self._tag(*step))
        posted.tensors += header.tensors

    def _tag(self, *step: Any) -> int:
        """The tag of outputs that follow a header: receives of several may be posted in
        another order than the sends."""
        edge = self.edge(*step)
        return int(HEADERS + 1 + (step[2] * edge.count + edge.number) % 2**30)

    def _wait_send(self, step: tuple[Any, ...]) -> None:
        """Waits for a send, before its tensors may be freed. It may have ended before."""
        if posted := self._sends.pop(step, None):
            self._transfers.wait(posted)
            if posted.made is not None:
                self._streams.use(posted.tensors, posted.made)

    def sent(self, part: Part, unit: int) -> None:
        """The outputs of a unit have arrived: their gradients are here."""
        if not self._sends:
            return
        self._wait_send(("SEND_F", part.index, unit))
        for edge in part.targets:
            self._wait_send(("SEND_F", part.index, unit, edge.target))

    # Receives

    def _to_receive(self, step: tuple[Any, ...]) -> tuple[int, Posted]:
        edge = self.edge(*step)
        unit = step[2]
        peer, metas = (edge.source_rank, edge.metas[unit]) if step[0] == "RECV_F" else \
            (edge.target_rank, edge.gradient_metas_of(unit))
        device = self._transfers.device
        return peer, Posted([], tuple([meta.empty(device) for meta in metas]), (step, self.slices, peer), self._streams.room())

    def _received(self, posted: Posted, step: tuple[Any, ...]) -> None:
        edge = self.edge(*step)
        (edge.outputs if step[0] == "RECV_F" else edge.gradients)[step[2]] = posted

    def _receive(self, *step: Any) -> None:
        # Ahead of its forward, the shapes of a gradient are not known.
        ahead = not self.headers or not self._ahead.known
        self._received(self._ahead.take(step, self._post_receive) if ahead else self._post_receive(step), step)

    def _post_receive(self, step: tuple[Any, ...], tag: int = 0) -> Posted:
        """Posts a receive, of the header where there is one. With a `tag`, of what follows it."""
        if not self.headers or step[0] == "RECV_B" or tag:
            peer, posted = self._to_receive(step)
            self._transfers.post(False, peer, posted, tag)
            return posted
        edge = self.edge(*step)

        def rest(header: Any) -> Posted:
            edge.metas[step[2]] = metas_in(header)
            return self._post_receive(step, self._tag(*step))

        posted = Posted([], (HEADER.empty(self._transfers.device),), (step, self.slices, edge.source_rank), None, rest)
        self._transfers.post(False, edge.source_rank, posted, HEADERS)
        if self._transfers.independent:
            return posted
        self._transfers.wait(posted)
        return rest(*posted.tensors)

    # The steps

    def send_forward(self, stage: int, unit: int, *other: int) -> None:
        self._send("SEND_F", stage, unit, *other)

    def recv_forward(self, stage: int, unit: int, *other: int) -> None:
        self._receive("RECV_F", stage, unit, *other)

    def send_backward(self, stage: int, unit: int, *other: int) -> None:
        self._send("SEND_B", stage, unit, *other)

    def recv_backward(self, stage: int, unit: int, *other: int) -> None:
        self._receive("RECV_B", stage, unit, *other)

    def wait_send_forward(self, stage: int, unit: int, *other: int) -> None:
        self._wait_send(("SEND_F", stage, unit, *other))

    def wait_send_backward(self, stage: int, unit: int, *other: int) -> None:
        self._wait_send(("SEND_B", stage, unit, *other))

    def batch(self, *members: tuple[Any, ...]) -> None:
        """Posts transfers together, so that they do not wait for each other. Where a
        member has a handler, they are posted one by one."""
        one_by_one = any(member[0] in self.handled for member in members)
        if self._transfers.independent or one_by_one:
            for kind, *numbers in members:
                getattr(self, METHODS[kind])(*numbers)
            return
        planned = []
        operations = []
        for member in members:
            sends = member[0].startswith("SEND")
            peer, posted = (self._to_send if sends else self._to_receive)(member)
            operations += [self._transfers.operation(sends, tensor, peer) for tensor in posted.tensors]
            planned.append((sends, member, posted))
        sent = [(posted.tensors, posted.made) for sends, _, posted in planned if sends]
        with self._streams.posting(*sent, receives=len(sent) < len(planned)):
            works = self._transfers.post_batch(operations, ", ".join(text_of(posted.name) for *_, posted in planned))
        for sends, member, posted in planned:
            posted.works = works
            if sends:
                self._sends[member] = posted
            else:
                self._received(posted, member)
