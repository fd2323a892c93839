# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A client of the language server for tests: JSON-RPC on the streams of a process."""

import json
import os
import subprocess
import threading


class Server:
    """Starts pipec-lsp. Every wait ends after `timeout` seconds with an error."""

    def __init__(self, *, initialize=True, timeout=60, program="pipec-lsp", capabilities=None, options=None):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE)
        self.timeout = timeout
        self.serial = 0
        self.replies = {}  # by id; those without an id by None, a list
        self.replies[None] = []
        self.published = {}  # by URI: all notifications
        self.shown = []  # messages to the user
        self.progress = []
        self.asked = []  # requests of the server: method and parameters
        self.changed = threading.Condition()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        if initialize:
            self.capabilities = self.request("initialize", {
                "capabilities": capabilities or {}, "initializationOptions": options})["capabilities"]
            self.notify("initialized", {})

    def read(self):
        out = self.process.stdout
        while True:
            size = None
            while (line := out.readline()) not in (b"\r\n", b""):
                name, value = line.decode().split(":")
                if name == "Content-Length":
                    size = int(value)
            if size is None:
                break
            message = json.loads(out.read(size))
            assert message["jsonrpc"] == "2.0"
            with self.changed:
                if message.get("method") == "window/showMessage":
                    self.shown.append(message["params"])
                elif message.get("method") == "$/progress":
                    self.progress.append(message["params"])
                elif "method" in message and "id" in message:
                    self.asked.append((message["method"], message["params"]))
                elif "method" in message:
                    assert message["method"] == "textDocument/publishDiagnostics", message
                    self.published.setdefault(message["params"]["uri"], []).append(message["params"])
                elif message.get("id") is None:
                    self.replies[None].append(message)
                else:
                    self.replies[message["id"]] = message
                self.changed.notify_all()

    def wait(self, condition, what):
        with self.changed:
            assert self.changed.wait_for(condition, self.timeout), f"no {what}: {self.stderr()}"

    def stderr(self):
        if self.process.poll() is None:
            return "the server runs"
        return f"status {self.process.returncode}: {self.process.stderr.read().decode()}"

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message, size=None):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % (len(body) if size is None else size) + body)

    def notify(self, method, params=None):
        self.send({"method": method, "params": params})

    def start(self, method, params=None):
        self.serial += 1
        self.send({"id": self.serial, "method": method, "params": params})
        return self.serial

    def finish(self, serial):
        self.wait(lambda: serial in self.replies, f"answer to {serial}")
        return self.replies.pop(serial)

    def request(self, method, params=None):
        reply = self.finish(self.start(method, params))
        assert "error" not in reply, (method, reply)
        return reply["result"]

    def error(self, method, params=None):
        """The error of a request that fails."""
        reply = self.finish(self.start(method, params))
        assert "error" in reply, (method, reply)
        return reply["error"]

    def open(self, uri, text, version=1):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "pipe", "version": version,
                                                              "text": text}})
        return Document(self, uri, text, version)

    def diagnostics(self, uri, version):
        """The diagnostics of this version. Those of an earlier one may precede them."""
        def last():
            return self.published.get(uri, [{"version": None}])[-1]
        self.wait(lambda: last().get("version") == version, f"diagnostics of version {version} of {uri}")
        return last()["diagnostics"]

    def close(self):
        """Ends the server; returns its status."""
        self.request("shutdown")
        self.notify("exit")
        return self.process.wait(self.timeout)


class Document:
    def __init__(self, server, uri, text, version):
        self.server, self.uri, self.text, self.version = server, uri, text, version

    def change(self, text):
        self.text = text
        self.version += 1
        self.server.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri, "version": self.version}, "contentChanges": [{"text": text}]})

    def close(self):
        self.server.notify("textDocument/didClose", {"textDocument": {"uri": self.uri}})

    def diagnostics(self):
        return self.server.diagnostics(self.uri, self.version)

    def offset(self, position):
        """The index into the text of a position, whose columns are UTF-16."""
        lines = self.text.split("\n")
        line = lines[position["line"]].encode("utf-16-le")
        before = sum(len(each) + 1 for each in lines[:position["line"]])
        return before + len(line[:2 * position["character"]].decode("utf-16-le"))

    def text_of(self, span):
        return self.text[self.offset(span["start"]):self.offset(span["end"])]

    def position(self, mark, occurrence=0, plus=0):
        """The position of the n-th occurrence of a text."""
        at = -1
        for _ in range(occurrence + 1):
            at = self.text.index(mark, at + 1)
        before = self.text[:at + plus]
        line = before.rsplit("\n", 1)[-1]
        return {"line": before.count("\n"), "character": len(line.encode("utf-16-le")) // 2}

    def params(self, *place, **more):
        params = {"textDocument": {"uri": self.uri}, **more}
        if place:
            params["position"] = self.position(*place)
        return params

    def at(self, method, *place, **more):
        return self.server.request("textDocument/" + method, self.params(*place, **more))

    def error_at(self, method, *place, **more):
        return self.server.error("textDocument/" + method, self.params(*place, **more))

    def applied(self, edits):
        text = self.text
        for edit in sorted(edits, key=lambda edit: self.offset(edit["range"]["start"]), reverse=True):
            text = text[:self.offset(edit["range"]["start"])] + edit["newText"] + text[self.offset(edit["range"]["end"]):]
        return text


def uri(path):
    return "file://" + os.path.abspath(path)


