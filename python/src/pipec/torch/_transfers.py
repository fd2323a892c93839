"""The transfers of an executor: communicators, and waits that end."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import contextlib
import datetime
import time
from typing import Any, Callable, Iterator, NamedTuple, Sequence

import torch
import torch.distributed as dist

from ._copies import Made

RECEIVES_AHEAD = 4
"""How many receives are posted ahead of the list."""


class Posted(NamedTuple):
    """A transfer that was posted."""

    works: list[Any]
    """What is still waited for. The transfers of a batch share this list: a work of
    gloo can be waited for only once."""
    tensors: tuple[torch.Tensor, ...]
    text: str
    """For messages: `RECV_F s1 m0 from rank 0`."""
    made: Made | None = None
    """Where the tensors are made; None for what nothing else waits for."""


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

    def begin(self) -> None:
        """Before a run."""
        self._posted.clear()
        self._next = 0
        if self._positions is None:
            self._order.clear()  # of a run that failed

    def take(self, receive: Receive, post: Callable[..., Posted]) -> Posted:
        """The next receive of the list; `post` posts one."""
        if self._positions is None:
            self._order.append(receive)
            return post(*receive)
        if receive not in self._positions:
            raise RuntimeError(f"{receive[0]} s{receive[1]} m{receive[2]} was not among the receives of the first run")
        position = self._positions[receive]
        for other in self._order[self._next:position + 1 + self._depth]:
            self._posted[other] = post(*other)
        self._next = max(self._next, position + 1 + self._depth)
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

    def __init__(self, group: dist.ProcessGroup, device: torch.device, communicators: str, pairs: Sequence[tuple[int, int]],
                 patience: float | None, receives_ahead: int | None):
        self.group = group
        self.device = device
        self.rank = dist.get_rank(group)
        backend = _backend(group, device)
        independent = backend == "gloo"
        if receives_ahead is not None and receives_ahead < 0:
            raise ValueError(f"receives_ahead={receives_ahead} is negative")
        if receives_ahead and not independent:
            raise ValueError(f"receives_ahead: with {backend} a receive can wait for transfers that are posted after it")
        self.receives_ahead = RECEIVES_AHEAD * independent if receives_ahead is None else receives_ahead
        self.patience = None if patience is None else datetime.timedelta(seconds=patience)
        self._world = dist.get_process_group_ranks(group)
        self._groups: dict[tuple[int, int], dist.ProcessGroup] = {}
        self.round = 0
        """Counts runs, so that ranks do not read what was said in an earlier one."""
        if communicators == "one":
            return
        edges = [edge for pair in pairs for edge in ([pair, pair[::-1]] if communicators == "edge" else [pair])]
        # Every rank of the job takes part in the creation of every group.
        wanted: list[list[tuple[int, int]]] = [[]] * dist.get_world_size()
        dist.all_gather_object(wanted, [(self._world[a], self._world[b]) for a, b in edges])
        mine = {(self._world[a], self._world[b]): (a, b) for a, b in edges}
        for ends in dict.fromkeys(ends for of_rank in wanted for ends in of_rank):
            made: Any = dist.new_group(sorted(ends), group_desc=f"pipec {ends[0]}->{ends[1]}")
            if ends in mine and self.rank in mine[ends]:
                self._groups[mine[ends]] = made
                if communicators == "pair":
                    self._groups[mine[ends][::-1]] = made

    def _group(self, sends: bool, peer: int) -> dist.ProcessGroup:
        return self._groups.get((self.rank, peer) if sends else (peer, self.rank), self.group)

    def post(self, sends: bool, peer: int, planned: Posted) -> Posted:
        """Posts sends to `peer`, or receives from it."""
        group, world = self._group(sends, peer), self._world[peer]
        with self.named(planned.text):
            works: list[Any] = [dist.isend(tensor, world, group) if sends else dist.irecv(tensor, world, group)
                                for tensor in planned.tensors]
        return planned._replace(works=works)

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
        """Posts transfers together; `text` names them in messages."""
        with self.named(text):
            works: list[Any] = dist.batch_isend_irecv(operations)
        return works

    def wait(self, posted: Posted) -> None:
        """Waits for a transfer. Raises RuntimeError when it fails, or takes longer than
        the patience, with what the ranks of the group wait for."""
        with self.named(posted.text):
            while posted.works:
                work = posted.works.pop()
                if self.patience is None:
                    work.wait()
                else:
                    work.wait(self.patience)

    @contextlib.contextmanager
    def named(self, text: str) -> Iterator[None]:
        """A transfer fails where it is waited for, or already where it is posted, when
        its connection is known to be lost. Raises RuntimeError for both, with `text`."""
        try:
            yield
        except RuntimeError as error:
            raise RuntimeError(self._failed(text, str(error))) from error

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
            while others and time.monotonic() < end:
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
            self._store().set(str(self._world[self.rank]), what)

    def _store(self) -> Any:
        return dist.distributed_c10d.PrefixStore(f"pipec {self.round}", dist.distributed_c10d._get_default_store())


def _backend(group: dist.ProcessGroup, device: torch.device) -> str:
    """The backend of a group for tensors of a device: a group may have several."""
    backends = dict(part.split(":") for part in str(dist.get_backend_config(group)).split(","))
    return backends.get(device.type, "none")
