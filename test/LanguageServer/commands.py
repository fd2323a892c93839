# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Code lenses, and their commands: results, edits, progress, cancellation and refusals."""

import os

from lsp_client import Server, uri

TEXT = """\
import "lib.pipe";
schedule other(ranks p = 2, microbatches m = 4) {
  placement loop;
  steady { repeat m { F B } }
}
schedule mine(ranks p = 2, microbatches m = 4) {
  placement loop;
  warmup   { one() }
  steady   { repeat m - 1 { F B } }
  cooldown { B }
}
"""
with open("lib.pipe", "w") as file:
    file.write("pattern one() { F }\n")

SHOWS = {"window": {"workDoneProgress": True}, "workspace": {"applyEdit": True}}
server = Server(capabilities=SHOWS)
a = server.open(uri("a.pipe"), TEXT)
assert a.diagnostics() == [], a.diagnostics()


def params(command, *arguments, **more):
    return {"command": f"pipec.{command}", "arguments": [*arguments], **more}


def execute(command, *arguments, **more):
    return server.request("workspace/executeCommand", params(command, *arguments, **more))


def error(command, *arguments):
    return server.error("workspace/executeCommand", params(command, *arguments))


# Two lenses above each schedule, also while the program has an error.
for text in (TEXT, TEXT.replace("placement loop;", "placement ;", 1)):
    a.change(text)
    lenses = a.at("codeLens")
    assert [(a.text_of(each["range"]), each["command"]["command"], each["command"]["arguments"]) for each in lenses] == \
        [(name, f"pipec.{command}", [a.uri, name]) for name in ("other", "mine") for command in ("derive", "search")], lenses
    assert {each["command"]["command"] for each in lenses} < set(server.capabilities["executeCommandProvider"]["commands"])
a.change(TEXT)

# Closed forms, which are added to the program and hold.
derived = execute("derive", *lenses[2]["command"]["arguments"])
assert derived["schedule"] == "mine" and any("expect makespan == " in each for each in derived["clauses"]), derived
created, asked = server.asked
assert created[0] == "window/workDoneProgress/create" and asked[0] == "workspace/applyEdit"
token = created[1]["token"]
begin, *_, end = server.progress
assert all(each["token"] == token for each in server.progress)
assert begin["value"] == {"kind": "begin", "title": "pipec derive mine", "cancellable": True} and end["value"]["kind"] == "end"
assert "closed forms, fitted to " in server.shown[-1]["message"] and server.shown[-1]["type"] == 3, server.shown
a.change(a.applied(asked[1]["edit"]["changes"][a.uri]))
assert a.text == TEXT[:-2] + "".join(f"  {clause}\n" for clause in derived["clauses"]) + "}\n", a.text
assert a.diagnostics() == [] and sum(each["label"].startswith("holds") for each in a.at("inlayHint")) == len(derived["clauses"]), (a.at("inlayHint"), derived)
# A second time there is nothing to add.
assert execute("derive", a.uri, "mine")["clauses"] == []
assert "no further closed form" in server.shown[-1]["message"] and len(server.asked) == 3
# The first schedule without a name; a token of the editor is used.
server.progress.clear()
assert execute("derive", a.uri, workDoneToken=7)["schedule"] == "other"
assert {each["token"] for each in server.progress} == {7}

# A search: its makespan, the command, and a program that has it.
server.progress.clear()
a.change(TEXT)
found = execute("search", a.uri, "mine")
assert found["optimal"] and found["makespan"] == found["bound"], found
assert found["command"] == f"pipec search {os.path.abspath('a.pipe')} --schedule=mine -o found.pipe", found
assert f"found makespan {found['makespan']}, which is optimal" in server.shown[-1]["message"], server.shown[-1]
assert "`mine`: makespan " in server.shown[-1]["message"]
assert any("makespan" in each["value"].get("message", "") for each in server.progress), server.progress
best = server.open(uri("found.pipe"), found["text"])
assert best.diagnostics() == [] and best.at("inlayHint")[-1]["label"].startswith(f"makespan {found['makespan']},")
assert not [name for name in os.listdir() if name not in ("lib.pipe", "a.pipe")], os.listdir()

# A program that changes meanwhile is not edited; the user sees the clauses.
count = len(server.asked)
serial = server.start("workspace/executeCommand", params("derive", a.uri, "mine"))
a.change("// new\n" + TEXT)
assert server.finish(serial)["result"]["clauses"]
assert [method for method, _ in server.asked[count:]] == ["window/workDoneProgress/create"]
assert "\nexpect makespan == " in server.shown[-1]["message"], server.shown[-1]
a.change(TEXT)

# Long runs: the editor is answered meanwhile; they end by the request's id and by the token of their progress, and a
# third one is refused.
LARGE = TEXT.replace("microbatches m = 4", "microbatches m = 200").replace("ranks p = 2", "ranks p = 16").replace(
    "placement loop;", "placement loop;\n  cost { F = 9/7; I = 10/11; W = 5/13; p2p = 3 }\n  memory { limit = 9 }")
b = server.open(uri("b.pipe"), LARGE)
shown = len(server.shown)
server.progress.clear()
runs = [server.start("workspace/executeCommand", params("search", b.uri, "mine", workDoneToken=token)) for token in ("x", "y")]
server.wait(lambda: len({each["token"] for each in server.progress}) == 2, "progress")
assert "two other commands" in error("search", b.uri, "mine")["message"]
assert a.at("hover", "placement")
server.notify("$/cancelRequest", {"id": 99999})
server.notify("$/cancelRequest", {"id": runs[0]})
server.notify("window/workDoneProgress/cancel", {"token": "y"})
for serial in runs:
    reply = server.finish(serial)
    assert reply["error"]["code"] == -32800, reply
assert [each["value"]["kind"] for each in server.progress].count("end") == 2 and len(server.shown) == shown
# What `pipec` refuses is the error of the request.
a.change(TEXT.replace("ranks p = 2", "ranks p"))
assert "parameter `p` has no value" in error("search", a.uri, "mine")["message"]
assert execute("derive", a.uri, "mine")["clauses"]
for arguments in ([], ["file:///none"], [a.uri, "absent"], [1]):
    assert error("derive", *arguments)["code"] in (-32602, -32803), arguments
a.change(TEXT + "}")
assert "syntax errors" in error("derive", a.uri)["message"]
steps = server.open("file:///tmp/s.steps", "pipec-steps 1\n")
assert error("derive", steps.uri)["code"] == -32803 and steps.at("codeLens") == []

# An editor without progress and edits sees the clauses.
plain = Server()
c = plain.open(uri("a.pipe"), TEXT)
assert plain.request("workspace/executeCommand", params("derive", c.uri, "mine"))["clauses"]
assert plain.asked == [] and plain.progress == [] and "expect makespan == " in plain.shown[-1]["message"], plain.shown
# A run ends with the server.
plain.open(uri("b.pipe"), LARGE)
plain.start("workspace/executeCommand", params("search", uri("b.pipe"), "mine"))
assert plain.close() == 0 and server.close() == 0
