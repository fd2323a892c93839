#!/usr/bin/env python3
"""Changes files under `pipec watch` as editors do.

    watching.py CASE
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from served import Served, check

PROGRAM = """import "width.pipe";
schedule one(ranks p = 2, microbatches m = 4) { placement loop; steady { repeat m { F B } } }
"""


def wait(condition, what):
    for _ in range(400):
        value = condition()
        if value:
            return value
        time.sleep(0.025)
    sys.exit(f"watching.py: {what}")


class Watched:
    """`pipec watch` without a server; its messages are in a file."""

    def __init__(self, *arguments):
        self.messages = pathlib.Path("messages")
        self.process = subprocess.Popen(["pipec", "watch", *arguments], stdout=subprocess.PIPE,
                                        stderr=self.messages.open("w"), text=True)

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        output, _ = self.process.communicate(timeout=20)
        check(self.process.returncode == 0, f"status {self.process.returncode}")
        return output


def text(path):
    return path.read_text() if path.exists() else ""


def saves(program):
    """Every way in which a file is saved is seen; an error keeps the last output."""
    out = pathlib.Path("a.csv")
    watched = Watched("a.pipe", "ranks=3", "-o", "a.csv")
    wait(lambda: text(out).count("\n") == 3, "no first output")
    first = out.read_text()

    # In place, with the same length.
    program.write_text(PROGRAM.replace("F B", "B F"))
    wait(lambda: "error" in text(watched.messages), "no error")
    check(out.read_text() == first, "an error changed the output")
    program.write_text(PROGRAM.replace("m = 4", "m = 5"))
    wait(lambda: "0F4" in text(out), "not mended")
    # A new file takes the name.
    pathlib.Path("new").write_text(PROGRAM.replace("m = 4", "m = 6"))
    os.replace("new", program)
    wait(lambda: "0F5" in text(out), "not replaced")
    # The file is away for a moment.
    os.rename(program, "a.pipe~")
    time.sleep(0.1)
    program.write_text(PROGRAM.replace("m = 4", "m = 7"))
    wait(lambda: "0F6" in text(out), "not after a backup")
    check("cannot read" not in text(watched.messages), "the moment was taken for the end")
    # The file is away for longer.
    os.rename(program, "a.pipe~")
    wait(lambda: "cannot read `a.pipe`" in text(watched.messages), "the end was not noticed")
    check("library" not in text(watched.messages), "a missing file was looked for in the library")
    os.rename("a.pipe~", program)
    wait(lambda: out.stat().st_mtime_ns > watched.messages.stat().st_mtime_ns, "not after the end")
    # In pieces.
    with program.open("w") as file:
        for piece in re.split(r"(?<= )", PROGRAM.replace("m = 4", "m = 8")):
            file.write(piece)
            file.flush()
            time.sleep(0.005)
    wait(lambda: "0F7" in text(out), "not in pieces")
    # What it imports.
    pathlib.Path("width.pipe").write_text("fn w( { }")
    wait(lambda: "width.pipe:1" in text(watched.messages), "an import is not followed")
    pathlib.Path("width.pipe").write_text("fn w() { 1 }")
    wait(lambda: out.stat().st_mtime_ns > pathlib.Path("width.pipe").stat().st_mtime_ns, "not mended")
    # Also if its name is for a moment that of another file.
    os.rename("width.pipe", "width.pipe~")
    time.sleep(0.1)
    pathlib.Path("width.pipe").write_text("fn w() { 2 }")
    wait(lambda: out.stat().st_mtime_ns > pathlib.Path("width.pipe").stat().st_mtime_ns, "not after a backup of an import")
    check("no file" not in text(watched.messages), "the moment was taken for the end of the import")
    output = watched.end()
    check(output.startswith("wrote a.csv\n") and "http" not in output, f"{output}")
    check(not list(pathlib.Path().glob(".pipec-*")), "temporary files are left")


def template(_):
    """A partial of a template is followed, and so are imports of a program of any name."""
    pathlib.Path("part.mustache").write_text("one\n")
    pathlib.Path("t.mustache").write_text("{{> part}}{{name}}\n")
    pathlib.Path("a.txt").write_text(PROGRAM)
    watched = Watched("a.txt", "--input=pipe", "--template=t.mustache", "-o", "out")
    wait(lambda: "one" in text(pathlib.Path("out")), "no first output")
    pathlib.Path("part.mustache").write_text("two\n")
    wait(lambda: "two" in text(pathlib.Path("out")), "the partial is not followed")
    pathlib.Path("width.pipe").write_text("fn w( { }")
    wait(lambda: "width.pipe:1" in text(watched.messages), "the import is not followed")
    watched.end()
    # An output beside the template is not one of its partials, and a pipe is not a program.
    pathlib.Path("width.pipe").write_text("fn w() { 1 }")
    watched = Watched("a.txt", "--input=pipe", "--template=t.mustache", "-o", "out.mustache")
    wait(lambda: pathlib.Path("out.mustache").exists(), "no output beside the template")
    time.sleep(0.5)
    os.mkfifo("fifo.pipe")
    pathlib.Path("a.txt").write_text(PROGRAM.replace("width.pipe", "fifo.pipe"))
    time.sleep(0.3)
    check(watched.end().count("wrote") == 1, "the output is followed")


def busy(_):
    """SIGTERM ends a compilation, too."""
    watched = Watched("dualpipev", "ranks=256", "microbatches=20000", "-o", "a.csv")
    time.sleep(0.3)
    begin = time.monotonic()
    watched.end(signal.SIGTERM)
    check(time.monotonic() - begin < 5, "the end takes long")
    check(not list(pathlib.Path().glob(".pipec-*")), "temporary files are left")


def writing(_):
    """The end of a compilation that writes its output leaves nothing."""
    watched = Watched("one_f_one_b", "ranks=64", "microbatches=8000", "--emit=trace", "-o", "a.json")
    wait(lambda: list(pathlib.Path().glob(".pipec-*")), "nothing is written")
    watched.end()
    check(not list(pathlib.Path().glob(".pipec-*")), "temporary files are left")
    check(not pathlib.Path("a.json").exists(), "the output was complete: the program is too small for this test")


def page(program):
    """The page is served with a script; the file has none."""
    served = Served("watch", "a.pipe", "-o", "page.html", stderr=subprocess.DEVNULL)
    wait(lambda: pathlib.Path("page.html").exists(), "no page")
    wait(lambda: b'"version":1' in served.get("/version")[1], "no version")
    status, shown = served.get("/")
    written = pathlib.Path("page.html").read_bytes()
    check(status == 200 and shown.startswith(written) and b"pipecVersion = 1" in shown, "the page")
    check(b"pipecVersion" not in written, "the file has the script")
    program.write_text(PROGRAM.replace("F B", "F"))
    wait(lambda: b"error" in served.get("/version")[1], "no message")
    check(b'"version":1' in served.get("/version")[1], "an error is a new version")
    program.write_text(PROGRAM.replace("m = 4", "m = 5"))
    wait(lambda: b'"version":2' in served.get("/version")[1], "no second version")
    check(b'"messages":""' in served.get("/version")[1], "the message is still there")
    for path in ("/page.html", "/a.pipe", "/etc/passwd"):
        check(served.get(path)[0] == 404, path)
    check(served.request("GET", "/")[0] == 403 and served.request("GET", "/version")[0] == 403, "without the token")
    check(served.request("POST", f"/?token={served.token}", b"")[0] == 405, "POST")
    served.end()


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        program = pathlib.Path("a.pipe")
        program.write_text(PROGRAM)
        pathlib.Path("width.pipe").write_text("fn w() { 1 }")
        globals()[sys.argv[1]](program)
        os.chdir("/")


main()
