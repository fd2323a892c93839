"""Prints the code of a section of editors/README.md, for the folder ROOT.

    snippet.py ROOT SECTION [NUMBER]
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

root, section, number = pathlib.Path(sys.argv[1]), sys.argv[2], int((sys.argv + ["1"])[3])
page = (root / "editors/README.md").read_text(encoding="utf-8")
(body,) = re.findall(rf"^## {section}\n(.*?)(?=^## |\Z)", page, re.M | re.S)
print(re.findall(r"^```\w+\n(.*?)^```", body, re.M | re.S)[number - 1].replace("/path/to/pipec", sys.argv[1]))
