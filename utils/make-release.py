#!/usr/bin/env python3
"""Makes the files of a release, from the source tree that contains this program.

    make-release.py [--wheel | --source] [--site PYTHON] WORK OUT

OUT then contains an archive of the sources of the commit, a source distribution, two
wheels, an archive and a Debian package of the installed programs, with --site (a Python
that has MkDocs) an archive of the site, and SHA256SUMS; with --wheel only the wheels,
with --source only the archive of the sources. Everything is built from the source
distribution, unpacked in WORK, whose programs are linked statically, C library
included. The root file system of the container image is made there, too (WORK/image),
by the command of the Containerfile.

In a work tree of git, the sources are those of the commit, and no file may differ from
it; a wheel may be made of a changed tree. In an unpacked archive of the sources they
are all files of the tree but those of build/. An unpacked source
distribution makes no archive of the sources, since it does not have all of them.

The same commit results in the same bytes: SOURCE_DATE_EPOCH is the time of the commit
unless it is set. This Python has scikit-build-core. Earlier files in OUT and all of
WORK are removed.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import gzip
import hashlib
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import sys
import tarfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PT_INTERP = 3


def fail(message):
    sys.exit(f"make-release: {message}")


def run(*command, cwd=None):
    """Runs a command; its output is that of this program."""
    print("+", *command, flush=True)
    if subprocess.run([os.fspath(word) for word in command], cwd=cwd, check=False).returncode:
        fail(f"failed: {' '.join(map(str, command))}")


def git(*words):
    """What git prints about the work tree; nothing if this is none."""
    if not (ROOT / ".git").exists():
        return ""
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout


def epoch():
    """The time of the files, in seconds: $SOURCE_DATE_EPOCH, the time of the commit, or
    without git, as in a source distribution, that of the changelog."""
    if named := os.environ.get("SOURCE_DATE_EPOCH"):
        return named
    return git("log", "-1", "--format=%ct").strip() or str(int((ROOT / "CHANGELOG.md").stat().st_mtime))


def needs_loader(program):
    """Whether a 64-bit ELF file names the loader of shared libraries."""
    data = program.read_bytes()
    if data[:5] != b"\x7fELF\x02":
        fail(f"{program} is not a 64-bit ELF program")
    order = "<" if data[5] == 1 else ">"
    start, = struct.unpack_from(order + "Q", data, 32)
    size, count = struct.unpack_from(order + "HH", data, 54)
    return any(struct.unpack_from(order + "I", data, start + i * size)[0] == PT_INTERP for i in range(count))


def backend(call, cwd):
    """Calls a function of the build backend in a process of its own."""
    run(sys.executable, "-c", f"import scikit_build_core.build as backend; backend.{call}", cwd=cwd)


def unpacked(archive, folder):
    """The only folder of an archive, unpacked in `folder`."""
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else tar.extractall(folder)
    tree, = folder.iterdir()
    return tree


def build(sources, work):
    """Builds the programs by the command of the Containerfile; returns the build tree."""
    run(sources / "x", "image", work / "image")
    programs = [path for path in (sources / "build/static/bin").iterdir() if path.is_file()]
    for program in programs:
        if needs_loader(program):
            fail(f"{program} needs shared libraries")
    return sources / "build/static"


def version(sources):
    """The version that the source distribution states."""
    lines = (sources / "PKG-INFO").read_text(encoding="utf-8").splitlines()
    return next(line.split(": ")[1] for line in lines if line.startswith("Version: "))


def pack(folder, archive):
    """A compressed archive of a folder, whose bytes are those of names, modes and contents."""
    def normal(entry):
        entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        entry.mode = 0o755 if entry.isdir() or entry.mode & 0o100 else 0o644
        return entry

    with gzip.GzipFile(archive, "wb", mtime=0) as file, tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(folder, arcname=folder.name, filter=normal)  # in the order of names


def committed(work):
    """The sources of a release, in a folder without other files, named after the version.
    None for a source distribution."""
    if (ROOT / "PKG-INFO").exists():
        return None
    text = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    tree = work / f"pipec-{re.search(r'^project[(]pipec VERSION ([0-9.]+)', text, re.M)[1]}"
    if not (ROOT / ".git").exists():
        left_out = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=lambda folder, names: {
            *left_out(folder, names), *(["build"] if pathlib.Path(folder) == ROOT else [])})
        return tree
    if changes := changed():
        fail(f"files differ from the commit: {' '.join(changes)}")
    run("git", "-c", "tar.umask=0022", "archive", "--format=tar", f"--prefix={tree.name}/", "-o", work / "commit.tar", "HEAD", cwd=ROOT)
    run("tar", "xf", work / "commit.tar", "-C", work)
    return tree


def changed():
    """The files that differ from the commit."""
    return git("diff", "--name-only", "HEAD").splitlines()


def make_archive(sources, tree, work, out):
    """An archive of everything that is installed, in one folder."""
    folder = work / f"pipec-{version(sources)}-{platform.system().lower()}-{platform.machine()}"
    run("cmake", "--install", tree, "--prefix", folder)
    pack(folder, out / f"{folder.name}.tar.gz")


def make_site(python, sources, tree, work, out):
    """An archive of the documentation as a web site, by MkDocs of that Python."""
    run(python, sources / "utils/site.py", "--bin", tree / "bin", "--root", sources, work / "web")
    folder = work / f"pipec-{version(sources)}-site"
    (work / "web/site").rename(folder)
    pack(folder, out / f"{folder.name}.tar.gz")


def glibc(library):
    """The minor version of the oldest glibc 2 that has what a shared library needs."""
    return max(map(int, re.findall(rb"\0GLIBC_2\.(\d+)(?=[.\0])", library.read_bytes())))


def make_wheels(sources, tree, out):
    """Two wheels from a build tree of the sources: one with programs that need no
    library, so that every Linux of the last decade runs them, and one that has the
    shared library of orders, too, which needs the glibc that it was built with. pip
    takes the second where that is there."""
    machine = platform.machine()
    parts = "pipec;development;python"
    newest = f"manylinux_2_{glibc(tree / 'lib/libpipec-order.so')}"
    for names, components in ((("manylinux_2_17", "manylinux2014", "musllinux_1_1"), parts), ((newest,), parts + ";order")):
        settings = {"build-dir": os.fspath(tree), "wheel.tags": ";".join(f"py3-none-{name}_{machine}" for name in names),
                    "wheel.reproducible": "true", "install.components": components,
                    "cmake.define.PIPEC_STATIC": "ON"}
        backend(f"build_wheel({os.fspath(out)!r}, {settings!r})", sources)


def main():
    parser = argparse.ArgumentParser(description="Makes the files of a release.")
    only = parser.add_mutually_exclusive_group()
    only.add_argument("--wheel", action="store_true", help="only the wheels")
    only.add_argument("--source", action="store_true", help="only the archive of the sources")
    parser.add_argument("--site", type=pathlib.Path, metavar="PYTHON", help="also the site, by this Python, which has MkDocs")
    parser.add_argument("work", type=pathlib.Path, help="a folder for unpacking and building")
    parser.add_argument("out", type=pathlib.Path, help="a folder for the files")
    options = parser.parse_args()
    work, out = options.work.absolute(), options.out.absolute()
    os.umask(0o022)
    os.environ["SOURCE_DATE_EPOCH"] = epoch()
    # Objects of another build are the same whatever the folder.
    os.environ.update(CCACHE_BASEDIR=os.fspath(work), CCACHE_NOHASHDIR="1")
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    out.mkdir(parents=True, exist_ok=True)
    for old in (path for pattern in ("pipec-*", "pipec_*", "SHA256SUMS") for path in out.glob(pattern)):
        old.unlink()

    commit = None if options.wheel and changed() else committed(work)
    if commit and not options.wheel:
        pack(commit, out / f"{commit.name}-source.tar.gz")
    if options.source:
        return
    backend(f"build_sdist({os.fspath(work)!r})", commit or ROOT)
    sdist, = work.glob("pipec-*.tar.gz")
    sources = unpacked(sdist, work / "sources")
    tree = build(sources, work)
    if not options.wheel:
        shutil.copy(sdist, out)
        make_archive(sources, tree, work, out)
        run("cpack", "-B", work / "packages", cwd=tree)
        package, = (work / "packages").glob("*.deb")
        shutil.copy(package, out)
        if options.site:
            make_site(options.site.absolute(), sources, tree, work, out)
    make_wheels(sources, tree, out)
    files = sorted(path for path in out.glob("pipec[-_]*"))
    if not options.wheel:
        sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
        (out / "SHA256SUMS").write_text(sums, encoding="utf-8")
    for path in files:
        print(f"{path.stat().st_size:>10} {path}")


if __name__ == "__main__":
    main()
