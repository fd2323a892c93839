#!/usr/bin/env python3
"""Runs the code on a page of documentation and compares the output it shows.

    check-snippets.py [--update] [--pipec PROGRAM] FILE.md...

The fenced blocks of a page are run in order, in one empty folder per page:

    ```pipe              a whole program, which compiles without a warning
    ```pipe NAME.pipe    the same, saved as NAME.pipe for later commands
    ```pipe NAME error   a program that is refused, as a command shows
    ```pipe body         parts of the body of a schedule, in the frame below
    ```pipe steps        statements of a phase, in the frame below
    ```pipec-steps            a schedule in step IR, which is read and verified
    ```pipec-steps NAME.steps the same, saved for later commands
    ```pipec-steps NAME error a schedule that is refused, as a command shows
    ```pipec-steps header     entries of a header of 2 ranks, 4 stages, 8
                              micro-batches
    ```pipec-steps rank       lines of a rank of that schedule
    ```mustache NAME     a template, saved as NAME for later commands
    ```console           commands after `$ ` and their output; a line
                         `...` of the page matches any number of lines

Blocks with other labels are ignored. The frame of a fragment:

    schedule snippet(ranks p = 4, chunks v = 2, microbatches m = 8, group g = p) {
      placement loop(v);
      ...
    }

For a fragment with a `placement`, `v` is a plain parameter instead; for one with
steps but no chunks in brackets, the frame has `placement loop` without `v`.
Fragments are lowered but not verified: they need not be complete schedules.

--with FOLDER first copies a folder to where the commands run.
--update replaces the output on the page by the current output.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```(\S*)[ \t]*(.*)$")


class Page:
    def __init__(self, path, options):
        self.path = path
        self.options = options
        self.failures = []
        self.count = 0

    def fail(self, line, text):
        self.failures.append(f"{self.path}:{line + 1}: {text}")

    def run(self, command, folder):
        environment = dict(os.environ)
        program = pathlib.Path(self.options.pipec)
        if program.parent != pathlib.Path("."):
            environment["PATH"] = f"{program.resolve().parent}{os.pathsep}{environment['PATH']}"
        return subprocess.run(["sh", "-c", command], cwd=folder, env=environment, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=250)

    def check(self, folder):
        lines = self.path.read_text(encoding="utf-8").split("\n")
        result = []
        index = 0
        while index < len(lines):
            fence = FENCE.match(lines[index])
            result.append(lines[index])
            index += 1
            if not fence:
                continue
            begin = index
            while lines[index] != "```":
                index += 1
                if index == len(lines):
                    self.fail(begin - 1, "block without an end")
                    return lines
            block = lines[begin:index]
            if fence[1] == "pipe":
                self.program(begin, block, fence[2].split(), folder)
            elif fence[1] == "pipec-steps":
                self.steps(begin, block, fence[2].split(), folder)
            elif fence[1] == "mustache":
                pathlib.Path(folder, fence[2]).write_text("\n".join(block) + "\n", encoding="utf-8")
            elif fence[1] == "console":
                block = self.console(begin, block, folder)
            result += block + ["```"]
            index += 1
        return result

    def program(self, line, block, words, folder):
        self.count += 1
        text = "\n".join(block) + "\n"
        names = [word for word in words if word.endswith(".pipe")]
        name = names[0] if names else "snippet.pipe"
        path = pathlib.Path(folder, name)
        if "error" in words:
            path.write_text(text, encoding="utf-8")
            run = self.run(f"pipec {name}", folder)
            if not run.returncode:
                self.fail(line, "the program should be refused, and is not")
            return
        fragment = "body" in words or "steps" in words
        if fragment:
            own = re.search(r"^\s*placement\b", text, re.M)
            chunks = re.search(r"\b[FBIW]\*?\[|\bv\b|\bstage\(|\bchunks\b", text)
            if "steps" in words:
                text = f"warmup {{\n{text}}}\n"
            label = "count" if own else "chunks"
            shape = "" if own else "placement loop(v);" if chunks else "placement loop;"
            parameter = f"{label} v = 2, " if own or chunks else ""
            text = (f"schedule snippet(ranks p = 4, {parameter}microbatches m = 8, group g = p) "
                    f"{{\n{shape}\n{text}}}\n")
        path.write_text(text, encoding="utf-8")
        # A file with definitions only has nothing to lower.
        has_schedule = re.search(r"^\s*schedule\b", text, re.M)
        several = len(re.findall(r"^schedule (\w+)", text, re.M)) > 1
        choices = [f" --schedule {s}" for s in re.findall(r"^schedule (\w+)", text, re.M)] \
            if several else [""]
        for choice in choices:
            command = f"pipec {name}{choice}"
            if not has_schedule:
                command += " --emit=ast"
            elif fragment:
                command += " --verify=none --emit=ir"
            run = self.run(f"{command} 2>&1 >/dev/null", folder)
            if run.returncode or (run.stdout and not fragment):
                self.fail(line, f"`{command}` says\n{run.stdout}of\n{text}")

    def steps(self, line, block, words, folder):
        self.count += 1
        text = "\n".join(block) + "\n"
        verify = ""
        if "header" in words or "rank" in words:
            header = text if "header" in words else ""
            steps = text if "rank" in words else ""
            own_map = re.search(r"^ *map\b", header, re.M)
            text = ("pipec-steps 1\nschedule @snippet { ranks 2 stages 4 microbatches 8\n" +
                    ("" if own_map else "  map 0 1 0 1\n") + header +
                    f"  rank 0 {{\n{steps}  }}\n  rank 1 {{\n  }}\n}}\n")
            verify = "--verify=none "
        names = [word for word in words if word.endswith(".steps")]
        name = names[0] if names else "snippet.steps"
        pathlib.Path(folder, name).write_text(text, encoding="utf-8")
        run = self.run(f"pipec-opt {verify}{name} 2>&1 >/dev/null", folder)
        if "error" in words:
            if not run.returncode:
                self.fail(line, "the schedule should be refused, and is not")
        elif run.returncode or run.stdout:
            self.fail(line, f"`pipec-opt {name}` says\n{run.stdout}of\n{text}")

    def console(self, line, block, folder):
        self.count += 1
        result = []
        index = 0
        while index < len(block):
            if not block[index].startswith("$ "):
                self.fail(line + index, "text before the first command")
                return block
            begin = index
            command = block[index][2:]
            index += 1
            while command.endswith("\\") and index < len(block):
                command = command[:-1] + block[index].removeprefix("> ")
                index += 1
            result += block[begin:index]
            shown = []
            while index < len(block) and not block[index].startswith("$ "):
                shown.append(block[index])
                index += 1
            output = self.run(command, folder).stdout
            printed = [text.rstrip() for text in output.split("\n")]
            while printed and not printed[-1]:
                printed.pop()
            pattern = "\n".join("(?:.*\n)*?.*" if text.strip() == "..." else re.escape(text)
                                for text in shown)
            if re.fullmatch(pattern, "\n".join(printed)):
                result += shown
            elif self.options.update:
                result += printed
            else:
                self.fail(line + begin, f"`{command}` prints\n{output}and the page shows\n" +
                          "\n".join(shown))
                result += shown
        return result


def main():
    parser = argparse.ArgumentParser(description="Runs the code of a page of documentation.")
    parser.add_argument("--update", action="store_true",
                        help="write what the commands print into the page")
    parser.add_argument("--pipec", default="pipec", help="the compiler (default: on the PATH)")
    parser.add_argument("--with", dest="given", type=pathlib.Path, metavar="FOLDER",
                        help="a folder that the commands find under its name")
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    failed = False
    for path in options.pages:
        page = Page(path, options)
        with tempfile.TemporaryDirectory() as folder:
            if options.given:
                shutil.copytree(options.given, pathlib.Path(folder, options.given.name))
            lines = page.check(folder)
        if options.update:
            path.write_text("\n".join(lines), encoding="utf-8")
        for failure in page.failures:
            print(failure, file=sys.stderr)
        failed |= bool(page.failures) or not page.count
        print(f"{path.name}: {page.count} blocks, {len(page.failures)} wrong")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
