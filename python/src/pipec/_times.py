"""When every step of a schedule runs, as arrays (docs/Report.md)."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import array
import json
from typing import Any

from ._data import rounded
from ._kinds import Kind
from ._packages import numpy_or_none, pandas

_COLUMNS = {"rank": "i", "position": "q", "kind": "B", "stage": "i", "microbatch": "i", "peer": "i", "other": "i",
            "phase": "i"}
"""The columns that are not times, with their types as codes that both kinds of arrays know."""


class Times:
    """A simulated run of a schedule: one array per column, with an element for each
    step, those of rank 0 first, in the order of `Schedule.steps`.

    The arrays are NumPy's if it is installed, else those of the module `array`.
    A number that a step does not have is -1.
    """

    rank: Any
    position: Any
    """The line of the rank's list: members of one overlap or batch share it."""
    kind: Any
    """Numbers of `pipec.Kind`."""
    stage: Any
    microbatch: Any
    peer: Any
    """The rank at the other end of a transfer."""
    other: Any
    """The stage at the other end of a transfer, or of the send that is waited for."""
    phase: Any
    """Indices of `phases`."""
    start: Any
    """In the unit of the costs; floating point."""
    end: Any
    start_ticks: Any
    """The same times as whole numbers: `ticks_per_unit` of them are one unit."""
    end_ticks: Any

    def __init__(self, text: str):
        """Reads the JSON of `--emit=times`."""
        data = json.loads(text)
        numbers = {str(kind).lower(): int(kind) for kind in Kind}
        data["kind"] = [numbers[name.lower()] for name in data["kind"]]
        self.name: str = data["name"]
        self.model: str | None = data["model"]
        """The communication model; None for a schedule without transfers."""
        self.ticks_per_unit: int = data["ticks_per_unit"]
        self.phases: tuple[str, ...] = tuple(data["phases"])
        numpy = numpy_or_none()
        for name, code in _COLUMNS.items():
            setattr(self, name, _array(numpy, code, data[name]))
        for name in "start", "end":
            setattr(self, f"{name}_ticks", _array(numpy, "q", data[name]))
            setattr(self, name, _array(numpy, "d", [ticks / self.ticks_per_unit for ticks in data[name]]))

    def __len__(self) -> int:
        return len(self.rank)

    def __repr__(self) -> str:
        return f"<pipec.Times {self.name}: {len(self)} steps, end {rounded(max(self.end, default=0))}>"

    def to_dataframe(self) -> Any:
        """A pandas DataFrame with a row for each step, its kind and phase as names.
        Raises PackageNotFound without pandas."""
        frames = pandas("Times.to_dataframe")
        columns = {name: getattr(self, name) for name in _COLUMNS}
        columns["kind"] = frames.Categorical.from_codes(self.kind, [str(kind) for kind in Kind])
        columns["phase"] = frames.Categorical.from_codes(self.phase, self.phases)
        return frames.DataFrame({**columns, "start": self.start, "end": self.end})


def _array(numpy: Any, code: str, values: list[Any]) -> Any:
    return array.array(code, values) if numpy is None else numpy.array(values, dtype=code)
