"""Installs a wheel, then the package alone, and uses them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import os
import shutil
import subprocess
import sys

build, root, wheels = sys.argv[1:]
HERE = os.getcwd()
# Nothing but what is installed, and nothing of this machine's settings.
BARE = {"PATH": "/nowhere", "HOME": HERE, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def environment(name, **options):
    """A new environment; returns a function that runs its programs."""
    folder = os.path.join(HERE, name)
    system = ["--system-site-packages"] if options.pop("system", False) else []
    subprocess.run([sys.executable, "-m", "venv", *system, folder], check=True)

    def run(program, *words, text=None, path=None):
        env = dict(BARE, PATH=path) if path else BARE
        return subprocess.run([os.path.join(folder, "bin", program), *words], env=env, input=text, check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    return run


run = environment("whole")
wheel, = glob.glob(os.path.join(wheels, "*.whl"))
run("pip", "install", "--no-index", "--quiet", wheel)
shown = run("pipec", "zb1p", "-Dranks=4")
assert shown == subprocess.run([os.path.join(build, "bin/pipec"), "zb1p", "-Dranks=4"], check=True, text=True,
                               stdout=subprocess.PIPE).stdout and "zb1p: 4 ranks" in shown, shown
use = """
import os, pathlib, pipec
inside = pathlib.Path(pipec.__file__).parent
assert pipec.program() == str(inside / "bin/pipec"), pipec.program()
assert (inside / "py.typed").exists() and (inside / "include/pipec/runtime").is_dir()
assert len(pipec.library()) > 15
print(pipec.compile("zb1p", ranks=4, microbatches=8, target="torch").lint())
"""
assert run("python3", "-", text=use).startswith("safe under: stream pair edge buffered\nPyTorch 2.13: ")
# The licences of what is linked into the compiler go with it.
texts = glob.glob(os.path.join(HERE, "whole/lib/python3*/site-packages/pipec-*.dist-info/**/LICENSE*"), recursive=True)
assert texts, "no licence"
# The compiler alone, where there is no C library at all.
if os.geteuid() == 0 and shutil.which("chroot"):
    os.makedirs("empty/tmp", exist_ok=True)
    inside, = glob.glob(os.path.join(HERE, "whole/lib/python3*/site-packages/pipec"))
    shutil.copytree(inside, "empty/pipec")
    done = subprocess.run(["chroot", "empty", "/pipec/bin/pipec", "zb1p", "-Dranks=4"], check=True, text=True,
                          stdout=subprocess.PIPE)
    assert done.stdout == shown

# The package alone finds a compiler on the PATH, and is not a command itself.
alone = environment("alone", system=True)
source = shutil.copytree(os.path.join(root, "python"), "python", ignore=shutil.ignore_patterns("__pycache__"))
alone("pip", "install", "--no-index", "--no-build-isolation", "--quiet", os.path.abspath(source))
assert not os.path.exists("alone/bin/pipec")
find = "import pipec; print(pipec.program())"
assert alone("python3", "-c", find, path=os.path.join(build, "bin")).strip() == os.path.join(build, "bin/pipec")
fails = "import pipec\ntry: pipec.program()\nexcept pipec.ProgramNotFound as error: print(error)"
assert "no compiler" in alone("python3", "-c", fails)
