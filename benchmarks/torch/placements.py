#!/usr/bin/env python3
"""Placements of transfers with queues of gloo and a latency, beside their predictions:

    PIPEC=build/release/bin/pipec PYTHONPATH=python/src PYTHON benchmarks/torch/placements.py

The ranks are processes. Each communicator of a model is a process group of gloo and, on
every rank, a thread that runs its sends and receives in the order of the list. A transfer
begins when both of its ends are at the heads of their queues; then the latency passes,
in which both queues wait, and the tensor is sent. Computes sleep. For one queue per rank,
one for each direction, and one per pair of ranks, prints the makespan of each placement in
`pipec --model`, the median of the runs, and whether the runs have the predicted order.
Every tensor is checked.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import multiprocessing
import os
import queue
import statistics
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist

import pipec

ORDERS = ["simulate", "timed", "timed,at=mid", "search"]
SENDS, RECEIVES = (pipec.Kind.SEND_F, pipec.Kind.SEND_B), (pipec.Kind.RECV_F, pipec.Kind.RECV_B)


def models(ranks):
    """The edges of each communicator, by the name of the setting."""
    ring = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
    back = [(b, a) for a, b in ring]
    return {
        "one queue": [ring + back],
        "two queues": [ring, back],
        "one per pair": [[edge, edge[::-1]] for edge in ring],
    }


class Queue:
    """The transfers of one communicator on one rank, run by a thread in order."""

    def __init__(self, group, latency):
        self.group, self.latency, self.posted = group, latency, queue.SimpleQueue()
        self.failed = None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        token = torch.zeros(1)
        while (item := self.posted.get()) is not None:
            is_send, peer, value, done = item
            tensor = torch.tensor([float(value)])
            if is_send:
                dist.recv(token, peer, group=self.group)  # both ends are here
                time.sleep(self.latency)
                dist.send(tensor, peer, group=self.group)
            else:
                dist.send(token, peer, group=self.group)
                dist.recv(tensor, peer, group=self.group)
                if tensor.item() != value:
                    self.failed = f"{tensor.item()} came in place of {value} from rank {peer}"
            done.set()


def sleep_until(end):
    time.sleep(max(0.0, end - time.perf_counter()))


def run_list(rank, steps, queue_of, costs, unit, exchange):
    """One run of a list of a rank."""
    events, end = {}, time.perf_counter()
    for kind, stage, microbatch, peer, *_ in steps:
        value = 1000 * stage + microbatch
        if kind in SENDS or kind in RECEIVES:
            is_send = kind in SENDS
            # What a receive of stage s expects is sent by the stage before, or after it.
            number = value if is_send else value + (-1000 if kind == pipec.Kind.RECV_F else 1000)
            if exchange and is_send and rank == 0:
                number += 1
            done = threading.Event()
            events[kind, stage, microbatch] = done
            edge = (rank, peer) if is_send else (peer, rank)
            queue_of[edge].posted.put((is_send, peer, number, done))
            continue
        needed = pipec.Kind.RECV_F if kind == pipec.Kind.F else pipec.Kind.RECV_B
        waits = events.get((needed, stage, microbatch)) if kind in (pipec.Kind.F, pipec.Kind.B, pipec.Kind.I) else None
        if waits:
            waits.wait()
            end = max(end, time.perf_counter())
        # Late ends of sleeps do not add up.
        end = max(end, time.perf_counter() - unit / 4) + costs[kind.name] * unit
        sleep_until(end)
    for done in events.values():
        done.wait()


def work(rank, ranks, store, jobs, costs, unit, options, results):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=ranks)
    everyone = dist.new_group(list(range(ranks)))
    queues = {}
    for name, communicators in models(ranks).items():
        queues[name] = {}
        for edges in communicators:
            members = sorted({end for edge in edges for end in edge})
            group = dist.new_group(members)
            if rank in members:
                own = Queue(group, costs["p2p"] * unit)
                queues[name].update(dict.fromkeys(map(tuple, edges), own))
    for round_ in range(options.repeats + 1):
        for name, order, lists in jobs:
            dist.barrier(group=everyone)
            start = time.perf_counter()
            run_list(rank, lists[rank], queues[name], costs, unit, options.exchange)
            dist.barrier(group=everyone)
            if rank == 0 and round_ != 0:
                results.put((name, order, time.perf_counter() - start))
    failed = [own.failed for of in queues.values() for own in of.values() if own.failed]
    for own in {id(own): own for of in queues.values() for own in of.values()}.values():
        own.posted.put(None)
        own.thread.join()
    dist.destroy_process_group()
    if failed:
        raise SystemExit(f"rank {rank}: {failed[0]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--schedule", default="interleaved")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--microbatches", type=int, default=8)
    parser.add_argument("--unit", type=float, default=10, help="milliseconds of a unit of time")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--exchange", action="store_true", help="let rank 0 send wrong tensors, which must be noticed")
    options = parser.parse_args()
    costs = {"F": 2, "B": 4, "I": 2, "W": 2, "p2p": 1}
    unit = options.unit / 1e3
    jobs, predicted = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for name, communicators in models(options.ranks).items():
            path = os.path.join(folder, name.replace(" ", "-") + ".json")
            with open(path, "w") as file:
                json.dump({"communicators": [{"ranks": sorted({end for edge in edges for end in edge}), "edges": edges}
                                             for edges in communicators]}, file)
            for order in ORDERS:
                own = order + (f",model={path}" if order == "search" else "")
                schedule = pipec.compile(options.schedule, cost=costs, ranks=options.ranks, microbatches=options.microbatches,
                                         passes=f"insert-p2p{{order={own}}},detect-deadlock{{model={path}}}")
                predicted[name, order] = schedule.report(model=path).makespan * options.unit
                steps = [[(pipec.Kind(int(step[0])), *(int(n) for n in list(step)[1:])) for step in rank] for rank in schedule.steps]
                jobs.append((name, order, steps))
        context = multiprocessing.get_context("spawn")
        results = context.SimpleQueue()
        processes = [context.Process(target=work, args=(rank, options.ranks, os.path.join(folder, "store"), jobs, costs, unit,
                                                        options, results)) for rank in range(options.ranks)]
        for process in processes:
            process.start()
        times = {}
        for _ in range(len(jobs) * options.repeats):
            while results.empty():
                if any(process.exitcode for process in processes):
                    sys.exit("a rank has failed")
                time.sleep(0.01)
            name, order, seconds = results.get()
            times.setdefault((name, order), []).append(seconds * 1e3)
        for process in processes:
            process.join()
        if any(process.exitcode for process in processes):
            sys.exit("a rank has failed")
    print("| communicators | placement | predicted ms | measured ms |")
    print("| --- | --- | --- | --- |")
    for name, order, _ in jobs:
        print(f"| {name} | `{order}` | {predicted[name, order]:.0f} | {statistics.median(times[name, order]):.0f} |")
    for name in models(options.ranks):
        pairs = wrong = 0
        for i, a in enumerate(ORDERS):
            for b in ORDERS[:i]:
                difference = predicted[name, a] - predicted[name, b]
                # Predictions within 2 % are equal.
                if abs(difference) > 0.02 * predicted[name, a]:
                    pairs += 1
                    wrong += difference * (statistics.median(times[name, a]) - statistics.median(times[name, b])) <= 0
        print(f"{name}: {pairs - wrong} of {pairs} pairs of placements in the predicted order")


if __name__ == "__main__":
    main()
