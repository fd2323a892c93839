"""Faults in schedules for PyTorch, one at a time: the file, what lint has to say
of it, and what PyTorch's runtime does with it.

Every rule that a file must obey is broken at least once, in a file that pipec
wrote and PyTorch trains with.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import csv
import dataclasses
import functools
import json
import os
import subprocess
import tempfile

# What runs of a file come to.
RIGHT = "trains as it should"
REFUSED = "not loaded"
WAITS = "waits until the time-out"
ERROR = "an error in the first step"
LATE = "an error in the second step"
WRONG = "wrong gradients, no error"

# The results of the runs (plain, with FSDP) that lint's note on a finding allows.
NOTES = {
    "NoteRunRefused": [(REFUSED, REFUSED)],
    "NoteRunWaits": [(WAITS, WAITS)],
    "NoteRunStops": [(ERROR, ERROR)],
    "NoteRunWrong": [(WRONG, WRONG)],
    "NoteRunOtherTensor": [(WRONG, WRONG), (ERROR, ERROR)],
    "NoteRunOtherLoss": [(WRONG, WRONG), (ERROR, ERROR)],
    "NoteRunSharded": [(RIGHT, ERROR)],
    "NoteRunSecondStep": [(RIGHT, LATE), (RIGHT, ERROR)],
}

# Schedules of the library that are broken, by a short name.
BASES = {
    "loop": ["interleaved", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch-2.13"],
    "computes": ["interleaved", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch-compute"],
    "v": ["zbv", "-Dranks=2", "-Dmicrobatches=4", "--target=torch-2.13"],
    "v computes": ["zbv", "-Dranks=2", "-Dmicrobatches=4", "--target=torch-compute"],
    "pairs": ["dualpipev", "-Dranks=2", "-Dmicrobatches=4", "--target=torch-2.13"],
    "eager": ["kimi_k2", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--target=torch-compute"],
    "split": ["kimi_k2", "-Dranks=2", "-Dchunks=2", "-Dmicrobatches=4", "--passes=split-backward,torch-compute"],
}


@dataclasses.dataclass(frozen=True)
class Fault:
    """One way to break a file."""
    name: str
    #: Of the schedule that is broken.
    base: str
    #: From rows of cells to rows of cells, or to the text of a file.
    change: object
    #: Kind and cell of a finding that lint gives; the cell is None where the
    #: finding has none, or where the file cannot be read.
    finding: tuple
    #: How the run ends, without FSDP and with it.
    result: tuple
    #: Whether neighbouring stages exchange tensors of different sizes.
    uneven: bool = False
    #: What orders the transfers of a rank; None is gloo as it is.
    communicators: str | None = None
    #: The rule that is broken.
    rule: str = ""

    @property
    def format(self):
        return "compute_comms" if any("SEND" in cell for row in base(self.base) for cell in row) else "compute_only"


def drop(*cells):
    def change(rows):
        assert all(sum(row.count(cell) for row in rows) == 1 for cell in cells), cells
        return [[cell for cell in row if cell not in cells] for row in rows]
    return change


def replace(cell, *others):
    return lambda rows: [[c for x in row for c in (others if x == cell else [x])] for row in rows]


def double(cell):
    return replace(cell, cell, cell)


def swap(a, b):
    other = {a: b, b: a}
    return lambda rows: [[other.get(cell, cell) for cell in row] for row in rows]


def move(cell, after=None, before=None):
    def change(rows):
        result = []
        for row in rows:
            row = list(row)
            if cell in row:
                row.remove(cell)
                row.insert(row.index(after) + 1 if after else row.index(before), cell)
            result.append(row)
        return result
    return change


def chain(*changes):
    return lambda rows: functools.reduce(lambda result, change: change(result), changes, rows)


def keep(*words):
    """Only the cells of these kinds stay."""
    return lambda rows: [[cell for cell in row if any(word in cell for word in words)] for row in rows]


def text(rows):
    return "".join(",".join(row) + "\n" for row in rows)


@functools.cache
def base(name):
    done = subprocess.run(["pipec", *BASES[name], "--emit=csv"], capture_output=True, text=True, check=True)
    return tuple(tuple(row) for row in csv.reader(done.stdout.splitlines()))


def broken(fault):
    """The file with the fault, as text; the file is another one than before."""
    good = [list(row) for row in base(fault.base)]
    changed = fault.change([list(row) for row in good])
    assert changed != good, f"{fault.name}: nothing changed"
    return changed if isinstance(changed, str) else text(changed)


def insert(cell, after):
    return replace(after, after, cell)


def twice(plain):
    """The same without FSDP and with it."""
    return plain, plain


def rule(name, faults):
    return [dataclasses.replace(fault, rule=name) for fault in faults]


FAULTS = [
    *rule("A cell is one step and nothing else", [
        Fault("letters after a step", "loop", replace("0F1", "0F1x"), ("CsvTrailingText", None), twice(RIGHT)),
        Fault("no kind of step", "loop", replace("0F1", "0X1"), ("CsvUnknownStep", None), twice(REFUSED)),
        Fault("a compute without its micro-batch", "loop", replace("0F1", "0F"), ("CsvNoMicrobatch", None), twice(REFUSED)),
        Fault("an UNSHARD with a micro-batch", "loop", replace("0UNSHARD", "0UNSHARD1"), ("CsvTrailingText", None), twice(RIGHT)),
        Fault("an overlap in an overlap", "pairs", replace("(0F3;3B1)OVERLAP_F_B", "((0F3;3B1)OVERLAP_F_B)OVERLAP_F_B"),
              ("CsvUnknownStep", None), twice(REFUSED)),
    ]),
    *rule("A row is a rank, a stage is on one rank", [
        Fault("a header", "loop", lambda rows: "step 0,step 1\n" + text(rows), ("CsvUnknownStep", None), twice(REFUSED)),
        Fault("a blank line at the end", "loop", lambda rows: text(rows) + "\n", ("CsvIdleRow", None), twice(REFUSED)),
        Fault("a step on another rank", "loop", chain(drop("1F3"), insert("1F3", "0F3")), ("CsvStageTwice", None), twice(REFUSED)),
        Fault("a SEND on another rank", "loop", chain(drop("1SEND_F2"), insert("1SEND_F2", "0F2")),
              ("CsvStageTwice", None), twice(REFUSED)),
    ]),
    *rule("Computes alone, or everything and no idle slot", [
        Fault("a transfer in a `compute_only` file", "computes", insert("0SEND_F0", "0F0"), ("TransferMissing", "0F1"), twice(REFUSED)),
        Fault("an idle slot in a `compute_comms` file", "loop", insert("", "0F0"), ("IdleAmongTransfers", ""), twice(REFUSED)),
    ]),
    *rule("Every stage has one F and one B, or I and W, of every micro-batch", [
        Fault("no F", "loop", drop("1F1"), ("StepsMissing", None), twice(REFUSED)),
        Fault("no B", "loop", drop("1B1"), ("StepsMissing", None), twice(REFUSED)),
        Fault("no I", "v", drop("1I1"), ("StepsMissing", None), twice(REFUSED)),
        Fault("no W", "v", drop("1W1"), ("StepsMissing", None), twice(REFUSED)),
        Fault("forwards only", "loop", keep("F"), ("ForwardOnly", None), twice(REFUSED)),
        Fault("two Fs of the first stage", "loop", double("0F1"), ("StepDoubled", "0F1"), twice(RIGHT)),
        Fault("two Fs of another stage", "loop", double("1F1"), ("StepDoubled", "1F1"), twice(ERROR)),
        Fault("two Fs after a stage of the same rank", "v", double("2F0"), ("StepDoubled", "2F0"), twice(RIGHT)),
        Fault("two Bs", "loop", double("1B1"), ("StepDoubled", "1B1"), twice(ERROR)),
        Fault("two Ws", "v", double("1W1"), ("StepDoubled", "1W1"), twice(ERROR)),
        Fault("a B beside I and W", "v", insert("1B1", "1W1"), ("StepDoubled", "1B1"), twice(REFUSED)),
    ]),
    *rule("A step comes after what it needs", [
        Fault("a B before its F", "loop", move("3B2", before="3F2"), ("StepTooEarly", "3B2"), twice(REFUSED)),
        Fault("a W before its I", "v", move("3W2", before="3I2"), ("StepTooEarly", "3W2"), twice(REFUSED)),
        Fault("an F before that of the stage before it, on one rank", "v", move("2F1", before="1F1"),
              ("OrderStuckAlone", "2F1"), twice(WRONG)),
        Fault("ranks that wait for each other, `compute_only`", "computes", chain(move("0F1", after="2F0"), move("1F0", after="3F0")),
              ("OrderStuck", None), twice(REFUSED)),
        Fault("an overlap that feeds itself, `compute_only`", "v computes", chain(drop("2F0"), replace("1F0", "(1F0;2F0)OVERLAP_F_B")),
              ("OverlapFeedsItself", "(1F0;2F0)OVERLAP_F_B"), twice(REFUSED)),
        Fault("an overlap that feeds itself, `compute_comms`", "v", chain(drop("2F0"), replace("1F0", "(1F0;2F0)OVERLAP_F_B")),
              ("OverlapFeedsItself", "(1F0;2F0)OVERLAP_F_B"), twice(RIGHT)),
    ]),
    *rule("The last stage runs its forwards in the order of micro-batches", [
        Fault("whole backwards", "eager", swap("3F0", "3F1"), ("LossOrder", "3F0"), twice(WRONG)),
        Fault("split backwards", "split", swap("3F0", "3F1"), ("LossOrder", "3F0"), twice(WRONG)),
    ]),
    *rule("A stage has one REDUCE_GRAD, after its weight gradients and before its last RESHARD", [
        Fault("none", "loop", drop("1REDUCE_GRAD"), ("ReduceGradMissing", "1B3"), twice(WRONG)),
        Fault("none at all", "loop", keep("F", "B", "UNSHARD", "RESHARD"), ("ReduceGradMissing", "0B3"), twice(WRONG)),
        Fault("none at all, and no UNSHARD or RESHARD", "loop", keep("F", "B"), ("NoReduceGrad", None), (WRONG, ERROR)),
        Fault("two", "loop", double("1REDUCE_GRAD"), ("ReduceGradDoubled", "1REDUCE_GRAD"), twice(WRONG)),
        Fault("before the last weight gradient", "loop", move("1REDUCE_GRAD", before="1B3"), ("ReduceGradEarly", "1REDUCE_GRAD"), twice(WRONG)),
        Fault("after the RESHARD", "loop", move("1REDUCE_GRAD", after="1RESHARD"), ("ReduceGradLate", "1REDUCE_GRAD"), twice(RIGHT)),
    ]),
    *rule("A stage is unsharded when it computes, used, and resharded", [
        Fault("no UNSHARD", "loop", drop("1UNSHARD"), ("ComputeOnSharded", "1F0"), (RIGHT, ERROR)),
        Fault("an UNSHARD after the F", "loop", move("1UNSHARD", after="1F0"), ("ComputeOnSharded", "1F0"), (RIGHT, ERROR)),
        Fault("a RESHARD before the last B", "loop", move("1RESHARD", before="1B3"), ("ComputeOnSharded", "1B3"), (RIGHT, ERROR)),
        Fault("two UNSHARDs", "loop", double("1UNSHARD"), ("UnshardTwice", "1UNSHARD"), (RIGHT, ERROR)),
        Fault("two RESHARDs", "loop", double("1RESHARD"), ("ReshardTwice", "1RESHARD"), (RIGHT, ERROR)),
        Fault("no RESHARD", "loop", drop("1RESHARD"), ("UnshardLeftOpen", "1UNSHARD"), (RIGHT, LATE)),
        Fault("an UNSHARD that no step uses", "loop", replace("1RESHARD", "1RESHARD", "1UNSHARD", "1RESHARD"),
              ("UnshardUnused", "1UNSHARD"), (RIGHT, ERROR)),
        Fault("an UNSHARD at the end", "loop", insert("1UNSHARD", "1RESHARD"), ("UnshardLeftOpen", "1UNSHARD"), (RIGHT, ERROR)),
    ]),
    *rule("A transfer between ranks has one SEND and one RECV, where its data is available", [
        Fault("no SEND_F", "loop", drop("1SEND_F2"), ("TransferUnmatched", "2RECV_F2"), twice(WAITS)),
        Fault("no SEND_B", "loop", drop("1SEND_B2"), ("TransferUnmatched", "0RECV_B2"), twice(WAITS)),
        Fault("no RECV_F", "loop", drop("2RECV_F2"), ("TransferUnmatched", "1SEND_F2"), twice(ERROR)),
        Fault("no RECV_B", "loop", drop("2RECV_B2"), ("TransferUnmatched", "3SEND_B2"), twice(ERROR)),
        Fault("neither", "loop", drop("1SEND_F2", "2RECV_F2"), ("TransferMissing", "1F2"), twice(ERROR)),
        Fault("two SENDs", "loop", double("1SEND_F2"), ("TransferDoubled", "1SEND_F2"), twice(WRONG)),
        Fault("two RECVs", "loop", double("2RECV_F2"), ("TransferDoubled", "2RECV_F2"), twice(ERROR)),
        Fault("a SEND_F before its F", "loop", move("1SEND_F2", before="1F2"), ("SendBeforeProducer", "1SEND_F2"), twice(ERROR)),
        Fault("a SEND_F after its B", "loop", move("1SEND_F2", after="1B2"), ("SendAfterFree", "1SEND_F2"), twice(ERROR)),
        Fault("a SEND_B before its B", "loop", move("1SEND_B2", before="1B2"), ("SendBeforeProducer", "1SEND_B2"), twice(ERROR)),
        Fault("a RECV_F after its F", "loop", move("2RECV_F2", after="2F2"), ("RecvAfterConsumer", "2RECV_F2"), twice(ERROR)),
        Fault("a RECV_B after its B", "loop", move("2RECV_B2", after="2B2"), ("RecvAfterConsumer", "2RECV_B2"), twice(ERROR)),
        Fault("inside a rank", "v", chain(insert("1SEND_F0", "1F0"), insert("2RECV_F0", "1SEND_F0")),
              ("TransferInsideRank", "1SEND_F0"), twice(ERROR)),
        Fault("a SEND_F of the last stage", "loop", insert("3SEND_F0", "3F0"), ("TransferNoNeighbour", "3SEND_F0"), twice(RIGHT)),
        Fault("a RECV_F of the first stage", "loop", insert("0RECV_F0", "0UNSHARD"), ("TransferNoNeighbour", "0RECV_F0"), twice(LATE)),
    ]),
    *rule("The k-th SEND of a rank to another is the k-th RECV there", [
        Fault("RECVs of one stage swapped", "loop", swap("2RECV_F0", "2RECV_F1"), ("TransferCrossed", "2RECV_F1"), twice(WRONG)),
        Fault("SENDs of one stage swapped", "loop", move("0SEND_F0", after="0SEND_F1"), ("TransferCrossed", "1RECV_F0"), twice(WRONG)),
        Fault("RECVs of F and B swapped", "loop", swap("2RECV_F2", "0RECV_B0"), ("TransferCrossed", "0RECV_B0"), twice(WRONG)),
        Fault("the same, with tensors of different sizes", "loop", swap("2RECV_F2", "0RECV_B0"),
              ("TransferCrossed", "0RECV_B0"), twice(ERROR), uneven=True),
    ]),
    *rule("No rank waits forever", [
        Fault("a rank needs what it has not sent for yet", "loop",
              chain(move("1SEND_F0", after="3F0"), move("1SEND_F1", after="1SEND_F0")), ("Deadlock", "2RECV_F0"), twice(WAITS)),
        Fault("two ranks receive first, one communicator per rank", "loop", move("1SEND_F0", after="1RECV_F1"),
              ("Deadlock", "2RECV_F0"), twice(WAITS), communicators="stream"),
        Fault("the same, one communicator per pair", "loop", move("1SEND_F0", after="1RECV_F1"),
              ("Deadlock", "2RECV_F0"), twice(WAITS), communicators="pair"),
        Fault("the same, one communicator per direction", "loop", move("1SEND_F0", after="1RECV_F1"),
              ("Deadlock", "2RECV_F0"), twice(RIGHT), communicators="edge"),
    ]),
]


def lint(contents, *options):
    """The findings of `pipec lint --format=json` for a file of these contents,
    and its status."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file.csv")
        with open(path, "w", newline="") as file:
            file.write(contents)
        done = subprocess.run(["pipec", "lint", "--format=json", path, *options], capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
        return json.loads(done.stdout), done.returncode
