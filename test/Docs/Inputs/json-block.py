# Part of pipec, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""json-block.py PAGE.md: prints the first block of JSON of a page."""

import pathlib
import sys

text = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
print(text.split("```json\n")[1].split("```")[0], end="")
