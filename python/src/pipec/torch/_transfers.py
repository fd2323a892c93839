"""The transfers of an executor: communicators, and waits that end."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import datetime
import time
from typing import Any, NamedTuple, Sequence

import torch
import torch.distributed as dist

class Posted(NamedTuple):
    """A transfer that was posted."""

    works: list[Any]
    """What is still waited for. The transfers of a batch share this list: a work of
    gloo can be waited for only once."""
    tensors: tuple[torch.Tensor, ...]
    text: str
    """For messages: `RECV_F s1 m0 from rank 0`."""


class Transfers:
    """Sends and receives tensors between the ranks of a group.

    `communicators` is `one` for the group itself, `pair` for a communicator per
    pair of ranks, or `edge` for one per directed pair; these two are created by all
    ranks of the job together. `pairs` are the pairs (lower, higher) of ranks that
    exchange tensors; every rank of the group has the same ones. `patience` is the time in seconds that a rank waits for a
    transfer.
    """

    def __init__(self, group: dist.ProcessGroup, communicators: str, pairs: Sequence[tuple[int, int]], patience: float | None):
        self.group = group
        self.rank = dist.get_rank(group)
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

    def one(self, sends: bool, tensor: torch.Tensor, peer: int) -> Any:
        """Posts a send to `peer`, or a receive from it."""
        group = self._group(sends, peer)
        if sends:
            return dist.isend(tensor, self._world[peer], group)
        return dist.irecv(tensor, self._world[peer], group)

    def operation(self, sends: bool, tensor: torch.Tensor, peer: int) -> dist.P2POp:
        """The same as a member of a batch."""
        return dist.P2POp(dist.isend if sends else dist.irecv, tensor, self._world[peer], self._group(sends, peer))

    def wait(self, posted: Posted) -> None:
        """Waits for a transfer. Raises RuntimeError when it fails, or takes longer than
        the patience, with what the ranks of the group wait for."""
        while posted.works:
            work = posted.works.pop()
            try:
                if self.patience is None:
                    work.wait()
                else:
                    work.wait(self.patience)
            except RuntimeError as error:
                raise RuntimeError(self._failed(posted.text, str(error))) from error

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
        while others and time.monotonic() < end:
            for rank, key in list(others.items()):
                if store.check([key]):
                    lines[rank] = store.get(key).decode()
                    del others[rank]
            time.sleep(0.05)
        silent = f"; no word from rank {', '.join(map(str, others))}" if others else ""
        return "; ".join(lines[rank] for rank in sorted(lines)) + silent

    def say(self, what: str) -> None:
        """Tells ranks that fail later what happened on this one."""
        self._store().set(str(self._world[self.rank]), what)

    def _store(self) -> Any:
        return dist.distributed_c10d.PrefixStore(f"pipec {self.round}", dist.distributed_c10d._get_default_store())
