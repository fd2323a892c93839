# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the output of `pipec prove` with known proofs, and with the simulator at random sizes."""
import json, random, subprocess, sys


def run(*args):
    command = ["pipec", *args, "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else None, done.stderr


def words(case):
    cost = ",".join(f"{kind}={time}" for kind, time in case["cost"].items())
    model = [f"--model={case['model']}"] if "model" in case else []
    return case["schedule"], *(f"{name}={value}" for name, value in case["params"].items()), "--cost", cost, *model


def report(case, microbatches):
    name, *rest = words(case)
    passes = ["--passes=insert-p2p"] if "model" in case else []
    status, result, errors = run(name, *rest, f"microbatches={microbatches}", "--emit=report", *passes)
    assert status == 0, errors
    return result


def check(case, proof, rng):
    """The formula at two sizes, and the peaks."""
    for k in (0, rng.randrange(1, 30)):
        m = proof["from"] + proof["step"] * proof["period"] * k
        simulated = report(case, m)
        assert simulated["makespan"] == proof["makespan"] + proof["rate"] * k, (case, m)
        if k == 0:
            assert [rank["peak"] for rank in simulated["ranks"]] == proof["peak"], case
            idle = simulated["makespan"] - max(rank["work"] for rank in simulated["ranks"])
            assert idle >= 0
    assert proof["rate"] >= proof["work"] * proof["step"] * proof["period"], case


rng = random.Random(sys.argv[1])
if sys.argv[1] == "golden":
    cases = json.load(open(sys.argv[2]))
    for case in cases:
        status, proof, errors = run("prove", *words(case))
        assert status == 0 and proof["valid"] is True, (case, errors)
        assert list(proof) == ["schedule", "params", "valid", "from", "step", "period", "makespan", "rate", "work",
                               "peak"], proof
        for key, other in (("from", "from_microbatches"), *((key, key) for key in ("step", "makespan", "period",
                                                                                  "rate", "peak", "schedule"))):
            assert proof[key] == case[other], (case, key, proof)
        assert proof["params"].items() >= case["params"].items(), proof
        check(case, proof, rng)
    print(len(cases), "known proofs")
else:
    models = {"random": [None], "models": ["stream", "pair", "edge"]}[sys.argv[1]]
    costs = [{"F": 10, "I": 12, "W": 8, "p2p": 1}, {"F": 3, "I": 4, "W": 2, "p2p": 2}, {"F": 1, "I": 1, "W": 1}]
    count = 0
    for name in sys.argv[2:]:
        for cost, model in ((cost, model) for cost in rng.sample(costs[: 3 if models == [None] else 2], 2)
                            for model in models):
            case = {"schedule": name, "params": {"ranks": rng.choice([2, 4, 6])}, "cost": cost}
            if model:
                case["model"] = model
            status, proof, errors = run("prove", *words(case))
            assert status == 0, (case, status, proof, errors)
            check(case, proof, rng)
            count += 1
    print(count, "proofs")
