#!/usr/bin/env python3
"""Rewrites .pipe files in canonical form (`pipec --emit=source`).

    format-pipe.py [--check] [--pipec PROGRAM] FILE|FOLDER...

With --check, files that are not in canonical form are not rewritten: the
differences are printed, and the exit status is 1.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import difflib
import pathlib
import subprocess
import sys


def main():
    parser = argparse.ArgumentParser(description="Rewrites .pipe files in canonical form.")
    parser.add_argument("--check", action="store_true", help="show differences, write nothing")
    parser.add_argument("--pipec", default="pipec", help="the compiler (default: on the PATH)")
    parser.add_argument("paths", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    files = []
    for path in options.paths:
        files += sorted(path.rglob("*.pipe")) if path.is_dir() else [path]
    if not files:
        sys.exit("no .pipe file given")
    status = 0
    for path in files:
        run = subprocess.run([options.pipec, str(path), "--emit=source"], capture_output=True,
                             text=True, check=False)
        if run.returncode:
            sys.stderr.write(run.stderr)
            status = 1
            continue
        text = path.read_text(encoding="utf-8")
        if text == run.stdout:
            continue
        if not options.check:
            path.write_text(run.stdout, encoding="utf-8")
            print(f"formatted {path}")
            continue
        status = 1
        sys.stdout.writelines(difflib.unified_diff(
            text.splitlines(True), run.stdout.splitlines(True), str(path), f"{path} (canonical)"))
    if options.check and not status:
        print(f"{len(files)} files are in canonical form")
    sys.exit(status)


if __name__ == "__main__":
    main()
