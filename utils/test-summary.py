#!/usr/bin/env python3
"""Counts the results of a lit run and ends with the line `N passed, N failed`.

    test-summary.py [--slowest N] RESULTS.json

RESULTS.json is the output of `lit --output`. Fails if a test failed or none ran.
Unsupported tests are listed by folder.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import collections
import json
import sys

PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
NOT_RUN = {"UNSUPPORTED", "EXCLUDED", "SKIPPED"}
WHY = {"Torch": "`./x check-torch` runs them", "Hub": "`./x check-hub` runs them"}


def folder(name):
    """`Torch` of `pipec :: Torch/faults.test`."""
    path = name.split(" :: ", 1)[1]
    return path.split("/", 1)[0] if "/" in path else "."


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--slowest", type=int, default=0)
    options.add_argument("results")
    args = options.parse_args()
    try:
        with open(args.results, encoding="utf-8") as file:
            tests = json.load(file)["tests"]
    except (OSError, ValueError) as error:
        print(f"no results: {error}")
        tests = []

    skipped = collections.Counter()
    passed = failed = 0
    for test in tests:
        if test["code"] in NOT_RUN:
            skipped[folder(test["name"])] += 1
        elif test["code"] in PASSED:
            passed += 1
        else:
            failed += 1

    if args.slowest and tests:
        print("slowest tests:")
        for test in sorted(tests, key=lambda test: -(test["elapsed"] or 0))[:args.slowest]:
            print(f"  {test['elapsed'] or 0:7.2f} s  {test['name']}")
    for name, count in sorted(skipped.items()):
        why = WHY.get(name, "this machine lacks what they require")
        print(f"{count} tests under test/{name} were not run: {why}")
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0 or passed == 0)


if __name__ == "__main__":
    main()
