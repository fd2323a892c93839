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


def pandas(needed_by: str) -> Any:
    """pandas; raises PackageNotFound if it is not installed."""
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        raise PackageNotFound(f"{needed_by} needs pandas, which is not installed: pip install pandas",
                              name="pandas") from error


def pyplot(needed_by: str) -> Any:
    """`matplotlib.pyplot`; raises PackageNotFound if it is not installed."""
    try:
        return importlib.import_module("matplotlib.pyplot")
    except ImportError as error:
        raise PackageNotFound(f"{needed_by} needs Matplotlib, which is not installed: pip install matplotlib",
                              name="matplotlib") from error


def cairosvg(needed_by: str) -> Any:
    """CairoSVG; raises PackageNotFound if it, or the library of cairo, is not
    installed."""
    try:
        return importlib.import_module("cairosvg")
    except ImportError as error:
        raise PackageNotFound(f"{needed_by} needs CairoSVG, which is not installed: pip install cairosvg",
                              name="cairosvg") from error
    except OSError as error:  # cairocffi finds no library
        raise PackageNotFound(f"{needed_by} needs the library of cairo: {str(error).splitlines()[0]}",
                              name="cairosvg") from error
