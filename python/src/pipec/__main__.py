"""`python3 -m pipec`: the compiler, and pictures as PDF and PNG."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import sys

from ._pictures import main
from ._program import ProgramNotFound

try:
    sys.exit(main(sys.argv[1:]))
except ProgramNotFound as error:
    sys.exit(f"pipec: error: {error}")
