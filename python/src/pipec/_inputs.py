"""What Python has as objects, as arguments of the compiler."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import decimal
import json
import os
import typing
from fractions import Fraction
from typing import Any, Iterable, Mapping, Union

from ._files import write_text
from ._program import file_argument

if typing.TYPE_CHECKING:
    import tempfile

    from ._schedule import Schedule

Figure = Union[int, float, str, Fraction, decimal.Decimal]
"""A cost: a number, or the text of a decimal or a fraction (`"1/3"`)."""

Cost = Union[str, Mapping[str, Figure]]
"""Costs of steps: `"F=1,B=2"`, or `{"F": 1, "B": 2}`."""

Profile = Union[str, "os.PathLike[str]", Mapping[str, Any]]
"""A cost profile (docs/Simulation.md): a file, or what its JSON holds."""

Input = Union[str, "os.PathLike[str]", "Schedule"]
"""A file, a name of the library, or a schedule."""

Sizes = Union[int, Iterable[int], str]
"""Values of a parameter: one, several, or ranges as text (`"4..16"`)."""


def figure_text(name: str, value: Any) -> str:
    """A cost without an exponent, which the compiler does not read on command lines."""
    if isinstance(value, bool):
        raise TypeError(f"cost {name} is {value!r}, not a number")
    if isinstance(value, float):
        value = decimal.Decimal(float.__repr__(value))
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (str, Fraction)):
        return str(value)
    return str(integer(value, f"cost {name}", "a number"))


def integer(value: Any, what: str, kind: str = "an integer") -> int:
    """An `int` of any integer; raises TypeError with `what` for others."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        raise TypeError(f"{what} is {value!r}, not {kind}")
    return int(value.__index__())


def size_argument(name: str, values: Sizes) -> str:
    """`NAME=2,4..8`"""
    if isinstance(values, str):
        return f"{name}={values}"
    if isinstance(values, Iterable):
        return f"{name}={','.join(str(integer(value, f'parameter {name}')) for value in values)}"
    return f"{name}={integer(values, f'parameter {name}')}"


def options(**given: Any) -> list[str]:
    """`--memory-limit=20` of `memory_limit=20`. What is None or False is left out,
    True is an option without a value, and of a list there is one per element."""
    result = []
    for name, value in given.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is True:
            result.append(option)
        elif value is not None and value is not False:
            result += [f"{option}={each}" for each in (value if isinstance(value, (list, tuple)) else [value])]
    return result


class Inputs:
    """A context in which objects are files that the compiler reads."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        """What messages call these files."""
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> Inputs:
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def path(self, name: str) -> str:
        """The path of a file in a temporary folder."""
        if self._folder is None:
            import tempfile

            self._folder = tempfile.TemporaryDirectory(prefix="pipec-")
        return os.path.join(self._folder.name, name)

    def schedule(self, given: Input) -> str:
        """The argument for a schedule, or for a file or a name."""
        if isinstance(given, (str, os.PathLike)):
            return file_argument(given)
        path = self.path(f"{len(self.names)}.steps")
        self.names[path] = f"<{given.name}>"
        write_text(path, given.ir)
        return path

    def costs(self, cost: Cost | None, profile: Profile | None) -> list[str]:
        """The arguments for costs."""
        result = []
        if isinstance(profile, Mapping):
            path = self.path("profile.json")
            self.names[path] = "<profile>"
            write_text(path, json.dumps(profile, default=_exact_text))
            result.append(f"--cost-profile={path}")
        elif profile is not None:
            result.append(f"--cost-profile={os.fspath(profile)}")
        if cost is not None:
            text = cost if isinstance(cost, str) else ",".join(f"{name}={figure_text(name, cost[name])}" for name in cost)
            result.append(f"--cost={text}")
        return result


def _exact_text(value: Any) -> str:
    """A number that JSON does not have, as the text that a profile may hold."""
    if isinstance(value, (Fraction, decimal.Decimal)):
        return figure_text("of a profile", value)
    raise TypeError(f"a cost profile has {value!r}, which is neither a number nor a text")
