#!/usr/bin/env python3
"""Makes the files of a release, from the source tree that contains this program.

    make-release.py [--wheel] WORK OUT

OUT then contains a source distribution, a wheel, an archive and a Debian package of
the installed programs, and SHA256SUMS; with --wheel only the wheel. Everything is
built from the source distribution, unpacked in WORK, whose programs are linked
statically, C library included. The root file system of the container image is made
there, too (WORK/image), by the command of the Containerfile.

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


def epoch():
    """The time of the files, in seconds: $SOURCE_DATE_EPOCH, the time of the commit, or
    without git, as in a source distribution, that of the changelog."""
    if named := os.environ.get("SOURCE_DATE_EPOCH"):
        return named
    done = subprocess.run(["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or str(int((ROOT / "CHANGELOG.md").stat().st_mtime))


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


def make_archive(sources, tree, work, out):
    """An archive of everything that is installed, in one folder."""
    name = f"pipec-{version(sources)}-{platform.system().lower()}-{platform.machine()}"
    run("cmake", "--install", tree, "--prefix", work / name)

    def normal(entry):
        entry.mtime = int(os.environ["SOURCE_DATE_EPOCH"])
        entry.uid = entry.gid = 0
        entry.uname = entry.gname = "root"
        return entry

    with gzip.GzipFile(out / f"{name}.tar.gz", "wb", mtime=0) as file, tarfile.open(fileobj=file, mode="w") as tar:
        tar.add(work / name, arcname=name, filter=normal)  # in the order of names


def make_wheel(sources, tree, out):
    """A wheel from a build tree of the sources. Its programs need no library, so every
    Linux of the last decade runs them."""
    machine = platform.machine()
    tags = ";".join(f"py3-none-{name}_{machine}" for name in ("manylinux_2_17", "manylinux2014", "musllinux_1_1"))
    settings = {"build-dir": os.fspath(tree), "wheel.tags": tags, "wheel.reproducible": "true",
                "cmake.define.PIPEC_STATIC": "ON"}
    backend(f"build_wheel({os.fspath(out)!r}, {settings!r})", sources)


def main():
    parser = argparse.ArgumentParser(description="Makes the files of a release.")
    parser.add_argument("--wheel", action="store_true", help="only the wheel")
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

    backend(f"build_sdist({os.fspath(work)!r})", ROOT)
    sdist, = work.glob("pipec-*.tar.gz")
    sources = unpacked(sdist, work / "sources")
    tree = build(sources, work)
    if not options.wheel:
        shutil.copy(sdist, out)
        make_archive(sources, tree, work, out)
        run("cpack", "-B", work / "packages", cwd=tree)
        package, = (work / "packages").glob("*.deb")
        shutil.copy(package, out)
    make_wheel(sources, tree, out)
    files = sorted(path for path in out.glob("pipec[-_]*"))
    if not options.wheel:
        sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)
        (out / "SHA256SUMS").write_text(sums, encoding="utf-8")
    for path in files:
        print(f"{path.stat().st_size:>10} {path}")


if __name__ == "__main__":
    main()
