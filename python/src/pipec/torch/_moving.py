"""The transfers among the steps of a rank."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any, Mapping, Sequence

from ._copies import Streams
from ._metas import HEADER, Meta, Tensors, header_of, metas_in
from ._parts import Edge, Part
from ._source import METHODS
from ._transfers import Ahead, Posted, Transfers, text_of

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
        self._streams.use(posted.tensors, posted.made)
        return posted.tensors

    def take(self, values: dict[int, Posted], unit: int) -> Tensors:
        """The same, and removes it."""
        tensors = self.arrived(values, unit)
        del values[unit]
        return tensors

    # Sends

    def _to_send(self, kind: str, stage: int, unit: int, *other: int) -> tuple[int, Posted]:
        """The peer of a send, and what is posted."""
        edge = self.edge(kind, stage, unit, *other)
        peer, values = (edge.target_rank, edge.outputs) if kind == "SEND_F" else (edge.source_rank, edge.gradients)
        posted = values.pop(unit)
        tensors, made = posted.tensors, posted.made
        if not all([tensor.is_contiguous() for tensor in tensors]):
            with self._streams.on(self.part(stage, unit).stream):
                tensors = tuple([tensor.contiguous() for tensor in tensors])
                made = self._streams.made()
        return peer, Posted([], tensors, ((kind, stage, unit, *other), self.slices, peer), made)

    def _send(self, *step: Any) -> None:
        while self._sends and all([work.is_completed() for work in next(iter(self._sends.values())).works]):
            self._wait_send(next(iter(self._sends)))  # (does not wait; gloo never says that a work is completed)
        # Where headers travel, ranks wait at receives, for which the budget is not proven.
        while self.most_sends and not self.headers and len(self._sends) >= self.most_sends:
            oldest = next(iter(self._sends))
            getattr(self, METHODS[f"WAIT_{oldest[0]}"])(*oldest[1:])
            self._sends.pop(oldest, None)  # (which a handler may have left)
        peer, sent = self._to_send(*step)
        with self._streams.posting((sent.tensors, sent.made)):
            if self.headers and step[0] == "SEND_F":
                header = header_of(Meta.of(sent.tensors), self._transfers.device)
                first = self._transfers.post(True, peer, sent._replace(tensors=(header,)), HEADERS)
                posted = self._transfers.post(True, peer, sent, self._tag(*step))
                self._sends[step] = posted._replace(works=first.works + posted.works, tensors=(header, *sent.tensors))
            else:
                self._sends[step] = self._transfers.post(True, peer, sent)

    def _tag(self, *step: Any) -> int:
        """The tag of outputs that follow a header: receives of several may be posted in
        another order than the sends."""
        edge = self.edge(*step)
        return int(HEADERS + 1 + (step[2] * edge.count + edge.number) % 2**30)

    def _wait_send(self, step: tuple[Any, ...]) -> None:
        """Waits for a send, before its tensors may be freed. It may have ended before."""
        if posted := self._sends.pop(step, None):
            self._transfers.wait(posted)
            self._streams.use(posted.tensors, posted.made)

    def sent(self, part: Part, unit: int) -> None:
        """The outputs of a unit have arrived: their gradients are here."""
        for other in [(), *((edge.target,) for edge in part.targets)]:
            self._wait_send(("SEND_F", part.index, unit, *other))

    # Receives

    def _to_receive(self, kind: str, stage: int, unit: int, *other: int) -> tuple[int, Posted]:
        edge = self.edge(kind, stage, unit, *other)
        peer, metas = (edge.source_rank, edge.metas[unit]) if kind == "RECV_F" else \
            (edge.target_rank, edge.gradient_metas_of(unit))
        device = self._transfers.device
        return peer, Posted([], tuple([meta.empty(device) for meta in metas]), ((kind, stage, unit, *other), self.slices, peer),
                            self._streams.room())

    def _received(self, posted: Posted, kind: str, stage: int, unit: int, *other: int) -> None:
        edge = self.edge(kind, stage, unit, *other)
        (edge.outputs if kind == "RECV_F" else edge.gradients)[unit] = posted

    def _receive(self, *step: Any) -> None:
        # Ahead of its forward, the shapes of a gradient are not known.
        ahead = not self.headers or not self._ahead.known
        self._received(self._ahead.take(step, self._post_receive) if ahead else self._post_receive(*step), *step)

    def _post_receive(self, *step: Any) -> Posted:
        if not self.headers or step[0] == "RECV_B":
            return self._transfers.post(False, *self._to_receive(*step))
        edge = self.edge(*step)

        def rest(header: Any) -> Posted:
            edge.metas[step[2]] = metas_in(header)
            return self._transfers.post(False, *self._to_receive(*step), self._tag(*step))

        header = Posted([], (HEADER.empty(self._transfers.device),), (step, self.slices, edge.source_rank), None, rest)
        posted = self._transfers.post(False, edge.source_rank, header, HEADERS)
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
            peer, posted = (self._to_send if sends else self._to_receive)(*member)
            operations += [self._transfers.operation(sends, tensor, peer) for tensor in posted.tensors]
            planned.append((sends, member, posted))
        sent = [(posted.tensors, posted.made) for sends, _, posted in planned if sends]
        with self._streams.posting(*sent, receives=len(sent) < len(planned)):
            works = self._transfers.post_batch(operations, ", ".join(text_of(posted.name) for *_, posted in planned))
        for sends, member, posted in planned:
            posted = posted._replace(works=works)
            if sends:
                self._sends[member] = posted
            else:
                self._received(posted, *member)
