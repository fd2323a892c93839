# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""library.py ROOT: what every program of schedules/ must be like.

One schedule a file, of the file's name, with a rule in rules.py; in canonical
form; 40 lines or less without comments; a first sentence that fits a line of
--list; a paper; a section in docs/Library.md, whose pictures are what pipec
prints.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from orders.rules import RULES  # noqa: E402


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def problems(root):
    folder = os.path.join(root, "schedules")
    files = sorted(f for f in os.listdir(folder) if f.endswith(".pipe"))
    names = [f[:-len(".pipe")] for f in files]
    if sorted(RULES) != names:
        yield f"schedules/ and rules.py differ: {sorted(set(RULES) ^ set(names))}"
    listed = dict(line.split(None, 1) for line in output("pipec", "--list").splitlines())
    if sorted(listed) != names:
        yield f"--list and schedules/ differ: {sorted(set(listed) ^ set(names))}"
    page = open(os.path.join(root, "docs", "Library.md"), encoding="utf-8").read()
    sections = re.findall(r"^### `(\w+)`", page, re.M)
    if sorted(sections) != names:
        yield f"docs/Library.md and schedules/ differ: {sorted(set(sections) ^ set(names))}"
    for command, picture in re.findall(r"^```\n\$ (.*)\n((?:.*\n)*?)```$", page, re.M):
        if output(*command.split()) != picture:
            yield f"docs/Library.md shows another picture: {command}"
    for name, file in zip(names, files):
        path = os.path.join(folder, file)
        text = open(path, encoding="utf-8").read()
        lines = [line.strip() for line in text.splitlines()]
        code = [line for line in lines if line and not line.startswith("//")]
        if len(code) > 40:
            yield f"{file} has {len(code)} lines"
        if max(map(len, text.splitlines())) > 110:
            yield f"{file} has a line that is too wide"
        if re.findall(r"^schedule (\w+)", text, re.M) != [name]:
            yield f"{file} holds another schedule"
        if output("pipec", path, "--emit=source", "-o", "-") != text:
            yield f"{file} is not in canonical form"
        if len(listed.get(name, "")) > 100:
            yield f"{name} has a long line in --list"
        if not re.search(r"\b20\d\d\b", output("pipec", "--describe", name)):
            yield f"--describe {name} names no paper"
        run = subprocess.run(["pipec", name, "-Werror", "--emit=ir", "-o", "-"],
                             capture_output=True, text=True)
        if run.returncode or run.stderr:
            yield f"{name} with its defaults: {run.stderr}"


if __name__ == "__main__":
    found = list(problems(sys.argv[1]))
    print("\n".join(found) if found else "the library is as it should be")
    sys.exit(1 if found else 0)
