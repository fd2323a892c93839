"""A trainer of a job's own: torchtitan's, with an executor in the place of its schedule.
PIPEC_SCHEDULE is a program with its parameters."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import dataclasses
import os

import pipec.torch
from torchtitan.models.llama3 import config_registry
from torchtitan.trainer import Trainer


class OwnTrainer(Trainer):
    @dataclasses.dataclass(kw_only=True, slots=True)
    class Config(Trainer.Config):
        pass

    def __init__(self, config):
        super().__init__(config)
        name, *params = os.environ["PIPEC_SCHEDULE"].split()
        params = {key: int(value) for key, value in (param.split("=") for param in params)}
        self.pp_schedule = pipec.torch.replace(self.pp_schedule, name, patience=60, **params)
        print("executor of", self.pp_schedule, flush=True)


def llama3_debugmodel():
    config = config_registry.llama3_debugmodel()
    return OwnTrainer.Config(**{field.name: getattr(config, field.name) for field in dataclasses.fields(config)})
