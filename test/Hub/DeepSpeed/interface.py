# RUN: %deepspeed-python %s
"""What the output for DeepSpeed relies on: the engine takes the class of the schedule
from its module for every batch, and executes these instructions."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import inspect

import deepspeed
from deepspeed.runtime.pipe import engine, schedule

INSTRUCTIONS = ["LoadMicroBatch", "RecvActivation", "ForwardPass", "SendActivation", "RecvGrad", "BackwardPass", "SendGrad",
                "ReduceTiedGrads", "ReduceGrads", "OptimizerStep"]

assert deepspeed.__version__.startswith("0.19."), deepspeed.__version__
assert "schedule.TrainSchedule(" in inspect.getsource(engine)
for name in INSTRUCTIONS:
    assert getattr(schedule, name) in engine.PipelineEngine._INSTRUCTION_MAP, name
assert list(inspect.signature(schedule.TrainSchedule).parameters) == ["micro_batches", "stages", "stage_id"]
