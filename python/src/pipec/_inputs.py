"""What Python has as objects, as arguments of the compiler."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import decimal
import json
import numbers
import operator
import os
import textwrap
import typing
from fractions import Fraction
from typing import Any, Iterable, Mapping, Protocol, Sequence, Union

from ._files import write_text
from ._program import file_argument, path_text

if typing.TYPE_CHECKING:
    import tempfile

    from ._schedule import Schedule

Figure = Union[int, float, str, Fraction, decimal.Decimal]
"""A cost: a number, or the text of a decimal or a fraction (`"1/3"`)."""

Cost = Union[str, Mapping[str, Figure]]
"""Costs of steps: `"F=1,B=2"`, or `{"F": 1, "B": 2}`."""


class CostProfile(str):
    """The text of a cost profile (docs/Simulation.md), which `profile` takes as it
    is; other texts are names of files."""

    def __repr__(self) -> str:
        text = " ".join(self.split())
        return f"<pipec.CostProfile: {text if len(text) <= 72 else text[:68] + ' ...'}>"


class Calibrated(Protocol):
    """What has a cost profile: a `Calibration`."""

    @property
    def profile(self) -> CostProfile: ...


Profile = Union[str, "os.PathLike[str]", Mapping[str, Any], Calibrated]
"""A cost profile (docs/Simulation.md): a file, what its JSON holds, its text as a
`CostProfile`, or a `Calibration`."""

Input = Union[str, "os.PathLike[str]", "Schedule"]
"""A file, a name of the library, or a schedule."""

Sizes = Union[int, Iterable[int], str]
"""Values of a parameter: one, several, or ranges as text (`"4..16"`)."""


def figure_text(value: Any, what: str) -> str:
    """A number without an exponent, which the compiler does not read on command
    lines. A binary number, also one of NumPy, is the shortest decimal that denotes
    it; raises TypeError with `what` for what is not a number."""
    if isinstance(value, (str, Fraction)):
        return str(value)
    if isinstance(value, float):
        value = decimal.Decimal(float.__repr__(value))
    elif isinstance(value, numbers.Real) and not isinstance(value, numbers.Rational):
        try:
            value = decimal.Decimal(str(value))
        except decimal.InvalidOperation:
            raise TypeError(f"{what} is {value!r}, not a number") from None
    if isinstance(value, decimal.Decimal):
        if not value.is_finite():
            raise ValueError(f"{what} is {value}, not a finite number")
        return format(value, "f")
    return str(integer(value, what, "a number"))


def integer(value: Any, what: str, kind: str = "an integer") -> int:
    """An `int` of any integer; raises TypeError with `what` for others."""
    try:
        if not isinstance(value, bool):
            return operator.index(value)
    except TypeError:  # also of an array that has the method
        pass
    raise TypeError(f"{what} is {value!r}, not {kind}")


def size_argument(name: str, values: Sizes) -> str:
    """`NAME=2,4..8`"""
    if isinstance(values, str):
        return f"{name}={values}"
    if isinstance(values, Iterable):
        return f"{name}={','.join(str(integer(value, f'parameter {name}')) for value in values)}"
    return f"{name}={integer(values, f'parameter {name}')}"


def text(value: Any, what: str) -> str:
    """The text that it is; raises TypeError with `what` for anything else."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is {value!r}, not a text")
    return value


def listed(values: Any, what: str, of: str) -> list[Any]:
    """The elements of a list or of another iterable; raises TypeError with `what` for
    a single text or path, and for what is not iterable."""
    if isinstance(values, (str, bytes, os.PathLike)) or not isinstance(values, Iterable):
        raise TypeError(f"{what} is {values!r}, not a list of {of}")
    return list(values)


def words(args: Sequence[str]) -> list[str]:
    """Further arguments of the compiler."""
    return [text(each, f"args[{i}]") for i, each in enumerate(listed(args, "args", "texts"))]


def layers_text(layers: str | int | None) -> str | None:
    """The layers of a model as `--layers` takes them."""
    return layers if layers is None or isinstance(layers, str) else str(integer(layers, "layers", "a number or a text"))


def _option(name: str, value: str) -> str:
    return f"--{name.rstrip('_').replace('_', '-')}={value}"


def options(**given: Any) -> list[str]:
    """`--sort=peak` of `sort="peak"`. What is None is left out, and of a list there
    is one per element. Raises TypeError for what is not a text."""
    return [_option(name, text(each, name)) for name, value in given.items() if value is not None
            for each in (value if isinstance(value, (list, tuple)) else [value])]


def figures(**given: Any) -> list[str]:
    """`--memory-limit=0.5` of `memory_limit=0.5`, as `options` does for texts."""
    return [_option(name, figure_text(value, name)) for name, value in given.items() if value is not None]


def counts(**given: Any) -> list[str]:
    """`--parts=8` of `parts=8`, as `options` does for texts."""
    return [_option(name, str(integer(value, name))) for name, value in given.items() if value is not None]


def switches(**given: bool) -> list[str]:
    """`--prove` of `prove=True`."""
    return ["--" + name.replace("_", "-") for name, value in given.items() if value]


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

    def schedule(self, given: Input, what: str = "the input") -> str:
        """The argument for a schedule, or for a file or a name. Raises TypeError with
        `what` for anything else."""
        from ._schedule import Schedule

        if not isinstance(given, Schedule):
            return file_argument(given, what, "a file, a name of the library or a Schedule")
        path = self.path(f"{len(self.names)}.steps")
        self.names[path] = f"<{given.name}>"
        write_text(path, given.ir)
        return path

    def costs(self, cost: Cost | None, profile: Profile | None) -> list[str]:
        """The arguments for costs."""
        result = []
        if profile is not None:
            result.append(f"--cost-profile={self.profile(profile)}")
        if cost is not None:
            if not isinstance(cost, (str, Mapping)):
                raise TypeError(f"cost is {cost!r}, neither a text nor a mapping")
            written = cost if isinstance(cost, str) else ",".join(
                f"{name}={figure_text(cost[name], f'cost {name}')}" for name in cost)
            result.append(f"--cost={written}")
        return result

    def profile(self, given: Profile) -> str:
        """The path of a cost profile."""
        contents = getattr(given, "profile", given)
        if isinstance(contents, Mapping):
            contents = CostProfile(json.dumps(contents, default=_exact_text))
        if not isinstance(contents, CostProfile):
            return path_text(contents, "profile", "a file, a mapping or a Calibration")
        path = self.path("profile.json")
        self.names[path] = "<profile>"
        write_text(path, contents)
        return path


def _exact_text(value: Any) -> str:
    """A number that JSON does not have, as the text that a profile may hold."""
    return figure_text(value, "a figure of profile")
