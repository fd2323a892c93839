# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Published diagnostics: ranges, notes, versions, imports, step IR."""

import urllib.request

from lsp_client import Server, uri

GOOD = """\
schedule a(ranks p = 2, microbatches m = 4) {
  placement loop;
  let w = min(m, p - 1 - rank);  // größer als 0 𝄞
  warmup   { repeat w { F } }
  steady   { repeat m - w { F B } }
  cooldown { repeat w { B } }
}
"""

server = Server()
assert server.capabilities["textDocumentSync"] == {"openClose": True, "change": 1, "save": True}
assert server.capabilities["positionEncoding"] == "utf-16"
for name in ("hover", "completion", "definition", "references", "rename", "documentFormatting", "documentSymbol",
             "inlayHint", "codeAction", "foldingRange", "signatureHelp"):
    assert server.capabilities[name + "Provider"] not in (False, None), name

# Typing an error and mending it.
a = server.open("file:///tmp/a.pipe", GOOD)
assert a.diagnostics() == []
a.change(GOOD.replace("repeat m - w", "repeat m - ww"))
found, = a.diagnostics()
assert a.text_of(found["range"]) == "ww"
assert (found["severity"], found["source"], found["code"], found["message"]) == \
    (1, "pipec", "UnknownName", "unknown name `ww`")
related, = found["relatedInformation"]
assert related["message"] == "did you mean `w`?" and related["location"]["uri"] == a.uri
assert a.text_of(related["location"]["range"]) == "ww"
a.change(GOOD)
assert a.diagnostics() == []

# What is only known at a size: the verifier, and the clauses of `expect`.
a.change(GOOD.replace("cooldown { repeat w { B } }", ""))
found, = a.diagnostics()
assert found["code"] == "StepsMissing" and a.text_of(found["range"]) == "a", found
assert found["relatedInformation"]
a.change(GOOD.replace("  warmup", "  expect makespan == 3;\n  warmup"))
found, = a.diagnostics()
assert found["code"] == "ExpectFailed" and a.text_of(found["range"]).startswith("expect"), found
# Its number is replaced by what was measured, unless it is a formula or of several figures.
def actions(clause):
    a.change(GOOD.replace("  warmup", f"  {clause}\n  warmup"))
    found, = a.diagnostics()
    assert found["code"] == "ExpectFailed", found
    return a.at("codeAction", range=found["range"], context={"diagnostics": []})
action, = actions("expect makespan == 3;")
assert action["title"] == "Replace by the measured value `15`" and not action["isPreferred"], action
change, = action["edit"]["changes"][a.uri]
assert (a.text_of(change["range"]), change["newText"]) == ("3", "15"), change
assert actions("expect bubble_makespan <= 1/9;")[0]["edit"]["changes"][a.uri][0]["newText"] == "1/5"
for clause in ("expect makespan == 3 * m;", "expect peak(rank) == 7;", "expect makespan == 3 if p == 2;"):
    assert actions(clause) == [], clause
# One message for each clause, also where several are per rank.
a.change(GOOD.replace("  warmup", "  expect peak(rank) == 7;\n  expect idle(rank) == 7;\n  warmup"))
assert [each["code"] for each in a.diagnostics()] == ["ExpectFailed"] * 2, a.diagnostics()
# What can be hidden: blocks without their last line, also with a syntax error, and comments.
a.change("// one\n// two\n" + GOOD.replace("  warmup   { repeat w { F } }", "  warmup {\n    repeat w { F }  // {\n  }\n  let x = \"{\";"))
assert a.at("foldingRange") == [{"startLine": 0, "endLine": 1, "kind": "comment"}, {"startLine": 5, "endLine": 6},
                                {"startLine": 2, "endLine": 10}], a.at("foldingRange")

# Columns are UTF-16: the clef has two units, in the same line before the error.
a.change("schedule a(ranks p = 2, microbatches m = 4) {\n  placement loop;\n"
         "  require p > 0, \"ß𝄞\"; require q > 0;\n  steady { repeat m { F B } }\n}\n")
found = a.diagnostics()[0]
assert a.text_of(found["range"]) == "q" and found["range"]["start"] == {"line": 2, "character": 32}, found

