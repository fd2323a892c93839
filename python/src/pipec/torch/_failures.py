"""Where a run failed, in words."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

from typing import Any

import torch
from torch.utils import _pytree

from ._metas import Meta, meta_text, unit_text
from ._source import KINDS, Source
from ._transfers import LostError

SHOWN = {"_call": "values", "_backward": "inputs", "_backward_input": "inputs"}
"""What is shown of the functions of a worker, the tensors in a local variable."""


def tell(error: BaseException, source: Source, rank: int) -> str:
    """What happened: the first line of the message, the step, the shapes of its tensors
    and the line of the program. The error gets a note with the last three."""
    step, shapes, line = "", "", ""
    trace = error.__traceback__
    while trace is not None:
        code, names = trace.tb_frame.f_code, trace.tb_frame.f_locals
        if code.co_filename == source.file:
            found = source.line_of(trace.tb_lineno)
            line = f", {source.program}:{found}" if found and source.program else ""
        elif code.co_name in KINDS and "unit" in names:
            step = f", {KINDS[code.co_name]} s{names['stage']} {unit_text(names['unit'], source.slices)}"
        elif code.co_name in SHOWN and "part" in names:
            found = names.get(SHOWN[code.co_name])
            tensors = [value for value in _pytree.tree_leaves(found) if isinstance(value, torch.Tensor)]
            shapes = f", {'arguments' if code.co_name == '_call' else 'inputs'} {meta_text(Meta.of(tensors))}"
        trace = trace.tb_next
    where = f"rank {rank}{step}{shapes}{line}"
    if hasattr(error, "add_note"):  # Python 3.11
        error.add_note(f"{where} of {source.name}" if not line else where)
    if isinstance(error, LostError):
        return str(error)
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]} ({where.removeprefix(f'rank {rank}, ')})"
