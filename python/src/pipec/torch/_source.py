"""Executors of `pipec --emit=python` as modules."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import hashlib
import linecache
from typing import Any, Callable

COMMUNICATORS = ("one", "pair", "edge")
"""The communicators of an executor, the fewest first."""


class Source:
    """What an executor says; importing it runs none of its steps."""

    def __init__(self, text: str, name: str):
        """`name` is that of the schedule."""
        self.text, self.name = text, name
        # Lines of this file show in tracebacks, where another source of this name
        # has another digest.
        file = f"<pipec {name} {hashlib.sha256(text.encode()).hexdigest()[:8]}>"
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        names: dict[str, Any] = {}
        exec(compile(text, file, "exec"), names)  # noqa: S102 (written by pipec)
        self.run: Callable[[int, Any], None] = names["run"]
        """Runs one training step on a rank with a worker."""
        self.communicators: str | None = names["communicators"]
        """One of COMMUNICATORS, or None if the lists deadlock with all of them."""
        self.rank_pairs: list[tuple[int, int]] = names["rank_pairs"]
        """The ranks between which there are transfers."""

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
