"""Which schedules of the library PyTorch can express, and sizes to try."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os

import oracle

ALL = bool(os.environ.get("PIPEC_TEST_ALL"))

# Name -> numbers of chunks; None where the schedule has no such parameter.
# Left out: what PyTorch has no cell for (two directions).
CHUNKS = {
    "gpipe": [None],
    "one_f_one_b": [None],
    "eager_one_f_one_b": [None],
    "zb1p": [None],
    "zbh2": [None],
    "one_f_one_b_overlap": [None],
    "interleaved": [1, 2, 3],
    "interleaved_flexible": [1, 2, 3],
    "interleaved_any": [1, 2, 3],
    "interleaved_zb": [1, 2, 3],
    "interleaved_overlap": [1, 2, 3],
    "kimi_k2": [1, 2, 3],
    "looped_bfs": [1, 2, 3],
    "zbv": [None],
    "v_half": [None],
    "v_min": [None],
    "dualpipev": [None],
    "hanayo": [None],
}

# Those that run micro-batches in groups, of as many as there are ranks unless `group` says more.
GROUPED = ["interleaved", "interleaved_overlap", "kimi_k2"]

# Those that PyTorch runs only in part: lists of passes that it does run.
UNPAIRED = {"interleaved_overlap_bf": [f"unpair,{target}" for target in ("torch-compute", oracle.TARGET, oracle.TIMED)]}

# (ranks, micro-batches): fewer micro-batches than ranks, as many, odd numbers.
SIZES = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 4), (2, 5), (3, 3), (3, 7), (4, 2), (4, 8), (4, 9), (4, 16)]
if ALL:
    SIZES = [(p, m) for p in range(1, 9) for m in range(1, 4 * p + 1)]


def arguments(name, ranks, microbatches, chunks=None, group=None):
    result = [name, f"-Dranks={ranks}", f"-Dmicrobatches={microbatches}"]
    result += [] if chunks is None else [f"-Dchunks={chunks}"]
    return result if group is None else result + [f"-Dgroup={group}"]


def instances(names=CHUNKS, sizes=SIZES, groups=False):
    """(title, arguments, compute rows) of every size that the schedule takes; with `groups` larger groups too.

    A size is left out when a `require` of the schedule refuses it; any other
    failure is a failure of the test.
    """
    for name in names:
        taken = 0
        for chunks in CHUNKS.get(name, [None]):
            grouped = groups and name in GROUPED
            for ranks, microbatches, group in (
                (p, m, g) for p, m in sizes for g in ([None, p + 1, 2 * p] if grouped else [None])
            ):
                words = arguments(name, ranks, microbatches, chunks, group)
                status, out, err = oracle.run("pipec", *words, "--show-kinds", "--emit=csv", "-o", "-")
                if status == 1 and "[RequirementFailed]" in err:
                    continue
                if status:
                    raise SystemExit(f"pipec {' '.join(words)}: {err}")
                taken += 1
                yield " ".join(words), words, oracle.parse(out)
        if not taken:
            raise SystemExit(f"{name} takes none of the sizes")
