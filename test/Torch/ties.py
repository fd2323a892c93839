# RUN: %torch-python %s
"""Tied parameters in executors of --emit=python: the embedding is the output layer too.
Compared with a model whose stages share one parameter; plain, in
DistributedDataParallel and in FSDP2; and what is refused."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
import torch
from torch import nn
from torch.distributed.pipelining import PipelineStage

import executors
import model
import pipec
import pipec.torch
import train

PROGRAM = """
schedule tied(ranks p, microbatches m, chunks v = 1) {
  placement loop(v);
  tie 0, stages - 1;
%s  warmup   { repeat m { for c in 0..v { F[c] } } }
  cooldown { repeat m { for c in 0..v { %s } } }
}
"""
FSDP = "strip-bubbles,inject-fsdp,insert-p2p{order=timed},insert-ties%s,detect-deadlock{model=stream}"


def make_stages(stages):
    """The stages of the model; the first and the last start with equal numbers."""
    made = {index: model.make_stage(index, stages) for index in range(stages)}
    with torch.no_grad():
        made[stages - 1].logits.weight.copy_(made[0].tokens.weight)
    return made


def shared(stage):
    return stage.tokens.weight if stage.first else stage.logits.weight


def reference(stages, microbatches, replicas):
    """The gradients of each step and stage where one parameter is shared."""
    made = make_stages(stages)
    made[stages - 1].logits.weight = made[0].tokens.weight
    whole = nn.ModuleList(made.values())
    data = [model.make_data(microbatches, replica) for replica in range(replicas)]
    result = []
    for step in range(model.STEPS):
        for replica in range(replicas):
            for x, target in zip(*(all_of.chunk(microbatches) for all_of in data[replica][step])):
                for stage in whole:
                    x = stage(x)
                (model.loss_function(x, target) / (microbatches * replicas)).backward()
        result.append([[p.grad.clone() for p in stage.parameters()] for stage in whole])
        model.update(whole.parameters())
    return result


def train_one(mesh, case):
    """The problems of this process."""
    file, params, options, wrap, how = case
    rank, replica = mesh["pp"].get_local_rank(), mesh["dp"].get_local_rank()
    plan = pipec.compile(file, **params, **options)
    mine, stages, microbatches = plan.stages_of(rank), plan.stages, plan.microbatches
    assert plan.ties == [[0, stages - 1]], plan.ties
    made = make_stages(stages)
    modules = {s: train.wrapped(made[s], wrap, mesh) for s in mine}
    bare = {s: modules[s].module if wrap == "ddp" else modules[s] for s in mine}
    tied = [s for s in mine if s in plan.ties[0]]
    given = None
    if how == "argument":
        given = {s: [shared(bare[s])] for s in tied}
    elif how == "by group":
        given = {s: {0: [shared(bare[s])]} for s in tied}
    else:
        for s in tied:
            bare[s].tied_parameters = [shared(bare[s])]
    parts = [PipelineStage(modules[s], s, stages, torch.device("cpu"), group=mesh["pp"].get_group()) for s in mine]
    schedule = pipec.torch.executor(plan, parts, model.loss_function, microbatches, patience=30, tied_parameters=given)
    kept = []
    if how == "handler":
        schedule.handle("REDUCE_TIED", lambda step: (kept.append(str(step)), step.proceed()))
    expected = reference(stages, microbatches, mesh["dp"].size())
    problems = []
    for step, (x, target) in enumerate(model.make_data(microbatches, replica)):
        schedule.eval(*((x,) if 0 in mine else ()), **(dict(target=target) if stages - 1 in mine else {}))
        schedule.step(*((x,) if 0 in mine else ()), **(dict(target=target) if stages - 1 in mine else {}))
        for stage in mine:
            gradients = [train.whole(parameter.grad) for parameter in modules[stage].parameters()]
            if not all(map(model.close, gradients, expected[step][stage])):
                problems.append(f"gradients of stage {stage} of step {step}")
        if step == 0 and how == "twice":
            # Gradients of an earlier run are not summed again.
            before = [p.grad.clone() for s in mine for p in modules[s].parameters()]
            schedule.step(*((x,) if 0 in mine else ()), **(dict(target=target) if stages - 1 in mine else {}))
            after = [p.grad for s in mine for p in modules[s].parameters()]
            if not all(model.close(b, 2 * a) for a, b in zip(before, after)):
                problems.append("accumulated gradients")
            for parameter, gradient in zip([p for s in mine for p in modules[s].parameters()], before):
                parameter.grad = gradient
        model.update(parameter for stage in mine for parameter in modules[stage].parameters())
    if how == "handler" and tied and kept != ["REDUCE_TIED t0"] * model.STEPS:
        problems.append(f"handler: {kept}")
    return problems


def refuse(mesh, case):
    """The message of an executor that is not made."""
    file, given = case
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(file, ranks=2, microbatches=2, target="pytorch")
    modules = {s: model.make_stage(s, 2) for s in plan.stages_of(rank)}
    parts = [PipelineStage(modules[s], s, 2, torch.device("cpu"), group=mesh["pp"].get_group()) for s in modules]
    try:
        pipec.torch.executor(plan, parts, model.loss_function, 2,
                             tied_parameters={s: given(modules[s]) for s in modules} if given else None)
    except ValueError as error:
        return str(error)
    return "no error"


def start(mesh, case):
    """The message of the first step of copies with other values, and what follows
    where one is copied to the other."""
    rank = mesh["pp"].get_local_rank()
    plan = pipec.compile(case, ranks=2, microbatches=2, target="pytorch")
    modules = {s: model.make_stage(s, 2) for s in plan.stages_of(rank)}
    parts = [PipelineStage(modules[s], s, 2, torch.device("cpu"), group=mesh["pp"].get_group()) for s in modules]
    schedule = pipec.torch.executor(plan, parts, model.loss_function, 2, tied_parameters={s: [shared(modules[s])] for s in modules})
    x, target = model.make_data(2, 0)[0]
    given = ((x,) if rank == 0 else (), dict(target=target) if rank == 1 else {})
    try:
        schedule.step(*given[0], **given[1])
    except ValueError as error:
        text = str(error)
    else:
        return "no error"
    for stage in modules.values():
        nn.init.constant_(shared(stage), 0.5)
    schedule.step(*given[0], **given[1])
    return text


with tempfile.TemporaryDirectory() as folder:
    def program(name, settings="", backward="B[v - 1 - c]"):
        file = os.path.join(folder, f"{name}.pipe")
        with open(file, "w") as out:
            out.write(PROGRAM % (settings, backward))
        return file

    tied, split = program("tied"), program("split", backward="I[v - 1 - c] W[v - 1 - c]")
    two, four = dict(ranks=2, microbatches=4), dict(ranks=4, microbatches=4)
    target = dict(target="pytorch")
    cases = [(tied, two, target, None, how) for how in ("argument", "by group", "module", "handler", "twice")]
    cases += [(tied, {**two, "chunks": 2}, target, None, "argument"), (split, two, target, None, "argument"),
              (tied, dict(ranks=1, microbatches=2, chunks=2), target, None, "argument")]
    last = dict(passes="strip-bubbles,insert-p2p,insert-ties{place=last},detect-deadlock")
    cases += [(tied, two, last, None, "argument")]
    for ranks in (1, 2, 4):
        if ranks == 4:
            chosen = [(tied, four, target, None, "argument")]
        else:
            chosen = [case for case in cases if case[1]["ranks"] == ranks]
        for case, results in zip(chosen, executors.run(ranks, chosen, function=train_one)):
            assert not any(results), (case, results)
    replicated = [(tied, two, target, "ddp", "argument"), (tied, two, dict(passes=FSDP % ""), "fsdp", "argument")]
    for case, results in zip(replicated, executors.run(2, replicated, replicas=2, function=train_one)):
        assert not any(results), (case, results)

    wrong = [(tied, None), (tied, lambda stage: [shared(stage)] * (1 + stage.first)),
             (tied, lambda stage: [stage.block.join.weight if stage.first else shared(stage)]),
             (tied, lambda stage: [nn.Parameter(torch.zeros(3))])]
    texts = ["stage 0 is tied, and neither tied_parameters nor its module says which parameters are",
             "ranks 0 and 1 share parameters of different shapes or types in group 0 of tied stages",
             "ranks 0 and 1 share parameters of different shapes or types in group 0 of tied stages",
             "tied_parameters of stage 0 has one that is not among the module's"]
    for text, results in zip(texts, executors.run(2, wrong, function=refuse)):
        assert text in results[0] and "no error" not in results[1], (text, results)
    (texts,) = executors.run(2, [tied], function=start)
    assert list(texts) == ["tied parameters start with different values: `tokens.weight` of stage 0 of rank 0 and "
                     "`logits.weight` of stage 1 of rank 1; copy one to the other before the first step"] * 2, texts
    plain = pipec.compile("one_f_one_b", ranks=2, microbatches=2, target="pytorch")
    assert plain.ties == []
print("ok")
