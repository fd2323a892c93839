# RUN: env PIPEC=%build/bin/pipec %megatron-python %s %root/docs/Megatron.md
"""The programs of the page on Megatron-LM run, and print what it shows."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import io
import pathlib
import re
import sys
import warnings

warnings.filterwarnings("ignore")

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
blocks = re.findall(r"^```python\n(.*?)^```\n(?:\n```\n(.*?)^```$)?", page, re.M | re.S)
assert len(blocks) >= 2, blocks
for program, shown in blocks:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(program, "Megatron.md", "exec"), {})
    assert shown in ("", printed.getvalue()), printed.getvalue()
assert any(shown for _, shown in blocks)
