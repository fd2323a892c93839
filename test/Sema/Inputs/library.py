"""Compiles every schedule of a folder with warnings as errors."""
import pathlib
import subprocess
import sys

files = sorted(pathlib.Path(sys.argv[1]).glob("*.pipe"))
for file in files:
    subprocess.run(["pipec", str(file), "-Werror", "--emit=csv", "-o", "-"], check=True,
                   stdout=subprocess.DEVNULL)
print(len(files), "schedules without a warning")
