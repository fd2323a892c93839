"""The transfers of an executor: communicators, and waits that end."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import datetime
import socket
import time
from typing import Any, Callable, Iterator, Sequence, Union

import torch
import torch.distributed as dist

from ._copies import Made
from ._metas import unit_text

RECEIVES_AHEAD = 4
"""How many receives are posted ahead of the list."""
NEVER = 2**31 - 1
"""A tag without messages."""


Name = Union[str, tuple[tuple[Any, ...], int, int]]
"""A text, or a step (kind and numbers), the slices of a micro-batch and the peer of a
transfer, of which the text is only made for messages."""


def text_of(name: Name) -> str:
    """`RECV_F s1 m0 from rank 0`."""
    if isinstance(name, str):
        return name
    (kind, stage, unit, *other), slices, peer = name
    receives = kind.startswith("RECV")
    edge = f" {'<-' if receives else '->'} s{other[0]}" if other else ""
    return f"{kind} s{stage} {unit_text(unit, slices)}{edge} {'from' if receives else 'to'} rank {peer}"


class LostError(RuntimeError):
    """A transfer that failed."""


class Posted:
    """A transfer that was posted, or is to be. (One object throughout: a tuple for each
    state takes a microsecond of each transfer.)"""

    __slots__ = "works", "tensors", "name", "made", "rest"

    def __init__(self, works: list[Any], tensors: tuple[torch.Tensor, ...], name: Name = "", made: Made | None = None,
                 rest: Callable[[torch.Tensor], Posted] | None = None):
        self.works = works
        """What is still waited for. The transfers of a batch share this list: a work of
        gloo can be waited for only once."""
        self.tensors = tensors
        self.name = name
        """For messages."""
        self.made = made
        """Where the tensors are made; None for what nothing else waits for."""
        self.rest = rest
        """Of a header that is received: what posts the receive of the tensors."""


Receive = tuple[Any, ...]
"""The kind, the stage and the micro-batch of a receive, and the stage at the other end
if it is not a neighbour."""


class Ahead:
    """Posts receives ahead of the list that a rank runs: a receive that is posted
    before its send saves the sender a message and a wait for it. The receives of each
    run are those of the first one, in their order, so that the transfers between two
    ranks keep theirs. `depth` is how many are posted beyond the one that the list has
    reached; each has room for its tensors."""

    def __init__(self, depth: int):
        self._depth = depth
        self._order: list[Receive] = []
        self._positions: dict[Receive, int] | None = None
        self._posted: dict[Receive, Posted] = {}
        self._next = 0

    @property
    def known(self) -> bool:
        """Whether there was a first run."""
        return self._positions is not None

    def begin(self) -> None:
        """Before a run."""
        self._posted.clear()
        self._next = 0
        if self._positions is None:
            self._order.clear()  # of a run that failed

    def take(self, receive: Receive, post: Callable[[Receive], Posted]) -> Posted:
        """The next receive of the list; `post` posts one."""
        if self._positions is None:
            self._order.append(receive)
            return post(receive)
        position = self._positions.get(receive)
        if position is None:
            raise RuntimeError(f"{receive[0]} s{receive[1]} m{receive[2]} was not among the receives of the first run")
        end = position + 1 + self._depth
        if self._next < end:
            for other in self._order[self._next:end]:
                self._posted[other] = post(other)
            self._next = end
        return self._posted.pop(receive)

    def end(self) -> None:
        """After a run."""
        if self._posted:
            kind, stage, microbatch, *_ = next(iter(self._posted))
            raise RuntimeError(f"{kind} s{stage} m{microbatch} was among the receives of the first run, and not of this one")
        if self._depth and self._positions is None:
            self._positions = {receive: position for position, receive in enumerate(self._order)}


class Transfers:
    """Sends and receives tensors between the ranks of a group.

    `communicators` is `one` for the group itself, `pair` for a communicator per
    pair of ranks, or `edge` for one per directed pair; these two are created by all
    ranks of the job together. `pairs` are the pairs (lower, higher) of ranks that
    exchange tensors; every rank of the group has the same ones. `patience` is the time
    in seconds that a rank waits for a transfer. `receives_ahead` is the depth of
    `Ahead`, by default RECEIVES_AHEAD where posting a transfer never waits for another
    one, that is with gloo, and 0 elsewhere.
    """

    def __init__(self, group: dist.ProcessGroup | None, device: torch.device, communicators: str, pairs: Sequence[tuple[int, int]],
                 patience: float | None, receives_ahead: int | None):
        self.group: dist.ProcessGroup = group or dist.distributed_c10d._get_default_group()
        self.device = device
        self.rank = dist.get_rank(self.group)
        backend = _backend(self.group, device)
        independent = backend == "gloo"
        if receives_ahead is not None and receives_ahead < 0:
            raise ValueError(f"receives_ahead={receives_ahead} is negative")
        if receives_ahead and not independent:
            raise ValueError(f"receives_ahead: with {backend} a receive can wait for transfers that are posted after it")
        self.receives_ahead = RECEIVES_AHEAD * independent if receives_ahead is None else receives_ahead
        self.patience = None if patience is None else datetime.timedelta(seconds=patience)
        self._world = dist.get_process_group_ranks(self.group)
        self._groups: dict[tuple[int, int], dist.ProcessGroup] = {}
        # By direction and peer, what posts a transfer, and the peer's rank there.
        self._ends: dict[tuple[bool, int], tuple[Callable[..., Any], int]] = {}
        self.independent = independent
        """Whether posting a transfer never waits for another one."""
        self.round = 0
        """Counts runs, so that ranks do not read what was said in an earlier one."""
        if communicators == "one":
            return
        edges = [edge for a, b in pairs for edge in ([(a, b), (b, a)] if communicators == "edge" else [(a, b)])]
        # Every rank of the job takes part in the creation of every group.
        wanted: list[list[tuple[int, int]]] = [[]] * dist.get_world_size()
        dist.all_gather_object(wanted, [(self._world[a], self._world[b]) for a, b in edges])
        mine = {(self._world[a], self._world[b]): (a, b) for a, b in edges}
        for ends in dict.fromkeys(ends for of_rank in wanted for ends in of_rank):
            made: Any = dist.new_group(sorted(ends), group_desc=f"pipec {ends[0]}->{ends[1]}")
            if ends in mine and self.rank in mine[ends]:
                a, b = mine[ends]
                self._groups[a, b] = made
                if communicators == "pair":
                    self._groups[b, a] = made

    def _group(self, sends: bool, peer: int) -> dist.ProcessGroup:
        return self._groups.get((self.rank, peer) if sends else (peer, self.rank), self.group)

    def post(self, sends: bool, peer: int, posted: Posted, tag: int = 0) -> None:
        """Posts sends to `peer`, or receives from it. With gloo, transfers with different
        tags may be received in another order than they are sent."""
        ends = self._ends.get((sends, peer))
        if ends is None:  # (dist.isend looks for these at every call)
            group: Any = self._group(sends, peer)
            there = dist.get_group_rank(group, self._world[peer])
            ends = self._ends[sends, peer] = group.send if sends else group.recv, there
        do, there = ends
        try:
            for tensor in posted.tensors:
                posted.works.append(do([torch.view_as_real(tensor) if tensor.is_complex() else tensor], there, tag))
        except RuntimeError as error:
            raise LostError(self._failed(text_of(posted.name), str(error))) from error

    def operation(self, sends: bool, tensor: torch.Tensor, peer: int) -> dist.P2POp:
        """The same as a member of a batch."""
        return dist.P2POp(dist.isend if sends else dist.irecv, tensor, self._world[peer], self._group(sends, peer))

    def communicator_of(self, ranks: Sequence[int], name: str) -> Any:
        """A communicator of some ranks of the group. All ranks of the job call this
        together, each with those of its own group, and create all of them in one order."""
        mine = tuple(self._world[rank] for rank in ranks)
        wanted: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(wanted, mine)
        made = {}
        for members in dict.fromkeys(wanted):
            made[members] = dist.new_group(list(members), group_desc=name)
        return made[mine]

    def swap(self, mine: torch.Tensor, peer: int) -> tuple[torch.Tensor, list[dist.P2POp]]:
        """Operations, for one batch with those of other peers, that send a tensor and
        receive one of its type and shape, and what they receive."""
        theirs = torch.empty_like(mine)
        return theirs, [dist.P2POp(function, tensor, self._world[peer], self.group)
                        for function, tensor in ((dist.isend, mine), (dist.irecv, theirs))]

    def post_batch(self, operations: list[dist.P2POp], text: str) -> list[Any]:
        """Posts transfers together, those of each communicator in a batch of its own;
        `text` names them in messages."""
        groups: dict[tuple[int, ...], list[dist.P2POp]] = {}
        for operation in operations:
            groups.setdefault((*dist.get_process_group_ranks(operation.group), id(operation.group)), []).append(operation)
        try:
            return [work for ranks in sorted(groups) for work in dist.batch_isend_irecv(groups[ranks])]
        except RuntimeError as error:
            raise LostError(self._failed(text, str(error))) from error

    def wait(self, posted: Posted) -> None:
        """Waits for a transfer. Raises LostError when it fails, or takes longer than the
        patience, with what the ranks of the group wait for."""
        works = posted.works
        try:
            while works:
                work = works.pop()
                if self.patience is None:
                    work.wait()
                else:
                    work.wait(self.patience)
        except RuntimeError as error:
            raise LostError(self._failed(text_of(posted.name), str(error))) from error

    @contextlib.contextmanager
    def named(self, text: str) -> Iterator[None]:
        """Raises LostError, with `text`, for what fails within it."""
        try:
            yield
        except RuntimeError as error:
            raise LostError(self._failed(text, str(error))) from error

    def break_off(self, what: str | None) -> None:
        """After a failure of this rank, tells the others, and ends what they wait for
        even if this process lives: they cannot receive what it no longer sends."""
        if what is not None:
            self.say(what)
        others = [rank for rank in range(len(self._world)) if rank != self.rank]
        if not others:
            return
        with contextlib.suppress(RuntimeError):
            if self.independent:
                # A receive that is late closes the connections of gloo.
                for group in {id(group): group for group in [self.group, *self._groups.values()]}.values():
                    peer: Any = next(rank for rank in dist.get_process_group_ranks(group) if rank != self._world[self.rank])
                    work: Any = dist.irecv(torch.empty(1), peer, group, tag=NEVER)
                    with contextlib.suppress(RuntimeError):
                        work.wait(datetime.timedelta(milliseconds=1))
            else:
                for group in {id(group): group for group in [self.group, *self._groups.values()]}.values():
                    group.abort()

    def _failed(self, text: str, error: str) -> str:
        """Tells the other ranks what this one waits for, and says what they wait for.
        (A rank that gives up closes its connections, so others fail at once.)"""
        if "imed out" in error:
            seconds = "" if self.patience is None else f" for {self.patience.total_seconds():g} s"
            what = f"rank {self.rank} waited{seconds} for {text}"
        else:
            what = f"rank {self.rank} lost {text}: {error.splitlines()[0]}"
        self.say(what)
        store = self._store()
        others = {rank: str(world) for rank, world in enumerate(self._world) if rank != self.rank}
        lines = {self.rank: what}
        end = time.monotonic() + 5
        # The store may be lost, too: it is kept by one of the processes.
        with contextlib.suppress(RuntimeError):
            while self._store_is_there() and others and time.monotonic() < end:
                for rank, key in list(others.items()):
                    if store.check([key]):
                        lines[rank] = store.get(key).decode()
                        del others[rank]
                time.sleep(0.05)
        silent = f"; no answer from rank {', '.join(map(str, others))}" if others else ""
        return "; ".join(lines[rank] for rank in sorted(lines)) + silent

    def say(self, what: str) -> None:
        """Tells ranks that fail later what happened on this one, if they can be told."""
        with contextlib.suppress(RuntimeError):
            if self._store_is_there():
                self._store().set(str(self._world[self.rank]), what)

    @staticmethod
    def _store_is_there() -> bool:
        """False if the process that keeps the store has ended. (A call of PyTorch would
        print a stack of C++ then.)"""
        store: Any = dist.distributed_c10d._get_default_store()
        while hasattr(store, "underlying_store"):
            store = store.underlying_store
        if not isinstance(store, dist.TCPStore):  # type: ignore[attr-defined, unused-ignore]
            return True
        try:
            socket.create_connection((store.host, store.port), timeout=1).close()
        except OSError:
            return False
        return True

    def _store(self) -> Any:
        return dist.distributed_c10d.PrefixStore(f"pipec {self.round}", dist.distributed_c10d._get_default_store())


def _backend(group: dist.ProcessGroup, device: torch.device) -> str:
    """The backend of a group for tensors of a device: a group may have several."""
    backends = dict(part.split(":") for part in str(dist.get_backend_config(group)).split(","))
    return backends.get(device.type, "none")
