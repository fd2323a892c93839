"""Adds the two tests of docs/TestingSchedules.md to the folder that `pipec init` has
written."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

page, folder = sys.argv[1:]
program, passes = re.findall(r"^```text\n(.*?)^```", open(page, encoding="utf-8").read(), re.S | re.M)
for name, text in ("page.test", program), ("two.steps", passes):
    with open(f"{folder}/tests/{name}", "w", encoding="utf-8") as file:
        file.write(text)
with open(f"{folder}/tests/lit.cfg.py", "a", encoding="utf-8") as file:
    file.write('config.suffixes = [".test", ".steps", ".pipe"]\n')
