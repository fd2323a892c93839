"""A profile with a row for every edge between 64 ranks, and many overlaps."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import itertools
import json
import sys

RANKS = 64

json.dump({
    "edges": {f"{a} -> {b}": {"p2p": a}
              for a in range(RANKS) for b in range(RANKS) if a != b},
    "overlaps": {" & ".join(kinds): 1
                 for kinds in itertools.product("FBIW", repeat=6)},
}, sys.stdout)
