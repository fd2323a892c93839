# RUN: rm -rf %t && mkdir -p %t && cd %t && %torch-python %s %root/docs/OtherEngines.md
"""The engine of the page trains in picotron, with its communication and its backward, in
the orders of pipec; gradients and losses equal those without a pipeline."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import re
import sys
import types

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing
import torch.nn.functional as F

import pipec

RANKS, WORDS, WIDTH, ROWS, LENGTH = 3, 20, 8, 2, 4
CASES = [("one_f_one_b", 6), ("one_f_one_b", 1), ("gpipe", 4), ("examples/eager", 6)]
EAGER = """schedule eager(ranks p = 3, microbatches m = 6) {
  placement loop;
  let w = min(m, 2 * (p - 1 - rank));
  warmup { repeat w { F } }
  steady { repeat m - w { F B } }
  cooldown { repeat w { B } }
}"""


class Stage(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        torch.manual_seed(number)
        self.number = number
        self.words = torch.nn.Embedding(WORDS, WIDTH, dtype=torch.float64)
        self.layer = torch.nn.Linear(WIDTH, WIDTH if number + 1 < RANKS else WORDS, dtype=torch.float64)

    def forward(self, input_ids, position_ids, hidden_states):
        return self.layer(torch.tanh(self.words(input_ids) if self.number == 0 else hidden_states))


class Loader:
    def __init__(self, ids, targets):
        self.rows, self.grad_acc_steps = iter(zip(ids, targets)), len(ids)

    def __next__(self):
        ids, targets = next(self.rows)
        return {"input_ids": ids, "target_ids": targets, "position_ids": torch.arange(LENGTH), "hidden_states": None}


def start(rank, ranks, page):
    """Stands in for picotron's groups of processes, and returns the names of the engine of the page."""
    sys.path.insert(0, os.environ["PIPEC_PICOTRON"])
    torch.cuda.synchronize = lambda *_: None  # picotron calls it after each transfer
    import picotron.process_group_manager as pgm

    pgm.process_group_manager = types.SimpleNamespace(
        pp_rank=rank, pp_world_size=ranks, pp_is_first_stage=rank == 0, pp_is_last_stage=rank == ranks - 1,
        pp_next_rank=rank + 1, pp_prev_rank=rank - 1, cp_dp_world_size=1)
    code = re.search(r"^```python picotron\n(.*?)^```", open(page, encoding="utf-8").read(), re.S | re.M).group(1)
    engine = {}
    exec(compile(code, page, "exec"), engine)
    return engine


def work(rank, folder, page):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
    engine = start(rank, RANKS, page)
    from picotron.pipeline_parallel.pipeline_parallel import PipelineParallel

    Stage.backward = PipelineParallel.backward
    for name, microbatches in CASES:
        source = {"source": EAGER} if name == "examples/eager" else {"path_or_name": name}
        schedule = pipec.compile(**source, ranks=RANKS, microbatches=microbatches,
                                 passes="insert-p2p{order=timed,model=blocking-sends},detect-deadlock")
        torch.manual_seed(5)
        ids, targets = torch.randint(0, WORDS, (2, microbatches, ROWS, LENGTH))
        plain, stage = [Stage(number) for number in range(RANKS)], Stage(rank)
        expected = 0
        for row, target in zip(ids, targets):
            hidden = None
            for one in plain:
                hidden = one(row, None, hidden)
            loss = F.cross_entropy(hidden.flatten(0, 1), target.flatten())
            loss.backward()  # picotron divides the sum of the gradients later
            expected += loss.item() / microbatches
        loss = engine["train_step_pipeline"](schedule, stage, Loader(ids, targets), (ROWS, LENGTH, WIDTH),
                                             torch.device("cpu"), torch.float64)
        for own, other in zip(stage.parameters(), plain[rank].parameters()):
            assert own.grad is other.grad or (own.grad - other.grad).abs().max() < 1e-12, (name, microbatches)
        assert rank + 1 != RANKS or abs(loss - expected) < 1e-12, (name, loss, expected)
        dist.barrier()
        if rank == 0:
            print(f"{name}, {microbatches} micro-batches: equal", flush=True)
    dist.barrier()
    os._exit(0)  # gloo's threads may abort while they are destroyed


if __name__ == "__main__":
    multiprocessing.spawn(work, (os.getcwd(), sys.argv[1]), RANKS)
