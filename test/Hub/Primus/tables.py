# RUN: rm -rf %t && mkdir -p %t && cd %t && %python %s
"""The tables of Primus' own generators: those that a run of their lists, written here
without pipec, finds wrong are those that lint finds; 1F1B is that of the library, and
what pipec writes is loaded into the real node class. No GPU: only the scheduler is
imported."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import copy
import os
import subprocess
import sys

import pipec
import pipec.primus

pipec.primus._scheduler_of(os.environ["PIPEC_PRIMUS"])
from primus.core.pipeline_parallel.scheduler import scheduler_node
from primus.core.pipeline_parallel.scheduler.schedule_table_factory import pp_algorithm_map, produce_schedule_instance

ALGORITHMS = [("1f1b", 1), ("zero-bubble", 1), ("zero-bubble-heuristic", 1), ("1f1b-interleaved", 2), ("zbv-formatted", 2),
              ("v-half", 2), ("v-min", 2)]
# 56 tables, and some larger ones.
SIZES = [(ranks, microbatches) for ranks in (2, 4) for microbatches in (1, 2, 4, 8)]
MORE = [(2, 5), (3, 4), (3, 6), (4, 16), (8, 8), (8, 16)]


def is_wrong(name, ranks, microbatches):
    """What is known of the generators, for two chunks where there are chunks."""
    return {"1f1b": microbatches < ranks - 1,
            "1f1b-interleaved": bool(microbatches % ranks) or 2 * microbatches < 3 * ranks - 2,
            "zbv-formatted": microbatches < 2 * ranks - 1}.get(name, False)


def problem(table, chunks, microbatches, is_v):
    """What is wrong with a table, or None. Each rank runs its list in order. A compute
    waits for its input. Transfers next to each other are posted together; those of a
    rank start when all earlier ones of the rank are complete, and a send and the receive
    that it meets, which is the k-th from that rank for the k-th to this one, complete
    together."""
    ranks = len(table)
    steps = {(kind, chunk, k) for kind in ("F", "B") for chunk in range(chunks) for k in range(microbatches)}
    last = (0, 1) if is_v else (ranks - 1, chunks - 1)
    posted = [[] for _ in range(ranks)]  # batches, the oldest first
    ways = collections.defaultdict(lambda: ([], []))  # what was sent and received from rank to rank
    done, arrived, at = [set() for _ in range(ranks)], [set() for _ in range(ranks)], [0] * ranks

    def advance(rank):
        """Runs the next node, or the next transfers; false if the rank waits."""
        row, start = table[rank], at[rank]
        node = row[start]
        kind, chunk, k = node.func_type.name, node.chunk, node.mini_batch
        if kind not in ("SF", "RF", "SB", "RB"):
            first = (rank, chunk) == (0, 0)
            needs = {"F": not first and "RF", "B": (rank, chunk) != last and "RB", "W": False}["B" if kind == "BW" else kind]
            if needs and (needs, chunk, k) not in arrived[rank]:
                return False
            name = ("B" if kind == "BW" else kind, chunk, k)
            before = {"F": None, "B": ("F", chunk, k), "W": ("B", chunk, k)}[name[0]]
            if name in done[rank] or (before and before not in done[rank]) or (name[0] != "W" and name not in steps):
                raise ValueError(f"rank {rank} computes {name}")
            done[rank].add(name)
            at[rank] += 1
            return True
        batch = []
        while at[rank] < len(row) and row[at[rank]].func_type.name in ("SF", "RF", "SB", "RB"):
            node = row[at[rank]]
            kind, chunk, k = node.func_type.name, node.chunk, node.mini_batch
            times = [row[i].args.get("time_step") for i in (at[rank] - 1, at[rank]) if row[i].args]
            if batch and len(times) == 2 and None not in times and times[0] != times[1]:
                break
            sends = kind[0] == "S"
            peer = node.args["to_pp_rank" if sends else "from_pp_rank"]
            if sends and ({"SF": "F", "SB": "B"}[kind], chunk, k) not in done[rank]:
                raise ValueError(f"rank {rank} sends {(kind, chunk, k)}, which is not there")
            datum = (kind[1], k, node.args["send_to_chunk"] if sends else chunk)
            if peer == rank:
                if not sends:
                    arrived[rank].add((kind, chunk, k))
            else:
                way = ways[(rank, peer) if sends else (peer, rank)][not sends]
                batch.append([sends, peer, len(way), (kind, chunk, k)])
                way.append(datum)
            at[rank] += 1
        if batch:
            posted[rank].append(batch)
        return True

    def meet():
        """Completes transfers whose both ends have started."""
        started = {(sends, *((rank, peer) if sends else (peer, rank)), number)
                   for rank in range(ranks) if posted[rank] for sends, peer, number, _ in posted[rank][0]}
        met = False
        for rank in range(ranks):
            for member in list(posted[rank][0]) if posted[rank] else []:
                sends, peer, number, name = member
                ends = (rank, peer) if sends else (peer, rank)
                if (not sends, *ends, number) not in started:
                    continue
                out, into = ways[ends]
                if out[number] != into[number]:
                    raise ValueError(f"{out[number]} meets {into[number]}")
                if not sends:
                    arrived[rank].add(name)
                posted[rank][0].remove(member)
                met = True
        for queue in posted:
            while queue and not queue[0]:
                del queue[0]
        return met

    try:
        while any([at[rank] < len(table[rank]) and advance(rank) for rank in range(ranks)]) or meet():
            pass
    except ValueError as error:
        return str(error)
    if any(map(bool, posted)) or any(at[rank] < len(table[rank]) for rank in range(ranks)):
        return f"stops at {at}"
    return None if all(steps <= of_rank for of_rank in done) else "leaves something out"


def computes(schedule):
    return [[(str(pipec.Kind(kind)), int(stage), int(k)) for kind, stage, k, *_ in steps if kind <= pipec.Kind.W]
            for steps in schedule.steps]


# The run itself: it finds what is changed in a good table.
good = produce_schedule_instance("1f1b", 2, 1, 4).generate_schedule_table()
kinds = [node.func_type.name for node in good[1]]
assert problem(good, 1, 4, False) is None
for change, text in {
        lambda row: row.pop(kinds.index("RF")): "stops at",
        lambda row: row.pop(kinds.index("SB")): "meets",
        lambda row: row.pop(kinds.index("BW")): "which is not there",
        lambda row: row.append(row[kinds.index("F")]): "rank 1 computes",
        lambda row: setattr(row[kinds.index("RF")], "mini_batch", 1): "meets"}.items():
    table = copy.deepcopy(good)
    change(table[1])
    assert text in problem(table, 1, 4, False), (text, problem(table, 1, 4, False))

wrong = {}
for name, chunks in ALGORITHMS:
    for ranks, microbatches in SIZES + MORE:
        made = produce_schedule_instance(name, ranks, chunks, microbatches)
        table = made.generate_schedule_table()
        text = pipec.primus.dump(table, microbatches=microbatches)
        assert text == pipec.primus.dump(table, microbatches=microbatches,
                                         placement="v" if made.last_pp_stage_rank() == 0 else "loop")
        with open("table.steps", "w") as file:
            file.write(text)
        found = pipec.lint("table.steps", grades={"no-reduce-grad": "off"})
        why = problem(table, chunks, microbatches, made.last_pp_stage_rank() == 0)
        if why:
            wrong[name, ranks, microbatches] = why
        assert bool(why) == (not found) == is_wrong(name, ranks, microbatches), (name, ranks, microbatches, why, str(found))
        if name == "1f1b" and microbatches >= ranks:
            library = pipec.compile("one_f_one_b", ranks=ranks, microbatches=microbatches)
            assert computes(pipec.Schedule.from_steps(text)) == computes(library), (ranks, microbatches)

# What pipec writes, in the real classes.
for schedule, chunks in ("one_f_one_b", 1), ("zb1p", 1), ("interleaved", 2), ("zbv", 2):
    compiled = pipec.compile(schedule, target="primus", ranks=4, microbatches=8)
    with open("table.json", "w") as file:
        file.write(compiled.emit("primus", "--passes="))
    name = pipec.primus.use("table.json")
    made = produce_schedule_instance(name, 4, chunks, 8)
    table = made.generate_schedule_table()
    assert isinstance(table[0][0], scheduler_node.SchedulerNode) and isinstance(made, pp_algorithm_map[name])
    assert pipec.primus.dump(table, form="csv") == compiled.csv, schedule

done = subprocess.run([sys.executable, "-m", "pipec.dump", "primus", "zbv-formatted", "--ranks=2", "--chunks=2",
                       "--microbatches=4"], capture_output=True, text=True, check=True)
assert "schedule @primus_zbv_formatted { ranks 2 stages 4 microbatches 4\n  map 0 1 1 0\n" in done.stdout, done.stdout
of_56 = [size for size in wrong if size[1:] in SIZES]
print(f"{len(of_56)} of {len(ALGORITHMS) * len(SIZES)} tables are wrong:", *(f"{size}: {wrong[size]}" for size in of_56), sep="\n")
assert (len(of_56), len(ALGORITHMS) * len(SIZES)) == (11, 56)
