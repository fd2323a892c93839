"""Compares a Tree-sitter grammar with the parser of the compiler.

    tree_sitter_programs.py [--only-programs] LANGUAGE ROOT EVERY_RULE FOLDER

The current folder has the generated parser of LANGUAGE, `pipe` or `steps`. Every text
of the source tree ROOT (those of the pages and the parts of test files included) must
have a tree without errors if and only if the compiler finds no syntax error in it. So
must EVERY_RULE, a text with every rule of the grammar, with each of its tokens left
out, doubled, and exchanged with the next one, and each pair of brackets left out.
FOLDER is for files.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

TOKEN = re.compile(r'//[^\n]*|\d+\.\d+|\w+(?:-steps)?|"(?:\\.|[^"\\\n])*"|\.\.|->|<-|[=!<>]=|&&|\|\||\S')
#: Limits, which Tree-sitter does not have.
LIMITS = re.compile(r"error: (?:nesting deeper|expression with more|.* is not UTF-8|NUL byte)")
#: What is wrong with other files.
IMPORTS = re.compile(r"error: (?:no file `[^`]*` for this import|`[^`]*` is larger than the limit)")
#: The syntax errors of step IR.
STEPS_SYNTAX = re.compile(r"error: .* \[Steps(?:Expected|UnknownEntry|EntryLate|Unclosed|UnknownStep|GroupMember|"
                          r"GroupOfOne|Trailing)\]")


def parts(path, text, suffix):
    """The texts in a file: a test may have several, for --split-input-file or for split-file."""
    if path.suffix == ".md":
        fence = {".pipe": "pipe", ".steps": "pipec-steps"}[suffix]
        return re.findall(rf"^```{fence}(?: [\w.]+\{suffix}(?: error)?)?\n(.*?)^```", text, re.M | re.S)
    if path.suffix == ".steps":
        return re.split(r"^// -----\n", text, flags=re.M)
    pieces = re.split(r"^(?://|#)--- (\S+)\n", text, flags=re.M)
    found = [body for name, body in zip(pieces[1::2], pieces[2::2]) if name.endswith(suffix)]
    return found or [text] * (path.suffix == suffix)


def programs(root, suffix):
    """Pairs of a place and a text."""
    for path in sorted(root.glob("*/**/*")):
        if path.suffix not in (suffix, ".test", ".md") or "build" in path.parts or "node_modules" in path.parts:
            continue
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for index, each in enumerate(parts(path, text, suffix)):
            yield f"{path.relative_to(root)}, program {index}", each


def mutations(text):
    tokens = [match for match in TOKEN.finditer(text) if not match[0].startswith("//")]
    opened = []
    for this, following in zip(tokens, tokens[1:] + [None]):
        begin, end = this.span()
        if this[0] in ("(", "[", "{"):
            opened.append(this)
        elif this[0] in (")", "]", "}"):
            pair = opened.pop()
            yield (f"line {text.count(chr(10), 0, begin) + 1}, `{pair[0]}` and `{this[0]}` left out",
                   text[:pair.start()] + " " + text[pair.end():begin] + text[end:])
        line = text.count("\n", 0, begin) + 1
        place = f"line {line}, `{this[0]}`"
        yield f"{place} left out", text[:begin] + text[end:]
        yield f"{place} doubled", text[:end] + " " + text[begin:]
        if following:
            between = text[end:following.start()] or " "
            yield (f"{place} exchanged with `{following[0]}`",
                   text[:begin] + following[0] + between + this[0] + text[following.end():])


def accepted(path):
    """Whether the compiler finds no syntax error; None for what cannot be compared."""
    if path.endswith(".steps"):
        run = subprocess.run(["pipec-opt", path, "--verify=none", "--show-kinds", "-o", os.devnull], capture_output=True,
                             text=True, check=False)
        # Other errors may hide a syntax error on the rest of their line.
        return False if STEPS_SYNTAX.search(run.stderr) else None if run.returncode else True
    run = subprocess.run(["pipec", path, "--emit=source", "-o", os.devnull], capture_output=True, text=True, check=False)
    if LIMITS.search(run.stderr):
        return None
    return run.returncode == 0 or all(IMPORTS.search(line) for line in run.stderr.split("\n") if " error: " in line)


def trees(paths, *options):
    """The output of Tree-sitter, which ends with 1 if there are errors."""
    pathlib.Path("paths.txt").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
    run = subprocess.run(["tree-sitter", "parse", *options, "--paths", "paths.txt"], capture_output=True, text=True,
                         check=False)
    if run.returncode not in (0, 1) or not run.stdout and not options:
        sys.exit(f"tree-sitter: {run.stderr}")
    return run.stdout


def reserved_name(path, tree, reserved):
    """Whether a name in the tree of a file is a reserved word: Tree-sitter takes any
    word for a name where only a name may be."""
    lines = pathlib.Path(path).read_text(encoding="utf-8").split("\n")
    places = re.findall(r"\(identifier \[(\d+), (\d+)\] - \[\d+, (\d+)\]", tree)
    return any(lines[int(line)][int(begin):int(end)] in reserved for line, begin, end in places)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only-programs", action="store_true", help="without the changes of EVERY_RULE")
    parser.add_argument("language", choices=["pipe", "steps"])
    parser.add_argument("root", type=pathlib.Path)
    parser.add_argument("every_rule", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    options.folder.mkdir()
    suffix = f".{options.language}"
    every = options.every_rule.read_text(encoding="utf-8")
    compared = list(programs(options.root, suffix)) + [("the program with every rule", every)]
    if not options.only_programs:
        compared += mutations(every)
    places = {}
    for number, (place, text) in enumerate(compared):
        path = options.folder.absolute() / f"{number}{suffix}"
        path.write_text(text, encoding="utf-8", newline="")
        places[str(path)] = place
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = {path: verdict for path, verdict in zip(places, pool.map(accepted, places)) if verdict is not None}
    errors = dict(re.findall(r"^(\S+\.(?:pipe|steps))\s.*(\((?:ERROR|MISSING) .*\))$", trees(verdicts, "-q"), re.M))

    lexer = (options.root / "grammar/PipeLexer.g4").read_text(encoding="utf-8")
    reserved = set(re.findall(r"^[A-Z_]+\s*: '([A-Za-z_]+)';", lexer, re.M))

    failures = []
    for path, verdict in verdicts.items():
        if verdict and path in errors:
            failures.append(f"{places[path]} ({path}): only the tree has an error, {errors[path]}")
        elif not verdict and path not in errors and not reserved_name(path, trees([path]), reserved):
            failures.append(f"{places[path]} ({path}): only the compiler finds an error")
    # Every kind of node is in a tree without errors.
    good = [path for path, verdict in verdicts.items() if verdict]
    nodes = json.loads(pathlib.Path("src/node-types.json").read_text(encoding="utf-8"))
    good_trees = re.split(r"^(?=\(source_file)", trees(good), flags=re.M)[1:]
    assert len(good_trees) == len(good)
    unseen = {node["type"] for node in nodes if node["named"]} - set(re.findall(r"\((\w+) \[", "".join(good_trees)))
    if unseen:
        failures.append(f"no program has {', '.join(sorted(unseen))}")
    if suffix == ".pipe":
        failures += [f"{places[path]} ({path}): the tree has a reserved word as a name"
                     for path, tree in zip(good, good_trees) if reserved_name(path, tree, reserved)]
    # Both grammars of programs have the same words. (Words of step IR are not reserved.)
    words = {node["type"] for node in nodes if not node["named"] and node["type"].isidentifier()}
    items = (options.root / "lib/Parse/Tokens.cpp").read_text(encoding="utf-8")
    differ = words ^ reserved ^ {*re.findall(r'\.Case\("(\w+)"', items), "stage", "on"}
    if differ and suffix == ".pipe":
        failures.append(f"words of one grammar only: {', '.join(sorted(differ))}")
    print("\n".join(failures), file=sys.stderr)
    print(f"{len(good)} programs without and {len(verdicts) - len(good)} with syntax errors, {len(failures)} failures")
    # With fewer, the programs were not found.
    if failures or len(good) < 50 or not options.only_programs and len(verdicts) - len(good) < 400:
        sys.exit(1)


if __name__ == "__main__":
    main()
