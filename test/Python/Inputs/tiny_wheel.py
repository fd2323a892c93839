"""Writes a wheel of one empty module: tiny_wheel.py tiny-1.0-py3-none-any.whl"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys
import zipfile

FILES = {
    "tiny.py": "",
    "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n",
    "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tiny\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
}
with zipfile.ZipFile(sys.argv[1], "w") as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
    wheel.writestr("tiny-1.0.dist-info/RECORD", "".join(f"{name},,\n" for name in [*FILES, "tiny-1.0.dist-info/RECORD"]))
