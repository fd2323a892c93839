"""Copies what makes the hooks and the package with the compiler from the source tree that
is named first, with a script in place of the compiler, which names the files that it is
given and fails."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import shutil
import sys

root, folder = map(pathlib.Path, sys.argv[1:])
for name in (".pre-commit-hooks.yaml", "pyproject.toml", "LICENSE"):
    shutil.copy(root / name, folder)
shutil.copytree(root / "python", folder / "python", ignore=shutil.ignore_patterns("__pycache__"))
(folder / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.25)
project(pipec LANGUAGES NONE)
install(PROGRAMS pipec DESTINATION bin COMPONENT pipec)
""", encoding="utf-8")
(folder / "pipec").write_text('#!/bin/sh\necho "installed: $*"\nexit 1\n', encoding="utf-8")
