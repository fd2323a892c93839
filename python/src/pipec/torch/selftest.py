"""Checks that executors run here: `python -m pipec.torch.selftest`.

On one machine it starts two processes; under torchrun it uses those that there are, at
least two. It prints one line per check, and exits with status 1 if one fails. With GPUs
it takes the backend nccl, otherwise gloo; `--backend` and `--device` say so."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import datetime
import os
import socket
import sys
import time
import traceback
from typing import Any, Callable

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage

from .._compile import compile as _compile
from . import clip_grad_norm_, executor, overlap_streams

WIDTH, COUNT, ROWS = 32, 8, 4


class Stage(nn.Module):
    def __init__(self, number: int):
        super().__init__()
        torch.manual_seed(number)
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.linear(x).tanh()
        return result


class Job:
    """A model of this many stages on the ranks, and the same one in one piece."""

    def __init__(self, device: torch.device, name: str, **options: Any):
        self.device, self.rank, self.ranks = device, dist.get_rank(), dist.get_world_size()
        plan: Any = name if name.endswith(".py") else _compile(name, target="pytorch", ranks=self.ranks, microbatches=COUNT)
        self.modules = [Stage(s).to(device) for s in range(plan.stages)]
        self.whole = nn.Sequential(*[Stage(s) for s in range(plan.stages)]).to(device)
        self.plan = plan
        stages = [PipelineStage(self.modules[s], s, plan.stages, device) for s in plan.stages_of(self.rank)]
        self.schedule = executor(plan, stages, nn.functional.mse_loss, COUNT, **options)

    def step(self, rows: int = ROWS * COUNT) -> None:
        """A step, whose gradients must be those of the model in one piece."""
        torch.manual_seed(rows)
        x, target = (torch.randn(rows, WIDTH).to(self.device) for _ in range(2))
        first, last = (any(ranks[end] == self.rank for ranks in self.plan.maps) for end in (0, -1))
        self.schedule.step(*((x,) if first else ()), target=target if last else None, return_outputs=False)
        parts = zip(x.tensor_split(COUNT), target.tensor_split(COUNT))
        (sum(nn.functional.mse_loss(self.whole(a), b) for a, b in parts) / COUNT).backward()  # type: ignore[union-attr]
        for stage in self.plan.stages_of(self.rank):
            mine, due = (stages[stage].get_parameter("linear.weight").grad for stages in (self.modules, self.whole))
            if mine is None or due is None or not torch.allclose(mine, due, rtol=1e-3, atol=1e-5):
                raise AssertionError(f"gradients of stage {stage} differ")

    def clear(self) -> None:
        for module in [*self.modules, self.whole]:
            module.zero_grad()


def trains(name: str, **options: Any) -> Callable[[torch.device], str]:
    def run(device: torch.device) -> str:
        job = Job(device, name, **options)
        seconds = []
        for _ in range(5):
            job.clear()
            begin = time.perf_counter()
            job.step()
            seconds.append(time.perf_counter() - begin)
        return f"gradients equal, {min(seconds) * 1000:.1f} ms"
    return run


def overlaps(device: torch.device) -> str:
    job = Job(device, "one_f_one_b_overlap")
    job.schedule.handle("OVERLAP", overlap_streams(device if device.type == "cuda" else None))
    for _ in range(5):
        job.clear()
        job.step()
    return "gradients equal" + ("" if device.type == "cuda" else ", in sequence")


def shapes(device: torch.device) -> str:
    job = Job(device, "one_f_one_b", dynamic_shapes=True)
    for rows in (32, 13, 40):
        job.clear()
        job.step(rows)
    return "gradients equal for 32, 13 and 40 rows"


def memory(device: torch.device) -> str:
    if device.type != "cuda":
        return "skipped without CUDA"
    job = Job(device, "one_f_one_b")
    kept = []
    for _ in range(4):
        job.step()
        torch.cuda.synchronize(device)
        kept.append(torch.cuda.memory_allocated(device))
    if kept[1] != kept[3]:
        raise AssertionError(f"the memory grows: {kept}")
    return f"{kept[3]} bytes after each step"


def clips(device: torch.device) -> str:
    job = Job(device, "one_f_one_b")
    job.step()
    found, due = clip_grad_norm_(job.schedule, 0.01), nn.utils.clip_grad_norm_(job.whole.parameters(), 0.01)
    if not torch.allclose(found, due, rtol=1e-3):
        raise AssertionError(f"the norm is {found}, and not {due}")
    return f"norm {float(found):.4g}"


CHECKS: dict[str, Callable[[torch.device], str]] = {
    "1F1B": trains("one_f_one_b"),
    "1F1B, a communicator per pair": trains("one_f_one_b", communicators="pair"),
    "1F1B, a communicator per edge": trains("one_f_one_b", communicators="edge"),
    "zero bubble": trains("zb1p"),
    "zero bubble in a V": trains("zbv"),
    "overlap on streams": overlaps,
    "dynamic shapes": shapes,
    "memory": memory,
    "norm of gradients": clips,
}


def work(number: int, ranks: int, port: int, options: argparse.Namespace) -> None:
    """One process: runs all checks, and exits."""
    if ranks:
        os.environ.update(RANK=str(number), LOCAL_RANK=str(number), WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    device = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0))) if options.device == "cuda" else torch.device("cpu")
    if device.type == "cuda":
        torch.cuda.set_device(device)
    else:
        torch.set_num_threads(1)
    dist.init_process_group(options.backend, timeout=datetime.timedelta(seconds=options.timeout))
    rank, failed = dist.get_rank(), False
    if rank == 0:
        print(f"torch {torch.__version__}, {options.backend}, {device.type}, {dist.get_world_size()} ranks", flush=True)
    for name, check in CHECKS.items():
        try:
            mine = "ok", check(device)
        except Exception as error:  # noqa: BLE001 (every failure is a line)
            mine = "FAILED", f"rank {rank}: {type(error).__name__}: {error}"
            if options.verbose:
                traceback.print_exc()
        try:
            everyone: list[Any] = [mine] * dist.get_world_size()
            dist.all_gather_object(everyone, mine)
        except RuntimeError:  # the connections have ended
            print(f"{name}: FAILED ({mine[1]})", flush=True)
            os._exit(1)
        bad = [text for state, text in everyone if state != "ok"]
        failed |= bool(bad)
        if rank == 0:
            print(f"{name}: {'FAILED (' + bad[0] + ')' if bad else 'ok (' + everyone[0][1] + ')'}", flush=True)
    sys.stdout.flush()
    dist.barrier()
    os._exit(failed)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m pipec.torch.selftest", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    gpus = torch.cuda.device_count()
    parser.add_argument("--ranks", type=int, default=max(2, min(gpus, 8)), help="processes to start (default: %(default)s)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda" if gpus >= 2 else "cpu", help="(default: %(default)s)")
    parser.add_argument("--backend", help="(default: nccl for cuda, otherwise gloo)")
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a transfer (default: %(default)s)")
    parser.add_argument("--verbose", action="store_true", help="print the stacks of failures")
    options = parser.parse_args()
    if options.ranks < 2:
        parser.error("a pipeline has at least 2 ranks")
    options.backend = options.backend or ("nccl" if options.device == "cuda" else "gloo")
    if "RANK" in os.environ and "WORLD_SIZE" in os.environ:
        work(0, 0, 0, options)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context: Any = torch.multiprocessing.get_context("spawn")
    processes = [context.Process(target=work, args=(number, options.ranks, port, options)) for number in range(options.ranks)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return int(any(process.exitcode for process in processes))


if __name__ == "__main__":
    sys.exit(main())
