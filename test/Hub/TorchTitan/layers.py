# RUN: rm -rf %t && mkdir %t
# RUN: %torchtitan-python %S/Inputs/assets.py %t
# RUN: %torchtitan-python %s %t
"""Layers on stages: torchtitan's own training program puts the modules on the stages as
`module_fqns_per_model_part` of --emit=torch-config says, for a layout that it does not
make by itself, and trains with pipec's CSV as with its own schedule."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import titan

folder = pathlib.Path(sys.argv[1])
LAYOUT = "E|t*3|t|t*2L"  # six layers, as torchtitan's debug model has
PARTS = {0: ["tok_embeddings"], 1: ["layers.0", "layers.1", "layers.2"], 2: ["layers.3"],
         3: ["layers.4", "layers.5", "norm", "lm_head"]}

words = ["interleaved", "chunks=2", "ranks=2", "microbatches=4", "--target=torch-compute", f"--layout={LAYOUT}"]
config = subprocess.run(["pipec", *words, "--emit=torch-config"], check=True, stdout=subprocess.PIPE).stdout
settings = json.loads(config)["torchtitan"]["settings"]
assert settings["parallelism.module_fqns_per_model_part"] == list(PARTS.values()), settings
subprocess.run(["pipec", *words[:-1], "--emit=csv", "-o", settings["parallelism.pipeline_parallel_schedule_csv"]], check=True,
               cwd=folder)
found, text = titan.train(folder, settings, [])
for stage, names in PARTS.items():
    assert re.search(rf"building stage_idx {stage} .*{re.escape(repr(names))}", text), (stage, text[-4000:])
del settings["parallelism.pipeline_parallel_schedule_csv"]
expected, _ = titan.train(folder, settings, [])
print(found, expected, flush=True)
assert titan.same(found, expected), (found, expected)
