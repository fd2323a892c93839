#!/bin/sh
# executor.sh PREFIX: builds the project in /mnt/consumer with the pipec that is installed
# below PREFIX, and runs it.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
cmake -S /mnt/consumer -B /tmp/build "-DCMAKE_PREFIX_PATH=$1"
cmake --build /tmp/build
/tmp/build/consumer
