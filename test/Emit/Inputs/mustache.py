"""Renders a mustache template with data in JSON, by the specification of mustache:
what --template must write with what --emit=json prints.

    mustache.py TEMPLATE DATA.json

SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""

import html
import json
import pathlib
import re
import sys

template = pathlib.Path(sys.argv[1])
data = json.loads(pathlib.Path(sys.argv[2]).read_text(encoding="utf-8"))


def parse(text):
    """Nested lists of (sort, ...): text, names, sections with their parts."""
    opening, closing = "{{", "}}"
    stack, at = [("", [])], 0
    while (begin := text.find(opening, at)) >= 0:
        raw = opening == "{{" and text.startswith("{{{", begin)
        end = "}" + closing if raw else closing
        stop = text.index(end, begin + len(opening) + raw)
        inside = text[begin + len(opening) + raw:stop].strip()
        after = stop + len(end)
        sort = "&" if raw else inside[0] if inside[0] in "#^/>!=&" else ""
        name = inside if raw else inside[len(sort):].strip()
        line = text.rfind("\n", 0, begin) + 1
        newline = re.compile(r"[ \t]*(\n|$)").match(text, after)
        alone = sort in tuple("#^/>!=") and line >= at and not text[line:begin].strip() and newline
        stack[-1][1].append(("text", text[at:line if alone else begin]))
        indent = text[line:begin] if alone else None
        at = newline.end() if alone else after
        if sort == "=":
            opening, closing = name[:-1].split()
        elif sort in tuple("#^"):
            stack.append((sort + name, []))
        elif sort == "/":
            opened, parts = stack.pop()
            assert opened[1:] == name, (opened, name)
            stack[-1][1].append((opened[0], name, parts))
        elif sort == ">":
            stack[-1][1].append((">", name, indent))
        elif sort != "!":
            stack[-1][1].append(("name", name, sort == "&"))
    stack[-1][1].append(("text", text[at:]))
    assert len(stack) == 1, stack[-1][0]
    return stack[0][1]


def find(name, objects):
    first, *rest = name.split(".")
    value = next((o[first] for o in reversed(objects) if first in o), None)
    for part in rest:
        value = value[part]
    return value


def load(name, indent):
    text = (template.parent / f"{name}.mustache").read_text(encoding="utf-8")
    # Within a line, the line break at the end of the file is left out.
    if indent is None:
        return text.removesuffix("\n")
    return re.sub(r"(?m)^(?=.)", indent.replace("\\", r"\\"), text)


def render(parts, objects, out):
    for sort, *part in parts:
        if sort == "text":
            out.append(part[0])
        elif sort == ">":
            render(parse(load(*part)), objects, out)
        elif sort == "name":
            value = find(part[0], objects)
            assert value is not None and not isinstance(value, (list, dict)), part[0]
            text = json.dumps(value) if isinstance(value, bool) else str(value)
            out.append(text if part[1] else html.escape(text).replace("&#x27;", "&apos;"))
        else:
            value = find(part[0], objects)
            if sort == "^":
                if not value:
                    render(part[1], objects, out)
            elif isinstance(value, list):
                for item in value:
                    render(part[1], objects + [item], out)
            elif isinstance(value, dict):
                render(part[1], objects + [value], out)
            elif value:
                render(part[1], objects, out)


result = []
render(parse(template.read_text(encoding="utf-8")), [data], result)
sys.stdout.write("".join(result))
