"""Compiles NcclTransport.h with the headers of NVIDIA's wheels in the environment of the
given Python; does nothing where they are missing."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import glob
import os
import subprocess
import sys

root, python, *compiler = sys.argv[1:]
packages = os.path.join(os.path.dirname(os.path.dirname(python)), "lib", "python3*", "site-packages")
# The folder of crt/ is that of the wheel nvidia-cuda-crt, or of Triton.
wanted = ["nvidia/*/include/nccl.h", "nvidia/*/include/cuda_runtime.h", "*/**/include/crt/host_config.h"]
found = [glob.glob(os.path.join(packages, name), recursive=True) for name in wanted]
folders = [path[0].removesuffix("/crt/host_config.h") if "/crt/" in path[0] else os.path.dirname(path[0])
           for path in found if path]
if len(folders) != 3:
    print("no headers of NVIDIA")
    sys.exit()
program = """#include <pipec/runtime/Executor.h>
#include <pipec/runtime/NcclTransport.h>
"""
subprocess.run([*compiler, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-x", "c++", f"-I{root}/include",
                *(word for folder in folders for word in ("-isystem", folder)), "-"], input=program, text=True, check=True)
print("compiled with the headers of NVIDIA")
