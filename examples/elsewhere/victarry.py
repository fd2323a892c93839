"""Costs of the simulator of Victarry as a profile."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json


def write_profile(config, file):
    """Writes the cost profile of a configuration, read with yaml.safe_load."""
    names = {"forward": "F", "backward": "B", "backward_D": "I", "backward_W": "W"}
    profile, stages = {}, {}
    for name, time in config["op_times"].items():
        by_stage = isinstance(time, dict)
        if name == "overlapped_forward_backward":
            if by_stage:
                raise ValueError("the cost of an overlap is one number")
            profile["overlaps"] = {"F & B": time}
        elif not by_stage:
            profile[names[name]] = time
        else:
            for stage, number in time.items():
                stages.setdefault(str(stage), {})[names[name]] = number
    if stages:
        profile["stages"] = stages
    profile["p2p"] = config.get("p2p_latency", 0)
    json.dump(profile, file, indent=2)
