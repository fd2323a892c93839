"""A `pipec serve` or `pipec watch` for a test, and requests to it."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import atexit
import http.client
import json
import re
import signal
import subprocess
import sys


def check(holds, what):
    if not holds:
        sys.exit(f"{sys.argv[0]}: {what[:2000]}")


class Served:
    def __init__(self, *arguments, program=("pipec",), **options):
        self.process = subprocess.Popen([*program, *arguments], stdout=subprocess.PIPE, text=True, **options)
        atexit.register(self.process.kill)  # also when a check fails; not sent to a process that has ended
        self.address = self.process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\?token=([0-9a-f]{32})", self.address)
        check(found, f"the address is {self.address!r}")
        self.port, self.token = int(found[1]), found[2]

    def request(self, method, path, body=None, headers=None):
        """Returns the status and the body; `path` has its token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def get(self, path, **headers):
        separator = "&" if "?" in path else "?"
        return self.request("GET", f"{path}{separator}token={self.token}", None, headers)

    def post(self, path, body):
        """Posts an object, or bytes as they are; the answer as an object."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        status, text = self.request("POST", f"{path}?token={self.token}", data)
        return status, json.loads(text)

    def run(self, path, program, sizes=None, files=None, page=None, **options):
        """Posts a run as the page does; in the names of options `_` is `-`."""
        options = {name.replace("_", "-"): value for name, value in options.items()}
        if sizes:
            options["D"] = [f"{name}={value}" for name, value in sizes.items()]
        return self.post(path, {"program": program, "options": options, "files": files or {}, **(page or {})})

    def compiled(self, program, **order):
        """The same for a compilation; the answer has all messages, and the members of the output and its result."""
        status, answer = self.run("/compile", program, **order)
        output = answer.pop("output", None) or {}
        result = output.pop("result", None) or {}
        messages = answer.pop("diagnostics", []) + output.pop("diagnostics", [])
        return status, {**answer, **output, **result, "diagnostics": messages}

    def end(self, number=signal.SIGINT):
        self.process.send_signal(number)
        status = self.process.wait(timeout=20)
        check(status == 0, f"status {status} after signal {number}")
