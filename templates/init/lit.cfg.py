# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The settings of lit (https://llvm.org/docs/CommandGuide/lit.html) for tests/*.test."""

import os
import shutil

import lit.formats

config.name = "schedules"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".test"]
config.test_source_root = os.path.dirname(__file__)
root = os.path.dirname(config.test_source_root)
config.test_exec_root = os.path.join(root, "build")
config.environment["PATH"] = os.environ["PATH"]

# LLVM's FileCheck, or that of `pip install filecheck`.
names = ["FileCheck", "FileCheck-21", "FileCheck-20", "FileCheck-19", "FileCheck-18", "filecheck"]
found = [path for path in map(shutil.which, names) if path]
if not found or not shutil.which("pipec"):
    lit_config.fatal("pipec and FileCheck (pip install filecheck) must be on the PATH")
config.substitutions += [("%filecheck", found[0]), ("%root", root)]
