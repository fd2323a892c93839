"""Loads what --emit=hyperparallel writes with the loader that the page given as
argument shows, and compares the steps with those of --emit=ir.

HyperParallel is replaced by classes with the members that the loader uses.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import enum
import re
import subprocess
import sys
import types

KINDS = {"F": "FWD", "B": "BWD", "I": "BWD_INPUT", "W": "BWD_WEIGHT", "SEND_F": "FWD_SEND", "RECV_F": "FWD_RECV",
         "SEND_B": "BWD_SEND", "RECV_B": "BWD_RECV", "UNSHARD": "FSDP_UNSHARD", "RESHARD": "FSDP_RESHARD",
         "REDUCE_GRAD": "FSDP_REDUCE_GRAD"}

MetaStepType = enum.Enum("MetaStepType", [*KINDS.values(), "OVERLAP_F_B", "OVERLAP_B_F", "BATCH_SEND_RECV"])


class MetaStep:
    def __init__(self, micro_index, meta_type, stage_index, sub_steps=None):
        assert isinstance(meta_type, MetaStepType)
        self.fields = (micro_index, meta_type.name, stage_index, sub_steps and tuple(s.fields for s in sub_steps))


class PipelineScheduleRuntime:
    def __init__(self, stages, micro_batch_num, overlap_p2p=False):
        self.stages = stages
        self.exec_order = {}
        self._build_stage_to_rank_index()

    def build_exec_order(self):
        self.construct_exec_order()


def load_page(path):
    with open(path, encoding="utf-8") as file:
        blocks = re.findall(r"^```python\n(.*?)^```", file.read(), re.M | re.S)
    code, = [block for block in blocks if "PipelineScheduleRuntime" in block]
    name = "hyper_parallel.core.pipeline_parallel.scheduler"
    for package in name.split("."):
        full = name[:name.index(package) + len(package)]
        sys.modules[full] = types.ModuleType(full)
    for thing in MetaStep, MetaStepType, PipelineScheduleRuntime:
        setattr(sys.modules[name], thing.__name__, thing)
    page = {}
    exec(compile(code, path, "exec"), page)
    return page["ScheduleFromFile"]


def pipec(*arguments):
    return subprocess.run(["pipec", *arguments], check=True, stdout=subprocess.PIPE, text=True).stdout


def step(text):
    kind, stage, *rest = text.split()
    microbatch = int(rest[0][1:]) if rest else None
    return microbatch, KINDS[kind], int(stage[1:]), None


def from_ir(text):
    """The lists of step IR, in the form of MetaStep.fields, and the map."""
    ranks, where = [], None
    for line in map(str.strip, text.splitlines()):
        if line.startswith("map "):
            where = dict(enumerate(map(int, line.split()[1:])))
        elif line.startswith("rank "):
            ranks.append([])
        elif not ranks or line.endswith(":") or line == "}":
            continue
        elif line == "bubble":
            ranks[-1].append(None)
        elif line.startswith("batch "):
            members = tuple(step(part.split(" ->")[0].split(" <-")[0]) for part in line.removeprefix("batch ").split(", "))
            ranks[-1].append((None, "BATCH_SEND_RECV", None, members))
        elif line.startswith("overlap "):
            members = tuple(step(part) for part in line.removeprefix("overlap ").split(" & "))
            name = {"FWD": "OVERLAP_F_B", "BWD": "OVERLAP_B_F"}[members[0][1]]
            ranks[-1].append((None, name, None, members))
        else:
            ranks[-1].append(step(line))
    return ranks, where


ScheduleFromFile = load_page(sys.argv[1])
CASES = [
    ["one_f_one_b", "-Dranks=4", "-Dmicrobatches=8"],
    ["gpipe", "-Dranks=3", "-Dmicrobatches=2"],
    ["interleaved_overlap", "-Dranks=4", "-Dmicrobatches=8"],
    ["interleaved_overlap_bf", "-Dranks=2", "-Dmicrobatches=5"],
    ["dualpipev", "-Dranks=2", "-Dmicrobatches=4", "--passes=merge-backward{which=all},hyperparallel"],
    ["one_f_one_b", "-Dranks=4", "-Dmicrobatches=8", "--passes=hyperparallel-2026,batch-p2p"],
    # The user's own passes: halves of backwards, and FSDP actions.
    ["zb1p", "-Dranks=2", "-Dmicrobatches=4", "--passes=inject-fsdp,insert-p2p"],
]
kinds = set()
for case in CASES:
    given = [word for word in case if word.startswith("--passes")] or ["--target=hyperparallel"]
    ranks, where = from_ir(pipec(*case, "--emit=ir", *([] if given[0] in case else given)))
    pipec(*case, "--emit=hyperparallel", "-o", "schedule.json")
    loaded = ScheduleFromFile("schedule.json", stages=[None], micro_batch_num=4, overlap_p2p=True)
    assert list(loaded.exec_order) == list(range(len(ranks))), case
    for rank, expected in enumerate(ranks):
        found = [s and s.fields for s in loaded.exec_order[rank]]
        assert found == expected, (case, rank, found, expected)
        kinds |= {s[1] for s in expected if s}
    assert loaded._stage_to_rank_index == where, case
assert kinds == set(MetaStepType.__members__), kinds
