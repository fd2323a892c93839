#!/usr/bin/env python3
"""Checks that no two types of one program have the same qualified name.

    check-odr.py [ROOT]

Two definitions of a type with different members in one program violate the
one-definition rule: the linker keeps the inline functions of one of them, and
neither compiler nor linker is required to report it. Checks the sources of lib/,
tools/ and include/ together, and those of unittests/ with them. Types in unnamed
namespaces and in functions are ignored.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import pathlib
import re
import sys

PROGRAMS = ["lib", "tools", "include", "unittests"]
SOURCES = {".h", ".cpp"}
TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|\d[\w\']*|[A-Za-z_]\w*|::|->|\S|\n', re.S)
TYPES = {"struct", "class", "union", "enum"}


def clean(text):
    """The text without comments and directives, every line at its place."""
    text = re.sub(r"/\*.*?\*/", lambda m: "\n" * m[0].count("\n"), text, flags=re.S)
    text = re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*', lambda m: m[1] or "", text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: "\n" * m[0].count("\n"), text,
                  flags=re.M)


def without_templates(words):
    """The words outside of angle brackets, as far as these are brackets."""
    result, depth = [], 0
    for word in words:
        if word == "<":
            depth += 1
        elif word == ">":
            depth -= 1
        elif depth <= 0:
            result.append(word)
    return result


def scope_name(words):
    """What the brace after `words` opens: ("namespace" or "type", name), or
    nothing. The name is empty for an unnamed one, and None for a specialisation
    of a template, which is not a type of that name."""
    if words[:1] == ["inline"]:
        words = words[1:]
    if words[:1] == ["namespace"]:
        return "namespace", "".join(words[1:])
    plain = without_templates(words)
    if plain[:1] == ["template"]:
        plain = plain[1:]
    if plain[:1] == ["typedef"]:
        plain = plain[1:]
    if not plain or plain[0] not in TYPES or "(" in plain and plain[0] != "enum":
        # `struct alignas(64) Name {`
        if not (len(plain) > 1 and plain[0] in TYPES and plain[1] == "alignas"):
            return None
        plain = plain[:1] + plain[plain.index(")") + 1:]
    plain = plain[1:]
    if plain[:1] in (["class"], ["struct"]):
        plain = plain[1:]
    head = plain[:plain.index(":")] if ":" in plain else plain
    head = [word for word in head if word != "final"]
    if not head:
        return "type", ""
    name = "".join(head)
    if not re.fullmatch(r"(?:\w+::)*\w+", name):
        return None
    last = head[-1]
    after = words[len(words) - 1 - words[::-1].index(last) + 1:]
    return "type", None if after[:1] == ["<"] else name


def types(text):
    """Yields (qualified name, line) of the types that other files can see."""
    scopes = []  # (kind, name); kind: namespace, type, other
    words, line = [], 1
    for match in TOKEN.finditer(clean(text)):
        token = match[0]
        if token == "\n":
            line += 1
            continue
        line += token.count("\n")
        if token == "{":
            opened = scope_name(words) or ("other", "")
            hidden = any(kind == "other" or not name for kind, name in scopes)
            if opened[0] == "type" and opened[1] and not hidden:
                yield "::".join([name for _, name in scopes] + [opened[1]]), line
            scopes.append(opened)
            words = []
        elif token == "}":
            if scopes:
                scopes.pop()
            words = []
        elif token == ";":
            words = []
        elif token == ":" and words[-1:] and words[-1] in ("public", "private", "protected"):
            words = []
        else:
            words.append(token)


def check(root):
    first, doubles = {}, []
    count = 0
    for program in PROGRAMS:
        folder = root / program
        for source in sorted(p for p in folder.rglob("*") if p.suffix in SOURCES):
            shown = source.relative_to(root)
            for name, line in types(source.read_text(encoding="utf-8")):
                count += 1
                place = f"{shown}:{line}"
                if name in first:
                    doubles.append(f"{place}: `{name}` is defined at {first[name]} too")
                else:
                    first[name] = place
    return doubles, count


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    doubles, count = check(root)
    for double in doubles:
        print(double, file=sys.stderr)
    if doubles:
        sys.exit(f"{len(doubles)} types are defined twice")
    if not count:
        sys.exit(f"no types under {root}")
    print(f"{count} types have a name each")


if __name__ == "__main__":
    main()
