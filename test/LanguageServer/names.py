# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Definition, references, highlights and renaming."""

import os
import shutil

from lsp_client import Server, uri

TEXT = """\
fn later(n, by) { let sum = n + by; sum }
schedule a(ranks p = 2, group g = 1, microbatches m = 4) {
  placement loop;
  require m >= p, "{m} micro-batches";
  let w = min(m, later(p - 1, 0) - rank) * g;
  pattern f(i) { F[0, i] }
  warmup   { for i in 0..w { f(i) } }
  steady   { for i in 0..m - w { f(w + i) B } }
  cooldown { repeat w { B } }
  phase tail { if ranks > 99 { idle } }
}
"""

server = Server()
a = server.open(uri("a.pipe"), TEXT)
assert a.diagnostics() == []


def definition(*place):
    found = a.at("definition", *place)
    return found and (a.text_of(found["range"]), found["range"]["start"])


def places(found):
    return [(each["range"]["start"]["line"], a.text_of(each["range"])) for each in found]


# Uses, the name itself, and a cursor after the last letter.
assert definition("w { B }") == ("w", a.position("w = min"))
assert definition("w = min") == ("w", a.position("w = min"))
assert definition("repeat w", 0, len("repeat w")) == ("w", a.position("w = min"))
assert definition("later(p") == ("later", a.position("later"))
assert definition("f(w + i)") == ("f", a.position("f(i) {"))
assert definition("i) B") == ("i", a.position("i in 0..m"))
assert definition("m} micro") == ("m", a.position("m = 4"))
# A role leads to its parameter.
assert definition("ranks > 99") == ("p", a.position("p = 2"))
# Keywords, comments and numbers have none.
assert definition("repeat w") is None and definition("99") is None and definition("rank)") is None

assert places(a.at("references", "w = min", context={"includeDeclaration": False})) == \
    [(6, "w"), (7, "w"), (7, "w"), (8, "w")]
assert places(a.at("references", "m >= p", context={"includeDeclaration": True})) == \
    [(1, "m"), (3, "m"), (3, "m"), (4, "m"), (7, "m")]
assert places(a.at("references", "n + by")) == [(0, "n"), (0, "n")]
assert places(a.at("documentHighlight", "sum }")) == [(0, "sum"), (0, "sum")]

# Sections and their streams, in the list, in bodies of overlaps and in costs.
MOE = """\
schedule moe(ranks p = 2, microbatches m = 2) {
  placement loop;
  cost { section mlp { F = 1; B = 2 } }
  sections(2) { mlp; send on net; take on net } // two layers
  overlap F & B { B.take F.mlp B.send F.send B.mlp F.take }
  steady { repeat m { F & B } }
}
"""
moe = server.open(uri("moe.pipe"), MOE)
found = moe.at("definition", "mlp { F")
assert moe.text_of(found["range"]) == "mlp" and found["range"]["start"] == moe.position("mlp; send")
assert [each["range"]["start"]["line"] for each in moe.at("references", "F.mlp", 0, 3, context={"includeDeclaration": True})] == \
    [2, 3, 4, 4]
hover = moe.at("hover", "F.mlp", 0, 3)
assert hover["contents"]["value"].startswith("section `mlp`"), hover
assert moe.at("hover", "net; take")["contents"]["value"].startswith("stream `net`")
edit = moe.at("rename", "mlp; send", newName="experts")["changes"][moe.uri]
assert [each["range"]["start"]["line"] for each in edit] == [2, 3, 4, 4], edit
edit = moe.at("rename", "net; take", newName="nic")["changes"][moe.uri]
assert len(edit) == 2, edit
error = moe.error_at("rename", "mlp; send", newName="take")
assert "cannot be the name here" in error["message"], error

# Renaming.
assert a.text_of(a.at("prepareRename", "w = min")) == "w"
edit = a.at("rename", "w = min", newName="warm")["changes"][a.uri]
assert a.applied(edit) == TEXT.replace("w = min", "warm = min").replace("..w {", "..warm {").replace("m - w", "m - warm") \
    .replace("f(w", "f(warm").replace("repeat w {", "repeat warm {")
