# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures that papers print, as the commands give them: makespans and spans
under costs of one unit, and the measured bubble rates of "Zero Bubble Pipeline
Parallelism" (Qi et al., 2023), to all four decimals."""

import json
import subprocess
from decimal import Decimal
from fractions import Fraction


def pipec(*arguments):
    run = subprocess.run(["pipec", *arguments], capture_output=True, text=True, check=True)
    return json.loads(run.stdout, parse_float=Decimal)


def exact(figures, key):
    """A figure as a fraction: `key`, or `key`_exact where that is rounded."""
    return Fraction(figures.get(f"{key}_exact", figures[key]))


def figures_of(name, p, m, costs="F=1", **parameters):
    defines = {"ranks": p, "microbatches": m, **parameters}
    both = pipec("diff", name, name, *(f"-D{key}={value}" for key, value in defines.items()),
                 f"--cost={costs}", "--format=json")
    assert both["same"] and both["schedules"][0] == both["schedules"][1]
    return both["schedules"][0]


# Name, parameters, p = 4 and m = 8 and 16: makespans, and spans where the paper
# has them.
UNIT = [
    ("gpipe", {}, (33, 57), None),
    ("one_f_one_b", {}, (33, 57), None),
    ("eager_one_f_one_b", {}, (33, 57), None),
    ("interleaved", {"chunks": 2}, (57, 105), None),
    ("looped_bfs", {"chunks": 2}, (57, 105), None),
    ("zb1p", {}, (27, 51), None),
    ("zbh2", {}, (27, 51), (24, 48)),
    ("zbv", {}, (51, 99), (48, 96)),
    ("v_half", {}, (55, 103), None),
]
checked = 0
for name, parameters, makespans, spans in UNIT:
    for i, m in enumerate([8, 16]):
        figures = figures_of(name, 4, m, **parameters)
        assert exact(figures, "makespan") == makespans[i], (name, m, figures["makespan"])
        assert spans is None or exact(figures, "span") == spans[i], (name, m, figures["span"])
        checked += 1 + (spans is not None)

for name, costs, makespan in [("dualpipe", "F&B=3", 26), ("dualpipe", "F&B=2.5", 24),
                              ("one_f_one_b_overlap", "F&B=2.5", Fraction(59, 2))]:
    assert exact(figures_of(name, 4, 8, costs), "makespan") == makespan, (name, costs)
    checked += 1

# p, m, F, I, W, hop in milliseconds, and the span bubble rates of 1F1B, ZB-H1
# and ZB-H2.
MEASURED = [
    (8, 24, "18.522", "18.086", "9.337", "0.601", ("0.2431", "0.1585", "0.1083")),
    (16, 48, "11.347", "11.248", "8.132", "0.377", ("0.2552", "0.1397", "0.0672")),
]
for p, m, f, i, w, hop, rates in MEASURED:
    costs = f"F={f},I={i},W={w},p2p={hop}"
    for name, rate in zip(["one_f_one_b", "zb1p", "zbh2"], rates):
        found = exact(figures_of(name, p, m, costs), "bubble_span")
        assert f"{float(found):.4f}" == rate, (name, p, found)
        checked += 1
    # The same by the command that ranks schedules.
    ranked = pipec("compare", f"--ranks={p}", f"--microbatches={m}", f"--cost={costs}", "--format=json")
    found = {s["name"]: s for s in ranked["schedules"] if s["fits"]}
    for name, rate in zip(["one_f_one_b", "zb1p", "zbh2"], rates):
        assert f"{float(exact(found[name], 'bubble_span')):.4f}" == rate, name
        checked += 1
print(checked, "figures")
