"""Compares the settings of layout.test with the layout `Et*4|t*2L`."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    config = json.load(file)
titan, nemo = config["torchtitan"], config["nemo_automodel"]["settings"]
layers = [f"layers.{i}" for i in range(6)]
parts = [["tok_embeddings", *layers[:4]], [*layers[4:], "norm", "lm_head"]]
settings = titan["settings"]
assert config["layout"] == "Et*4|t*2L"
assert settings["parallelism.module_fqns_per_model_part"] == parts
everywhere = ["model.rotary_emb"]
assert nemo["distributed.pipeline.module_fqns_per_model_part"] == [
    ["model.embed_tokens", *("model." + name for name in layers[:4]), *everywhere],
    [*("model." + name for name in layers[4:]), "model.norm", "lm_head", *everywhere]]
# The CSV is named like the output.
assert settings["parallelism.pipeline_parallel_schedule_csv"] == "schedule.csv"
assert nemo["distributed.pipeline.pp_schedule_csv"] == "schedule.csv"

# The settings as test/Hub/TorchTitan gives them to torchtitan.
words = []
for key, value in settings.items():
    words.append(f"--{key}")
    if isinstance(value, list):
        words += [",".join(names) for names in value]
    elif value is not True:
        words.append(str(value))
assert titan["flags"] == words + titan.get("arguments", []), (titan["flags"], words)
