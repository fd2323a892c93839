"""Compares the files of torch-config.test, as Python's json reads them, with
what torchtitan and NeMo AutoModel do with such settings: both place stages by
the name of a schedule and the number of stages."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import sys

folder = sys.argv[1]

# The stages of a rank by name: single-stage schedules have one, the others two
# unless another number is set; only these names are a V.
SINGLE = {"1f1b", "gpipe"}
V = {"zbvzerobubble"}


def placed(name, ranks, stages):
    """The rank of each stage as these frameworks place them, or None."""
    name = name.lower()
    each, rest = divmod(stages, ranks)
    if rest or (each == 1) != (name in SINGLE) or (name in V and each != 2):
        return None
    if name in V:
        return [s if s < ranks else stages - 1 - s for s in range(stages)]
    return [s % ranks for s in range(stages)]


def read(name):
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        config = json.load(file)
    titan, nemo = config["torchtitan"]["settings"], config["nemo_automodel"]["settings"]
    ranks, stages, microbatches = config["ranks"], config["stages"], config["microbatches"]
    for schedule in titan["parallelism.pipeline_parallel_schedule"], nemo["distributed.pipeline.pp_schedule"]:
        assert placed(schedule, ranks, stages) == config["stage_to_rank"], (name, schedule)
    assert titan["parallelism.pipeline_parallel_degree"] == nemo["distributed.pp_size"] == ranks
    assert titan["training.local_batch_size"] == microbatches * titan["parallelism.pipeline_parallel_microbatch_size"]
    assert nemo["distributed.pipeline.pp_batch_size"] == microbatches * nemo["distributed.pipeline.pp_microbatch_size"]
    assert nemo["step_scheduler.local_batch_size"] == nemo["distributed.pipeline.pp_batch_size"]
    assert config["torch"]["n_microbatches"] == microbatches
    for settings in titan, nemo:
        assert name + ".csv" in settings.values()
    return config


loop = read("loop")
assert (loop["ranks"], loop["stages"], loop["microbatches"]) == (4, 4, 8)
assert loop["params"] == {"p": 4, "m": 8, "s": 1}
assert loop["torchtitan"]["settings"]["parallelism.pipeline_parallel_schedule"] == "1F1B"
assert loop["safe"] == dict.fromkeys(["stream", "pair", "edge", "buffered"], True)
assert loop["torch"]["format"] == "compute_comms"
assert loop["torch"]["environment"] == {}
# torchtitan 0.3 refuses a pipeline with CUDA graphs.
assert loop["torchtitan"]["settings"]["training.disable_cuda_graphs"] is True
assert not loop["split_backward"] and not loop["overlap"]

interleaved = read("interleaved")
assert interleaved["stage_to_rank"] == [0, 1, 0, 1, 0, 1]
for framework in "torchtitan", "nemo_automodel":
    assert any("layers_per_stage" in note and " 6 stages" in note for note in interleaved[framework]["notes"])

v = read("v")
assert v["stage_to_rank"] == [0, 1, 1, 0]
assert v["split_backward"] and v["overlap"]
assert v["torchtitan"]["arguments"] == ["activation_checkpoint:none"] and "arguments" not in loop["torchtitan"]
# What holds wherever PyTorch runs the schedule is said once.
assert "selective activation checkpointing" in v["notes"][0] and "check_gradients" in v["notes"][0]
assert json.dumps(v).count("split backwards bypass") == 1
assert not v["torch"]["notes"] and not loop["notes"]

compute = read("compute")
assert compute["safe"] is None and compute["torch"]["format"] == "compute_only"
assert compute["torch"]["version"] == ">=2.6"
