# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hover, completion, formatting, symbols, inlay hints, corrections and the timeline."""

import xml.etree.ElementTree

from lsp_client import Server, uri

TEXT = """\
// What follows is an example.
fn half(n) { n / 2 }
schedule a(ranks p = 2, microbatches m = 4) {
  placement loop;
  // Forwards
  // without a backward.
  let w = min(m, p - 1 - rank);
  let h = half(w);  // the half of them
  cost { F = 1; B = 2 }
  warmup   { repeat w { F } }
  steady   { repeat m - w + h - h { F B } }
  cooldown { repeat w { B } }
  expect makespan == 15;
}
"""

server = Server()
a = server.open(uri("a.pipe"), TEXT)
assert a.diagnostics() == [], a.diagnostics()


def hover(*place):
    found = a.at("hover", *place)
    return found and (a.text_of(found["range"]), found["contents"]["value"])


# Hover: names with their definition and comment, steps with ranks, phase and times, words of the language.
assert hover("w { F }") == \
    ("w", "value `w`: Forwards without a backward.\n```pipe\nlet w = min(m, p - 1 - rank);\n```")
assert hover("h = half")[1].startswith("value `h`: the half of them\n")
assert hover("half(w)")[1].startswith("function `half`: What follows is an example.\n```pipe\nfn half(n) { n / 2 }")
assert hover("p = 2") == ("p", "parameter `p`\n```pipe\nranks p = 2\n```")
assert hover("rank)") == ("rank", "builtin value `rank`: the rank that the body is evaluated for")
assert hover("a(ranks")[1].endswith("makespan 15, bubble 20.0 % at the default sizes")
word, text = hover("F B")
assert word == "F" and text == ("`F`: forward pass\n\na in phase `steady`:\n"
                                "- rank 0: 3 steps, `F s0 m1` from 1 to 2 up to `F s0 m3` from 9 to 10\n"
                                "- rank 1: 4 steps, `F s1 m0` from 1 to 2 up to `F s1 m3` from 10 to 11"), text
assert hover("F }")[1].endswith("a in phase `warmup`:\n- rank 0: 1 step, `F s0 m0` from 0 to 1")
assert hover("makespan") == ("makespan", "`makespan`: the time from the first start to the last end over all ranks")
assert hover("loop")[1].startswith("`loop`: stage `s` on rank")
assert hover("repeat")[0] == "repeat"
assert hover("example") is None and hover("15") is None


# The comment of a statement is its own, not that of another one on its line.
a.change(TEXT.replace("  let h = half(w);  // the half of them", "  let h = half(w); let k = h;  // about k"))
assert hover("h = half") == ("h", "value `h`\n```pipe\nlet h = half(w);\n```"), hover("h = half")
assert hover("k = h")[1].startswith("value `k`: about k\n")


# Completion.
def labels(text):
    """What is proposed at the `|`."""
    at = text.index("|")
    a.change(text.replace("|", "", 1))
    before = text[:at]
    found = a.at("completion", position={"line": before.count("\n"), "character": len(before.rsplit("\n", 1)[-1])})
    names = [each["label"] for each in found]
    assert len(names) == len(set(names)), names
    return set(names)


HEAD = "fn half(n) { n / 2 }\nschedule a(ranks p = 2, microbatches m = 4) {\n"
assert labels("|") == {"schedule", "import", "fn", "pattern"}
assert labels(HEAD + "  pl|") >= {"placement", "let", "steady", "expect", "phase"}
assert labels(HEAD + "  placement |") == {"loop", "v", "wave", "blocked", "bidirectional"}
assert labels(HEAD + "  placement loop;\n  expect |") == \
    {"makespan", "span", "bubble_makespan", "bubble_span", "idle(rank)", "peak(rank)", "host(rank)"}