edit = a.at("rename", "m = 4", newName="mb")["changes"][a.uri]
assert "{mb} micro-batches" in a.applied(edit)
assert a.at("rename", "tail", newName="drain")["changes"][a.uri][0]["newText"] == "drain"
assert "redefinition of `p`" in a.error_at("rename", "w = min", newName="p")["message"]
assert "cannot be the name" in a.error_at("rename", "w = min", newName="repeat")["message"]
assert "is not a name" in a.error_at("rename", "w = min", newName="1x")["message"]
assert "word of the language" in a.error_at("rename", "ranks > 99", newName="x")["message"]
assert a.at("prepareRename", "placement") is None and a.at("rename", "placement", newName="x") is None

# While the text has a syntax error, names are those of the last version without one, at their new places.
a.change(TEXT.replace("  steady", "\n\n  let = ;\n  steady"))
assert a.diagnostics()[0]["code"] == "SyntaxExpected"
assert definition("w { B }") == ("w", a.position("w = min"))
assert places(a.at("references", "w = min"))[-1] == (11, "w")
assert "syntax errors" in a.error_at("rename", "w = min", newName="warm")["message"]
assert "syntax errors" in a.error_at("prepareRename", "w = min")["message"]
a.close()

# Names of imported files.
with open("lib.pipe", "w") as file:
    file.write("pattern both() { F B }\n")
main = server.open(uri("main.pipe"), 'import "lib.pipe";\nschedule b(ranks p = 1, microbatches m = 2) {\n'
                   "  placement loop;\n  steady { repeat m { both() } }\n}\n")
assert main.diagnostics() == []
found = main.at("definition", "both()")
assert (found["uri"], found["range"]["start"]) == (uri("lib.pipe"), {"line": 0, "character": 8})
assert "not open" in main.error_at("rename", "both()", newName="fb")["message"]
lib = server.open(uri("lib.pipe"), open("lib.pipe").read())
assert {each["uri"] for each in lib.at("references", "both")} == {main.uri, lib.uri}
changes = main.at("rename", "both()", newName="fb")["changes"]
assert main.applied(changes[main.uri]) == main.text.replace("both", "fb")
assert lib.applied(changes[lib.uri]) == "pattern fb() { F B }\n"
# A file that cannot be found leaves the other names known.
main.change(main.text.replace("lib.pipe", "absent.pipe"))
assert [each["code"] for each in main.diagnostics()] == ["ImportNotFound"]
assert main.at("definition", "m {")["range"]["start"] == main.position("m = 2")

# Renaming in several open files: names of their current versions are taken, whatever is on disk, and a file that
# cannot be read now would be left out.
with open("empty.pipe", "w"):
    pass
lib = server.open(uri("empty.pipe"), "fn g(n) { n }\n")
main.change('import "empty.pipe";\nfn h(n) { n }\nschedule b(ranks p = 1, microbatches m = 2) {\n'
            "  placement loop;\n  steady { repeat g(h(m)) { F B } }\n}\n")
assert main.diagnostics() == []
assert "redefinition of `h`" in lib.error_at("rename", "g(n)", newName="h")["message"]
assert set(lib.at("rename", "g(n)", newName="k")["changes"]) == {main.uri, lib.uri}
# A file that imports the name without using it has the new name already.
main.change(main.text.replace("g(h(m))", "h(m)"))
assert main.diagnostics() == []
assert "redefinition of `h`" in lib.error_at("rename", "g(n)", newName="h")["message"]
assert set(lib.at("rename", "g(n)", newName="k")["changes"]) == {lib.uri}
main.change(main.text + "}\n")
assert main.diagnostics() != []
assert "main.pipe" in lib.error_at("rename", "g(n)", newName="k")["message"]
# The reason is the new error, not one that was there before.
main.change("schedule b(ranks p = 1, microbatches m = 2) {\n  placement loop;\n  let v = 1;\n  let x = nope;\n"
            "  steady { repeat m { F B } }\n}\n")
