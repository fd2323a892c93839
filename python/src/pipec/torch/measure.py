"""`python -m pipec.torch.measure MODULE:FUNCTION -o FILE`: a cost profile of a model.

FUNCTION returns the layers, a list or a torch.nn.Sequential or ModuleList, and a
sample, the input of the first one for one micro-batch.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any, Callable

import torch

from . import _measure
from .._files import write_text


def _error(text: object) -> SystemExit:
    return SystemExit(f"pipec.torch.measure: error: {text}")


def _function(name: str) -> Callable[[], Any]:
    module, _, function = name.partition(":")
    if not module or not function:
        raise _error(f"`{name}` is not MODULE:FUNCTION")
    sys.path.insert(0, os.getcwd())
    try:
        found: Callable[[], Any] = getattr(importlib.import_module(module), function)
    except (ModuleNotFoundError, AttributeError) as error:
        raise _error(error) from error
    if not callable(found):
        raise _error(f"`{name}` is a {type(found).__name__}, not a function")
    return found


def _table(profile: dict[str, Any]) -> str:
    lines = [f"{'kind':<6}{'layers':>8}" + "".join(f"{figure:>12}" for figure in "FBIW") + f"{'activations':>16}{'parameters':>16}"]
    for letter, kind in profile["layers"].items():
        members = profile["measured"]["kinds"][letter]["layers"]
        lines.append(f"{letter:<6}{len(members):>8}" + "".join(f"{kind[figure]:>12.6g}" for figure in "FBIW")
                     + f"{kind['activations']:>16}{kind['parameters']:>16}")
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m pipec.torch.measure", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("function", metavar="MODULE:FUNCTION")
    parser.add_argument("-o", required=True, metavar="FILE", help="where the profile is written")
    parser.add_argument("--device", choices=["cpu", "cuda"], help="where the layers run; by default where they are")
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="the runs of a layer (default: %(default)s)")
    options = parser.parse_args(arguments)
    if os.environ.get("RANK", "0") != "0":
        return  # (of several processes of torchrun, one measures)
    if options.device == "cuda" and not torch.cuda.is_available():
        raise _error("there is no GPU")
    found = _function(options.function)()
    if not isinstance(found, tuple) or len(found) != 2:
        raise _error(f"`{options.function}` does not return (layers, sample)")
    try:
        profile = _measure.measure(*found, device=options.device, repeats=options.repeats)
    except (_measure.MeasureError, TypeError, ValueError) as error:
        raise _error(error) from error
    try:
        write_text(options.o, json.dumps(profile, indent=2) + "\n")
    except OSError as error:
        raise _error(f"cannot write `{options.o}`: {error.strerror}") from error
    print(f"layers {profile['sequence']}; ms and bytes, on {profile['measured']['device']}")
    print(_table(profile))
    for text in profile["measured"]["left_out"]:
        print(f"not measured: {text}")


if __name__ == "__main__":
    main()
