# RUN: rm -rf %t && mkdir -p %t && cd %t && %torch-python %s %root/docs/OtherEngines.md
"""The engine of the page trains in nanotron, with its blocks and its communication, in the
orders of pipec; gradients equal those without a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import importlib.util
import os
import re
import sys
import types

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

import pipec

RANKS, WIDTH = 3, 8
CASES = [("one_f_one_b", 6), ("one_f_one_b", 1), ("gpipe", 4)]


class Stage(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        torch.manual_seed(number)
        self.number = number
        self.layer = torch.nn.Linear(WIDTH, WIDTH, dtype=torch.float64)

    def forward(self, input):
        output = torch.tanh(self.layer(input))
        return output if self.number + 1 < RANKS else output.pow(2).mean()


def stand_ins():
    """Two packages that nanotron imports and this test does not need."""
    if not importlib.util.find_spec("packaging"):
        import pip._vendor.packaging.version

        sys.modules["packaging"] = pip._vendor.packaging
        sys.modules["packaging.version"] = pip._vendor.packaging.version
    if not importlib.util.find_spec("tqdm"):
        sys.modules["tqdm"] = types.ModuleType("tqdm")
        sys.modules["tqdm"].tqdm = iter


def start(rank, ranks, page):
    """The names of the engine of the page, and a function that makes a model of a block per rank."""
    sys.path.insert(0, os.path.join(os.environ["PIPEC_NANOTRON"], "src"))
    stand_ins()
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank))
    from nanotron.parallel.pipeline_parallel.block import PipelineBlock
    from nanotron.parallel.pipeline_parallel.p2p import P2P

    code = re.search(r"^```python nanotron\n(.*?)^```", open(page, encoding="utf-8").read(), re.S | re.M).group(1)
    engine = {}
    exec(compile(code, page, "exec"), engine)
    p2p = P2P(dist.group.WORLD, torch.device("cpu"))

    class Model(torch.nn.Module):
        def __init__(self, stage):
            super().__init__()
            self.blocks = torch.nn.ModuleList(
                PipelineBlock(p2p=p2p, module_builder=stage, module_kwargs={"number": number}, module_input_keys={"input"},
                              module_output_keys={"output"}) for number in range(ranks))
            for number, block in enumerate(self.blocks):
                block.build_and_set_rank(number)

        def forward(self, rows):
            for block in self.blocks:
                rows = block(input=rows)["output"]
            return rows

    return engine, Model


def work(rank, folder, page):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    engine, model_of = start(rank, RANKS, page)
    from nanotron.parallel.pipeline_parallel.tensor_pointer import TensorPointer

    for name, microbatches in CASES:
        torch.manual_seed(9)
        # Rows of different numbers: nanotron sends the shape with each tensor.
        rows = [torch.randn(2 + k % 3, WIDTH, dtype=torch.float64) for k in range(microbatches)]
        plain = [Stage(number) for number in range(RANKS)]
        for hidden in rows:
            for one in plain:
                hidden = one(hidden)
            (hidden / microbatches).backward()
        model = model_of(Stage)
        runner = engine["ScheduleEngine"](pipec.compile(name, ranks=RANKS, microbatches=microbatches))
        batch = [{"rows": one if rank == 0 else TensorPointer(group_rank=0)} for one in rows]
        outputs = runner.train_batch_iter(model, dist.group.WORLD, batch, microbatches, None)
        assert len(outputs) == microbatches
        for own, other in zip(model.parameters(), plain[rank].parameters()):
            assert (own.grad - other.grad).abs().max() < 1e-12, (name, microbatches)
        dist.barrier()
        if rank == 0:
            print(f"{name}, {microbatches} micro-batches: equal", flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may abort while they are destroyed


if __name__ == "__main__":
    multiprocessing.spawn(work, (os.getcwd(), sys.argv[1]), RANKS)
