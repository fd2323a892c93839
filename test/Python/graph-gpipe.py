# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""GPipe with a skip connection: the same transfers, in the same order between
each pair of ranks, as in PyTorch 2.5. With slices, its micro-batches are units, and
the backwards of a micro-batch begin with its last slice."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pipec

EDGES, RANKS, MICROBATCHES = [(0, 1), (0, 3), (1, 2), (2, 3)], 4, 3
KINDS = {"F": ("RECV_F", "SEND_F"), "B": ("RECV_B", "SEND_B")}


def torch_2_5(rank, slices):
    """The steps of ScheduleGPipe for a stage with these neighbours. For each
    forward, and then for each backward, it receives all inputs, one
    batch_isend_irecv per peer in the order of peers (_sorted_batch_p2p), waits
    for them, computes, and sends in the same way."""
    sources = sorted(a for a, b in EDGES if b == rank)
    targets = sorted(b for a, b in EDGES if a == rank)
    for kind, takes, gives in ("F", sources, targets), ("B", targets, sources):
        pieces = range(slices) if kind == "F" else range(slices)[::-1]
        for microbatch in (whole * slices + piece for whole in range(MICROBATCHES) for piece in pieces):
            for peer in takes:
                yield KINDS[kind][0], microbatch, peer
            yield kind, microbatch, -1
            for peer in gives:
                yield KINDS[kind][1], microbatch, peer


def step_ir(slices):
    lines = [f"pipec-steps {1 if slices == 1 else 2}",
             f"schedule @gpipe {{ ranks {RANKS} stages {RANKS} microbatches {MICROBATCHES}"
             + (f" slices {slices}" if slices != 1 else ""),
             "  map " + " ".join(map(str, range(RANKS))), "  connect 0 -> 3"]
    for rank in range(RANKS):
        lines.append(f"  rank {rank} {{")
        for kind, microbatch, peer in torch_2_5(rank, slices):
            arrow = "" if peer < 0 else " -> " if kind.startswith("SEND") else " <- "
            unit = microbatch if slices == 1 else f"{microbatch // slices}.{microbatch % slices}"
            lines.append(f"{kind} s{rank} m{unit}{arrow}"
                         + ("" if peer < 0 else f"r{peer}" if abs(peer - rank) == 1 else f"s{peer}"))
        lines.append("  }")
    return "\n".join([*lines, "}", ""])


for slices in 1, 2:
    reference = pipec.Schedule.from_steps(step_ir(slices))
    assert reference.edges == EDGES

    for passes in "insert-p2p", "insert-p2p{order=timed}", "insert-p2p{order=timed,favor=receives}":
        own = pipec.compile("gpipe", ranks=RANKS, microbatches=MICROBATCHES * slices,
                                slices=None if slices == 1 else slices, passes=passes, args=["--connect=0->3"])
        assert own.edges == EDGES
        for rank in range(RANKS):
            steps = [(str(pipec.Kind(kind)), int(microbatch), int(other))
                     for kind, _, microbatch, _, _, other in own.steps[rank]]
            expected = list(torch_2_5(rank, slices))
            assert sorted(steps) == sorted(expected), (passes, rank)
            # The computes, and what goes to and comes from each peer, in order.
            assert [s for s in steps if s[2] < 0] == [s for s in expected if s[2] < 0]
            for peer in range(RANKS):
                for way in "SEND", "RECV":
                    def one_edge(steps):
                        return [s for s in steps if s[2] == peer and s[0].startswith(way)]
                    assert one_edge(steps) == one_edge(expected), (passes, rank, peer, way)
            # Inputs are there before a compute, results leave after it.
            for i, (kind, microbatch, peer) in enumerate(steps):
                if peer >= 0:
                    compute = steps.index((kind[-1], microbatch, -1))
                    assert (i < compute) == kind.startswith("RECV"), (passes, rank, steps[i])
        assert all(own.lint().safe.values()), own.lint().safe

    # With one queue per rank for all transfers, PyTorch's order waits for itself:
    # rank 3 sends to rank 0 before rank 2, and rank 0 receives from rank 1 first.
    assert [model for model, safe in reference.lint().safe.items() if not safe] == ["stream"]