assert "redefinition of `v`" in main.error_at("rename", "x = nope", newName="v")["message"]

# An import is found as soon as there is a file.
main.change('import "later.pipe";\n' + main.text.replace("nope", "two()"))
assert "ImportNotFound" in [each["code"] for each in main.diagnostics()]
with open("later.pipe", "w") as file:
    file.write("fn two() { 2 }\n")
known = len(server.published[main.uri])
server.notify("textDocument/didSave", {"textDocument": {"uri": uri("later.pipe")}})
server.wait(lambda: len(server.published[main.uri]) > known, "diagnostics after the import was created")
assert {each["code"] for each in server.published[main.uri][-1]["diagnostics"]} == {"UnusedLet"}, server.published[main.uri][-1]

# The server finds the library, by whatever name it was started.
gpipe = 'import "gpipe.pipe";\n' + TEXT
os.symlink(shutil.which("pipec-lsp"), "link")
for program in "pipec-lsp", "./link":
    other = Server(program=program)
    assert other.open(uri("a.pipe"), gpipe).diagnostics() == [], program
    assert other.close() == 0

# Step IR: labels of phases, the schedule, streams, sections, and the steps of a stage and a micro-batch.
STEPS = """\
pipec-steps 2
schedule @s { ranks 2 stages 2 microbatches 2
  map 0 1
  stream net 1
  rank 0 {
    "first":  // first:
      F s0 m0
      B s0 m0
    rest:
      F s0 m1
      B s0 m1
  }
  rank 1 {
    first:
      F s1 m0
      B s1 m0
      F s1 m1
      B s1 m1
  }
}
"""
s = server.open(uri("s.steps"), STEPS)
assert s.diagnostics() == [], s.diagnostics()
for declared in (True, False):
    found = s.at("references", "B s0 m0", context={"includeDeclaration": declared})
    assert [s.text_of(each["range"]) for each in found] == ["F s0 m0"] * declared + ["B s0 m0"], found
assert s.at("definition", "B s0 m1")["range"]["start"] == s.position("F s0 m1")
assert s.at("definition", "first:\n      F s1")["range"]["start"] == s.position('"first"')
assert [s.text_of(each["range"]) for each in s.at("documentHighlight", "first:\n      F s1")] == ['"first"', "first"]
for place in ("map", "ranks 2", "// first"):
    assert s.at("definition", place) is None and s.at("references", place, 0, 4) == [], place
    assert s.at("prepareRename", place, 0, 4) is None and s.at("rename", place, 0, 4, newName="x") is None
assert s.applied(s.at("rename", '"first"', newName="warmup")["changes"][s.uri]) == \
    STEPS.replace('"first"', "warmup").replace("    first:", "    warmup:")
assert s.applied(s.at("rename", "@s", 0, 1, newName="t")["changes"][s.uri]) == STEPS.replace("@s", "@t")
assert s.applied(s.at("rename", "net", newName="nic")["changes"][s.uri]) == STEPS.replace("net", "nic")
assert s.text_of(s.at("prepareRename", "rest")) == "rest"
assert "another name" in s.error_at("rename", "rest", newName="first")["message"]
assert "is not a name" in s.error_at("rename", "rest", newName="a b")["message"]
assert "no name of its own" in s.error_at("rename", "F s0 m1", newName="x")["message"]
s.change(STEPS.replace("map 0 1", "map 0 x"))
assert "syntax errors" in s.error_at("rename", "rest", newName="x")["message"]

assert server.error("textDocument/definition", {"textDocument": {"uri": "file:///none"}, "position": {}})["code"] == -32602
assert server.error("textDocument/definition", {"textDocument": {"uri": main.uri}, "position": {}})["code"] == -32602
assert server.close() == 0
