"""Writes a tree of sources that exceeds every limit of check-sizes.py."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import sys

root = pathlib.Path(sys.argv[1])
for folder in ("docs", "lib/A", "lib/B"):
    (root / folder).mkdir(parents=True)
(root / "docs/page.md").write_text("\n" * 14001)
for number in range(27):
    (root / f"lib/A/{number}.h").write_text("\n")
for number in range(9):
    (root / f"lib/B/{number}.cpp").write_text("  return reportUsageError(diags);\n" * 3)
