# RUN: %torch-python %s
"""Training practice: norms over all stages, tied parameters that get the values of the
first copy, scaling, autocast, frozen parameters, compiled stages, and checkpoints that
another number of ranks loads."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import contextlib
import copy
import math
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
import torch._functorch.config
from torch import nn
from torch.distributed.pipelining import PipelineStage

import alone
import executors
import pipec
import pipec.torch

lock = alone.wait()

WIDTH = 6
TIED = "schedule tied(ranks p, microbatches m) { placement loop; tie 0, stages - 1; warmup { repeat m { F } } cooldown { repeat m { B } } }"


def code_of(name):
    """A block of code of docs/Torch.md."""
    page = (pathlib.Path(__file__).parents[2] / "docs" / "Torch.md").read_text(encoding="utf-8")
    return page.split(f"```python {name}\n")[1].split("```")[0]


def modules_of(count, seed):
    torch.manual_seed(seed)
    return [nn.Linear(WIDTH, WIDTH, dtype=torch.float64) for _ in range(count)]


def norms(mesh, case):
    """Equal to those of the model on one process, where shared parameters are one."""
    rank = mesh["pp"].get_local_rank()
    tied = case == "tied"
    plan = pipec.compile(source=TIED, target="pytorch", ranks=2, microbatches=4) if tied else \
        pipec.compile(case, target="pytorch", ranks=2, microbatches=4)
    mine = plan.stages_of(rank)
    modules, whole = modules_of(plan.stages, 2), modules_of(plan.stages, 2)
    if tied:
        whole[-1].weight = whole[0].weight
        if rank == 1:  # another start
            nn.init.zeros_(modules[1].weight)
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    options = dict(tied_parameters={s: [modules[s].weight] for s in mine}, broadcast_tied=True) if tied else {}
    schedule = pipec.torch.executor(plan, parts, nn.functional.mse_loss, 4, **options)
    torch.manual_seed(5)
    x, target = torch.randn(8, WIDTH, dtype=torch.float64), torch.randn(8, WIDTH, dtype=torch.float64)
    model = nn.Sequential(*whole)
    for norm_type in 2.0, 1.0, math.inf:
        for module in modules:
            module.zero_grad()
        model.zero_grad()
        schedule.step(*((x,) if any(ranks[0] == rank for ranks in plan.maps) else ()),
                      **(dict(target=target) if any(ranks[-1] == rank for ranks in plan.maps) else {}))
        nn.functional.mse_loss(model(x), target).backward()
        due = nn.utils.clip_grad_norm_(model.parameters(), 0.01, norm_type)
        found = pipec.torch.clip_grad_norm_(schedule, 0.01, norm_type)
        assert torch.allclose(found.double(), due, rtol=1e-6) and due > 0.01, (case, norm_type, found, due)
        for s in mine:
            for p, q in zip(modules[s].parameters(), whole[s].parameters()):
                assert torch.allclose(p.grad, q.grad, rtol=1e-6), (case, norm_type, s)
    parts[0].submod.bias.grad.fill_(math.nan if rank == 0 else 0)
    executors.refuse("the norm of the gradients of all stages is nan",
                     lambda: pipec.torch.clip_grad_norm_(schedule, 1.0, error_if_nonfinite=True))


def scaled(mesh, case):
    """The code of docs/Torch.md with a GradScaler: the weights of the model on one process,
    also after an overflow; and a stage in bfloat16."""
    code = code_of("scaled").replace('"one_f_one_b", stages, loss_fn, 8', '"one_f_one_b", stages, loss_fn, 4')
    rank = mesh["pp"].get_local_rank()
    modules, whole = modules_of(2, 2), modules_of(2, 2)
    if case is not None:
        modules, whole = [m.to(case) for m in modules], [m.to(case) for m in whole]
    dtype = case or torch.float64
    torch.manual_seed(5)
    batches = [(torch.randn(8, WIDTH).to(dtype), torch.randn(8, WIDTH).to(dtype)) for _ in range(4)]
    batches[2] = batches[2][0], torch.full_like(batches[2][1], math.inf)
    optimizer = torch.optim.SGD(modules[rank].parameters(), lr=0.1)
    exec(code, {  # noqa: S102 (of the page)
        "torch": torch, "pipec": pipec, "device": torch.device("cpu"), "batches": batches, "optimizer": optimizer,
        "stages": [PipelineStage(modules[rank], rank, 2, torch.device("cpu"), group=mesh["pp"].get_group())],
        "inputs": lambda x: (x,) if rank == 0 else (), "targets": lambda target: {"target": target} if rank == 1 else {}})
    model, scaler = nn.Sequential(*whole), torch.amp.GradScaler("cpu")
    plain = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, target in batches:
        for a, b in zip(x.chunk(4), target.chunk(4)):
            (scaler.scale(nn.functional.mse_loss(model(a), b)) / 4).backward()
        scaler.unscale_(plain)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(plain)
        scaler.update()
        plain.zero_grad()
    for p, q in zip(modules[rank].parameters(), whole[rank].parameters()):
        assert torch.isfinite(p).all() and torch.allclose(p, q, rtol=1e-5 if case is None else 1e-2, atol=1e-2 if case else 0), (case, p, q)


class Block(nn.Module):
    """A layer; `autocast` is a type for its products."""

    def __init__(self, dtype=None, autocast=None):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH, dtype=dtype)
        self.up, self.down = nn.Linear(WIDTH, 2 * WIDTH, dtype=dtype), nn.Linear(2 * WIDTH, WIDTH, dtype=dtype)
        self.autocast, self.graph = autocast, True

    def forward(self, x):
        with torch.autocast("cpu", self.autocast) if self.autocast else contextlib.nullcontext():
            with torch.set_grad_enabled(self.graph and torch.is_grad_enabled()):
                return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def against_plain(mesh, name, params, blocks, around=contextlib.nullcontext, wrap=lambda module: module, same=torch.equal):
    """Trains a schedule for two steps, a layer per stage, and the layers on one process;
    the parameters whose gradients differ, and the modules of this rank."""
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(name, target="pytorch", ranks=2, microbatches=4, **params)
    mine = plan.stages_of(rank)
    modules = {s: wrap(copy.deepcopy(blocks[s])) for s in mine}
    plain = nn.Sequential(*blocks[:plan.stages])
    parts = [PipelineStage(modules[s], s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = pipec.torch.executor(plan, parts, nn.functional.mse_loss, 4)
    dtype = next(plain.parameters()).dtype
    problems = []
    for step in range(2):
        x, target = torch.randn(8, 3, WIDTH, dtype=dtype), torch.randn(8, 3, WIDTH, dtype=dtype)
        losses, due = [], []
        with around():
            schedule.step(*((x,) if 0 in mine else ()), **(dict(target=target, losses=losses) if plan.stages - 1 in mine else {}))
        for a, b in zip(x.chunk(4), target.chunk(4)):
            with around():
                due.append(nn.functional.mse_loss(plain(a), b))
            (due[-1] / 4).backward()
        if losses and not same(torch.stack(losses), torch.stack(due).detach()):
            problems.append((name, step, losses, due))
        for s in mine:
            for (key, p), q in zip(modules[s].named_parameters(), blocks[s].parameters()):
                if (p.grad is None) != (q.grad is None) or p.grad is not None and not same(p.grad, q.grad):
                    problems.append((name, step, s, key, p.grad, q.grad))
    return problems


def close(a, b):
    return torch.allclose(a, b, rtol=1e-10, atol=1e-14)


def nearly(a, b):
    """In bfloat16, with sums in another order."""
    return torch.allclose(a, b, rtol=1e-2, atol=1e-2)


BACKENDS = ["aot_eager", *(["inductor"] if shutil.which("g++") else [])]
WHOLE, SPLIT = ("interleaved", {"chunks": 2}), ("zbv", {})


def autocast(mesh, case):
    """Around the step, or in the stages."""
    (name, params), inside = case
    torch.manual_seed(7)
    blocks = [Block(autocast=torch.bfloat16 if inside else None) for _ in range(4)]
    around = contextlib.nullcontext if inside else lambda: torch.autocast("cpu", torch.bfloat16)
    same = nearly if name == SPLIT[0] else torch.equal
    assert not (found := against_plain(mesh, name, params, blocks, around, same=same)), found


FROZEN = ["0", "0.norm", "1", "1.down", "2.norm 2.up", "3", "3.norm", "0 1", "0 1 3", "0.norm 1.up 2 3.down", "no graph 0",
          "no graph 0 1"]


def frozen(mesh, case):
    """Stages, and parameters of stages, that are not trained; stages without a graph."""
    (name, params), which = case
    torch.manual_seed(7)
    blocks = [Block(torch.float64) for _ in range(4)]
    plain = nn.Sequential(*blocks)
    for word in which.removeprefix("no graph ").split():
        plain.get_submodule(word).requires_grad_(False)
        if "graph" in which:
            blocks[int(word)].graph = False
    assert not (found := against_plain(mesh, name, params, blocks, same=close)), (which, found)


def compiled(mesh, case):
    """A stage is compiled once for its forwards, and the gradients are those without."""
    (name, params), backend = case
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch._functorch.config.donated_buffer = name != SPLIT[0]
    torch.manual_seed(7)
    blocks = [Block(torch.float64) for _ in range(4)]

    def wrap(module):
        module.compile(backend=backend)
        return module

    assert not (found := against_plain(mesh, name, params, blocks, wrap=wrap, same=close)), (backend, found)
    counters = torch._dynamo.utils.counters
    assert 1 <= counters["stats"]["unique_graphs"] <= 2 and not counters["graph_break"], counters  # (for two stages)


LAYERS = 8


class Named(nn.Module):
    """Consecutive layers, under their names in the model."""

    def __init__(self, model, numbers):
        super().__init__()
        self.layers = nn.ModuleDict({str(number): model[number] for number in numbers})

    def forward(self, x):
        for layer in self.layers.values():
            x = layer(x)
        return x


def optimizer_of(module):
    return torch.optim.AdamW(module.parameters(), lr=0.1)


def data_of(step):
    torch.manual_seed(step)
    return torch.randn(8, WIDTH), torch.randn(8, WIDTH)


def saved(mesh, case):
    """Trains from one step to another, from a checkpoint and into one, with the code of
    docs/Torch.md; the parameters of this rank after that."""
    name, params, begin, end, seed, load, save = case
    rank, ranks = mesh["pp"].get_local_rank(), mesh["pp"].size()
    torch.manual_seed(seed)
    model = [Block() for _ in range(LAYERS)]
    plan = pipec.compile(name, target="pytorch", ranks=ranks, microbatches=4, **params)
    each = LAYERS // plan.stages
    modules = {s: Named(model, range(each * s, each * (s + 1))) for s in plan.stages_of(rank)}
    names = {"torch": torch, "parts": [(module, optimizer_of(module)) for module in modules.values()]}
    exec(code_of("checkpoint"), names)  # noqa: S102 (of the page)
    if load:
        names["load"](names["parts"], load)
    stages = [PipelineStage(module, s, plan.stages, torch.device("cpu"), group=mesh["pp"].get_group())
              for s, module in modules.items()]
    schedule = pipec.torch.executor(plan, stages, nn.functional.mse_loss, 4)
    for step in range(begin, end):
        x, target = data_of(step)
        schedule.step(*((x,) if 0 in modules else ()), **({"target": target} if plan.stages - 1 in modules else {}))
        for _, optimizer in names["parts"]:
            optimizer.step()
            optimizer.zero_grad()
    if save:
        names["dcp"].save(names["state_of"](names["parts"]), checkpoint_id=save)
    return {key: value.detach() for module in modules.values() for key, value in module.named_parameters()}


def continued():
    """Every job from a checkpoint has the parameters, to the bit, of the model on one
    process that was trained without a break."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Named([Block() for _ in range(LAYERS)], range(LAYERS))
    optimizer = optimizer_of(model)
    for step in range(4):
        for a, b in zip(*(value.chunk(4) for value in data_of(step))):
            (nn.functional.mse_loss(model(a), b) / 4).backward()
        optimizer.step()
        optimizer.zero_grad()
    due = dict(model.named_parameters())
    with tempfile.TemporaryDirectory() as folder:
        first, second = os.path.join(folder, "first"), os.path.join(folder, "second")
        executors.run(2, [("one_f_one_b", {}, 0, 2, 0, None, first)], function=saved)
        executors.run(4, [("interleaved", {"chunks": 2}, 2, 3, 1, first, second)], function=saved)
        for ranks, begin, name, params, load in ((1, 2, "gpipe", {}, first), (2, 3, "interleaved", {"chunks": 2}, second),
                                                 (4, 3, "one_f_one_b", {}, second), (2, 3, "zb1p", {}, second)):
            (found,) = executors.run(ranks, [(name, params, begin, 4, ranks + 1, load, None)], function=saved)
            found = {key: value for rank in found for key, value in rank.items()}
            assert found.keys() == due.keys()
            same = nearly if name == "zb1p" else torch.equal
            assert not (other := [key for key in due if not same(found[key], due[key])]), (ranks, name, other)


for case in None, torch.bfloat16:
    executors.run(2, [case], function=scaled)
for case in "one_f_one_b", "zbv", "chimera", "tied":
    executors.run(2, [case], function=norms)
for form in WHOLE, SPLIT:
    executors.run(2, [(form, inside) for inside in (False, True)], function=autocast)
    executors.run(2, [(form, which) for which in FROZEN], function=frozen)
    executors.run(2, [(form, backend) for backend in (BACKENDS if form == SPLIT else BACKENDS[:1])], function=compiled)
continued()
