"""Runs the first example of the README; what a comment says a line gives, it
gives."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import re
import sys

import pipec

with open(sys.argv[1], encoding="utf-8") as file:
    code = re.search(r"^```python\n(.*?)^```", file.read(), re.M | re.S)[1]
names = {}
exec(compile(code, "README.md", "exec"), names)
shown, = re.findall(r"\.safe +# (.*)", code)
assert repr(names["schedule"].lint().safe) == shown, shown
makespan, = re.findall(r"\.makespan +# (\d+)", code)
assert names["schedule"].report().makespan == int(makespan), makespan
assert pipec.compile("zb1p.csv").csv == names["schedule"].csv
