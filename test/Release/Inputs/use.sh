#!/bin/sh
# use.sh PREFIX: uses the programs that are installed below PREFIX.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
set -eu
"$1/bin/pipec" --version
"$1/bin/pipec" one_f_one_b ranks=2 microbatches=3 --target=torch --emit=csv -o /tmp/schedule.csv
cat /tmp/schedule.csv
"$1/bin/pipec" lint /tmp/schedule.csv | grep '^safe under'
"$1/bin/pipec" one_f_one_b ranks=2 microbatches=3 --emit=ir -o - | "$1/bin/pipec-opt" --passes=strip-bubbles - | grep '^schedule'
"$1/bin/pipec-lsp" --version
