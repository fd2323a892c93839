"""Programs of d9d: schedules of pipec as builders for its registry, and the reverse.

    from d9d.pipelining.factory.registry import PIPELINE_PROGRAM_REGISTRY

    class MyScheduleConfig(PipelineScheduleGPipeConfig):
        schedule: Literal["mine"] = "mine"

    pipec.d9d.register(MyScheduleConfig, "zb1p", ranks=4, microbatches=8)

d9d is imported when a function of this module is called; tested with d9d 0.24.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import csv
import io
import os
from typing import Any, Iterable, Mapping, Sequence

from ._compile import compile as _compile
from ._schedule import Kind, Schedule, Step

__all__ = ["dump", "load_program", "register"]

_BUILDERS = {"gpipe": ("PipelineScheduleGPipeConfig", ()), "inference": ("PipelineScheduleInferenceConfig", ()),
             "looped_bfs": ("PipelineScheduleLoopedBFSConfig", ("num_stages_per_rank",)),
             "1f1b": ("PipelineSchedule1F1BConfig", ("num_stages_per_rank", "zero_bubble")),
             "zero_bubble_v": ("PipelineScheduleZeroBubbleVConfig", ()),
             "dual_pipe_v": ("PipelineScheduleDualPipeVConfig", ())}
"""The configurations of d9d by the name of their schedule, and their fields."""


# ---------------------------------------------------------------- from pipec to d9d

def _style(schedule: Schedule) -> Any:
    """The topology of d9d that places the stages as the schedule does."""
    from d9d.pipelining.infra.schedule.component.program import ScheduleStyle, build_stage_to_host_rank_topology

    if len(schedule.maps) == 1 and schedule.stages % schedule.ranks == 0:
        for style in ScheduleStyle.loop, ScheduleStyle.v:
            topology = build_stage_to_host_rank_topology(schedule.ranks, schedule.stages, style)
            if [topology[stage] for stage in range(schedule.stages)] == schedule.stage_to_rank:
                return style
    raise ValueError(f"the stages of {schedule.name} are neither in a loop nor in a V")


def _actions(steps: Iterable[Step]) -> list[Any]:
    """The actions of one rank; idle slots are left out."""
    from d9d.pipelining.infra.schedule.component.runtime import action

    made = {
        Kind.F: action.ForwardComputeAction,
        Kind.B: lambda stage, k: action.BackwardFullInputComputeAction(stage, k, full_backward=True),
        Kind.I: lambda stage, k: action.BackwardFullInputComputeAction(stage, k, full_backward=False),
        Kind.W: action.BackwardWeightComputeAction,
        Kind.SEND_F: action.ForwardSendAction, Kind.RECV_F: action.ForwardReceiveAction,
        Kind.SEND_B: action.BackwardSendAction, Kind.RECV_B: action.BackwardReceiveAction,
    }
    groups: list[tuple[int, list[Any]]] = []
    for step in steps:
        kind, stage, microbatch, _, group, *_ = step
        if kind == Kind.BUBBLE:
            continue
        if kind not in made:
            raise ValueError(f"d9d has no action for `{Kind(kind)} s{stage}`")
        one = made[Kind(kind)](int(stage), int(microbatch))
        if groups and groups[-1][0] == group:
            groups[-1][1].append(one)
        else:
            groups.append((int(group), [one]))
    return [members[0] if len(members) == 1 else action.ComposeAction(tuple(members)) for _, members in groups]


def load_program(path_or_name: str | os.PathLike[str] | Schedule, *, target: str | None = None, passes: str | None = None,
                 args: Sequence[str] = (), **params: int) -> Any:
    """A builder of d9d (`PipelineProgramBuilder`) that composes the lists of a
    schedule of pipec.

    The first argument is what `pipec.compile` takes, or a `Schedule`; a file or a
    name is compiled with the target `d9d` unless `target` or `passes` says
    otherwise, which keeps transfers that it has. `params` and `args` are those of
    `pipec.compile`.

    A program is for one number of ranks and of micro-batches: `compose` raises
    ValueError for others. Raises CompileError when the schedule does not compile,
    and ValueError when d9d cannot run it.
    """
    from d9d.pipelining.infra.schedule.component.program import PipelineProgramBuilder

    if isinstance(path_or_name, Schedule):
        if target is not None or passes is not None or args or params:
            raise ValueError(f"{path_or_name.name} is compiled already")
        schedule = path_or_name
    else:
        if target is None and passes is None:
            target = "d9d"
        schedule = _compile(path_or_name, source=None, target=target, passes=passes, cost=None, profile=None,
                            args=args, **params)
    style = _style(schedule)
    program = {rank: _actions(map(Step._make, steps)) for rank, steps in enumerate(schedule.steps)}

    class PipecProgramBuilder(PipelineProgramBuilder):  # type: ignore[misc, unused-ignore]
        """The program of one schedule of pipec."""

        def compose(self, num_microbatches: int, pp_size: int) -> dict[int, list[Any]]:
            if (num_microbatches, pp_size) != (schedule.microbatches, schedule.ranks):
                raise ValueError(f"{schedule.name} is for {schedule.microbatches} micro-batches on {schedule.ranks} ranks, "
                                 f"not for {num_microbatches} on {pp_size}")
            return {rank: list(actions) for rank, actions in program.items()}

        @property
        def num_stages_per_rank(self) -> int:
            return schedule.stages // schedule.ranks

        @property
        def topology_style(self) -> Any:
            return style

    return PipecProgramBuilder()


def register(config_class: type, path_or_name: str | os.PathLike[str] | Schedule, **arguments: Any) -> None:
    """Makes d9d use a schedule of pipec where its configuration names
    `config_class`, a class of your own or one of d9d's, which is replaced. The
    other arguments are those of `load_program`."""
    from d9d.pipelining.factory.registry import PIPELINE_PROGRAM_REGISTRY

    builder = load_program(path_or_name, **arguments)
    PIPELINE_PROGRAM_REGISTRY.register_program(config_class)(lambda _: builder)


# ---------------------------------------------------------------- from d9d to pipec

def _cell(action: Any) -> str:
    """The cell of an action, whose text is that of a CSV except for composites."""
    members = getattr(action, "actions", None)
    if members is None:
        return str(action)
    name = "OVERLAP_B_F" if members[0].has_backward_work else "OVERLAP_F_B"
    return f"({';'.join(map(str, members))}){name}"


def dump(program: Any, ranks: int | None = None, microbatches: int | None = None) -> str:
    """The CSV of a program of d9d (docs/Csv.md): of a mapping of ranks to lists of
    actions, or of a builder, which composes it for these sizes."""
    if not isinstance(program, Mapping):
        if ranks is None or microbatches is None:
            raise ValueError("a builder needs ranks and microbatches")
        program = program.compose(num_microbatches=microbatches, pp_size=ranks)
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cell, program[rank]) for rank in sorted(program))
    return text.getvalue()


def add_dump_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `python3 -m pipec.dump d9d`."""
    parser.add_argument("schedule", choices=sorted(_BUILDERS), help="the `schedule` of the configuration")
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--microbatches", type=int, required=True)
    parser.add_argument("--stages-per-rank", type=int, default=1, help="of looped_bfs and 1f1b (default: 1)")
    parser.add_argument("--zero-bubble", action="store_true", help="of 1f1b: split backwards")


def dump_command(options: argparse.Namespace) -> str:
    """The CSV of one of d9d's own schedules."""
    from d9d.pipelining.factory import config
    from d9d.pipelining.factory.registry import PIPELINE_PROGRAM_REGISTRY

    name, fields = _BUILDERS[options.schedule]
    given = {"num_stages_per_rank": options.stages_per_rank, "zero_bubble": options.zero_bubble}
    unused = [field for field, default in (("num_stages_per_rank", 1), ("zero_bubble", False))
              if field not in fields and given[field] != default]
    if unused:
        raise ValueError(f"{options.schedule} has no {unused[0]}")
    made = getattr(config, name)(**{field: given[field] for field in fields})
    return dump(PIPELINE_PROGRAM_REGISTRY.program_for(made), options.ranks, options.microbatches)
