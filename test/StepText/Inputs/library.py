"""Writes each schedule of the library as step IR, before and after transfers and
FSDP actions are put in; pipec-opt must read, verify and print the same text."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pathlib
import subprocess
import sys

library = sorted(pathlib.Path(sys.argv[1]).glob("*.pipe"))
texts = 0
for file in library:
    for passes in ("", "insert-p2p", "inject-fsdp,insert-p2p,batch-p2p"):
        command = ["pipec", str(file), "--emit=ir", "-o", "-"]
        text = subprocess.run(command + [f"--passes={passes}"] * bool(passes),
                              check=True, capture_output=True).stdout
        again = subprocess.run(["pipec-opt", "-"], input=text, capture_output=True, check=False)
        if again.returncode or again.stdout != text:
            sys.exit(f"{file.name} with `{passes}`:\n{again.stderr.decode()}")
        texts += 1
print(f"{texts} texts of {len(library)} schedules")
