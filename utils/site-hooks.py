"""Hooks of MkDocs for utils/site.py: blocks of `pipe` and `pipec-steps` are highlighted by the
grammars in editors/, which are made from the tables of the compiler; code in tables has no
backslash before `|`."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import json
import pathlib
import re
import sys
import types

from pygments import token
from pygments.lexer import RegexLexer
from pygments.lexers import LEXERS

GRAMMARS = pathlib.Path(__file__).resolve().parent.parent / "editors/vscode/syntaxes"
# What the names of TextMate begin with, and the tokens of Pygments.
TOKENS = {
    "comment": token.Comment, "string": token.String, "constant.character.escape": token.String.Escape,
    "variable.other.placeholder": token.String.Interpol, "constant.numeric": token.Number,
    "constant.language.step": token.Keyword.Constant, "keyword.operator": token.Operator,
    "keyword.declaration": token.Keyword.Declaration, "keyword": token.Keyword,
    "entity.name.function": token.Name.Function, "entity.name": token.Name.Class,
    "support.function": token.Name.Builtin, "support": token.Name.Attribute,
    "variable.language": token.Name.Builtin,
}


def token_of(name):
    return next((TOKENS[start] for start in TOKENS if name.startswith(start)), token.Name)


def rules_of(patterns):
    """The rules of Pygments for patterns of TextMate, and the states that they enter."""
    rules, states = [], {}
    for number, pattern in enumerate(patterns):
        if "begin" in pattern:
            inner, _ = rules_of(pattern["patterns"])
            kind = token_of(pattern["name"])
            states[f"inside{number}"] = [*inner[:-1], (pattern["end"], kind, "#pop"), (r"[^\\{\"\n]+|.", kind)]
            rules.append((pattern["begin"], kind, f"inside{number}"))
        elif "captures" in pattern:
            # Text between the groups has groups of its own.
            captures = {int(group): token_of(each["name"]) for group, each in pattern["captures"].items()}

            def paint(lexer, match, captures=captures):
                at = match.start()
                for group in sorted(captures):
                    if match.start(group) > at:
                        yield at, token.Text, match.string[at:match.start(group)]
                    yield match.start(group), captures[group], match[group]
                    at = match.end(group)
                if match.end() > at:
                    yield at, token.Text, match.string[at:match.end()]

            rules.append((pattern["match"], paint))
        else:
            rules.append((pattern["match"], token_of(pattern["name"])))
    return [*rules, (r"\n|[^\S\n]+|\w+|.", token.Text)], states


def lexer_of(class_name, title, language, grammar):
    patterns = json.loads((GRAMMARS / grammar).read_text(encoding="utf-8"))["patterns"]
    rules, states = rules_of(patterns)
    return type(class_name, (RegexLexer,), {"name": title, "aliases": [language], "flags": re.MULTILINE,
                                            "tokens": {"root": rules, **states}})


PipeLexer = lexer_of("PipeLexer", "pipec", "pipe", "pipe.tmLanguage.json")
StepsLexer = lexer_of("StepsLexer", "pipec step IR", "pipec-steps", "pipec-steps.tmLanguage.json")

# Pygments loads lexers by the names of their modules; that of this file has a hyphen.
module = types.ModuleType("pipec_site_lexers")
module.__all__ = []
for lexer in PipeLexer, StepsLexer:
    module.__all__.append(lexer.__name__)
    setattr(module, lexer.__name__, lexer)
    LEXERS[lexer.__name__] = (module.__name__, lexer.name, tuple(lexer.aliases), (), ())
sys.modules[module.__name__] = module


def on_page_content(html, **_):
    """GitHub takes the backslash from code in tables, Python-Markdown leaves it."""
    def without(table):
        return re.sub(r"<code>.*?</code>", lambda code: code[0].replace("\\|", "|"), table[0])

    return re.sub(r"<table>.*?</table>", without, html, flags=re.S)
