#!/usr/bin/env python3
"""Makes the highlighting in editors/ from the tables of words.

    editor-grammars.py [--check] [ROOT]

Words of programs come from lib/LanguageServer/Words.def, which must have every word
of the lexer, metrics and figures from lib/Cost, and so do the kinds of steps. Writes
the TextMate grammars (VS Code, GitHub, bat), the syntax files of Vim, the highlighting
queries of Tree-sitter (Neovim, Helix) and the words of Emacs. With --check nothing is
written, and the exit status is 1 if a file differs.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import argparse
import json
import pathlib
import re
import sys

WORD = re.compile(r'^PIPEC_WORD\("(\w+)", ([\w| ]+),', re.M)
VIM_HEADER = '''\
" {title}
" SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
" Made by utils/editor-grammars.py from the tables of the compiler.
if exists('b:current_syntax')
  finish
endif
syntax case match
'''


class Words:
    """The words by what they are highlighted as. A word that is a name elsewhere is
    only highlighted after `after`."""

    def __init__(self, root):
        places = {word: set(text.split(" | ")) for word, text in
                  WORD.findall((root / "lib/LanguageServer/Words.def").read_text())}
        names = re.findall(r'^PIPEC_PLACEMENT\("(\w+)"', (root / "lib/AST/Placements.def").read_text(), re.M)
        places.update({name: {"Placement"} for name in names})
        lexer = (root / "grammar/PipeLexer.g4").read_text()
        reserved = re.findall(r"^[A-Z_]+\s*: '([A-Za-z_]+)';", lexer, re.M)
        items = re.findall(r'\.Case\("(\w+)"', (root / "lib/Parse/Tokens.cpp").read_text())
        missing = [word for word in reserved + items if word not in places]
        if missing or not reserved or not items:
            sys.exit(f"lib/LanguageServer/Words.def does not have {', '.join(missing)}")

        def at(*wanted):
            return [word for word in places if places[word] & set(wanted) and len(word) > 1]

        self.letters = [word for word in reserved if len(word) == 1]
        self.items = items
        self.declarations = [word for word in at("File", "Item") if word in reserved and word not in ("cost",)]
        self.control = [word for word in at("Block", "Within") if word in reserved and word not in self.declarations]
        self.values = [word for word in at("Params", "Value") if word in reserved and word != "cost"]
        self.settings = ["cost"]
        self.functions = at("Function")
        self.placements = [word for word in places if "Placement" in places[word]]
        self.fsdp = [word for word in at("Fsdp") if word not in reserved]
        self.texts = at("Cost")  # settings with a string
        found = self.declarations + self.control + self.values + self.settings + self.letters
        assert sorted(found) == sorted(reserved), set(found) ^ set(reserved)
        # Steps whose words are names everywhere but where a step may begin.
        self.letters += re.search(r"everywhere\n// else: ([A-Z_, ]+)\.", lexer)[1].split(", ")
        self.metrics = re.findall(r'^PIPEC_METRIC\(\w+, "(\w+)"', (root / "lib/Cost/Metrics.def").read_text(), re.M)
        figures = (root / "lib/Cost/Figures.def").read_text()
        self.figures = sorted({name for name in re.findall(r'^PIPEC_FIGURE\(\w+, \w+, "(?:\w+ )?(\w+)"', figures, re.M)
                               if len(name) > 1})
        self.scopes = list(dict.fromkeys(re.findall(r'^PIPEC_SCOPE\(\w+, "(\w+)", [1-9]', figures, re.M)))
        steps = (root / "lib/Support/Steps.def").read_text()
        self.kinds = re.findall(r'^PIPEC_(?:STEP|IDLE)_ROW\(\w+, "(\w+)"', steps, re.M)
        assert self.metrics and self.figures and self.scopes and len(self.kinds) > 10


def one_of(words):
    return "(?:" + "|".join(sorted(words, key=lambda word: (-len(word), word))) + ")"


def textmate(title, scope, extension, patterns):
    grammar = {
        "information_for_contributors": ["Made by utils/editor-grammars.py from the tables of the compiler."],
        "name": title,
        "scopeName": scope,
        "fileTypes": [extension],
        "patterns": patterns,
    }
    return json.dumps(grammar, indent=2) + "\n"


def pipe_textmate(words):
    def match(name, pattern, captures=None):
        row = {"match": pattern}
        if name:
            row["name"] = name + ".pipe"
        if captures:
            row["captures"] = {str(group): {"name": each + ".pipe"} for group, each in captures.items()}
        return row

    comment = match("comment.line.double-slash", r"//.*$")
    string = {"name": "string.quoted.double.pipe", "begin": '"', "end": '"|$',
              "patterns": [match("constant.character.escape", r"\\."),
                           match("variable.other.placeholder", r"\{\w+\}")]}
    return textmate("pipec", "source.pipe", "pipe", [
        comment,
        string,
        match(None, r"\b(schedule)\s+(\w+)", {1: "keyword.declaration", 2: "entity.name.type"}),
        match(None, r"\b(fn|pattern)\s+(\w+)", {1: "keyword.declaration", 2: "entity.name.function"}),
        match(None, r"\b(phase)\s+(\w+)", {1: "keyword.declaration", 2: "entity.name.section"}),
        match(None, rf"\b(placement)\s+({one_of(words.placements)})\b",
              {1: "keyword.declaration", 2: "support.constant.placement"}),
        match(None, rf"\b(expect)\s+({one_of(words.metrics)})\b",
              {1: "keyword.declaration", 2: "support.variable.metric"}),
        # Words that are names everywhere but at the beginning of an item.
        match(None, rf"(?:^|(?<=[;{{}}]))\s*({one_of(words.items)})\b(?=\s+[\w\"]|\s*\{{)", {1: "keyword.declaration"}),
        match("keyword.declaration", rf"\b{one_of(words.declarations)}\b"),
        match("keyword.control", rf"\b{one_of(words.control)}\b"),
        match("keyword.other", rf"\b{one_of(words.settings)}\b"),
        match("support.variable.figure", rf"\b{one_of(words.figures)}\b(?=\s*=[^=])"),
        match("support.type.scope", rf"\b{one_of([word for word in words.scopes if word != 'rank'])}\b(?=\s+[^=;{{}}]*\{{)"),
        match("support.variable.fsdp", rf"\b{one_of(words.fsdp)}\b(?=\s+\w)"),
        match("support.variable.figure", rf"\b{one_of(words.texts)}\b(?=\s*\")"),
        match("support.function", rf"\b{one_of(words.functions)}(?=\s*\()"),
        match("variable.language", rf"\b{one_of(words.values)}\b"),
        match("constant.language.step", rf"\b{one_of(words.letters)}\b\*?"),
        match("constant.numeric", r"\b\d+(?:\.\d+)?\b"),
        match("keyword.operator", r"->|\.\.|&&|\|\||[=!<>]=|[-+*/%<>!?:=&]"),
    ])


#: Words of the header of step IR (lib/StepText/HeaderParser.cpp) and of groups of steps.
STEPS_HEADER = ["forward_only", "param", "map", "connect", "graph", "tie", "order", "stream", "section", "layers", "body", "layout", "cost", "memory", "fsdp",
                "expect"]
STEPS_BODY = ["schedule", "ranks", "stages", "microbatches", "slices", "rank", "overlap", "batch"]


def steps_textmate(words):
    def match(name, pattern):
        return {"match": pattern, "name": name + ".pipec-steps"}

    return textmate("pipec step IR", "source.pipec-steps", "steps", [
        match("comment.line.double-slash", r"//.*$"),
        match("string.quoted.double", r'"(?:\\.|[^"\\])*"'),
        match("keyword.control.directive", r"^pipec-steps\s+\d+"),
        match("entity.name.type", r"@\w+"),
        match("entity.name.section", r"^\s*\w+:"),
        match("keyword.declaration", rf"\b{one_of(STEPS_HEADER + STEPS_BODY)}\b"),
        match("constant.language.step", rf"\b{one_of(words.kinds)}\b"),
        match("variable.other.place", r"\b[smrt]\d+\b"),
        match("constant.numeric", r"\b\d+(?:[./]\d+)?\b"),
        match("keyword.operator", r"->|<-|[=!<>]=|[=&<>]"),
    ])


def pipe_vim(words):
    def keywords(group, names):
        return f"syntax keyword {group} {' '.join(sorted(names))}\n"

    def alternatives(names):
        return "%(" + "|".join(sorted(names)) + ")"

    return VIM_HEADER.format(title="Programs of pipec") + "".join([
        "\n",
        keywords("pipeDeclaration", words.declarations + words.settings),
        keywords("pipeControl", words.control),
        keywords("pipeValue", words.values),
        keywords("pipeStep", words.letters),
        f"syntax match pipeFunction /\\v<{alternatives(words.functions)}>\\ze\\s*\\(/\n",
        f"syntax match pipeDeclaration /\\v((^|[;{{}}])\\s*)@<={alternatives(words.items)}>\\ze(\\s+[[:alnum:]_\"]|\\s*\\{{)/\n",
        f"syntax match pipeConstant /\\v(<placement\\s+)@<={alternatives(words.placements)}>/\n",
        f"syntax match pipeConstant /\\v(<expect\\s+)@<={alternatives(words.metrics)}>/\n",
        f"syntax match pipeConstant /\\v<{alternatives(words.figures)}>\\ze\\s*\\=[^=]/\n",
        f"syntax match pipeConstant /\\v<{alternatives(words.fsdp)}>\\ze\\s+\\k/\n",
        f"syntax match pipeConstant /\\v<{alternatives(words.texts)}>\\ze\\s*\"/\n",
        "syntax match pipeName /\\v(<(schedule|fn|pattern|phase)\\s+)@<=\\k+/\n",
        "syntax match pipeNumber /\\v<\\d+(\\.\\d+)?>/\n",
        "syntax match pipeComment +//.*$+ contains=pipeTodo,@Spell\n",
        "syntax keyword pipeTodo TODO FIXME contained\n",
        'syntax region pipeString start=+"+ skip=+\\\\.+ end=+"+ oneline\n',
        "\n",
        *(f"highlight default link {group} {to}\n" for group, to in [
            ("pipeDeclaration", "Keyword"), ("pipeControl", "Statement"), ("pipeValue", "Identifier"),
            ("pipeStep", "Constant"), ("pipeFunction", "Function"), ("pipeConstant", "Constant"),
            ("pipeName", "Type"), ("pipeNumber", "Number"), ("pipeComment", "Comment"), ("pipeTodo", "Todo"),
            ("pipeString", "String")]),
        "\nlet b:current_syntax = 'pipe'\n",
    ])


def steps_vim(words):
    return VIM_HEADER.format(title="Step IR of pipec") + "".join([
        "\n",
        f"syntax keyword stepsWord {' '.join(STEPS_HEADER + STEPS_BODY)}\n",
        f"syntax keyword stepsStep {' '.join(words.kinds)}\n",
        "syntax match stepsHeader /^pipec-steps\\s\\+\\d\\+/\n",
        "syntax match stepsName /@\\k\\+/\n",
        "syntax match stepsPhase /^\\s*\\k\\+:/\n",
        "syntax match stepsPlace /\\<[smrt]\\d\\+\\>/\n",
        "syntax match stepsNumber /\\<\\d\\+\\>/\n",
        "syntax match stepsComment +//.*$+ contains=@Spell\n",
        'syntax region stepsString start=+"+ skip=+\\\\.+ end=+"+ oneline\n',
        "\n",
        *(f"highlight default link {group} {to}\n" for group, to in [
            ("stepsWord", "Keyword"), ("stepsStep", "Constant"), ("stepsHeader", "PreProc"), ("stepsName", "Type"),
            ("stepsPhase", "Label"), ("stepsPlace", "Identifier"), ("stepsNumber", "Number"),
            ("stepsComment", "Comment"), ("stepsString", "String")]),
        "\nlet b:current_syntax = 'pipesteps'\n",
    ])


#: Words of an explicit placement, which are names everywhere else.
PLACEMENT_WORDS = ["stage", "on"]


def pipe_highlights(words):
    """Captures that both Neovim and Helix know, if only by their first part. No two
    rows match the same node, because the editors differ in which of them they take."""

    def quoted(names, indent=""):
        lines = [""]
        for word in (f'"{name}"' for name in sorted(names)):
            if lines[-1] and len(indent + lines[-1] + word) > 100:
                lines.append("")
            lines[-1] += (" " if lines[-1] else "") + word
        return f"\n{indent}  ".join(lines)

    def tokens(names, capture):
        return f"[\n  {quoted(names)}\n] @{capture}\n\n"

    def among(node, names, capture, verb="any-of"):
        return f"({node}: (identifier) @{capture}\n  (#{verb}? @{capture}\n    {quoted(names, '  ')}))\n\n"

    return "".join([
        "; Made by utils/editor-grammars.py from the tables of the compiler.\n",
        "; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n\n",
        "(comment) @comment\n\n",
        "(string) @string\n(message) @string\n(escape) @string.escape\n(placeholder) @string.special\n\n",
        "(number) @constant.numeric\n(decimal) @constant.numeric\n\n",
        tokens(words.declarations + words.settings + words.items, "keyword"),
        tokens(words.control, "keyword.control"),
        f"(explicit_placement [{quoted(PLACEMENT_WORDS)}] @keyword)\n\n",
        tokens(words.values, "variable.builtin"),
        "(letter) @constant.builtin\n\n",
        "(schedule name: (identifier) @type)\n",
        "(function_definition name: (identifier) @function)\n",
        "(pattern_definition name: (identifier) @function)\n",
        "(use pattern: (identifier) @function)\n",
        "(phase name: (identifier) @label)\n",
        "(parameter name: (identifier) @variable.parameter)\n",
        "(arguments (identifier) @variable.parameter)\n\n",
        among("call function", words.functions, "function.builtin"),
        among("call function", words.functions, "function", "not-any-of"),
        among("placement kind", words.placements, "constant.builtin"),
        among("metric name", words.metrics, "constant.builtin"),
        among("setting figure", words.figures, "constant.builtin"),
        among("cost_of figure", words.figures, "constant.builtin"),
        among("scope kind", words.scopes, "type.builtin"),
        among("fsdp_entry name", words.fsdp, "constant.builtin"),
        f"(layout [{quoted(words.texts)}] @constant.builtin)\n\n",
        tokens("-> .. && || == != <= >= < > + - * / % ! ? : = &".split(), "operator"),
        '["(" ")" "[" "]" "{" "}"] @punctuation.bracket\n\n',
        '[";" ","] @punctuation.delimiter\n',
    ])


def steps_highlights(words):
    def tokens(names, capture):
        quoted = " ".join(f'"{name}"' for name in sorted(names))
        return f"[{quoted}] @{capture}\n"

    marks = {"forward_only": "(forward_only)", "bubble": "(bubble)"}  # words that are nodes
    letters = [kind for kind in words.kinds if len(kind) == 1]
    return "".join([
        "; Made by utils/editor-grammars.py from the tables of the compiler.\n",
        "; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n\n",
        "(comment) @comment\n(string) @string\n(number) @constant.numeric\n(rational) @constant.numeric\n\n",
        '"pipec-steps" @keyword.directive\n',
        tokens(set(STEPS_HEADER + STEPS_BODY) - marks.keys(), "keyword"),
        f"{marks['forward_only']} @keyword\n",
        tokens(set(words.kinds) - marks.keys() - set(letters), "constant.builtin"),
        f"(letter) @constant.builtin\n{marks['bubble']} @constant.builtin\n\n",
        "(schedule name: (identifier) @type)\n(phase name: (identifier) @label)\n",
        "(parameter name: (identifier) @variable.parameter)\n",
        "(setting figure: (identifier) @constant.builtin)\n(metric name: (identifier) @constant.builtin)\n",
        "[(stage) (microbatch) (peer) (group)] @variable.builtin\n\n",
        tokens("-> <- = == != < <= > >= & @".split(), "operator"),
        '["{" "}" "(" ")"] @punctuation.bracket\n["," ":"] @punctuation.delimiter\n',
    ])


def emacs_words(words):
    def constant(name, names, doc):
        lines = [""]
        for word in (f'"{each}"' for each in sorted(names)):
            if len(lines[-1] + word) > 90:
                lines.append("")
            lines[-1] += (" " if lines[-1] else "") + word
        listed = "\n    ".join(lines)
        return f"(defconst pipec-words-{name}\n  '({listed})\n  \"{doc}\")\n\n"

    return "".join([
        ";;; pipec-words.el --- The words of pipec  -*- lexical-binding: t -*-\n",
        ";; SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n\n",
        ";;; Commentary:\n;; Made by utils/editor-grammars.py from the tables of the compiler.\n\n;;; Code:\n\n",
        constant("keywords", words.declarations + words.settings + words.control, "Words of programs."),
        constant("items", words.items, "Words that are names everywhere but at the beginning of an item."),
        constant("values", words.values, "Values, and the labels of parameters."),
        constant("letters", words.letters, "Steps of programs."),
        constant("functions", words.functions, "Functions of the language."),
        constant("placements", words.placements, "Names of placements."),
        constant("figures", words.figures + words.metrics + words.fsdp + words.texts,
                 "Figures, metrics, and entries of `fsdp' and `cost'."),
        constant("steps-keywords", STEPS_HEADER + STEPS_BODY, "Words of step IR."),
        constant("steps-kinds", words.kinds, "Kinds of steps in step IR."),
        "(provide 'pipec-words)\n;;; pipec-words.el ends here\n",
    ])


def main():
    parser = argparse.ArgumentParser(description="Makes the highlighting in editors/ from the tables of words.")
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    parser.add_argument("root", nargs="?", default=".", type=pathlib.Path)
    options = parser.parse_args()
    words = Words(options.root)
    editors = options.root / "editors"
    made = {
        editors / "vscode/syntaxes/pipe.tmLanguage.json": pipe_textmate(words),
        editors / "vscode/syntaxes/pipec-steps.tmLanguage.json": steps_textmate(words),
        editors / "vim/syntax/pipe.vim": pipe_vim(words),
        editors / "vim/syntax/pipesteps.vim": steps_vim(words),
        editors / "tree-sitter-pipec/queries/highlights.scm": pipe_highlights(words),
        editors / "tree-sitter-pipec/steps/queries/highlights.scm": steps_highlights(words),
        editors / "emacs/pipec-words.el": emacs_words(words),
    }
    differ = 0
    for path, text in made.items():
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            differ += 1
            print(f"{path.relative_to(options.root)} is not what utils/editor-grammars.py makes", file=sys.stderr)
    if differ:
        sys.exit(1)
    print(f"{len(made)} files {'are up to date' if options.check else 'written'}")


if __name__ == "__main__":
    main()
