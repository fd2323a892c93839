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

# Those that PyTorch runs only in part: lists of passes that it does run.
UNPAIRED = {"interleaved_overlap_bf": ["unpair,torch-compute", "unpair,torch", "unpair,torch-timed"]}

# (ranks, micro-batches): fewer micro-batches than ranks, as many, odd numbers.
SIZES = [(1, 1), (1, 3), (2, 1), (2, 2), (2, 4), (2, 5), (3, 3), (3, 7), (4, 2), (4, 8), (4, 9), (4, 16)]
if ALL:
    SIZES = [(p, m) for p in range(1, 9) for m in range(1, 4 * p + 1)]


def arguments(name, ranks, microbatches, chunks=None):
    result = [name, f"-Dranks={ranks}", f"-Dmicrobatches={microbatches}"]
    return result if chunks is None else result + [f"-Dchunks={chunks}"]


def instances(names=CHUNKS, sizes=SIZES):
    """(title, arguments, compute rows) of every size that the schedule takes.

    A size is left out when a `require` of the schedule refuses it; any other
    failure is a failure of the test.
    """
    for name in names:
        taken = 0
        for chunks in CHUNKS.get(name, [None]):
            for ranks, microbatches in sizes:
                words = arguments(name, ranks, microbatches, chunks)
                status, out, err = oracle.run("pipec", *words, "--show-kinds", "--emit=csv", "-o", "-")
                if status == 1 and "[RequirementFailed]" in err:
                    continue
                if status:
                    raise SystemExit(f"pipec {' '.join(words)}: {err}")
                taken += 1
                yield " ".join(words), words, oracle.parse(out)
        if not taken:
            raise SystemExit(f"{name} takes none of the sizes")