found = labels(HEAD + "  let w = |")
assert found >= {"p", "m", "half", "rank", "min", "ceil_div"} and "placement" not in found and "n" not in found
found = labels(HEAD + "  let w = 1;\n  steady { for i in 0..w { | } }")
assert found >= {"F", "repeat", "idle", "i", "w", "half"}, found
assert labels(HEAD + "  let w = 1;\n  steady { repeat | }") >= {"w", "rank"}
assert labels(HEAD + "  steady { idle | }") >= {"rank", "stages", "min"}
assert "F" not in labels(HEAD + "  let w = 1;\n  steady { repeat | }")
found = labels(HEAD + "  cost { F = 1; | }")
assert found >= {"F", "p2p", "stage", "edge", "layout"} and "limit" not in found, found
assert "layout" not in labels(HEAD + "  memory { | }") | labels(HEAD + "  cost { stage 0 { | } }")
assert labels(HEAD + '  cost { layout "|" }') == set()
assert "limit" in labels(HEAD + "  memory { | }")
assert labels(HEAD + "  memory { B { | } }") == {"during"} == labels(HEAD + "  memory { stage 0 { B { | } } }")
assert labels(HEAD + "  memory { stage 0 { | } }") >= {"F", "B", "parameters"}
assert labels(HEAD + "  cost { stage 0 { | } }") >= {"F", "B"} and \
    "stage" not in labels(HEAD + "  cost { stage 0 { | } }")
assert labels(HEAD + "  fsdp { | }") == {"stages", "max_active", "prefetch"}
assert labels("schedule a(|") == {"ranks", "microbatches", "chunks", "slices"}
assert labels(HEAD + "  let |") == set() and labels("// |") == set() and labels('import "|') == set()
# A name is visible to the end of its block, and not after it.
assert "i" not in labels(HEAD + "  steady { for i in 0..2 { F } | }")
assert "x" in labels("pattern q(x) { F[0, |] }") and "x" not in labels("pattern q(x) { F }\nfn g(y) { |")
with open("lib.pipe", "w") as file:
    file.write("fn triple(n) { n * 3 }\n")
a.change('import "lib.pipe";\n' + TEXT)
a.diagnostics()
assert "triple" in labels('import "lib.pipe";\n' + HEAD + "  let w = |")

# Formatting: the canonical form, as --emit=source prints it.
a.change(TEXT.replace("  placement loop;", "placement   loop ;"))
edits = a.at("formatting", options={"tabSize": 8, "insertSpaces": False})
once = a.applied(edits)
assert "\n  placement loop;\n" in once and "// the half of them" in once
a.change(once)
assert a.at("formatting", options={}) == []
a.change(once.replace("loop;", "loop"))
assert a.at("formatting", options={}) is None

# Symbols, also of the last version without syntax errors.
for text in (TEXT, TEXT.replace("\n  expect", "\n  let = 1;\n  expect")):
    a.change(text)
    half, schedule = a.at("documentSymbol")
    assert (half["name"], half["kind"]) == ("half", 12)
    assert (schedule["name"], schedule["detail"]) == ("a", "makespan 15, bubble 20.0 %")
    assert [each["name"] for each in schedule["children"]] == ["p", "m", "w", "h", "warmup", "steady", "cooldown"]
    for each in schedule["children"]:
        assert a.text_of(each["selectionRange"]) == each["name"]

# Inlay hints.
a.change(TEXT)
everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
holds, hint = a.at("inlayHint", range=everything)
assert hint["label"] == "makespan 15, bubble 20.0 %" and hint["position"] == a.position(" {\n  placement")
# A clause that holds, with its figure unless the clause ends in it; not one that is false or does not apply.
assert holds["label"] == "holds" and holds["position"] == a.position("15;", 0, 3)
clauses = ("expect makespan <=\n    99;", "expect peak(rank) <= 9;", "expect span == 1;", "expect makespan == 15 if p == 9;")
a.change(TEXT.replace("  expect makespan == 15;", "  " + "  ".join(clauses)))
assert [(each["label"], each["position"]) for each in a.at("inlayHint", range=everything)[:-1]] == \
    [("holds: 15", a.position("99;", 0, 3)), ("holds", a.position("9;", 1, 2))], a.at("inlayHint", range=everything)


