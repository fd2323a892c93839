"""One training step with the generated executor in Python, PyTorch over gloo:

    train_executor.py PIPE PROBLEM OUT NAME=VALUE...
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

import pipec.torch
import train_torch


def load(path, stages, loss_fn, sizes):
    plan = pipec.compile(path, target="pytorch", **sizes)
    return pipec.torch.executor(plan, stages, loss_fn, plan.microbatches)


if __name__ == "__main__":
    train_torch.main(load, sys.argv[1:])
