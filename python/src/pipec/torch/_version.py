"""Which lists of steps the installed PyTorch runs."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import re

import torch

from .._schedule import Schedule

OLD, NEW = "torch-2.13", "torch"
"""The targets for PyTorch 2.6 to 2.14, and for the newest that pipec knows."""


def numbers(version: str) -> tuple[int, int]:
    """The first two numbers of a version: (2, 15) of `2.15.0+cpu`."""
    found = re.match(r"(\d+)\.(\d+)", version)
    if not found:
        raise ValueError(f"{version!r} is not a version")
    return int(found[1]), int(found[2])


def fitting_target() -> str:
    """The target for the installed PyTorch."""
    return NEW if numbers(torch.__version__) >= (2, 15) else OLD


def check_version(schedule: Schedule) -> None:
    """Raises ValueError when the list is for other versions of PyTorch."""
    wanted: str = schedule.torch_config["torch"]["version"]
    here = numbers(torch.__version__)
    for condition in wanted.split(","):
        bound = numbers(condition.lstrip("<>="))
        if not (here >= bound if condition.startswith(">=") else here < bound):
            raise ValueError(f"the list of {schedule.name} is for PyTorch {wanted}, and this is {torch.__version__}, "
                             f"for which target `{fitting_target()}` writes")