# Signatures: functions, also imported ones, words of the language, steps, and the head of a schedule.
def signature(text):
    """The label, the active parameter and the document of what is called at the `|`."""
    at = text.index("|")
    a.change(text.replace("|", "", 1))
    before = text[:at]
    found = a.at("signatureHelp", position={"line": before.count("\n"), "character": len(before.rsplit("\n", 1)[-1])})
    if found is None:
        return None
    one, = found["signatures"]
    names = [each["label"] for each in one["parameters"]]
    assert all(name in one["label"] for name in names), one
    active = found["activeParameter"]
    return one["label"], names[active] if active < len(names) else None, one.get("documentation", {}).get("value", "")


a.change('import "lib.pipe";\n' + TEXT.replace("fn half(n) {", "fn half(n, by) {").replace("half(w)", "half(w, 2)"))
assert a.diagnostics() == [], a.diagnostics()
IN = a.text[:a.text.index("  let h")] + "  let h = "
assert signature(IN + "half(|") == ("half(n, by)", "n", "What follows is an example.")
assert signature(IN + "half(min(1, 2), |") == ("half(n, by)", "by", "What follows is an example.")
assert signature(IN + "half(1, 2, |")[1] is None
assert signature(IN + "triple(|")[:2] == ("triple(n)", "n")
assert signature(IN + "min(1, 2, 3, 4|")[:2] == ("min(a, b, ...)", "...")
assert signature(IN + "half(min(1, |")[:2] == ("min(a, b, ...)", "b")
assert signature(HEAD + "  placement wave(|") == ("wave(k)", "k", "`wave(k)`: `k` times down and up")
assert signature(HEAD + "  expect idle(|")[:2] == ("idle(rank)", "rank")
assert signature(HEAD + "  steady { F[0, |")[:2] == ("F[chunk, microbatch, slice]", "microbatch")
head = "new(ranks name = value, microbatches name = value, chunks name = value, slices name = value)"
assert signature("schedule new(|")[:2] == (head, "ranks name = value")
assert signature("schedule new(microbatches m = 4, |")[1] == "ranks name = value"
assert signature("schedule new(ranks p = 4, chunks v = |")[1] == "chunks name = value"
assert signature("schedule new(ranks p = 4, depth k = |")[1] is None
# Definitions, unknown names, blocks, comments and strings have none.
for text in ("fn f(|", "pattern f(|", IN + "unknown(|", IN + "(|", HEAD + "  steady { |", "// min(|", 'import "min(|', "x[|", IN + "min(1)|"):
    assert signature(text) is None, text
assert a.error_at("signatureHelp")["code"] == -32602
a.change(TEXT.replace("p = 2", "p"))
assert a.at("inlayHint", range=everything) == []


# Corrections.
def fixed(text, *place):
    a.change(text)
    at = a.position(*place)
    actions = a.at("codeAction", range={"start": at, "end": at}, context={"diagnostics": []})
    for action in actions:
        assert action["kind"] == "quickfix" and action["diagnostics"][0]["code"]
    return [(action["title"], a.applied(action["edit"]["changes"][a.uri])) for action in actions]


assert fixed(TEXT.replace("repeat w { F", "repeat ww { F"), "ww") == [("Change to `w`", TEXT)]
assert fixed(TEXT.replace("loop;", "lop;"), "lop") == [("Change to `loop`", TEXT)]
assert fixed(TEXT.replace("expect makespan", "expect makespam"), "makespam") == [("Change to `makespan`", TEXT)]
assert fixed(TEXT.replace("loop;", "loop"), "loop", 0, 4) == [("Insert `;`", TEXT)]
assert fixed(TEXT.replace("  warmup", "  let n = 1;  // more\n  warmup", 1), "n = 1") == \
    [("Remove `let n = 1;  // more`", TEXT)]
assert fixed(TEXT.replace("15;", "15;\n  expect idle == 0 if p > 9;"), "idle") == \
    [("Insert `(rank)`", TEXT.replace("15;", "15;\n  expect idle(rank) == 0 if p > 9;"))]
assert fixed(TEXT.replace("makespan ==", "makespan(rank) =="), "makespan") == [("Remove `(rank)`", TEXT)]
assert fixed(TEXT, "placement") == []
a.change(TEXT.replace("loop;", "lop;"))
span = {"start": a.position("lop"), "end": a.position("lop")}
assert a.at("codeAction", range=span, context={"diagnostics": [], "only": ["refactor"]}) == []
assert len(a.at("codeAction", range=span, context={"diagnostics": [], "only": ["quickfix"]})) == 1

