"""Gives pipec-opt texts that claim much or hold much of one thing. Each must be
read or refused as told, by its size and not by a power of it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import resource
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])
folder.mkdir(parents=True, exist_ok=True)

# Far above what any of them takes, far below what a quadratic one would.
SECONDS = 60
BYTES = 2 << 30


def schedule(ranks, stages, microbatches, header, lists):
    text = [f"pipec-steps 1\nschedule @a {{ ranks {ranks} stages {stages} "
            f"microbatches {microbatches}\n", header]
    for rank, lines in enumerate(lists):
        text += [f"  rank {rank} {{\n", *(f"    {line}\n" for line in lines), "  }\n"]
    return "".join(text) + "}\n"


def one(header="", lines=("F s0 m0", "B s0 m0")):
    return schedule(1, 1, 1, header + "  map 0\n", [lines])


n = 200000
forwards = [f"F s0 m{i}" for i in range(n)]
backwards = [f"B s0 m{i}" for i in range(n)]
kinds = ["".join("FBIW"[i >> 2 * k & 3] for k in range(9)) for i in range(n)]
limit = list(range(65536))
cases = {
    # The largest sizes, and nothing after them.
    "claims": ("no `map`", "pipec-steps 1\nschedule @a { ranks 65536 stages 65536 "
               "microbatches 16777216\n"),
    "empty-ranks": ("is missing 16777216 of 16777216 forwards", schedule(
        65536, 65536, 16777216, "  map " + " ".join(map(str, limit)) + "\n", [()] * 65536)),
    # Many of one thing.
    "parameters": (None, one("".join(f"  param p{i} = {i}\n" for i in range(n)))),
    "overlap-costs": (None, one("  cost " + " ".join(" & ".join(k) + " = 1" for k in kinds) +
                                "\n")),
    "labels": (None, one(lines=[f"p{i % 256}:" for i in range(n)] + ["F s0 m0", "B s0 m0"])),
    "doubled": ("duplicates", one(lines=["F s0 m0"] * n)),
    "errors": ("expected a stage", one(lines=["F"] * n)),
    "large-overlaps": (None, schedule(1, 1, n, "  map 0\n", [
        ["overlap " + " & ".join(forwards), "overlap " + " & ".join(backwards) + " @3"]])),
    # Each backward of rank 1 wakes rank 0 at the same overlap.
    "wakes": (None, schedule(2, 2, n, "  map 0 1\n", [
        forwards + ["overlap " + " & ".join(backwards)],
        [line.replace("s0", "s1") for pair in zip(forwards, backwards) for line in pair]])),
    # Long words and lines.
    "word": ("found `aaa", "a" * 10000000),
    "nuls": ("the byte 0x00", "\0" * 1000000),
    "name": (None, one('  param "' + "x" * 10000000 + '" = 1\n')),
    "digits": ("does not fit", one(lines=["F s0 m" + "1" * 10000000])),
}


def confine():
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    if "asan" not in sys.argv:  # which reserves address space of its own
        resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


for name, (message, text) in cases.items():
    path = folder / f"{name}.steps"
    path.write_text(text, encoding="utf-8")
    run = subprocess.run(["pipec-opt", str(path), "-o", str(folder / "out")], check=False,
                         capture_output=True, text=True, preexec_fn=confine)
    path.unlink()
    good = run.returncode == (1 if message else 0) and (message or "") in run.stderr
    if not good:
        sys.exit(f"{name}: status {run.returncode}\n{run.stderr[:2000]}")
print(f"{len(cases)} texts read or refused")
