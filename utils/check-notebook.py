#!/usr/bin/env python3
"""Runs the code cells of a notebook and compares their outputs with those in the file.

    check-notebook.py [--jupyter] [--update] FILE.ipynb

The cells run in this Python, one after the other, with a minimal display: what they
print, and the `repr`, `_repr_svg_` and `_repr_html_` of the last expression. Cells
with the tag `pandas` are left out where pandas is not installed. --jupyter runs the
notebook in a kernel of Jupyter instead (nbclient), with all cells.

--update writes the outputs into the file, without numbers of executions, so that they
change only with the code. Without --jupyter, pictures are compared for their presence
alone: how they look is tested elsewhere, and `./x gallery` writes them anew.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import ast
import contextlib
import importlib.util
import io
import json
import pathlib
import sys

PICTURE = "image/svg+xml"


def lines(text):
    """A text as notebooks have it."""
    return text.splitlines(keepends=True)


def shown(value):
    """The output of a cell whose last expression has this value."""
    data = {}
    for kind, name in (PICTURE, "_repr_svg_"), ("text/html", "_repr_html_"):
        text = getattr(value, name)() if hasattr(value, name) else None
        if text is not None:
            data[kind] = lines(text)
    data["text/plain"] = lines(repr(value))
    return {"output_type": "execute_result", "data": data, "execution_count": None, "metadata": {}}


def run_cell(source, names):
    """The outputs of one cell."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "<cell>", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names) if last else None
    outputs = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append(shown(value))
    return outputs


def run_plainly(cells):
    """The outputs of each cell; None for one that was left out."""
    has_pandas = importlib.util.find_spec("pandas") is not None
    names = {"__name__": "__main__"}
    return [None if "pandas" in cell["metadata"].get("tags", []) and not has_pandas else
            run_cell("".join(cell["source"]), names) for cell in cells]


def run_in_jupyter(path):
    import nbclient
    import nbformat
    from traitlets.config import Config

    notebook = nbformat.read(path, as_version=4)
    # No ports of the machine are needed.
    local = Config(KernelManager=Config(transport="ipc"))
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", config=local).execute()
    made = json.loads(nbformat.writes(notebook))
    outputs = [cell["outputs"] for cell in made["cells"] if cell["cell_type"] == "code"]
    for output in (output for each in outputs for output in each):
        if "execution_count" in output:
            output["execution_count"] = None
    return outputs


def without_pictures(outputs):
    """The outputs with pictures that are only there."""
    return [{**output, "data": {**output["data"], PICTURE: "there"}} if PICTURE in output.get("data", {}) else output
            for output in outputs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jupyter", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("file", type=pathlib.Path)
    options = parser.parse_args()
    notebook = json.loads(options.file.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    found = run_in_jupyter(options.file) if options.jupyter else run_plainly(cells)
    wrong = 0
    for number, (cell, outputs) in enumerate(zip(cells, found)):
        if outputs is None:
            continue
        if options.update:
            cell["outputs"], cell["execution_count"] = outputs, None
            continue
        here, there = cell["outputs"], outputs
        if not options.jupyter:
            here, there = without_pictures(here), without_pictures(there)
        if here != there or cell["execution_count"] is not None:
            wrong += 1
            print(f"code cell {number} differs; in the file:\n{json.dumps(here)[:2000]}\nnow:\n{json.dumps(there)[:2000]}",
                  file=sys.stderr)
    if options.update:
        # As Jupyter writes it.
        options.file.write_text(json.dumps(notebook, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{options.file.name}: {len(cells)} code cells, {sum(each is None for each in found)} left out, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
