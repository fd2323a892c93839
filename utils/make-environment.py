#!/usr/bin/env python3
"""Makes a Python environment for tests against a framework.

    make-environment.py [--pause SECONDS] FOLDER REQUIREMENT...

Creates in FOLDER an environment of this Python with the given packages. An
environment is complete if it contains the file .complete; then nothing is done. An
incomplete one, or one whose Python does not start, is removed and created again.
FOLDER.lock prevents concurrent creation. Downloads are tried three times, with a
pause between attempts. PIPEC_PIP_ARGS contains further arguments for pip.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import time

TRIES = 3


def complete(folder):
    """Whether the environment is whole and its Python starts."""
    if not (folder / ".complete").exists():
        return False
    try:
        return subprocess.run([folder / "bin/python3", "-c", ""], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def make(folder, requirements, pause):
    """Makes the environment; raises CalledProcessError when that fails."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    install = [folder / "bin/python3", "-m", "pip", "install", *os.environ.get("PIPEC_PIP_ARGS", "").split(), *requirements]
    for number in range(1, TRIES + 1):
        print(f"installing {' '.join(requirements)}, try {number} of {TRIES}", flush=True)
        if subprocess.run(install, check=number == TRIES).returncode == 0:
            break
        time.sleep(pause)
    (folder / ".complete").touch()


def main():
    parser = argparse.ArgumentParser(description="Makes a Python environment for tests against a framework.")
    parser.add_argument("--pause", type=float, default=10, help="seconds between two tries of a download")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("requirements", nargs="+")
    options = parser.parse_args()
    folder = options.folder.absolute()
    folder.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{folder}.lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if complete(folder):
            return
        try:
            make(folder, options.requirements, options.pause)
        except subprocess.CalledProcessError as error:
            shutil.rmtree(folder, ignore_errors=True)
            sys.exit(f"make-environment: {folder} was not made: {error}")


if __name__ == "__main__":
    main()
