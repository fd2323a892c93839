"""Compares the metadata of the package with the compiler and of the one without."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib
import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(sys.argv[1])
whole, alone = (tomllib.loads((ROOT / name).read_text()) for name in ("pyproject.toml", "python/pyproject.toml"))
for key in ("name", "description", "requires-python", "authors", "keywords", "classifiers", "dynamic", "dependencies", "optional-dependencies"):
    assert whole["project"].get(key) == alone["project"].get(key), key
assert alone["project"]["license"]["text"] == whole["project"]["license"]
# The commands of the whole package, which are functions of both.
sys.path.insert(0, str(ROOT / "python/src"))
assert set(whole["project"]["scripts"]) == {"pipec", "pipec-lsp", "pipec-opt"} and "scripts" not in alone["project"]
for name, place in whole["project"]["scripts"].items():
    module, function = place.split(":")
    assert callable(getattr(importlib.import_module(module), function)), name
    # In a package without that program.
    done = subprocess.run([sys.executable, "-c", f"import {module} as m; m.{function}()"], cwd=ROOT / "python/src",
                          capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr == f"{name}: the package was built without this program\n", done
version = re.search(r'__version__ = "(.*)"', (ROOT / "python/src/pipec/__init__.py").read_text())[1]
assert f"version: {version}\n" in (ROOT / "CITATION.cff").read_text(), version
assert f"project(pipec VERSION {version} " in (ROOT / "CMakeLists.txt").read_text(), version
