"""Lists of steps as arrays; imported where NumPy is installed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import importlib
from typing import Any

from ._kinds import SHOWN_IN_TEXT, Kind, Step, list_text

_numpy: Any = importlib.import_module("numpy")


def _text(self: Any) -> str:
    values = self.item()
    return str(Step(*values)) if values[0] < len(Kind) else str(values)


StepItem: Any = type("StepItem", (_numpy.void,), {
    "__doc__": "A step of a StepArray, shown as one.", "__module__": __name__, "__repr__": _text, "__str__": _text})
DTYPE = _numpy.dtype((StepItem, [("kind", "u1"), *((name, "i4") for name in Step._fields[1:])]))


def _item(self: Any, key: Any) -> Any:
    found = _numpy.ndarray.__getitem__(self, key)
    is_other = isinstance(found, _numpy.ndarray) and found.dtype != DTYPE  # such as a field
    return found.view(_numpy.ndarray) if is_other else found


def _repr(self: Any) -> str:
    if self.dtype != DTYPE or self.ndim != 1:  # such as a comparison
        return repr(self.view(_numpy.ndarray))
    fields = self.view(_numpy.ndarray)
    stages = _numpy.unique(fields["stage"][fields["kind"] != Kind.BUBBLE]).tolist()
    return list_text(self[:SHOWN_IN_TEXT].tolist(), len(self), stages)


StepArray: Any = type("StepArray", (_numpy.ndarray,), {
    "__doc__": "A NumPy array with the fields of Step, shown as a list of them.",
    "__module__": __name__, "__getitem__": _item, "__repr__": _repr, "__str__": _repr})


def step_array(steps: list[tuple[int, ...]]) -> Any:
    """The array of these steps."""
    return _numpy.array(steps, dtype=DTYPE).view(StepArray)
