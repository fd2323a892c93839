# RUN: rm -rf %t && mkdir -p %t && cd %t && %d9d-python %s
"""d9d's own builders and its insertion of transfers, against pipec: its programs are
clean, its orders are those of the library, the target `d9d` inserts the same transfers
at the same places, and programs of pipec are composed and read back."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess
import sys
from typing import Literal

import d9d
from d9d.pipelining.factory import config
from d9d.pipelining.factory.registry import PIPELINE_PROGRAM_REGISTRY
from d9d.pipelining.infra.schedule.component import program as d9d_program
from d9d.pipelining.infra.schedule.component.runtime import action

import pipec
import pipec.d9d
from pipec import Kind

assert pipec.d9d.load_program, d9d
COMPUTES = (Kind.F, Kind.B, Kind.I, Kind.W)
TRANSFERS = (action.ForwardSendAction, action.ForwardReceiveAction, action.BackwardSendAction, action.BackwardReceiveAction)

#: Configurations of d9d, schedules of the library with the same order, and chunks.
BUILDERS = [
    (config.PipelineScheduleGPipeConfig(), "looped_bfs", {"chunks": 1}),
    (config.PipelineSchedule1F1BConfig(num_stages_per_rank=1, zero_bubble=False), "interleaved", {"chunks": 1}),
    (config.PipelineSchedule1F1BConfig(num_stages_per_rank=2, zero_bubble=False), "interleaved", {"chunks": 2}),
    (config.PipelineSchedule1F1BConfig(num_stages_per_rank=1, zero_bubble=True), "zb1p", {}),
    (config.PipelineScheduleZeroBubbleVConfig(), "zbv", {}),
    (config.PipelineScheduleDualPipeVConfig(), "dualpipev", {}),
    (config.PipelineScheduleLoopedBFSConfig(num_stages_per_rank=2), "looped_bfs", {"chunks": 2}),
]
SIZES = [(2, 4), (3, 6), (4, 8)]


def computes(schedule):
    return [[tuple(step)[:3] for step in rank.tolist() if step[0] in COMPUTES] for rank in schedule.steps]


equal = 0
for made, name, chunks in BUILDERS:
    for ranks, microbatches in SIZES:
        builder = PIPELINE_PROGRAM_REGISTRY.program_for(made)
        theirs = builder.compose(num_microbatches=microbatches, pp_size=ranks)
        text = pipec.d9d.dump(theirs)
        assert text == pipec.d9d.dump(builder, ranks, microbatches)
        found = pipec.Schedule.from_csv(text, name="d9d")
        # Their transfers do not wait for anything: no finding but what PyTorch needs besides.
        result = found.lint(grades={"no-reduce-grad": "off"})
        assert not result.errors and all(result.safe.values()), str(result)
        ours = pipec.compile(name, ranks=ranks, microbatches=microbatches, **chunks)
        assert computes(found) == computes(ours), (name, ranks, microbatches)

        # The computes alone, with pipec's transfers and with d9d's.
        bare = {rank: [one for one in row if not isinstance(one, TRANSFERS)] for rank, row in theirs.items()}
        with open("bare.csv", "w") as file:
            file.write(pipec.d9d.dump(bare))
        ours = pipec.compile("bare.csv", target="d9d")
        assert pipec.d9d.dump(pipec.d9d.load_program(ours), ranks, microbatches) == text, (made, ranks, microbatches)
        # A list that has its transfers keeps them.
        with open("theirs.csv", "w") as file:
            file.write(text)
        again = pipec.d9d.load_program("theirs.csv")
        assert again.compose(num_microbatches=microbatches, pp_size=ranks) == theirs
        assert (again.num_stages_per_rank, again.topology_style) == (builder.num_stages_per_rank, builder.topology_style)
        equal += 1

# The library, with d9d's own insertion of transfers as the judge.
judged = 0
for name in pipec.library():
    for sizes in {"ranks": 2, "microbatches": 4}, {"ranks": 4, "microbatches": 8}:
        try:
            schedule = pipec.compile(name, target="d9d", **sizes)
        except pipec.CompileError as error:
            assert "d9d" in str(error) or "microbatches" in str(error) or "ranks" in str(error), str(error)
            continue
        builder = pipec.d9d.load_program(schedule)
        composed = builder.compose(num_microbatches=schedule.microbatches, pp_size=schedule.ranks)
        bare = {rank: [one for one in row if not isinstance(one, TRANSFERS)] for rank, row in composed.items()}
        topology = d9d_program.build_stage_to_host_rank_topology(schedule.ranks, schedule.stages, builder.topology_style)
        theirs = d9d_program.add_communication_ops(bare, stage_to_rank=topology, num_stages=schedule.stages)
        assert theirs == composed, (name, sizes)
        assert pipec.d9d.dump(composed) == schedule.csv, name
        judged += 1


# A new configuration.
class Mine(config.PipelineScheduleGPipeConfig):
    schedule: Literal["mine"] = "mine"


pipec.d9d.register(Mine, "zbv", ranks=4, microbatches=8)
mine = PIPELINE_PROGRAM_REGISTRY.program_for(Mine())
assert mine.topology_style == d9d_program.ScheduleStyle.v and mine.num_stages_per_rank == 2
assert len(mine.compose(num_microbatches=8, pp_size=4)) == 4


def refused(kind, text, function, *args, **keywords):
    try:
        function(*args, **keywords)
    except kind as error:
        assert text in str(error), error
    else:
        raise AssertionError(f"not refused: {text}")


refused(ValueError, "zbv is for 8 micro-batches on 4 ranks, not for 9 on 4", mine.compose, 9, 4)
refused(ValueError, "no action for `UNSHARD s0`", pipec.d9d.load_program,
        pipec.compile("gpipe", target="torch-2.13", ranks=2, microbatches=2))
refused(pipec.CompileError, "bidirectional", pipec.d9d.load_program, "chimera", ranks=2, microbatches=4)
refused(ValueError, "compiled already", pipec.d9d.load_program, pipec.compile("gpipe", ranks=2, microbatches=2), ranks=2)
refused(ValueError, "needs ranks", pipec.d9d.dump, mine)

# The command.
done = subprocess.run([sys.executable, "-m", "pipec.dump", "d9d", "1f1b", "--ranks=2", "--microbatches=3", "--zero-bubble"],
                      capture_output=True, text=True, check=True)
assert done.stdout.splitlines()[0].startswith("0F0,0SEND_F0,0F1"), done.stdout
wrong = subprocess.run([sys.executable, "-m", "pipec.dump", "d9d", "gpipe", "--ranks=2", "--microbatches=3", "--zero-bubble"],
                       capture_output=True, text=True, check=False)
assert wrong.returncode == 1 and "gpipe has no zero_bubble" in wrong.stderr, wrong
print(f"{equal} programs of d9d and {judged} of the library equal")
assert equal == len(BUILDERS) * len(SIZES) and judged >= 20, judged
