"""Compares the versions of the packages of editors in ROOT with that of pipec."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
wanted = re.search(r"^project\(pipec VERSION (\S+)", (root / "CMakeLists.txt").read_text(), re.M)[1]


def package(path, *keys):
    value = json.loads((root / "editors" / path).read_text())
    for key in keys:
        value = value[key]
    return path, value


found = [
    package("vscode/package.json", "version"),
    package("vscode/package-lock.json", "packages", "", "version"),
    package("tree-sitter-pipec/package.json", "version"),
    package("tree-sitter-pipec/steps/package.json", "version"),
    package("tree-sitter-pipec/tree-sitter.json", "metadata", "version"),
    package("tree-sitter-pipec/steps/tree-sitter.json", "metadata", "version"),
    ("emacs/pipec-mode.el",
     re.search(r"^;; Version: (\S+)", (root / "editors/emacs/pipec-mode.el").read_text(), re.M)[1]),
]
wrong = [f"{path}: version {version}, and pipec is {wanted}" for path, version in found if version != wanted]
if wrong:
    sys.exit("\n".join(wrong))
print(f"{len(found)} files")
