"""One training step with JaxPP, whose ranks are devices of one process:

    PIPEC_JAXPP=TREE train_jaxpp.py FILE PROBLEM OUT

FILE is one of `--emit=jaxpp`. JaxPP does not run in double precision.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import functools
import json
import os
import sys

import problem

file, data, out = sys.argv[1:]
with open(file, encoding="utf-8") as text:
    RANKS = json.load(text)["ranks"]
os.environ.update(JAX_PLATFORMS="cpu", XLA_FLAGS=f"--xla_force_host_platform_device_count={RANKS}")
sys.path.insert(0, os.path.join(os.environ["PIPEC_JAXPP"], "src"))
import jax
import jax.numpy as jnp
import jaxpp.api as jaxpp
import numpy as np

import pipec.jax

made = problem.read(data)
square = problem.WIDTH * problem.WIDTH
shape = (len(made.inputs), problem.BATCH, problem.WIDTH)
weights = [(jnp.array(numbers[:square]).reshape(problem.WIDTH, -1), jnp.array(numbers[square:])) for numbers in made.stages]
batch = jnp.array(made.inputs).reshape(shape), jnp.array(made.targets).reshape(shape)


def loss(weights, sample):
    value, target = sample
    for matrix, offset in weights:
        value = jaxpp.mark_stage_end(jnp.tanh(value @ matrix.T + offset))
    return jnp.mean((value - target) ** 2) / len(made.inputs)


devices = jax.sharding.Mesh(np.array(jax.devices()).reshape(RANKS, 1), ("stages", "data"))


@functools.partial(jaxpp.mpmd_jit_with_loop, mpmd_mesh=jaxpp.MpmdMesh(devices, "stages"))
def step(weights, batch):
    return jaxpp.treduce(functools.partial(jax.value_and_grad(loss), weights), batch, schedule=pipec.jax.schedule(file))


for stage, parts in enumerate(step(weights, batch)[1]):
    numbers = [x for part in parts for x in np.asarray(part.to_mpmd_local_array).ravel().tolist()]
    problem.write_gradients(out, stage, numbers)
