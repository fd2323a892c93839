#!/usr/bin/env python3
"""Makes a Python environment for tests against a framework.

    make-environment.py [--pause SECONDS] [--borrow OTHER] [--without-dependencies REQUIREMENT]...
                        FOLDER REQUIREMENT...

Creates in FOLDER an environment of this Python with the given packages, and in
addition those of the environment OTHER, which must be complete and is not changed.
The packages after --without-dependencies are installed last, from what is there: a
source package is built with the packages of the environment.

An environment is complete if it contains the file .complete, which lists what was
asked for; then nothing is done. An incomplete one, one made from other requirements,
or one whose Python does not start is removed and created again. (The file is empty in
environments of earlier versions of this program, which are kept.) FOLDER.lock
prevents concurrent creation. Downloads are tried three times, with a pause between
attempts. PIPEC_PIP_ARGS contains further arguments for pip. Constraints that the
settings of pip on this machine name are not applied, since the requirements are exact.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import time

TRIES = 3


def description(options):
    """What .complete contains: one requirement per line."""
    borrowed = [f"--borrow {options.borrow.absolute()}"] if options.borrow else []
    return "".join(f"{line}\n" for line in borrowed + options.requirements
                   + [f"--without-dependencies {name}" for name in options.without_dependencies])


def complete(folder, wanted=None):
    """Whether the environment is whole, made from `wanted` if that is given, and its
    Python starts."""
    try:
        made_from = (folder / ".complete").read_text(encoding="utf-8")
        if wanted is not None and made_from not in ("", wanted):
            return False
        return subprocess.run([folder / "bin/python3", "-c", ""], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def site_packages(folder):
    """The folder of the packages of an environment of this Python."""
    return pathlib.Path(sysconfig.get_path("purelib", "venv", {"base": folder, "platbase": folder}))


def make(folder, options):
    """Makes the environment; raises CalledProcessError when that fails."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    if options.borrow:
        (site_packages(folder) / "borrowed.pth").write_text(f"{site_packages(options.borrow.absolute())}\n", encoding="utf-8")
    # What is compiled is what is imported. A variable of the environment replaces the
    # setting of a file; one that is empty does not.
    install = [folder / "bin/python3", "-m", "pip", "install", "--no-compile",
               *os.environ.get("PIPEC_PIP_ARGS", "").split()]
    settings = os.environ | {"PIP_CONSTRAINT": os.devnull}
    for arguments in (options.requirements, ["--no-deps", "--no-build-isolation", *options.without_dependencies]):
        names = [argument for argument in arguments if not argument.startswith("--")]
        for number in range(1, TRIES + 1 if names else 1):
            print(f"installing {' '.join(names)}, try {number} of {TRIES}", flush=True)
            if subprocess.run([*install, *arguments], env=settings, check=number == TRIES).returncode == 0:
                break
            time.sleep(options.pause)
    (folder / ".complete").write_text(description(options), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description="Makes a Python environment for tests against a framework.")
    parser.add_argument("--pause", type=float, default=10, help="seconds between two tries of a download")
    parser.add_argument("--borrow", type=pathlib.Path, metavar="OTHER", help="an environment whose packages are used too")
    parser.add_argument("--without-dependencies", action="append", default=[], metavar="REQUIREMENT",
                        help="a package to install last, and alone")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("requirements", nargs="+")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if complete(folder, description(options)):
            return
        if options.borrow and not complete(options.borrow.absolute()):
            sys.exit(f"make-environment: {folder} was not made: {options.borrow} is not complete")
        try:
            make(folder, options)
        except subprocess.CalledProcessError as error:
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit(f"make-environment: {folder} was not made: {error}")


if __name__ == "__main__":
    main()
