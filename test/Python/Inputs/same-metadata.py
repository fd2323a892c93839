"""Compares the metadata of the package with the compiler and of the one without."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys
import tomllib

ROOT = pathlib.Path(sys.argv[1])
whole, alone = (tomllib.loads((ROOT / name).read_text()) for name in ("pyproject.toml", "python/pyproject.toml"))
for key in ("name", "description", "requires-python", "classifiers", "dynamic", "dependencies", "optional-dependencies"):
    assert whole["project"].get(key) == alone["project"].get(key), key
assert alone["project"]["license"]["text"] == whole["project"]["license"]
version = re.search(r'__version__ = "(.*)"', (ROOT / "python/src/pipec/__init__.py").read_text())[1]
assert f"project(pipec VERSION {version} " in (ROOT / "CMakeLists.txt").read_text(), version
