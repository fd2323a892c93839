"""Compares the tags of the wheels in a folder with what auditwheel finds in them, and
checks their metadata and that of the source distribution with twine."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import json
import os
import re
import subprocess
import sys


def output(*words):
    return subprocess.run([sys.executable, "-m", *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def glibc(tag):
    """The version of glibc that a tag of a platform names, without the architecture."""
    found = re.match(r"manylinux_(\d+)_(\d+)_", tag)
    return found and (int(found[1]), int(found[2]))


wheels = glob.glob(os.path.join(sys.argv[1], "*.whl"))
assert len(wheels) == 2, wheels
for wheel in wheels:
    found = json.loads(output("auditwheel", "show", "--json", wheel))
    stated = [glibc(tag) for tag in os.path.basename(wheel).removesuffix(".whl").split("-")[-1].split(".") if glibc(tag)]
    assert min(stated) >= glibc(found["overall_tag"]), (os.path.basename(wheel), found["overall_tag"])
    # Another C library is enough only where none is needed.
    assert not found["external_libs"] and ("musllinux" not in wheel or not found["versioned_symbols"]), found
print(output("twine", "check", "--strict", *wheels, *glob.glob(os.path.join(sys.argv[1], "pipec-?.?.?.tar.gz"))))
