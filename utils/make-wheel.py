#!/usr/bin/env python3
"""Makes a wheel of the Python package with the compiler inside.

    make-wheel.py BUILD OUT     from build tree BUILD, into folder OUT

The compiler is BUILD/bin/pipec-static. It must be linked statically, so that it
runs on any Linux of the same processor, as the tag of the wheel declares. The wheel
also contains the library of schedules, the headers of executors, and the licences
of linked libraries. Prints the path of the wheel. The same sources result in the
same bytes.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The Debian packages whose code is part of the program.
LINKED = ["llvm-19-dev", "libantlr4-runtime-dev", "libstdc++6", "libc6"]
PT_INTERP = 3


def needs_loader(program):
    """True when a 64-bit ELF file names the loader of shared libraries."""
    data = program.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        sys.exit(f"make-wheel: {program} is not a 64-bit ELF program")
    order = "<" if data[5] == 1 else ">"
    start, = struct.unpack_from(order + "Q", data, 32)
    size, count = struct.unpack_from(order + "HH", data, 54)
    return any(struct.unpack_from(order + "I", data, start + i * size)[0] == PT_INTERP for i in range(count))


def main():
    build, out = map(pathlib.Path, sys.argv[1:])
    program = build / "bin/pipec-static"
    if not program.exists():
        sys.exit(f"make-wheel: no {program}")
    if needs_loader(program):
        sys.exit(f"make-wheel: {program} needs shared libraries")
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("pipec-*.whl"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder, "python")
        shutil.copytree(ROOT / "python", copy, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
        package = copy / "src/pipec"
        (package / "bin").mkdir()
        shutil.copy(program, package / "bin/pipec")
        (package / "bin/pipec").chmod(0o755)
        shutil.copytree(ROOT / "schedules", package / "share/pipec/schedules")
        shutil.copytree(ROOT / "include/pipec/runtime", package / "include/pipec/runtime")
        shutil.copy(ROOT / "LICENSE", copy)
        for name in LINKED:
            text = pathlib.Path("/usr/share/doc", name, "copyright")
            if text.exists():
                shutil.copy(text, copy / f"LICENSE.{name}")
        # Dates in an archive cannot be earlier than 1980.
        environment = dict(os.environ, SOURCE_DATE_EPOCH="315532800", PIP_DISABLE_PIP_VERSION_CHECK="1")
        done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index",
                               "-w", str(out), str(copy)], env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode:
            sys.exit(done.stdout)
    wheel, = out.glob("pipec-*.whl")
    print(wheel)


if __name__ == "__main__":
    main()
