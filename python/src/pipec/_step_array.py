"""Lists of steps as arrays; imported where NumPy is installed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import importlib
from typing import Any

from ._kinds import Step, step_text

_numpy: Any = importlib.import_module("numpy")
_SHOWN = 60
"""How many steps a text shows."""

DTYPE = _numpy.dtype([("kind", "u1"), *((name, "i4") for name in Step._fields[1:])])


def _item(self: Any, key: Any) -> Any:
    found = _numpy.ndarray.__getitem__(self, key)
    is_other = isinstance(found, _numpy.ndarray) and found.dtype != DTYPE  # such as a field
    return found.view(_numpy.ndarray) if is_other else found


def _repr(self: Any) -> str:
    if self.dtype != DTYPE or self.ndim != 1:  # such as a comparison
        return repr(self.view(_numpy.ndarray))
    texts: list[str] = []
    line = None
    for step in self[:_SHOWN].tolist():
        if texts and step[4] == line:
            texts[-1] += " & " + step_text(*step)
        else:
            texts.append(step_text(*step))
        line = step[4]
    if len(self) > _SHOWN:
        texts.append("...")
    return f"<{len(self)} step{'' if len(self) == 1 else 's'}{': ' if texts else ''}{', '.join(texts)}>"


StepArray: Any = type("StepArray", (_numpy.ndarray,), {
    "__doc__": "A NumPy array with the fields of Step, which shows them as step IR does.",
    "__module__": __name__, "__getitem__": _item, "__repr__": _repr, "__str__": _repr})


def step_array(steps: list[tuple[int, ...]]) -> Any:
    """The array of these steps."""
    return _numpy.array(steps, dtype=DTYPE).view(StepArray)
