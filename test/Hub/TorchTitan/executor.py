# RUN: rm -rf %t && mkdir %t
# RUN: %torchtitan-python %S/Inputs/assets.py %t
# RUN: %torchtitan-python %s %t
"""An executor of pipec in the place of torchtitan's schedule: one line in a trainer of a
job's own (Inputs/own_trainer.py), which torchtitan's unmodified program runs. Losses and
norms of gradients equal those of torchtitan's own schedule of that name."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import titan

folder = pathlib.Path(sys.argv[1])
#: torchtitan makes its own stages and schedule from the settings of the first program;
#: the executor of the second one takes their place.
CASES = {
    "interleaved": ["interleaved chunks=2", "interleaved chunks=2"],
    "one_f_one_b": ["one_f_one_b", "one_f_one_b"],
    "zbv": ["zbv", "zbv"],
    "other": ["one_f_one_b", "eager_one_f_one_b"],  # one that torchtitan has no name for
}

for name in sys.argv[2:] or (CASES if os.environ.get("PIPEC_TEST_ALL") else ["interleaved", "other"]):
    of_titan, mine = CASES[name]
    config = subprocess.run(["pipec", *of_titan.split(), "ranks=2", "microbatches=4", "--target=torch-compute",
                             "--emit=torch-config"], check=True, stdout=subprocess.PIPE).stdout
    config = json.loads(config)["torchtitan"]
    settings = config["settings"]
    arguments = config.get("arguments", [])
    del settings["parallelism.pipeline_parallel_schedule_csv"]
    found, text = titan.train(folder, settings, arguments, module="own_trainer", PIPEC_SCHEDULE=mine)
    assert text.count(f"executor of <pipec.torch.Executor of <pipec.Schedule {mine.split()[0]}: 2 ranks") == 2, text[-4000:]
    expected, _ = titan.train(folder, settings, arguments)
    print(name, found, expected, flush=True)
    assert titan.same(found, expected), (name, found, expected)
