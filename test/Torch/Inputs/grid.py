"""Files to train: schedules, lowered in several ways."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import collections
import os
import re

import oracle
import train

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "schedules")

#: Lists of passes for every schedule: computes alone, the order of torch's own
#: lowering, and the order of time.
TARGETS = ["torch-compute", oracle.TARGET, oracle.TIMED]


def kinds(rows):
    """The kinds of steps of a schedule."""
    return {kind for row in rows for cell in row for _, kind, _ in oracle.members(cell)}


def other_backwards(rows):
    """Lists of passes that make split backwards of whole ones, and the other way
    round; and plain steps of overlaps."""
    found = kinds(rows)
    result = ["split-backward,unpair," + oracle.TARGET] if "B" in found else []
    if "I" in found:
        result.append("merge-backward{which=all}," + oracle.TARGET)
    if any("OVERLAP" in cell for row in rows for cell in row):
        result.append("unpair," + oracle.TARGET)
    return result


class Grid:
    """Collects files by number of ranks, and trains them."""

    def __init__(self, folder):
        self.folder = folder
        self.files = collections.defaultdict(dict)
        self.count = 0

    def add(self, words, passes):
        """Lowers a schedule; the same file twice is one."""
        rows = oracle.pipec(*words, f"--passes={passes}")
        format = "compute_only" if passes.endswith("torch-compute") else "compute_comms"
        title = re.sub(r"[^\w.,=-]+", "_", " ".join([os.path.basename(words[0]), *words[1:], passes]))
        path = os.path.join(self.folder, f"{title}.csv")
        oracle.write(path, rows)
        known = self.files[len(rows)]
        if (format, str(rows)) not in known:
            self.count += 1
            known[format, str(rows)] = (path, format)

    def train(self, report, setting=train.Setting()):
        jobs = [(list(files.values()), setting) for _, files in sorted(self.files.items())]
        for (files, _), outcome in zip(jobs, train.train_all(jobs)):
            for file in files:
                found = outcome.get(file, "not trained")
                report.check(f"{os.path.basename(file[0])} ({setting.wrap}, {setting.replicas})",
                             None if found == "equal" else
                             {number: "; ".join(map(str, problems)) for number, problems in found.items()})