# Warnings and their tags; a word after the end; several errors.
a.change(GOOD.replace("  warmup", "  let unused = 1;\n  warmup", 1))
found, = a.diagnostics()
assert (found["severity"], found["tags"], a.text_of(found["range"])) == (2, [1], "unused")
a.change(GOOD + "x")
found, = a.diagnostics()
assert a.text_of(found["range"]) == "x"
a.change(GOOD.replace("{ F }", "{ F G }").replace("B } }\n}", "B } }\n  let = 3;\n}"))
assert [each["range"]["start"]["line"] for each in a.diagnostics()] == [3, 6]
# An error without a position is at the beginning.
a.change("")
assert a.diagnostics() == []
# A schedule without default sizes is checked without them.
a.change(GOOD.replace("p = 2", "p"))
assert a.diagnostics() == []
a.change(GOOD.replace("m = 4", "m = 4000000"))
assert a.diagnostics() == []

# Many changes at once: no diagnostics of an earlier version come after later ones.
for number in range(50):
    a.change(GOOD.replace("repeat w", f"repeat w{number}"))
a.change(GOOD)
assert a.diagnostics() == []
versions = [each["version"] for each in server.published[a.uri]]
assert versions == sorted(versions) and versions[-1] == a.version

# Imports: the saved file, and the text in the editor in place of it.
with open("lib.pipe", "w") as file:
    file.write("fn half(n) { n / 2 }\n")
main = server.open(uri("main.pipe"), 'import "lib.pipe";\n' + GOOD.replace("repeat w ", "repeat half(w) "))
codes = [each["code"] for each in main.diagnostics()]
assert "UnknownFunction" not in codes and "ImportNotFound" not in codes
lib = server.open(uri("lib.pipe"), "fn double(n) { n * 2 }\n")
lib.diagnostics()
server.wait(lambda: [each["code"] for each in server.published[main.uri][-1]["diagnostics"]] == ["UnknownFunction"],
            "error of the importing file")
# An error in the imported file is shown at the import, and leads to its place.
lib.change("fn half(n) { n / }\n")
server.wait(lambda: any("in `" in each["message"] for each in server.published[main.uri][-1]["diagnostics"]),
            "error of the imported file")
found, = server.published[main.uri][-1]["diagnostics"]
assert main.text_of(found["range"]) == '"lib.pipe"' and found["code"] == "SyntaxExpected"
assert found["relatedInformation"][0]["location"]["uri"] == lib.uri
lib.close()
server.wait(lambda: "SyntaxExpected" not in str(server.published[main.uri][-1]), "the file of the disk")
assert server.published[lib.uri][-1]["diagnostics"] == []

# Step IR.
steps = server.open("file:///tmp/s.steps", """\
pipec-steps 1
schedule @late { ranks 1 stages 1 microbatches 1
  map 0
  rank 0 {
    B s0 m0
    F s0 m0
  }
}
""")
found = steps.diagnostics()
assert steps.text_of(found[0]["range"]) == "B s0 m0" and found[0]["code"] == "StepTooEarly", found
steps.change(steps.text.replace("B s0 m0\n    F s0 m0", "F s0 m0\n    B s0 m"))
found, = steps.diagnostics()
assert found["range"]["start"]["line"] == 5 and found["code"] == "StepsExpected"
steps.change(steps.text.replace("B s0 m", "B s0 m0"))
assert steps.diagnostics() == []

# The explanation of a kind: the line of the installed page, or the page of a site; only for editors that show it.
assert "codeDescription" not in server.open("file:///tmp/d.pipe", "schedule").diagnostics()[0]
shows = {"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": True}}}
other = Server(capabilities=shows)
d = other.open("file:///tmp/d.pipe", GOOD.replace("m - w", "m - ww"))
found, = d.diagnostics()
address, line = found["codeDescription"]["href"].split("#L")
with urllib.request.urlopen(address) as page:
    assert page.read().decode().splitlines()[int(line) - 1] == "### UnknownName", found
action, = d.at("codeAction", range=found["range"], context={"diagnostics": []})
assert action["diagnostics"][0]["codeDescription"] == found["codeDescription"]
assert other.close() == 0
for given in "https://pipec.example", "https://pipec.example/":
    other = Server(capabilities=shows, options={"site": given})
    found, = other.open("file:///tmp/d.pipe", GOOD.replace("m - w", "m - ww")).diagnostics()
    assert found["codeDescription"]["href"] == "https://pipec.example/docs/Diagnostics/Sema.html#unknownname", found
    assert other.close() == 0
for options in ({"site": 1}, [], "x"):
    other = Server(capabilities={"textDocument": {"publishDiagnostics": {"codeDescriptionSupport": "x"}}}, options=options)
    assert "codeDescription" not in other.open("file:///tmp/d.pipe", "schedule").diagnostics()[0]
    assert other.close() == 0
assert server.close() == 0
