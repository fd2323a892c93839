"""Writes files that no editor would."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
open("bytes.csv", "wb").write(b"0F0,\0,\xef\xbb\xbf0F0,\xff\n")
open("long.csv", "wb").write(b"9" * 10_000_000)
open("rows.csv", "w").write("".join(f"{rank % 60000}F0\n" for rank in range(65537)))
