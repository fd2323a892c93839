"""Fails with the classifiers of a pyproject.toml that are not those of the index."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys
import tomllib

from trove_classifiers import classifiers

with open(sys.argv[1], "rb") as file:
    unknown = set(tomllib.load(file)["project"]["classifiers"]) - classifiers
if unknown:
    sys.exit(f"unknown: {', '.join(sorted(unknown))}")
