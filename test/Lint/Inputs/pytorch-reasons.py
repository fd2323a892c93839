"""Prints lint's verdicts on PyTorch and the kinds of the reasons, which are the
same against each version and the same with each set of options; the sets are
separated by `;`, and the last argument is the file."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import subprocess
import sys

*words, name = sys.argv[1:]
verdicts = []
for options in " ".join(words).split(";"):
    run = subprocess.run(["pipec", "lint", name, "--format=json", *options.split()], capture_output=True, text=True)
    found = json.loads(run.stdout)
    for reasons in found["pytorch_reasons"].values():
        verdicts.append((found["pytorch"], [reason["kind"] for reason in reasons]))
        for reason in reasons:
            assert {"severity", "message", "file", "line", "column"} <= set(reason), reason
assert all(verdict == verdicts[0] for verdict in verdicts), verdicts
good, kinds = verdicts[0]
assert all(good.values()) == (not kinds) and len(set(good.values())) == 1, verdicts
print(name, all(good.values()), *kinds)
