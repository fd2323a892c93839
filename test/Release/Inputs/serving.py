#!/usr/bin/env python3
"""Runs a command that becomes `pipec`, to which `serve` is added, and uses the server.

    serving.py COMMAND...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "Serve/Inputs"))
from served import Served, check  # noqa: E402

served = Served("serve", "zb1p", program=sys.argv[1:])
try:
    status, page = served.get("/")
    check(status == 200 and b"schedule zb1p" in page and b"CodeMirror" in page, f"the page: {status}")
    check(served.request("GET", "/")[0] == 403, "without the token")
    program = "schedule one(ranks p = 2, microbatches m = 4) { placement loop; steady { repeat m { F B } } }"
    status, answer = served.compiled(program, sizes={"ranks": 4})
    check(status == 200 and answer["diagnostics"] == [], f"{status} {answer}")
    print("served: makespan", answer["report"]["makespan"])
finally:
    served.process.kill()
