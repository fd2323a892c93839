#!/usr/bin/env python3
"""Writes a schedule whose name has characters that markup cannot hold.

    odd-name.py FILE

Among them are the end of a CDATA section, a control character, U+FFFE, the first
byte of a longer character, a surrogate, and tags.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

NAME = r"a]]>b<c>&\01\0B\1B[31m\EF\BF\BE\EF\BF\BF\FF\C3\ED\A0\80\C3\A9\F0\9F\98\80"

with open(sys.argv[1], "w", encoding="utf-8") as file:
    file.write(f"""pipec-steps 1
schedule @"{NAME}" {{ ranks 1 stages 1 microbatches 1
  map 0
  rank 0 {{
    F s0 m0
    B s0 m0
  }}
}}
""")
