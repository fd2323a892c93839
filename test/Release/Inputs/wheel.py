"""Installs the wheel in the folder that is named, and uses it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import os
import shutil
import subprocess
import sys
import zipfile

HERE = os.getcwd()
# Nothing but what is installed, and nothing of this machine's settings.
BARE = {"PATH": "/nowhere", "HOME": HERE, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run(program, *words, text=None):
    return subprocess.run([os.path.join(HERE, "env/bin", program), *words], env=BARE, input=text, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


wheels = sorted(glob.glob(os.path.join(sys.argv[1], "*.whl")))
print(*map(os.path.basename, wheels), sep="\n")
# An index with these wheels: a folder for each package, with a page of links.
os.makedirs("index/pipec")
for wheel in wheels:
    shutil.copy(wheel, "index/pipec")
with open("index/pipec/index.html", "w", encoding="utf-8") as page:
    page.writelines(f'<!DOCTYPE html><a href="{name}">{name}</a>\n' for name in map(os.path.basename, wheels))
# What each of them needs, as their names say it: all programs run anywhere.
for wheel, has_library in zip(wheels, (False, True)):
    with zipfile.ZipFile(wheel) as archive:
        assert ("pipec/lib/libpipec-order.so" in archive.namelist()) == has_library, wheel
subprocess.run([sys.executable, "-m", "venv", "env"], check=True)
run("pip", "install", "--index-url", f"file://{HERE}/index", "--quiet", "pipec")
shown = run("pipec", "zb1p", "-Dranks=4")
print(shown)
# The other commands.
print(run("pipec-lsp", "--version"))
print(run("pipec-opt", "--passes=strip-bubbles", "-", text=run("pipec", "zb1p", "-Dranks=4", "--emit=ir")).splitlines()[1])
use = """
import os, pathlib, pipec
inside = pathlib.Path(pipec.__file__).parent
assert pipec.program() == str(inside / "bin/pipec"), pipec.program()
assert (inside / "py.typed").exists() and (inside / "include/pipec/runtime").is_dir()
assert os.access(inside / "bin/pipec-opt", os.X_OK)
assert len(pipec.library()) > 15
print(pipec.compile("zb1p", ranks=4, microbatches=8, target="torch").lint())
"""
print(run("python3", "-", text=use))
# The licences of what is linked into the compiler go with it.
inside, = glob.glob("env/lib/python3*/site-packages/pipec")
assert {"llvm-19-dev", "libc6", "libjs-codemirror"} <= set(os.listdir(os.path.join(inside, "share/doc/pipec/licenses")))
assert glob.glob("env/lib/python3*/site-packages/pipec-*.dist-info/**/LICENSE", recursive=True)
# The manual page and completion are where programs look for them relative to bin/.
for path in ("bash-completion/completions/pipec", "zsh/site-functions/_pipec", "fish/vendor_completions.d/pipec.fish"):
    assert os.path.getsize(os.path.join("env/share", path)), path
with open("env/share/man/man1/pipec.1", encoding="utf-8") as page:
    print("man:", page.read().split("\n")[1])
# The compiler alone, where there is no C library at all.
if os.geteuid() == 0:
    os.makedirs("empty/tmp", exist_ok=True)
    shutil.copytree(inside, "empty/pipec")
    done = subprocess.run(["chroot", "empty", "/pipec/bin/pipec", "zb1p", "-Dranks=4"], check=True, text=True,
                          stdout=subprocess.PIPE)
    assert done.stdout == shown
