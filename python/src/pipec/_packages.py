"""Packages that are used if they are installed, imported when they are needed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import importlib
from typing import Any

from ._diagnostics import PackageNotFound


def numpy_or_none() -> Any:
    """NumPy, or None if it is not installed."""
    try:
        return importlib.import_module("numpy")
    except ImportError:
        return None


def _module(name: str, package: str, needed_by: str) -> Any:
    """A module of a package; raises PackageNotFound if it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise PackageNotFound(f"{needed_by} needs {package}, which is not installed: pip install {package.lower()}",
                              name=package.lower()) from error


def pandas(needed_by: str) -> Any:
    """pandas; raises PackageNotFound if it is not installed."""
    return _module("pandas", "pandas", needed_by)


def pyplot(needed_by: str) -> Any:
    """`matplotlib.pyplot`; raises PackageNotFound if it is not installed."""
    return _module("matplotlib.pyplot", "Matplotlib", needed_by)


def cairosvg(needed_by: str) -> Any:
    """CairoSVG; raises PackageNotFound if it, or the library of cairo, is not
    installed."""
    try:
        return _module("cairosvg", "CairoSVG", needed_by)
    except OSError as error:  # cairocffi finds no library
        raise PackageNotFound(f"{needed_by} needs the library of cairo: {str(error).splitlines()[0]}",
                              name="cairosvg") from error
