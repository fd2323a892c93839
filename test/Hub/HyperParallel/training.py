# RUN: rm -rf %t && mkdir -p %t && cd %t && %torch-python %s %root/docs/HyperParallel.md
"""HyperParallel's own runtime trains with lists of pipec, through the loader of the page:
gradients equal those without a pipeline, also where the number of micro-batches is not a
multiple of that of the ranks. Own lists of HyperParallel run beside them."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import socket
import subprocess
import sys

RANKS, WIDTH, ROWS = 2, 8, 3
# The class, the chunks, the schedule of pipec and the micro-batches.
RUNS = [("Schedule1F1B", 1, "one_f_one_b", 4), ("Schedule1F1B", 1, "one_f_one_b", 1),
        ("ScheduleInterleaved1F1B", 2, "interleaved_any", 4), ("ScheduleInterleaved1F1B", 2, "interleaved_any", 3)]


def loader(page):
    """The class of the page, also for trees of HyperParallel without `build_exec_order`."""
    from hyper_parallel.core.pipeline_parallel import scheduler

    blocks = re.findall(r"^```python\n(.*?)^```", open(page, encoding="utf-8").read(), re.M | re.S)
    code, = [block for block in blocks if "class ScheduleFromFile" in block]
    runtime = scheduler.PipelineScheduleRuntime
    if not hasattr(runtime, "build_exec_order"):
        runtime.build_exec_order = lambda self: self.construct_exec_order()
    made = {}
    exec(compile(code, page, "exec"), made)
    return made["ScheduleFromFile"]


def work(rank, port, page):
    import torch
    import torch.distributed as dist
    from hyper_parallel import PipelineStage
    from hyper_parallel.core.pipeline_parallel import scheduler

    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)
    dist.init_process_group("gloo")
    from_file = loader(page)

    class Layer(torch.nn.Module):
        def __init__(self, index, count, microbatches):
            super().__init__()
            made = torch.Generator().manual_seed(index)
            self.weight = torch.nn.Parameter(torch.randn(WIDTH, WIDTH, generator=made, dtype=torch.float64) / WIDTH**.5)
            self.is_last, self.microbatches = index + 1 == count, microbatches

        def forward(self, x, **_):
            y = torch.tanh(x @ self.weight)
            return (y ** 2).mean() / self.microbatches if self.is_last else y

    for name, chunks, schedule, microbatches in RUNS:
        count = RANKS * chunks
        inputs = torch.randn(microbatches * ROWS, WIDTH, generator=torch.Generator().manual_seed(9), dtype=torch.float64)
        plain = [Layer(index, count, microbatches) for index in range(count)]
        for part in inputs.split(ROWS):
            for layer in plain:
                part = layer(part)
            part.backward()
        mine = range(rank, count, RANKS)
        for own in (True, False):
            layers = [Layer(index, count, microbatches) for index in mine]
            stages = [PipelineStage(layer, index, count, torch.device("cpu")) for index, layer in zip(mine, layers)]
            runner = (getattr(scheduler, name)(stages, microbatches) if own
                      else from_file(f"{schedule}-{microbatches}.json", stages, microbatches))
            runner.run(*((inputs,) if rank == 0 else ()))
            for index, layer in zip(mine, layers):
                error = (layer.weight.grad - plain[index].weight.grad).abs().max().item()
                assert error < 1e-12, (name, own, microbatches, index, error)
            dist.barrier()
        if rank == 0:
            print(f"{schedule}, {microbatches} micro-batches: equal", flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may abort while they are destroyed


if __name__ == "__main__":
    sys.path.insert(0, os.environ["PIPEC_HYPERPARALLEL"])
    if len(sys.argv) == 4:
        work(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    for _, chunks, schedule, microbatches in RUNS:
        sizes = [f"ranks={RANKS}", f"microbatches={microbatches}"] + ([f"chunks={chunks}"] if chunks > 1 else [])
        subprocess.run(["pipec", schedule, *sizes, "--emit=hyperparallel", "-o", f"{schedule}-{microbatches}.json"],
                       check=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    processes = [subprocess.Popen([sys.executable, __file__, str(rank), port, sys.argv[1]]) for rank in range(RANKS)]
    codes = [process.wait(timeout=300) for process in processes]
    assert codes == [0] * RANKS, codes
