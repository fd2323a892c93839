# RUN: rm -rf %t && mkdir -p %t
# RUN: %torch-python %s %t
"""Executors from files of --emit=python and from modules run without the compiler, and
train as those that are compiled; `run` runs other schedules that all ranks agree on."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch.distributed.pipelining import PipelineStage

import executors
import model
import pipec
import pipec.torch
from pipec.torch._source import Source, load_source

ENVIRONMENT = {name: os.environ.get(name, "") for name in ("PATH", "PIPEC")}
FOLDER = pathlib.Path(sys.argv[1])
SIZES = {"ranks": 2, "microbatches": 4}


def write(name, file, **params):
    plan = pipec.compile(name, target="pytorch", **{**SIZES, **params})
    (FOLDER / file).write_text(plan.emit("python", "--passes="), encoding="utf-8")
    return plan


def constants():
    """A source says what the schedule says."""
    named = {"one_f_one_b": {}, "dualpipe": {"microbatches": 8}, "interleaved": {"chunks": 2}}
    for name, params in named.items():
        plan = write(name, "plan.py", **params)
        source = load_source(FOLDER / "plan.py")
        for what in "name", "ranks", "stages", "microbatches", "slices", "units", "maps", "edges", "ties", "forward_only":
            assert getattr(source, what) == getattr(plan, what), (name, what)
        assert all(source.stages_of(rank) == plan.stages_of(rank) for rank in range(2)) and len(source.digest) == 16
        for rank in range(2):
            kinds = [pipec.Kind(int(step[0])).name for step in plan.steps[rank]]
            assert [step[0] for step in source.steps_of(rank)] == [kind for kind in kinds if not kind.startswith("WAIT_SEND")]
    executors.refuse("is not an executor of --emit=python", lambda: Source("x = 1\n"))


def stages(mesh, rank):
    return [PipelineStage(model.make_stage(rank, 2), rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())]


def run(mesh, case):
    os.environ.pop("PIPEC", None)
    os.environ["PATH"] = ""
    rank = mesh["pp"].get_local_rank()
    x, target = model.make_data(4, 0)[0]
    args, keywords = ((x,), {}) if rank == 0 else ((), {"target": target})

    def gradients(parts):
        found = torch.cat([p.grad.flatten() for p in parts[0].submod.parameters()])
        parts[0].submod.zero_grad()
        return found

    expected = torch.cat([gradient.flatten() for gradient in model.reference(2, 4)[0][1][rank]])
    spec = importlib.util.spec_from_file_location("written", FOLDER / "one.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for given in FOLDER / "one.py", str(FOLDER / "zb.py"), module:
        parts = stages(mesh, rank)
        schedule = pipec.torch.executor(given, parts, model.loss_function, 4, patience=30)
        schedule.step(*args, **keywords)
        assert model.close(gradients(parts), expected), given
    executors.refuse("target: one_f_one_b is compiled already",
                     lambda: pipec.torch.executor(module, parts, model.loss_function, 4, target="pytorch"))

    # Others with the same stages: other orders and numbers of micro-batches, and the same again.
    seen = []
    schedule.handle("F", lambda step: (seen.append(step.microbatch), step.proceed()))
    for file, count in (("zb.py", 4), ("eight.py", 8), ("one.py", 4), ("eight.py", 8)):
        del seen[:]
        schedule.run(FOLDER / file, *args, **keywords)
        assert seen == list(range(count)), seen
        assert model.close(gradients(parts), expected), file
    executors.refuse("the ranks run different schedules",
                     lambda: schedule.run(FOLDER / ("zb.py" if rank else "one.py"), *args, **keywords))
    executors.refuse("has other maps than" if rank else "the ranks run different schedules",
                     lambda: schedule.run(FOLDER / ("interleaved.py" if rank else "one.py"), *args, **keywords))
    executors.refuse("neither a schedule nor an executor", lambda: schedule.run("zb1p", *args, **keywords))
    schedule.step(*args, **keywords)
    assert model.close(gradients(parts), expected)

    # Outputs, unless the executor or the step says otherwise.
    parts[0].submod.zero_grad()
    for schedule, wanted in ((pipec.torch.executor(module, parts, model.loss_function, microbatches=4, patience=30), True),
                             (pipec.torch.executor(module, parts, model.loss_function, 4, return_outputs=False, patience=30), False)):
        assert (schedule.step(*args, **keywords) is not None) == (wanted and rank == 1)
        assert (schedule.step(*args, **keywords, return_outputs=not wanted) is not None) == (not wanted and rank == 1)
    parts[0].submod.zero_grad()

    # What pipec.compile and pipec.search return has no transfers yet.
    os.environ.update(ENVIRONMENT)
    plain = pipec.compile("zb1p", **SIZES)
    schedule.run(plain, *args, **keywords)
    assert model.close(gradients(parts), expected)
    schedule = pipec.torch.executor(plain, parts, model.loss_function, 4, patience=30)
    schedule.step(*args, **keywords)
    assert model.close(gradients(parts), expected)
    # It is compiled once, so that further runs need no compiler.
    schedule.run(gpipe := pipec.compile("gpipe", **SIZES), *args, **keywords)
    del os.environ["PIPEC"]
    os.environ["PATH"] = ""
    schedule.run(gpipe, *args, **keywords)


constants()
write("one_f_one_b", "one.py")
write("zb1p", "zb.py")
write("gpipe", "eight.py", microbatches=8)
write("interleaved", "interleaved.py", chunks=2)
executors.run(2, [None], function=run)
