"""Writes early, late and zb, candidates for four ranks and eight micro-batches, and
more and turned, which their model does not run."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import subprocess

# Two words of 1F1B: `late` has one more forward on each rank before the first backward.
PROGRAM = """schedule {name}(ranks p = 4, microbatches m = 8) {{
  placement {placement}
  let w = min(m, {warmup});
  warmup   {{ repeat w {{ F }} }}
  steady   {{ repeat m - w {{ F B }} }}
  cooldown {{ repeat w {{ B }} }}
}}
"""


def write(name, *words):
    subprocess.run(["pipec", *words, "--target=cpp", "--emit=ir", "-o", f"{name}.steps"], check=True)
    subprocess.run(["pipec", "order", *words, "--lists", "-o", f"{name}.lists"], check=True)


for name, placement, warmup in (("early", "loop;", "p - 1 - rank"), ("late", "loop;", "p - rank"), ("turned", "{ stages p; stage s on p - 1 - s; }", "rank")):
    with open(f"{name}.pipe", "w") as file:
        file.write(PROGRAM.format(name=name, placement=placement, warmup=warmup))
    write(name, f"{name}.pipe", "ranks=4", "microbatches=8")
write("zb", "zb1p", "ranks=4", "microbatches=8")
write("more", "early.pipe", "ranks=4", "microbatches=10")