# The timeline.
a.change(TEXT)


def timeline(*arguments):
    return server.request("workspace/executeCommand", {"command": "pipec.showTimeline", "arguments": [*arguments]})


page = timeline(a.uri)
assert page["title"] == "a" and page["format"] == "html" and page["text"].startswith("<!DOCTYPE html>"), page["text"][:99]
picture = timeline(a.uri, "a", "svg")
assert xml.etree.ElementTree.fromstring(picture["text"]).tag.endswith("svg")
for arguments in ([], [a.uri, "none"], [a.uri, "a", "csv"], ["file:///none"]):
    assert server.error("workspace/executeCommand", {"command": "pipec.showTimeline", "arguments": arguments})
assert server.error("workspace/executeCommand", {"command": "other"})["code"] == -32602

# Step IR.
a = server.open("file:///tmp/s.steps", """\
pipec-steps 1
schedule @s { ranks 2 stages 2 microbatches 1
  map 0 1
  rank 0 {
    first:
      F s0 m0
      B s0 m0
  }
  rank 1 {
    first:
      F s1 m0
      B s1 m0
  }
}
""")
assert a.diagnostics() == []
assert hover("F s1") == ("F s1 m0", "rank 1 step 0 in phase `first`: `F s1 m0` from 1 to 2"), hover("F s1")
assert hover("map") is None
schedule, = a.at("documentSymbol")
assert schedule["name"] == "@s" and [each["name"] for each in schedule["children"]] == ["rank 0", "rank 1"]
hint, = a.at("inlayHint", range=everything)
assert hint["label"] == "makespan 6, bubble 50.0 %" and hint["position"] == {"line": 1, "character": 45}, hint
assert {each["label"] for each in a.at("completion", "map")} >= {"map", "cost", "memory", "expect", "rank"}
assert a.at("completion", "0 1") == []
steps = {each["label"]: each["documentation"]["value"] for each in a.at("completion", "F s1")}
assert {"F", "SEND_F", "WAIT_REDUCE_GRAD", "UPDATE"} < set(steps) and steps["F"] == "forward pass" and "map" not in steps
assert a.at("completion", "s1 m0") == []
# What can be hidden: the ranks and the schedule, but not their last lines.
lines = a.text.split("\n")
folds = a.at("foldingRange")
assert len(folds) == 3 and all("{" in lines[fold["startLine"]] and lines[fold["endLine"] + 1].strip() == "}" for fold in folds), folds
assert a.at("signatureHelp", "map") is None
# Formatting: what is printed, or with comments each line for itself.
assert a.at("formatting", options={}) == []
canonical = a.text
LOOSE = canonical.replace("map 0 1", "map  0\t1").replace("    first", "first").replace("  }", "}\n\n")
a.change(LOOSE)
assert a.applied(a.at("formatting", options={})) == canonical
a.change(LOOSE.replace("pipec-steps 1", "// about // it\n\n\npipec-steps 1//one").replace("map", "  tie  0   1 //x\nmap", 1)
         .replace("      B s0", "// the \"last\"\nB   s0").replace("2 stages", "2   stages"))
commented = a.applied(a.at("formatting", options={}))
assert commented == canonical.replace("pipec-steps 1", "// about // it\n\npipec-steps 1  // one".replace("// one", "//one")) \
    .replace("  map", "  tie 0 1  //x\n  map").replace("      B s0", "      // the \"last\"\n      B s0") \
    .replace("  }\n", "  }\n\n"), commented
a.change(commented)
assert a.at("formatting", options={}) == [] and a.diagnostics() is not None
a.change(canonical.replace("map 0 1", "map 0 1 // here"))
assert a.at("formatting", options={}) == [{"range": {"start": {"line": 0, "character": 0}, "end": a.position("}\n", 2, 2)},
                                           "newText": a.text.replace("1 // here", "1  // here")}]
a.change(canonical.replace("map 0 1", "map 0 x"))
assert a.at("formatting", options={}) is None
a.change(canonical)
assert timeline(a.uri)["title"] == "s"
assert server.close() == 0
