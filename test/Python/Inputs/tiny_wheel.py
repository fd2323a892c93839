"""Writes a wheel of one empty module: tiny_wheel.py tiny-1.0-py3-none-any.whl [DEPENDENCY]"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys
import zipfile

name = os.path.basename(sys.argv[1]).split("-")[0]
requires = "".join(f"Requires-Dist: {dependency}\n" for dependency in sys.argv[2:])
FILES = {
    f"{name}.py": "",
    f"{name}-1.0.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n{requires}",
    f"{name}-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tiny\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
RECORD = f"{name}-1.0.dist-info/RECORD"
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for path, text in FILES.items():
        wheel.writestr(path, text)
    wheel.writestr(RECORD, "".join(f"{path},,\n" for path in [*FILES, RECORD]))
