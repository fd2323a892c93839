# RUN: rm -rf %t && mkdir %t
# RUN: %torchtitan-python %S/Inputs/assets.py %t
# RUN: %torchtitan-python %s %t
"""torchtitan's own training program trains its debug model with the settings that
--emit=torch-config prints, as they are. Losses and norms of gradients equal those of its
own schedule of that name. Its ranks are two gloo processes; Inputs/job.py says what
replaces a GPU."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import titan

folder = pathlib.Path(sys.argv[1])
CASES = {
    "interleaved": ["interleaved", "chunks=2"],
    "one_f_one_b": ["one_f_one_b"],
    "eager": ["eager_one_f_one_b"],
    "zbv": ["zbv"],
}


for name in sys.argv[2:] or (CASES if os.environ.get("PIPEC_TEST_ALL") else ["interleaved"]):
    words = [*CASES[name], "ranks=2", "microbatches=4", "--target=torch-compute"]
    config = subprocess.run(["pipec", *words, "--emit=torch-config"], check=True, stdout=subprocess.PIPE).stdout
    config = json.loads(config)["torchtitan"]
    settings, arguments = config["settings"], config.get("arguments", [])
    csv = settings["parallelism.pipeline_parallel_schedule_csv"]
    subprocess.run(["pipec", *words, "--emit=csv", "-o", csv], check=True, cwd=folder)
    found, _ = titan.train(folder, settings, arguments)
    del settings["parallelism.pipeline_parallel_schedule_csv"]
    expected, _ = titan.train(folder, settings, arguments)
    print(name, found, expected, flush=True)
    assert titan.same(found, expected), (name, found, expected)
