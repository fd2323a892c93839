# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""Pictures that cannot be made: without CairoSVG, of another format, of bad input."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import subprocess
import sys

import pipec

# SVG needs no package; None in sys.modules is a package that cannot be imported.
sys.modules["cairosvg"] = None
schedule = pipec.compile("gpipe", ranks=2, microbatches=2)
assert pipec.render(schedule, format="svg").startswith(b"<svg ")
assert pipec.render(schedule, "a.SVG") == open("a.SVG", "rb").read() == schedule.svg().encode()


def refused(error, words, *args, **options):
    try:
        pipec.render(*args, **options)
    except error as caught:
        assert words in str(caught), caught
        return caught
    raise AssertionError(f"render takes {args} {options}")


missing = refused(pipec.PackageNotFound, "as PDF needs CairoSVG, which is not installed: pip install cairosvg",
                  schedule, "a.pdf")
assert missing.name == "cairosvg" and isinstance(missing, pipec.Error)
refused(pipec.PackageNotFound, "as PNG needs CairoSVG", schedule, format="png")
refused(ValueError, "'jpeg' is not a format of pictures: pdf, png, svg", schedule, "a.jpeg")
refused(ValueError, "'' is not a format", schedule, "picture")
refused(TypeError, "a path or a format", schedule)
refused(pipec.CompileError, "`100` in `--width` is not at least 240", schedule, "b.svg", width=100)
refused(pipec.CompileError, "no_such", "no_such", "b.svg")
assert sorted(os.listdir()) == ["a.SVG"]

# The command line.
blocked = "import sys; sys.modules['cairosvg'] = None; sys.argv[0] = 'pipec'; import runpy; runpy.run_module('pipec')"


def command(*args):
    done = subprocess.run([sys.executable, "-c", blocked, *args], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


code, out, err = command("gpipe", "-o", "a.png")
assert code == 1 and not out and err == "pipec: error: a picture as PNG needs CairoSVG, which is not installed: pip install cairosvg\n", err
code, out, _ = command("gpipe", "ranks=2", "microbatches=2")
assert code == 0 and out == subprocess.run(["pipec", "gpipe", "ranks=2", "microbatches=2"], capture_output=True, text=True).stdout
code, out, err = command("gpipe", "--emit=jpeg")
assert code == 2 and "unknown output kind `jpeg`" in err
assert sorted(os.listdir()) == ["a.SVG"]
