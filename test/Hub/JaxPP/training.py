# RUN: rm -rf %t && mkdir -p %t && cd %t && %jaxpp-python %s
"""JaxPP trains with schedules of pipec, on devices of one process: every schedule of the
library that the target takes, and a searched one, with gradients equal to those without
a pipeline. The rules of the target are those of JaxPP: it runs what the target takes and
stops at what it refuses. (JaxPP counts micro-batches in 32 bits, and does not run in
double precision.)"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import functools
import os
import re
import subprocess
import sys

RANKS, MICROBATCHES, WIDTH = 2, 4, 8
os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={RANKS}")
sys.path.insert(0, os.path.join(os.environ["PIPEC_JAXPP"], "src"))
import jax
import jax.numpy as jnp
import jaxpp.api as jaxpp
import numpy as np
from jaxpp import schedules
from jaxpp.types import TaskType

import pipec
import pipec.jax

devices = jax.sharding.Mesh(np.array(jax.devices()).reshape(RANKS, 1), ("stages", "data"))
MESH = jaxpp.MpmdMesh(devices, "stages")


def loss(end, weights, sample):
    value, target = sample
    for matrix in weights:
        value = end(jnp.tanh(value @ matrix))
    return jnp.mean((value - target) ** 2)


def train(schedule, microbatches=MICROBATCHES):
    """Trains one step; raises what JaxPP raises."""
    rng = np.random.default_rng(0)
    weights = [jnp.array(rng.normal(size=(WIDTH, WIDTH)) / 2, jnp.float32) for _ in range(schedule.num_stages)]
    batch = tuple(jnp.array(rng.normal(size=(microbatches, 3, WIDTH)), jnp.float32) for _ in range(2))

    @functools.partial(jaxpp.mpmd_jit_with_loop, mpmd_mesh=MESH)
    def step(weights, batch):
        gradient = jax.value_and_grad(functools.partial(loss, jaxpp.mark_stage_end))
        return jaxpp.treduce(functools.partial(gradient, weights), batch, schedule=schedule)

    found = step(weights, batch)[1]
    right = jax.grad(lambda weights: sum(loss(lambda x: x, weights, (batch[0][k], batch[1][k])) for k in range(microbatches)))(
        weights)
    for stage, (mine, theirs) in enumerate(zip(found, right)):
        np.testing.assert_allclose(np.asarray(mine.to_mpmd_local_array), np.asarray(theirs), rtol=0, atol=1e-6,
                                   err_msg=f"stage {stage}")


# The library.
took, refused = [], {}
for name in pipec.library():
    try:
        schedule = pipec.jax.schedule(name, ranks=RANKS, microbatches=MICROBATCHES)
    except pipec.CompileError as error:
        refused[name] = {message.kind for message in error.errors}
        continue
    train(schedule)
    took.append(name)
print("trained:", *took)
print("refused:", refused)
assert {"gpipe", "zb1p", "interleaved", "kimi_k2", "interleaved_zb", "zbv", "v_half", "dualpipev"} <= set(took), took
assert refused["looped_bfs"] == {"TargetGradientOrder"} and "TargetBidirectional" in refused["dualpipe"], refused

# A schedule that was searched, and a file.
found = pipec.search(ranks=RANKS, microbatches=MICROBATCHES, cost={"F": 2, "I": 3, "W": 1}, effort=1)
train(pipec.jax.schedule(found.schedule))
with open("zb1p.json", "w", encoding="utf-8") as file:
    file.write(pipec.compile("zb1p", ranks=RANKS, microbatches=MICROBATCHES).emit("jaxpp"))
train(pipec.jax.schedule("zb1p.json"))

# The rules: lists of two micro-batches, as cells of a CSV. What the output refuses is given
# to JaxPP without pipec.
CASES = {
    "0F0 0F1 0B0 0B1\n1F0 1B0 1F1 1B1": None,
    "0F1 0F0 0B0 0B1\n1F0 1F1 1B0 1B1": "TargetLoadOrder",
    "0F0 0F1 0B0 0B1\n1F1 1F0 1B0 1B1": "TargetLoadOrder",
    "0F0 0F1 0B1 0B0\n1F0 1F1 1B0 1B1": "TargetGradientOrder",
    "0F0 0F1 0B0 0B1\n1F0 1F1 1B1 1B0": "TargetGradientOrder",
    "0F0 0F1 0I0 0W0 0I1 0W1\n1F0 1I0 1F1 1I1 1W0 1W1": None,
    "0F0 0F1 0I0 0W0 0I1 0W1\n1F0 1F1 1I1 1I0 1W0 1W1": None,
    "0F0 0F1 0I0 0W0 0I1 0W1\n1F0 1F1 1I0 1I1 1W1 1W0": "TargetGradientOrder",
    "0F0 0F1 0I0 0I1 0W0 0W1\n1F0 1I0 1W0 1F1 1I1 1W1": "TargetFirstStageHalves",
    "0F0 0F1&0I0 0W0 0I1 0W1\n1F0 1I0 1W0 1F1 1I1 1W1": "TargetFirstStageHalves",
    "0F0 0I0 0W0&0F1 0I1 0W1\n1F0 1I0 1W0 1F1 1I1 1W1": "TargetFirstStageHalves",
    "0F0 0F1&0B0 0I1 0W1\n1F0 1I0 1W0&1F1 1B1": None,
    "0F0 0F1&0B0 0B1\n1F0 1B0&1F1 1B1": "OrderStuck",
    # Stages in other places, an idle rank, and one stage.
    "0F0 1F0 0F1 1F1 1B0 0B0 1B1 0B1\n2F0 2B0 2F1 2B1": None,
    "0F0 0F1 2F0 2F1 2B0 2B1 0B0 0B1\n1F1 1F0 1B0 1B1": None,
    "0F0 0B0 0F1 0B1\n": None,
}
KINDS = {"F": "FWD", "B": "BWD", "I": "BWD_I", "W": "BWD_W"}


class Raw(schedules.BaseSchedule):
    """The list of a case, as the emitter would write it."""

    def __init__(self, text):
        cells = [[re.findall(r"(\d)([FBIW])(\d)", cell) for cell in line.split(" ") if cell] for line in text.split("\n")]
        self.__dict__["place"] = {int(step[0]): rank for rank, row in enumerate(cells) for cell in row for step in cell}
        super().__init__(len(self.place))
        self.__dict__["is_partial_bwd"] = "I" in text
        self.__dict__["rows"] = [[self.fused(cell) for cell in row] for row in cells]

    def fused(self, cell):
        tasks = [schedules.Task.make(int(stage), int(k), TaskType[kind]) for stage, letter, k in cell
                 for kind in (["BWD_I", "BWD_W"] if letter == "B" and self.is_partial_bwd else [KINDS[letter]])]
        return tasks[0] if len(tasks) == 1 else schedules.FusedTask(tasks)

    def tasks(self, n_mubatches):
        return self.rows

    def get_mpmd_idx(self, stage_id):
        return self.place[stage_id]


for text, kind in CASES.items():
    raw = Raw(text)
    lists = [[cell.split("&") if "&" in cell else cell for cell in line.split(" ") if cell] for line in text.split("\n")]
    try:
        listed = pipec.Schedule.from_steps(lists, placement=[raw.place[stage] for stage in range(len(raw.place))])
        written = listed.emit("jaxpp", "--passes=")
    except pipec.CompileError as error:
        assert kind in {message.kind for message in error.errors}, (text, kind, str(error))
        try:
            train(raw, 2)
        except (AssertionError, NotImplementedError, KeyError) as error:
            print(f"{kind}: JaxPP raises {type(error).__name__}: {str(error).strip().splitlines()[0][:100]}")
        else:
            raise AssertionError(f"JaxPP runs {text}")
        if kind == "TargetFirstStageHalves":  # which the target merges
            train(pipec.jax.schedule(listed), 2)
        continue
    assert kind is None, (text, kind)
    with open("case.json", "w", encoding="utf-8") as file:
        file.write(written)
    assert pipec.jax.schedule("case.json").tasks(2) == raw.rows, text
    train(raw, 2)
    train(pipec.jax.schedule(listed), 2)

# JaxPP's own schedules, read as step IR: those of the library, found right.
for name, more, library in [("Std1F1B", [], "one_f_one_b"), ("Eager1F1B", [], None), ("GPipe", [], "gpipe"),
                            ("ZeroBubble", [], None), ("Interleaved1F1B", ["--chunks=2"], "interleaved"),
                            ("KimiK2", ["--chunks=2"], None), ("DualPipeV", ["--chunks=2"], None)]:
    sizes = ["--ranks=2", f"--microbatches={MICROBATCHES}"]
    text = subprocess.run([sys.executable, "-m", "pipec.dump", "jaxpp", name, *sizes, *more], capture_output=True, text=True,
                          check=True).stdout
    with open("own.steps", "w", encoding="utf-8") as file:
        file.write(text)
    verdict = pipec.lint("own.steps", args=["--for=jaxpp"])
    assert verdict, (name, str(verdict))
    mine = pipec.Schedule(pipec.Schedule.from_steps(text).ir)
    train(pipec.jax.schedule(mine))
    if library:
        theirs = pipec.compile(library, ranks=RANKS, microbatches=MICROBATCHES)
        assert [[tuple(step)[:3] for step in row] for row in mine.steps] == [
            [tuple(step)[:3] for step in row] for row in theirs.steps], name
