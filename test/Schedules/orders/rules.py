# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every schedule of the library as a rule.

The plain schedules are one idea: a rank has a list of forwards and a list of
backwards, and the k-th backward comes right after the forward that is `lead`
places further on. DualPipe and ZB-V are sequences of words whose steps are
numbered by counting. Chimera, Hanayo, V-Half and V-Min are tables of slots.

A rule takes p, m and, where it has them, v, group and waves. It returns an
Order, or a string: the reason why the schedule does not exist at that size.
"""
from collections import deque

from .model import Broken, Order, Run, Step, bidirectional, loop, zigzag

RULES = {}


def rule(*extra):
    """Registers a schedule; `extra` names its parameters beside p and m."""
    def register(function):
        RULES[function.__name__] = (function, extra)
        return function
    return register


# --- Two lists, merged ------------------------------------------------------


def follow(forwards, backwards, lead):
    """The backward k right after the forward k + lead, or after the last."""
    at = [[] for _ in forwards]
    for k, step in enumerate(backwards):
        at[min(k + lead, len(forwards) - 1)].append(step)
    return [step for f, own in zip(forwards, at) for step in [f, *own]]


def weights_after(steps, lag, tail=None):
    """The W of the k-th I directly after the I number k + lag, the rest at the
    end. From the I number `tail` on there is a W after every I."""
    inputs = [s for s in steps if s.kind == "I"]
    result, count, done = [], 0, 0
    for step in steps:
        result.append(step)
        if step.kind == "I":
            if count >= lag or tail is not None and count >= tail:
                result.append(inputs[done]._replace(kind="W"))
                done += 1
            count += 1
    return result + [s._replace(kind="W") for s in inputs[done:]]


def marry(steps, first, second):
    """Joins every `first` with a `second` that comes directly after it, from
    left to right."""
    result = []
    for step in steps:
        before = result[-1] if result else None
        free = before and not (len(result) > 1 and result[-2].joined)
        if free and before.kind == first and step.kind == second:
            result[-1] = before._replace(joined=True)
        result.append(step)
    return result


def by_rounds(p, m, v, rank, sizes, backward="B"):
    """Forwards and backwards of an interleaved rank: rounds of micro-batches
    of the given sizes, in a round chunk after chunk."""
    home = [k for k, size in enumerate(sizes) for _ in range(size)]
    assert len(home) == m
    units = [(mb, c) for mb in range(m) for c in range(v)]
    units.sort(key=lambda u: (home[u[0]], u[1], u[0]))
    forwards = [Step("F", c * p + rank, mb, False) for mb, c in units]
    units.sort(key=lambda u: (home[u[0]], -u[1], u[0]))
    backwards = [Step(backward, c * p + rank, mb, False) for mb, c in units]
    return forwards, backwards


def full_rounds(m, size):
    """Rounds of `size`, the last one what is left."""
    return [size] * (m // size) + ([m % size] if m % size else [])


def one_chunk(p, m, lead, backward="B"):
    """An order of p stages, one per rank; lead(rank) as in `follow`."""
    ranks = []
    for rank in range(p):
        forwards, backwards = by_rounds(p, m, 1, rank, [m], backward)
        ranks.append(follow(forwards, backwards, lead(rank)))
    return Order(loop(p), m, ranks)


def many_chunks(p, m, v, sizes, lead, backward="B"):
    ranks = [follow(*by_rounds(p, m, v, rank, sizes, backward), lead(rank))
             for rank in range(p)]
    return Order(loop(p, v), m, ranks)


def pair_up(order, lead, first, second):
    """Joins neighbours once the rank has run lead(rank) forwards alone."""
    ranks = []
    for rank, steps in enumerate(order.ranks):
        alone = min(lead(rank), len(steps) // 2)
        ranks.append(steps[:alone] + marry(steps[alone:], first, second))
    return order._replace(ranks=ranks)


@rule()
def gpipe(p, m):
    return one_chunk(p, m, lambda r: m)


@rule()
def one_f_one_b(p, m):
    return one_chunk(p, m, lambda r: p - 1 - r)


@rule()
def eager_one_f_one_b(p, m):
    return one_chunk(p, m, lambda r: 2 * (p - 1 - r))


@rule()
def one_f_one_b_overlap(p, m):
    lead = lambda r: 2 * (p - 1 - r) + 1
    return pair_up(one_chunk(p, m, lead), lead, "F", "B")


@rule()
def zb1p(p, m):
    order = one_chunk(p, m, lambda r: p - 1 - r, "I")
    return order._replace(ranks=[
        weights_after(s, r, tail=m - (p - 1 - r)) for r, s in enumerate(order.ranks)])


@rule()
def zbh2(p, m):
    if m < 2 * p - 1:
        return "fewer micro-batches than forwards in the warm-up"
    order = one_chunk(p, m, lambda r: 2 * (p - 1 - r), "I")
    return order._replace(ranks=[weights_after(s, 2 * r) for r, s in enumerate(order.ranks)])


def if_it_runs(order):
    """The order, or why it has none: its ranks wait for each other."""
    try:
        Run(order)
    except Broken as reason:
        return str(reason)
    return order


def group_lead(p, v, group, more=0):
    return lambda r: (v - 1) * group + 2 * (p - 1 - r) + more


@rule("v", "group")
def interleaved(p, m, v, group):
    return if_it_runs(many_chunks(p, m, v, full_rounds(m, group), group_lead(p, v, group)))


@rule("v", "group")
def kimi_k2(p, m, v, group):
    return if_it_runs(many_chunks(p, m, v, full_rounds(m, group), group_lead(p, v, group, 1)))


@rule("v", "group")
def interleaved_overlap(p, m, v, group):
    rest = m % group
    if group < p:
        return "group smaller than the pipeline"
    if not (m <= group or rest == 0 or rest >= 2 * p - 1 - group or v == 1 or v == 2 and rest == 1):
        return "last group smaller than the pipeline"
    lead = group_lead(p, v, group, 1)
    return pair_up(many_chunks(p, m, v, full_rounds(m, group), lead), lead, "F", "B")


def torch_rounds(p, m):
    count = max(1, m // p)
    return [m // count] * count if m % count == 0 else None


@rule("v")
def interleaved_flexible(p, m, v):
    sizes = torch_rounds(p, m)
    if not sizes:
        return "rounds of different size"
    return many_chunks(p, m, v, sizes, group_lead(p, v, sizes[0]))


@rule("v")
def interleaved_zb(p, m, v):
    sizes = torch_rounds(p, m)
    if not sizes:
        return "rounds of different size"
    order = many_chunks(p, m, v, sizes, lambda r: (v - 1) * sizes[0] + p - 1 - r, "I")
    return order._replace(ranks=[weights_after(s, r) for r, s in enumerate(order.ranks)])


def spread_rounds(p, m):
    """As many rounds of p micro-batches as there are, what is left dealt out
    to them one by one."""
    count = max(1, m // p)
    return [m // count + (k < m % count) for k in range(count)]


@rule("v")
def interleaved_any(p, m, v):
    sizes = spread_rounds(p, m)
    return many_chunks(p, m, v, sizes, group_lead(p, v, sizes[0]))


@rule("v")
def interleaved_overlap_bf(p, m, v):
    sizes = spread_rounds(p, m)
    lead = group_lead(p, v, sizes[0])
    return pair_up(many_chunks(p, m, v, sizes, lead), lambda r: lead(r) + 1, "B", "F")


@rule("v")
def looped_bfs(p, m, v):
    ranks = []
    for rank in range(p):
        forwards = [Step("F", c * p + rank, mb, False) for c in range(v) for mb in range(m)]
        ranks.append(forwards + [s._replace(kind="B") for s in reversed(forwards)])
    return Order(loop(p, v), m, ranks)


# --- Slices of sequences ----------------------------------------------------


def by_groups(p, groups, v, slices, lead):
    """Groups of micro-batches with all their slices, one chunk after the other.
    Backwards run from the last slice of a micro-batch to its first."""
    ranks = []
    for rank in range(p):
        forwards = [Step("F", c * p + rank, mb * slices + k, False)
                    for group in groups for c in range(v) for mb in group for k in range(slices)]
        backwards = [Step("B", c * p + rank, mb * slices + k, False)
                     for group in groups for c in reversed(range(v)) for mb in group for k in reversed(range(slices))]
        ranks.append(follow(forwards, backwards, lead(rank)))
    return Order(loop(p, v), sum(map(len, groups)) * slices, ranks)


@rule("slices")
def seq1f1b(p, m, slices):
    return by_groups(p, [[mb] for mb in range(m)], 1, slices, lambda r: p - 2 - r + slices)


@rule("v", "slices")
def slimpipe(p, m, v, slices):
    if v == 1 or slices % p != 0:
        return "one chunk, or slices that the ranks do not divide"
    return by_groups(p, [[mb] for mb in range(m)], v, slices, lambda r: 2 * (p - 1 - r) + v * slices - 1)


@rule("v", "group", "slices")
def seqpipe(p, m, v, slices, group=None):
    ahead = 1 if v == 1 else 2
    parts = max(1, m // (group or p))
    sizes = [m // parts + (i < m % parts) for i in range(parts)]
    if v > 1 and parts > 1 and (v, m) != (2, 2) and 2 * min(sizes) * slices < ahead * (p - 1):
        return "groups that are too small"
    groups = [range(sum(sizes[:i]), sum(sizes[:i + 1])) for i in range(parts)]
    return by_groups(p, groups, v, slices,
                     lambda r: ahead * (p - 1 - r) + (v - 1) * sizes[0] * slices + slices - 1)


# --- Words, numbered by counting --------------------------------------------


def read(words, stage_of, first=(0, 0), limit=None):
    """Words such as `F0`, `F0&B1` and `W` as steps. The digit is the chunk;
    a plain W takes the oldest I without one, `W0` counts for itself.
    Micro-batches of a chunk are counted from first[chunk]; those from limit
    on are left out."""
    counts, owed, steps = {}, deque(), []
    for word in words:
        parts = word.split("&")
        for k, part in enumerate(parts):
            if part == "W":
                chunk, mb = owed.popleft()
            else:
                chunk = int(part[1])
                stream = (part[0].replace("B", "I"), chunk)
                mb = first[chunk] + counts.get(stream, 0)
                counts[stream] = counts.get(stream, 0) + 1
                if part[0] == "I":
                    owed.append((chunk, mb))
            if limit is None or mb < limit:
                steps.append(Step(part[0], stage_of[chunk], mb, k + 1 < len(parts)))
    return steps


def eight_steps(rank_from_end, half, count, middle_pairs=0):
    """DeepSeek's eight steps. 0 is the direction that enters near this rank,
    `rank_from_end` its distance to that end, `half` the length of one way to
    the turning point, `count` the micro-batches a direction. With
    `middle_pairs` all forwards and backwards of the main step are pairs."""
    h, far = rank_from_end, half - 1 - rank_from_end
    middle = ["F0&B1", "F1&B0"] * (count - 2 * half + h + 1)
    if far == 0 and middle and not middle_pairs:
        middle[:1] = ["F0", "B1"]
    words = ["F0"] * (2 * far) + ["F0", "F1"] * (h + 1) + ["I1", "W", "F1"] * far
    words += middle + ["B1", "F1&B0"] * far
    turn = ["1", "0"] * (h + 1)
    whole = h + 1  # this many full backwards, then inputs only
    words += ["B" + c for c in turn[:whole]] + ["I" + c for c in turn[whole:]]
    return words + ["W", "I0"] * far + ["W"] * (h + 1)


@rule("middle_pairs")
def dualpipe(p, m, middle_pairs=0):
    if p % 2 or m % 2 or m < 2 * p - 2:
        return "odd, or too few micro-batches for both directions"
    ranks = []
    for rank in range(p):
        mirrored = rank >= p // 2
        words = eight_steps(min(rank, p - 1 - rank), p // 2, m // 2, middle_pairs)
        stages, first = (rank, p - 1 - rank), (0, m // 2)
        if mirrored:
            stages, first = stages[::-1], first[::-1]
        ranks.append(read(words, stages, first))
    return Order(bidirectional(p), m, ranks)


@rule()
def dualpipev(p, m):
    if m < 2 * p - 1:
        return "too few micro-batches"
    return Order(zigzag(p), m, [
        read(eight_steps(r, p, m), (r, 2 * p - 1 - r)) for r in range(p)])


@rule()
def zbv(p, m):
    n = max(2 * p - 1, m)
    ranks = []
    for r in range(p):
        words = ["F0"] * (2 * (p - r) - 1) + ["F1", "F0"] * r
        words += ["F1", "I1", "W1"] * (p - r)
        while words.count("F1") < n:
            words += ["F0"] * (words.count("F0") < n)
            words += ["I0", "W0", "F1", "I1", "W1"]
        words += ["I0", "I1"] * r + ["I0", "W0"] * (p - r)
        words += ["W1"] * (n - words.count("W1"))
        words += ["W0"] * (n - words.count("W0"))
        ranks.append(read(words, (r, 2 * p - 1 - r), limit=m))
    return Order(zigzag(p), m, ranks)


# --- Tables of slots --------------------------------------------------------


def by_slot(table):
    """The steps of a table slot -> step in the order of their slots."""
    return [table[slot] for slot in sorted(table)]


class Table(dict):
    def put(self, slot, kind, stage, mb):
        assert slot not in self, (slot, kind, stage, mb)
        self[slot] = Step(kind, stage, mb, False)


def with_weights(table):
    """The table with the oldest owed W in every free slot, and in slots past
    the end those that find none."""
    owed, full = deque(), {}
    for slot in range(min(table), max(table) + 1):
        if slot in table:
            full[slot] = table[slot]
            if table[slot].kind == "I":
                owed.append(table[slot]._replace(kind="W"))
        elif owed:
            full[slot] = owed.popleft()
    return full | {max(table) + 1 + k: step for k, step in enumerate(owed)}


@rule()
def chimera(p, m):
    if p % 2 or m % p:
        return "odd, or not whole units"
    place, half, ranks = bidirectional(p), p // 2, []
    for rank in range(p):
        table = Table()
        for mb in range(m):
            down = mb < m // 2
            stage = rank if down else p - 1 - rank
            j = mb if down else mb - m // 2
            enter = 2 * p * (j // half) + 2 * (j % half)
            table.put(enter + stage, "F", stage, mb)
            table.put(enter + 2 * p - 1 - stage, "B", stage, mb)
        ranks.append(by_slot(table))
    return Order(place, m, ranks)


@rule("waves")
def hanayo(p, m, waves):
    place = zigzag(p, 2 * waves)
    tables = [Table() for _ in range(p)]
    count = len(place[0])
    for stage, rank in enumerate(place[0]):
        for mb in range(m):
            enter = 2 * count * (mb // p) + 2 * (mb % p)
            tables[rank].put(enter + stage, "F", stage, mb)
            tables[rank].put(enter + 2 * count - 1 - stage, "B", stage, mb)
    return Order(place, m, [by_slot(t) for t in tables])


@rule()
def v_half(p, m):
    gap = 0 if p % 2 else 3
    ranks = []
    for r in range(p):
        table, down, up = Table(), r, 2 * p - 1 - r
        for mb in range(m):
            late = gap if 2 * mb < p else 0
            table.put(6 * mb + 2 * r + late, "F", down, mb)
            table.put(6 * mb + 3 * p - 2 - r + late, "F", up, mb)
            table.put(6 * mb + 3 * p - 1 + gap + 2 * r, "I", up, mb)
            table.put(6 * mb + 6 * p - 2 + gap - r, "I", down, mb)
        full = with_weights(table)
        # Past the last forward of the way down, an input of the way down need
        # not wait for the weights in the slots right before it.
        last = max(slot for slot in table if table[slot][:2] == ("F", down))
        for slot in sorted(table):
            if slot > last and table[slot][:2] == ("I", down):
                while slot - 1 in full and full[slot - 1].kind == "W":
                    full[slot - 1], full[slot] = full[slot], full[slot - 1]
                    slot -= 1
        ranks.append(by_slot(full))
    return Order(zigzag(p), m, ranks)


@rule()
def v_min(p, m):
    gap = 0 if p % 3 else 2
    ranks = []
    for r in range(p):
        table, down, up = Table(), r, 2 * p - 1 - r
        for mb in range(m):
            late = gap if 3 * mb < p else 0
            soon = gap if mb >= max(p // 3, m - p // 3) else 0
            table.put(6 * mb + r + late, "F", down, mb)
            table.put(6 * mb + 2 * p - 1 - r + late, "F", up, mb)
            table.put(6 * mb + 2 * p + gap + r - soon, "I", up, mb)
            table.put(6 * mb + 4 * p - 1 + gap - r - soon, "I", down, mb)
        ranks.append(by_slot(with_weights(table)))
    return Order(zigzag(p), m, ranks)
