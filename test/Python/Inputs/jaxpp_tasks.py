"""Own classes in place of the parts of JaxPP that pipec uses."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import enum
import sys
import types

TaskType = enum.Enum("TaskType", "FWD BWD BWD_I BWD_W")


@dataclasses.dataclass(frozen=True)
class Task:
    stage_id: int
    mubatch_idx: int
    fwd_or_bwd: TaskType

    @classmethod
    def make(cls, stage_id, mubatch_idx, fwd_or_bwd):
        return cls(stage_id, mubatch_idx, fwd_or_bwd)


class FusedTask(tuple):
    pass


@dataclasses.dataclass(eq=True, frozen=True)
class BaseSchedule:
    num_stages: int
    is_partial_bwd: bool = dataclasses.field(default=False, init=False)


@dataclasses.dataclass(eq=True, frozen=True)
class Own(BaseSchedule):
    """A schedule of JaxPP's own: idle slots, and a fused task that uses its own result."""

    mpmd_dim: int

    def tasks(self, n_mubatches):
        make = lambda kind, k: Task(0, k, TaskType[kind])
        return [[None] + [FusedTask((make("FWD", k), make("BWD", k))) for k in range(n_mubatches)]]


def install():
    """Makes these classes importable by the names of JaxPP."""
    sys.modules["jaxpp"] = types.ModuleType("jaxpp")
    for name, members in {"schedules": [Task, FusedTask, BaseSchedule, Own], "types": [TaskType]}.items():
        sys.modules[f"jaxpp.{name}"] = module = types.ModuleType(f"jaxpp.{name}")
        vars(module).update({member.__name__: member for member in members})
