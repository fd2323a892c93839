# RUN: %python %s
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages that are not messages, large and broken documents, and the exit status."""

import json

from lsp_client import Server

GOOD = "schedule a(ranks p = 1, microbatches m = 2) { placement loop; steady { repeat m { F B } } }\n"
URI = "file:///tmp/a.pipe"


def error_of(server, data):
    """The error that an answer without an id reports."""
    count = len(server.replies[None])
    server.send_bytes(data)
    server.wait(lambda: len(server.replies[None]) > count, "error")
    return server.replies[None][-1]["error"]["code"]


def message(body):
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


# The lifecycle.
server = Server(initialize=False)
assert server.error("textDocument/hover", {})["code"] == -32002
server.request("initialize", {})
assert server.error("initialize", {})["code"] == -32600
assert server.error("textDocument/none", {})["code"] == -32601
server.notify("$/none")
server.notify("textDocument/didOpen")  # without parameters
server.notify("textDocument/didChange", {"textDocument": 1, "contentChanges": 2})
server.notify("textDocument/didClose", [])
server.request("shutdown")
assert server.error("textDocument/hover", {})["code"] == -32600
server.notify("exit")
assert server.process.wait(60) == 0
# Without `shutdown`, and at the end of the input, the status is 1.
server = Server()
server.notify("exit")
assert server.process.wait(60) == 1
server = Server()
server.process.stdin.close()
assert server.process.wait(60) == 1
# In the middle of a message.
server = Server()
server.send_bytes(b'Content-Length: 1000\r\n\r\n{"jsonrpc"')
server.process.stdin.close()
assert server.process.wait(60) == 1

# Garbage, after each of which the server still answers.
server = Server()
for data in (b"{", b"[]", b"null", b"{}", b"\xff\xfe", b'{"jsonrpc": "1.0", "method": "exit"}', b'"exit"',
             b"[" * 100000, b'{"a":' * 100000):
    assert error_of(server, message(data)) in (-32700, -32600), data
    assert server.error("textDocument/hover", {})["code"] == -32602
server.send_bytes(message(b'{"jsonrpc": "2.0", "id": 1000, "result": null}'))  # an answer to nothing
for header in (b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length: x\r\n\r\n",
               b"\r\n\r\n\r\n", b"x" * 100000 + b"\r\n\r\n", b"Content-Type: none\r\n\r\n", b"Content-Length: 0\r\n\r\n"):
    server.send_bytes(header)
    assert server.error("textDocument/hover", {})["code"] == -32602, header
# A message that is too large is skipped, and the user is told.
server.send_bytes(b"Content-Length: %d\r\n\r\n" % (100 << 20) + b" " * (100 << 20))
server.wait(lambda: any("larger than the limit" in each["message"] for each in server.shown), "message to the user")
assert server.error("textDocument/hover", {})["code"] == -32602
server.send_bytes(b"content-length:2\nX: y\n\n{}")
# A size that is too small: the rest of the message precedes the next header.
for size in (1, 20, 50):
    server.send({"id": 7, "method": "textDocument/hover"}, size=size)
    assert server.error("textDocument/hover", {})["code"] == -32602
# Another that is too large takes a part of the next message with it.
server.send({"id": 8, "method": "textDocument/hover"}, size=100)
server.start("textDocument/hover", {})
assert server.error("textDocument/hover", {})["code"] == -32602
document = server.open(URI, GOOD)
assert document.diagnostics() == []

# A large document is refused at once, and is not an obstacle for the next version.
document.change("// x\n" * 2_000_000)
found, = document.diagnostics()
assert found["code"] == "FileTooLarge" and found["range"]["start"] == {"line": 0, "character": 0}
for request in ("hover", "completion", "documentSymbol", "formatting", "definition"):
    server.request("textDocument/" + request, {"textDocument": {"uri": URI}, "position": {"line": 9, "character": 0}})
steps = server.open("file:///tmp/a.steps", "pipec-steps 1\n" * 1_000_000)
assert [each["code"] for each in steps.diagnostics()] == ["FileTooLarge"]
document.change(GOOD)
assert document.diagnostics() == []

# Documents that are not programs. Each one is analysed, and none ends the server.
NOT_PROGRAMS = ("\0", "\ud800", "\ufeff" + GOOD, GOOD.replace("\n", "\r"), GOOD.replace("; ", ";\r\n"), "(" * 100000,
                "schedule", "schedule a(", "{" * 300, "}" * 300, '"', "//", "import \"/\";", "import \"a.pipe\";",
                "let x = " + "1 + " * 5000 + "1;", GOOD * 2, "\n" * 100000, "é" * 1000)
for text in NOT_PROGRAMS:
    document.change(text)
    document.diagnostics()
    for line in (0, 1):
        for character in (0, 3, 10**9):
            for request in ("hover", "completion", "definition", "references", "prepareRename"):
                server.finish(server.start("textDocument/" + request, {
                    "textDocument": {"uri": URI}, "position": {"line": line, "character": character}}))
    for request in ("documentSymbol", "inlayHint", "formatting"):
        server.request("textDocument/" + request, {"textDocument": {"uri": URI}})
for position in ({"line": -1, "character": 0}, {"line": 0}, [], None, {"line": "0", "character": 0},
                 {"line": 2**40, "character": 2**40}):
    server.finish(server.start("textDocument/hover", {"textDocument": {"uri": URI}, "position": position}))
# Every beginning of a program, as it is typed.
PROGRAM = 'fn f(a) { a }\nschedule a(ranks p = 2, microbatches m = 2) {\n  placement loop;\n  require p > 0, "x{p}";\n' \
          "  cost { F = 1; stage 0 { F = 2 } }\n  connect 0 -> 1;\n  steady { for i in 0..f(m) { F[0, i] B & W } }\n" \
          "  expect makespan == 3 if F == B;\n}\n"
for end in range(len(PROGRAM)):
    document.change(PROGRAM[:end])
    before = PROGRAM[:end]
    at = {"line": before.count("\n"), "character": len(before.rsplit("\n", 1)[-1])}
    for request in ("completion", "hover"):
        server.request("textDocument/" + request, {"textDocument": {"uri": URI}, "position": at})
# Large schedules, and many of them: those that are too large are not lowered.
everything = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
LARGE = GOOD.replace("m = 2", "m = 100000")
for count, text, most in ((1, LARGE, 1), (1, LARGE.replace("100000", "9999999"), 0), (8, LARGE, 7)):
    document.change("".join(text.replace("schedule a", f"schedule a{i}") for i in range(count)))
    assert document.diagnostics() == []
    found = server.request("textDocument/inlayHint", {"textDocument": {"uri": URI}, "range": everything})
    assert min(most, 1) <= len(found) <= most, (count, found)
document.change(GOOD)
assert document.diagnostics() == []
document.close()
assert server.close() == 0
