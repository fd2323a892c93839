"""JSON objects as frozen dataclasses.

The fields of a class are the attributes of the object, with a `_` after names
that are words of Python. A field of the type `Number` is an exact figure: where
its decimal form does not end, JSON has the fraction in a second attribute.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import dataclasses
import functools
import json
import typing
from fractions import Fraction
from typing import Any, Mapping, TypeVar

Number = TypeVar("Number", float, Fraction)
"""The type of figures: `float` (whole numbers are `int`), or `Fraction`."""

_Object = TypeVar("_Object")


def load(text: str, exact: bool) -> Any:
    """Parses JSON; with `exact`, decimals become fractions."""
    return json.loads(text, parse_float=Fraction) if exact else json.loads(text)


def read(cls: type[_Object], data: Mapping[str, Any], exact: bool, **more: Any) -> _Object:
    """An object of a dataclass from what `load` gives. `more` are fields that the
    JSON does not have. Raises KeyError if an attribute is missing whose field
    has no default."""
    values = dict(more)
    for name, (key, kind, required) in _fields(typing.cast(Any, cls)).items():
        if name in more:
            continue
        if key in data:
            values[name] = _value(kind, data, key, exact)
        elif required:
            raise KeyError(key)
    return cls(**values)


@functools.lru_cache(maxsize=None)
def _fields(cls: Any) -> dict[str, tuple[str, Any, bool]]:
    """By field: the attribute of JSON, the type, and whether there must be one."""
    hints = typing.get_type_hints(cls)
    missing = dataclasses.MISSING
    return {field.name: (field.name.rstrip("_"), hints[field.name], field.default is field.default_factory is missing)
            for field in dataclasses.fields(cls)}


def _value(kind: Any, data: Mapping[str, Any], key: str, exact: bool) -> Any:
    if kind is Number and exact and data[key] is not None:
        return Fraction(data.get(key + "_exact", data[key]))
    return _item(kind, data[key], exact, data, key)


def _item(kind: Any, value: Any, exact: bool, data: Mapping[str, Any], key: str) -> Any:
    if value is None:
        return None
    arguments = typing.get_args(kind)
    origin = typing.get_origin(kind) or kind
    if type(None) in arguments:
        return _value(next(each for each in arguments if each is not type(None)), data, key, exact)
    if origin is tuple:
        return tuple(_item(arguments[0], each, exact, data, key) for each in value)
    if dataclasses.is_dataclass(origin):
        return read(typing.cast("type[Any]", origin), value, exact)
    if isinstance(value, dict):
        return {name: _item(arguments[1], each, exact, data, key) for name, each in value.items()}
    return value


def counted(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def rounded(number: float | Fraction) -> str:
    """A figure for the short text of an object, with at most four digits after the
    point."""
    return f"{round(float(number), 4):.15g}"


def records(rows: typing.Sequence[Any]) -> list[dict[str, Any]]:
    """Rows for a table: an object of a field is spread over `field.name`; lists are
    left out."""

    def spread(row: Any, prefix: str) -> typing.Iterator[tuple[str, Any]]:
        for name, (_, kind, _) in _fields(typing.cast(Any, type(row))).items():
            value = getattr(row, name)
            if dataclasses.is_dataclass(value):
                yield from spread(value, f"{prefix}{name}.")
            elif not isinstance(value, (tuple, dict)) and not any(map(dataclasses.is_dataclass, typing.get_args(kind))):
                yield prefix + name, value

    return [dict(spread(row, "")) for row in rows]
