"""Writes the schedule that a framework makes as a CSV, or as step IR.

    python3 -m pipec.dump FRAMEWORK ... [-o FILE]

A framework is a row of FRAMEWORKS. Its module has `add_dump_arguments(parser)`,
which adds its arguments, and `dump_command(options)`, which returns the text.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import argparse
import contextlib
import importlib
import sys
from typing import Sequence

from ._files import write_text

FRAMEWORKS = {
    "d9d": ("pipec.d9d", "a schedule of d9d, as CSV"),
    "deepspeed": ("pipec.deepspeed", "a schedule class of DeepSpeed, as CSV"),
    "jaxpp": ("pipec.jax", "a schedule class of JaxPP, as step IR"),
    "megatron": ("pipec.megatron", "what megatron-core runs, or an order of Transformer Engine, as step IR"),
    "primus": ("pipec.primus", "a table of Primus, as step IR or CSV"),
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="pipec.dump", description="Writes the schedule that a framework makes.")
    frameworks = parser.add_subparsers(title="frameworks", metavar="FRAMEWORK", required=True)
    for name, (module, summary) in FRAMEWORKS.items():
        framework = frameworks.add_parser(name, help=summary, description=f"Writes {summary}.")
        framework.set_defaults(run=importlib.import_module(module).dump_command)
        framework.add_argument("-o", dest="output", metavar="FILE", help="the output file (default: standard output)")
        importlib.import_module(module).add_dump_arguments(framework)
    options = parser.parse_args(arguments)
    # Frameworks print messages when they are imported.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            text = options.run(options)
        except (ImportError, AttributeError, OSError, ValueError) as error:
            sys.exit(f"pipec.dump: {error}")
    if options.output:
        write_text(options.output, text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
