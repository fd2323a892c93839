#!/usr/bin/env python3
"""Talks to `pipec serve` as pages, other sites and broken clients do.

    protocol.py CASE

Cases are the functions below.
"""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import gzip
import json
import os
import pathlib
import resource
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

from served import Served, check

PROGRAM = "schedule one(ranks p = 2, microbatches m = 4) { placement loop; steady { repeat m { F B } } }"
ORDERED = """schedule one(ranks p = 4, microbatches m = 8) {
  placement loop;
  let w = min(m, p - 1 - rank);
  warmup { repeat w { F } }
  steady { repeat m - w { F B } }
  cooldown { repeat w { B } }
}
"""


def access(served):
    """Nothing without the token, whatever the path and the method."""
    token = served.token
    for path in ("/", "/compile", "/picture?id=1", "/nothing", "/../etc/passwd", "/%2e%2e/etc/passwd", "//", "/?token="):
        for method in ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
            status, _ = served.request(method, path)
            check(status == 403, f"{method} {path} without a token: {status}")
    for query in (f"token={token[:-1]}", f"token={token}x", f"Token={token}", f"token={token}&token=0", f"token=0&token={token}",
                  "token=" + "0" * 32):
        status, _ = served.request("GET", f"/?{query}")
        check(status == 403, f"GET /?{query}: {status}")

    # Only by the names of this machine: a page of another site sends its own.
    for host in ("example.org", f"example.org:{served.port}", "127.0.0.1", f"127.0.0.1:{served.port + 1}", ""):
        status, _ = served.get("/", Host=host)
        check(status == 403, f"Host {host!r}: {status}")
    for host in (f"127.0.0.1:{served.port}", f"localhost:{served.port}"):
        status, _ = served.get("/", Host=host)
        check(status == 200, f"Host {host!r}: {status}")

    # With the token there is the page, and no file.
    status, page = served.get("/")
    check(status == 200 and b"one_f_one_b" in page and token.encode() not in page, "the page")
    for path in ("/nothing", "/etc/passwd", "/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/page.js", "/compile/"):
        status, text = served.get(path)
        check(status == 404 and b"root:" not in text, f"{path}: {status}")
    check(served.get("/compile")[0] == 405, "GET /compile")
    check(served.request("POST", f"/?token={token}", b"{}")[0] == 405, "POST /")

    # Not reached from other machines.
    for address in {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)} - {"127.0.0.1"}:
        with socket.socket() as other:
            if not address.startswith("127."):
                check(other.connect_ex((address, served.port)) != 0, f"reached at {address}")


def compiling(served):
    """The parameters, the figures and the picture of a program."""
    status, answer = served.compiled(PROGRAM, sizes={"ranks": 4}, cost="F=2,B=2")
    check(status == 200 and answer["diagnostics"] == [], f"{status} {answer}")
    check(answer["schedules"][0]["parameters"][0] == {"name": "p", "role": "ranks", "default": "2"}, "parameters")
    check(answer["report"]["num_ranks"] == 4 and answer["report"]["makespan"] == 64, f"{answer['report']}")
    check(answer["with"] is None and len(answer["pages"]) == 1 and answer["pages"][0]["ranks"] == 4, f"{answer['pages']}")
    # The frame for pictures, which has none.
    status, picture = served.get("/picture")
    check(status == 200 and b"<canvas" in picture and b'"pipec-schedule">\n' not in picture, "the picture")
    # Not compressed, whatever the client takes.
    check(served.get("/picture", **{"Accept-Encoding": "br, gzip"})[1] == picture, "compressed")

    status, answer = served.compiled(PROGRAM.replace("steady", "stedy"))
    message = answer["diagnostics"][0]
    check((message["severity"], message["line"], message["column"]) == ("error", 1, 65), f"{message}")
    check("pages" not in answer, "a picture of an error")
    # The parameters are known as soon as the program can be parsed.
    status, answer = served.compiled(PROGRAM.replace("F B", "F"))
    check(answer["schedules"] and answer["diagnostics"] and "pages" not in answer, f"{answer}")

    # A false `expect` clause, as `pipec check` reports it, beside the picture.
    status, answer = served.compiled(ORDERED.replace("cooldown", "expect makespan == 5; cooldown"), cost="F=3,B=2")
    check("pages" in answer and [one["message"] for one in answer["diagnostics"]] == ["makespan is 55, expected == 5"],
          f"{answer['diagnostics']}")
    check(answer["diagnostics"][0]["notes"][0]["message"] == "with p = 4, m = 8; F 3, B 2",
          f"{answer['diagnostics']}")
    # Very many messages: the first of them, and how many more there are.
    names = ", ".join(f"unused{i} = 1" for i in range(5000))
    status, answer = served.compiled(PROGRAM.replace("m = 4", f"m = 4, {names}"))
    check("pages" in answer and len(answer["diagnostics"]) == 101
          and answer["diagnostics"][-1]["message"].startswith("4900 more warnings"), f"{answer['diagnostics'][-1]}")
    check(served.compiled(PROGRAM, target="torch-2.13-timed")[1].get("pages"), "a target with a point")

    for with_ in {"with": "gpipe"}, {"files": {"with": served.run("/export", PROGRAM, emit="ir")[1]["output"]}}:
        status, answer = served.compiled(PROGRAM, **with_)
        check(answer["with"]["makespan"] > 0 and answer["diagnostics"] == [], f"{with_}: {answer}")

    for kind, begin in (("svg", "<svg"), ("ir", "pipec-steps"), ("html", "<!DOCTYPE")):
        status, answer = served.run("/export", PROGRAM, emit=kind, cost="F=2,B=2")
        check(begin in (answer["output"] or "")[:200], f"{kind}: {answer}")
    check(served.run("/export", PROGRAM, emit="csv")[1]["output"].startswith("0F0,"), "a CSV")
    # The second schedule is one of the same model.
    order = {"sizes": {"ranks": 4, "microbatches": 10}, "cost": "F=2"}
    for name in "zb1p", "zbv", "dualpipev":
        status, answer = served.compiled(PROGRAM, **order, **{"with": name})
        second = answer["with"]
        check((second["num_ranks"], second["num_microbatches"], second["parts"]) == (4, 10, None if name == "zb1p" else 4), f"{second}")
        check(second["costs"].startswith("F 2," if name == "zb1p" else "F 1,") and second["gaps"] == [], f"{second}")
    orders = []
    for costs in "F=1,B=2,p2p=0.1", "F=1,B=2,p2p=9":
        status, answer = served.run("/export", ORDERED, emit="csv", target="torch-timed", cost=costs)
        check("SEND_F" in (answer["output"] or ""), f"{costs}: {answer}")
        orders.append(answer["output"])
    check(orders[0] != orders[1], "costs of a target")
    # A message instead of a text where costs have no effect.
    status, answer = served.run("/export", ORDERED, emit="csv", target="torch", cost="F=2")
    check(answer["output"] is None and "no effect" in answer["diagnostics"][0]["message"], f"{answer}")


def helping(served):
    """The editor gets the answers of the language server, for its methods, and no file outside the folders."""
    def ask(method, program=ORDERED, **params):
        return served.post("/editor", {"program": program, "method": f"textDocument/{method}", "params": params})

    place = {"line": 1, "character": 4}
    status, answer = ask("completion", position=place)
    check(status == 200 and "placement" in [one["label"] for one in answer["result"]], f"{answer}")
    status, answer = ask("hover", position=place)
    check(status == 200 and "placement" in answer["result"]["contents"]["value"], f"{answer}")
    status, answer = ask("codeAction", ORDERED.replace("loop", "lop"),
                         range={"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}})
    check(status == 200 and [(one["title"], one["edits"][0]["newText"]) for one in answer["result"]] == [("Change to `loop`", "loop")], f"{answer}")
    for method in "rename", "formatting", "../hover", "":
        check(ask(method, position=place)[0] == 400, method)
    for body in (b"", b"{", b"[]", b'{"program": 1, "method": "textDocument/hover", "params": {}}', b'{"program": "", "method": "textDocument/hover"}'):
        check(served.post("/editor", body)[0] == 400, f"{body}")
    check(ask("hover", "x" * 300000, position=place)[0] == 400, "a large program")
    check(ask("hover")[0] == 400 and ask("hover", position={"line": "x"})[0] == 400, "no place")
    # Imports are as those of the compiler.
    secret = pathlib.Path(tempfile.mkdtemp()) / "secret.pipe"
    secret.write_text("fn hidden(x) { x }\n")
    status, answer = ask("completion", f'import "{secret}";\n' + ORDERED.replace("F B", "hid"), position={"line": 5, "character": 27})
    check(status == 200 and "hidden" not in [one["label"] for one in answer["result"]], "a name of another folder")


def verdicts(served):
    """Lint for a framework, closed forms and plans."""
    status, answer = served.run("/lint", ORDERED, **{"for": "megatron"})
    check(status == 200 and answer["output"]["frameworks"] == {"megatron": True}, f"{answer}")
    status, answer = served.run("/lint", ORDERED, **{"for": "x"})
    check(status == 200 and answer["output"]["findings"][0]["kind"] == "UnknownChoice", f"{answer}")
    _, started = served.run("/derive", ORDERED)
    derived = follow(served, started["job"])["output"]["schedules"][0]
    check(derived["figures"][0]["clauses"][0]["clause"].startswith("expect makespan == "), f"{derived}")
    profile = json.dumps({"F": 1, "B": 2}).encode()
    head = {"options": {"ranks": 2, "microbatches": 4, "for": "megatron", "effort": 1}, "traces": [len(profile)]}
    with tempfile.TemporaryDirectory() as folder:
        other = Served("serve", env={**os.environ, "TMPDIR": folder})
        [inside] = pathlib.Path(folder).iterdir()
        _, started = other.post("/plan", json.dumps(head).encode() + b"\n" + profile)
        answer = follow(other, started["job"])
        check(answer["output"]["best"]["makespan"], f"{answer}")
        check(not list(inside.iterdir()), "files of a plan")
        other.end()


def values(served):
    """Requests that are not what the page sends are refused, and cannot name files."""
    deep = b'{"program": ' + b"[" * 400000
    for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"program": "\xff"}', deep, b"\0" * 1000):
        check(served.post("/compile", body)[0] == 400, f"{body[:20]}")
    for wrong in ({"program": 1}, {"program": "x" * 300000}, {"program": "a\0b"}, {"tab": "x" * 65}, {"options": []},
                  {"options": {"output": "x"}}, {"options": {"o": "x"}}, {"options": {"-D": "x"}}, {"options": {"": "x"}},
                  {"options": {"I": "/"}}, {"options": {"import-root": "/"}}, {"options": {"template": "/etc/passwd"}},
                  {"options": {"max-steps": 1 << 30}}, {"options": {"start": "gpipe"}}, {"options": {"library": "x"}},
                  {"options": {"D": 1.5}}, {"options": {"D": {"p": 1}}}, {"options": {"D": ["p=1", None]}}, {"options": {"cost": "a\0b"}},
                  {"options": {"cost-profile": "/etc/passwd"}}, {"files": {"cost": "x"}}, {"files": {"output": "x"}},
                  {"files": {"cost-profile": 1}}, {"files": {"cost-profile": "a\0"}}, {"files": {"../x": "x"}}, {"files": []},
                  {"options": {"with": "/etc/passwd"}}, {"options": {"with": "../x"}}, {"options": {"with": "-"}},
                  {"options": {"with": "a.pipe"}}, {"options": {"with": "nosuch"}}, {"traces": [1]}):
        for path in ("/compile", "/export", "/compare", "/search", "/calibrate"):
            status, answer = served.post(path, {"program": PROGRAM, **wrong})
            check(status == 400 and "error" in answer, f"{path} {wrong}: {status} {answer}")
    answer = served.post("/compile", {"program": "x" * 300000})[1]
    check(answer["error"] == "`program` has 300000 bytes, and the page takes 262144", f"{answer}")
    # Values are those of one option each, which the compiler checks.
    for order in ({"cost": "F=1 --output=x"}, {"D": "p=1 -o=x"}, {"D": "p=x"}, {"schedule": "--output=x"}, {"target": "--output"},
                  {"target": "../x"}, {"emit": "ir"}, {"effort": 1}, {"ranks": 10 ** 9}, {"placement": "v"}):
        status, answer = served.compiled(PROGRAM, **order)
        check(status == 200 and "pages" not in answer and answer["diagnostics"][0]["severity"] == "error", f"{order}: {answer}")
    status, answer = served.run("/export", PROGRAM, emit="template")
    check(answer["output"] is None and "--template" in answer["diagnostics"][0]["message"], f"{answer}")
    # Imports stay in the folder of the file, the folders of -I and the library.
    for name in ("/etc/passwd", "../x.pipe", "a/../../x.pipe", "a/..", "/proc/self/environ"):
        for path in ("/compile", "/export", "/compare"):
            text = f'import // a comment\n"{name}";\n{PROGRAM}'
            if path == "/compile":
                messages = served.compiled(text)[1]["diagnostics"]
            elif path == "/export":
                messages = served.run(path, text, emit="ir")[1]["diagnostics"]
            else:
                messages = follow(served, served.run(path, text, ranks=2, microbatches=4)[1]["job"])["diagnostics"]
            check(messages[0]["kind"] == "ImportOutside", f"{path} {name}: {messages}")
    check(served.compiled(f'// import "/etc/passwd";\n{PROGRAM}')[1]["diagnostics"] == [], "an import in a comment")
    for job in (0, -1, 999, "x", ""):
        for path in "/job", "/cancel":
            status = served.request("POST", f"{path}?id={job}&token={served.token}", b"{}")[0]
            check(status == 404, f"{path} {job}: {status}")


def limits(served):
    """Large and slow requests, many at a time, and programs that take too long."""
    # The body: with its length, in chunks, and compressed.
    check(served.request("POST", f"/compile?token={served.token}", b" " * (2 << 20))[0] == 413, "2 MiB")
    chunks = (b" " * 100000 for _ in range(20))
    try:
        status = served.request("POST", f"/compile?token={served.token}", chunks, {"Transfer-Encoding": "chunked"})[0]
    except OSError:
        status = 413  # the server closed the connection before all was sent
    check(status == 413, f"2 MB in chunks: {status}")
    status = served.request("POST", f"/compile?token={served.token}", gzip.compress(b" " * (50 << 20)),
                            {"Content-Encoding": "gzip"})[0]
    check(status in (400, 413, 415), f"50 MiB in gzip: {status}")
    check(served.get("/" + "x" * 20000)[0] in (400, 403, 414), "a long address")

    # Clients that send nothing, half a head, or half a body.
    slow = []
    for text in (b"", b"GET / HT", f"POST /compile?token={served.token} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
                 "Content-Length: 100\r\n\r\n{".encode(), b"\0\xff\r\n\r\n", b"A" * 10000) * 4:
        client = socket.create_connection(("127.0.0.1", served.port))
        client.sendall(text)
        slow.append(client)
    answers = []
    many = [threading.Thread(target=lambda: answers.append(served.compiled(PROGRAM))) for _ in range(12)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()
    check(len(answers) == 12 and all(status == 200 and "pages" in answer for status, answer in answers), "12 at a time")

    # As many orders at the same time as there are connections.
    body = json.dumps({"program": "schedule"}).encode()
    head = (f"POST /compile?token={served.token} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
            f"Content-Length: {len(body)}\r\n\r\n").encode()
    for client in slow:
        client.close()
    slow = [socket.create_connection(("127.0.0.1", served.port), timeout=30) for _ in range(64)]
    for part in head, body:
        for client in slow:
            client.sendall(part)
        time.sleep(0.3)
    firsts = [client.recv(12) for client in slow]
    check(all(first in (b"HTTP/1.1 200", b"HTTP/1.1 503") for first in firsts), f"64 at the same time: {firsts}")

    # The budget of steps, and of the picture.
    status, answer = served.compiled(PROGRAM, sizes={"microbatches": 10000000})
    check(status == 200 and answer["diagnostics"][0]["severity"] == "error", f"{answer}")
    # A newer order of a page ends the one before.
    old = []
    big = {"program": PROGRAM, "options": {"D": ["ranks=64", "microbatches=4000"]}, "tab": "a"}
    first = threading.Thread(target=lambda: old.append(served.post("/compile", big)))
    first.start()
    time.sleep(0.1)
    status, answer = served.post("/compile", {"program": PROGRAM, "tab": "a"})
    first.join()
    check(status == 200 and old[0][0] in (200, 409), f"{status} {old}")
    # An order that was overtaken on its way does not end the newer one.
    old = []
    first = threading.Thread(target=lambda: old.append(served.post("/compile", {**big, "tab": "b", "serial": 2})))
    first.start()
    time.sleep(0.1)
    check(served.post("/compile", {"program": PROGRAM, "tab": "b", "serial": 1})[0] == 409, "an overtaken order")
    first.join()
    check(old[0][0] == 200, f"ended by an older order: {old}")
    for client in slow:
        client.close()


def connections(served):
    """What clients do with a connection, text by text."""
    def connect():
        return socket.create_connection(("127.0.0.1", served.port), timeout=30)

    def talk(*texts):
        """Sends each text after an answer to the one before; returns all answers."""
        with connect() as client:
            answers = []
            for text in texts:
                client.sendall(text.encode())
                answers.append(client.recv(1 << 16))
            while more := client.recv(1 << 16):
                answers[-1] += more
            answers = [answer.decode() for answer in answers]
            return answers

    host = f"Host: 127.0.0.1:{served.port}\r\n"
    page = f"/?token={served.token}"
    order = f"POST /compile?token={served.token} HTTP/1.1\r\n{host}"
    body = json.dumps({"program": PROGRAM})
    full = f"Content-Length: {len(body)}\r\n"
    last = "Connection: close\r\n"

    # The number of headers is limited by the size of all.
    for head, expected in ((f"GET {page} HTTP/1.1\r\n{host}" + "a: b\r\n" * 5000, 431),
                           (f"GET {page} HTTP/1.1\r\n{host}a: {'b' * 30000}\r\n", 431),
                           (f"GET {page}{'x' * 30000} HTTP/1.1\r\n", 414),
                           (f"GET {page} HTTP/1.1\r\n{host}{host}", 403), (f"GET {page} HTTP/1.1\r\n", 403),
                           (f"GET {page} HTTP/2.0\r\n{host}", 400), (f"GET {page} HTTP/1.1\r\n{host}nothing\r\n", 400),
                           (f"GE\0T {page} HTTP/1.1\r\n{host}", 400),
                           (f"{order}Content-Length: -1\r\n", 400), (f"{order}Content-Length: 1\r\nContent-Length: 2\r\n", 400),
                           (f"{order}{full}Transfer-Encoding: chunked\r\n", 400),
                           (f"{order}Content-Length: 99999999999999999999\r\n", 400),
                           (f"{order}Content-Length: 9999999999\r\nExpect: 100-continue\r\n", 413),
                           (f"{order}{last}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n", 413),
                           (f"{order}{last}Transfer-Encoding: chunked\r\n\r\nxyz\r\n", 400)):
        [answer] = talk(head + "\r\n")
        check(answer.startswith(f"HTTP/1.1 {expected} ") and "Connection: close" in answer, f"{head[:200]}: {answer[:200]}")

    # Without the body; with it after permission; one request after the other.
    [answer] = talk(f"HEAD {page} HTTP/1.1\r\n{host}{last}\r\n")
    check(f"\r\nContent-Length: {len(served.get('/')[1])}\r\n" in answer and answer.endswith("\r\n\r\n"), answer[-200:])
    answers = talk(f"{order}{full}{last}Expect: 100-continue\r\n\r\n", body)
    check(answers[0] == "HTTP/1.1 100 Continue\r\n\r\n" and answers[1].startswith("HTTP/1.1 200 OK\r\n"), f"{answers}")
    [answer] = talk(f"{order}{full}\r\n{body}" * 2 + f"GET {page} HTTP/1.1\r\n{host}{last}\r\n")
    check(answer.count("HTTP/1.1 200 OK\r\n") == 3, answer[:2000])
    [answer] = talk(f"GET {page} HTTP/1.0\r\n{host}\r\n")
    check(answer.startswith("HTTP/1.0 200 OK\r\n"), answer[:200])
    # What was sent after a refused request is not taken for another one.
    [answer] = talk(f"POST / HTTP/1.1\r\n{host}{full}\r\nGET {page} HTTP/1.1\r\n{host}\r\n")
    check(answer.count("HTTP/1.1") == 1, answer)

    # All connections are held by clients that send nothing, and by one that sends too slowly.
    held = [connect() for _ in range(64)]
    slow, slow_ended = held[0], []

    def send_slowly():
        slow.settimeout(0.3)
        for _ in range(100):
            try:
                slow.sendall(b"G")
                slow_ended.append(slow.recv(1))
            except TimeoutError:
                continue
            except OSError:
                slow_ended.append(b"")
            return

    thread = threading.Thread(target=send_slowly)
    thread.start()
    check(served.get("/ping")[0] == 200, "no connection is left")
    thread.join()
    check(slow_ended == [b""], f"a slow client: {slow_ended}")
    for client in held:
        client.close()

    # More clients without the token than there are places for them: the oldest are closed at once. They have no
    # effect on those with it, of which the one that is idle for longest leaves its place to a further one.
    def is_open(client):
        client.settimeout(0.05)
        try:
            return client.recv(1) != b""
        except TimeoutError:
            return True
        except OSError:
            return False

    def keep(client):
        client.sendall(f"GET /ping?token={served.token} HTTP/1.1\r\n{host}\r\n".encode())
        return client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK\r\n")

    for _ in range(5):  # with a machine that takes seconds for this, all are closed
        held = [connect() for _ in range(300)]
        answered = served.get("/ping")[0] == 200
        state = [is_open(held[i]) for i in (0, 100, 200, 299)]
        for client in held:
            client.close()
        if answered and state == [False, False, True, True]:
            break
    else:
        check(False, f"300 without the token: {answered} {state}")
    for _ in range(5):
        known = [connect() for _ in range(70)]
        state = [keep(client) for client in known] + [is_open(known[0]), is_open(known[69])]
        for client in known:
            client.close()
        if state == [True] * 70 + [False, True]:
            break
    else:
        check(False, f"70 with the token: {state}")


def follow(served, job, until=lambda state: state["done"]):
    """Asks for the state of a job until it is as wanted."""
    for _ in range(400):
        status, text = served.request("POST", f"/job?id={job}&token={served.token}", b"")
        check(status == 200, f"{status} {text}")
        state = json.loads(text)
        state.update(state.pop("answer") or {})
        if until(state):
            return state
        time.sleep(0.05)
    check(False, f"no end: {state}")


def jobs(served):
    """compare and search: progress, results, and cancelling."""
    job = served.run("/compare", PROGRAM, ranks=2, microbatches=4, cost="F=1,B=2")[1]["job"]
    state = follow(served, job)
    names = [row["name"] for row in state["output"]["schedules"]]
    check("one" in names and "zb1p" in names, f"{names}")

    size = {"ranks": 4, "microbatches": 12, "chunks": 2, "placement": "v", "cost": "F=10,B=19,I=12,W=7,p2p=3", "memory_limit": "5"}
    job = served.run("/search", "", **size, effort=60)[1]["job"]
    follow(served, job, lambda state: "makespan" in state["progress"] or state["done"])
    check(served.request("POST", f"/cancel?id={job}&token={served.token}", b"")[0] == 200, "cancel")
    state = follow(served, job)
    # What was found until then is the result.
    check(state["diagnostics"] == [] and state["output"]["makespan"] > 0 and "pipec-steps" in state["file"][:40], f"{state}")
    check(state["seconds"] < 30, "cancelled late")

    for wrong in {"cost": "nonsense"}, {"placement": "x"}, {"backward": "x"}, {"ranks": 10 ** 9}, {"target": "torch"}:
        state = follow(served, served.run("/search", "", **{"ranks": 2, "microbatches": 4, **wrong})[1]["job"])
        check(state["diagnostics"] and state["output"] is None and state["file"] is None, f"{state}")

    # At most four at a time.
    started = [served.run("/search", "", **size, effort=60) for _ in range(5)]
    check([status for status, _ in started] == [200] * 4 + [503], f"{started}")


def upload(traces):
    """The body of a request with traces, pairs of a name and contents."""
    head = {"traces": [len(contents) for _, contents in traces]}
    return json.dumps(head).encode() + b"\n" + b"".join(contents for _, contents in traces)


def calibrating(_):
    """Traces become a profile, which the other requests take; nothing of it is left."""
    recorded = [(path.name, path.read_bytes()) for path in
                sorted((pathlib.Path(__file__).parents[2] / "Calibrate/Inputs/traces").glob("rank*.json.gz"))]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "temporary").mkdir()
        served = Served("serve", env={**os.environ, "TMPDIR": str(folder / "temporary")})
        [inside] = (folder / "temporary").iterdir()

        def calibrated(traces):
            status, answer = served.post("/calibrate", upload(traces))
            check(status == 200, f"{status} {answer}")
            state = follow(served, answer["job"])
            check(list(inside.iterdir()) == [], f"files are left: {list(inside.iterdir())}")
            return state

        state = calibrated(recorded)
        check(state["diagnostics"] == [] and state["output"]["ranks"] == 4, f"{state}")
        for name, contents in recorded:
            (folder / name).write_bytes(contents)
        summary = subprocess.run(["pipec", "calibrate", *(folder / name for name, _ in recorded), "-o", folder / "costs.json",
                                  "--format=json"], stdout=subprocess.PIPE, check=True).stdout
        check(state["output"] == json.loads(summary), "another summary")
        profile = state["file"]
        check(profile == (folder / "costs.json").read_text(), "another profile")

        # The order with the profile is what the command line makes of it, also with --cost.
        size, words = {"sizes": {"ranks": 4, "microbatches": 8}}, ["ranks=4", "microbatches=8"]

        def output(*options):
            return subprocess.run(["pipec", "-", *words, *options], input=PROGRAM, stdout=subprocess.PIPE, text=True,
                                  check=True).stdout

        makespans = set()
        for costs in "", "occupancy=200", "F=3":
            options = ["--cost-profile", folder / "costs.json", *([f"--cost={costs}"] if costs else [])]
            order = {"files": {"cost-profile": profile}, **({"cost": costs} if costs else {}), **size}
            status, answer = served.compiled(PROGRAM, **order)
            report = json.loads(output("--emit=report", "--format=json", *options))
            check(answer["diagnostics"] == [] and answer["report"]["makespan"] == report["makespan"], f"{costs}: {answer}")
            check(answer["report"]["costs"] == report["costs"], f"{answer['report']}")
            makespans.add(report["makespan"])
            for emit in "svg", "ir", "html":
                text = served.run("/export", PROGRAM, **order, emit=emit)[1]["output"]
                check(text == output(f"--emit={emit}", *options), f"{emit} differs with {costs!r}")
        check(len(makespans) == 2, f"{makespans}")
        status, answer = served.compiled(PROGRAM, **size, **{"files": {"cost-profile": profile}, "with": "gpipe"})
        check(answer["with"]["makespan"] > 100 and answer["diagnostics"] == [], f"{answer}")

        # Other schedules have other stages than those that were measured.
        model = {"files": {"cost-profile": profile}, "ranks": 4, "microbatches": 8}
        state = follow(served, served.run("/compare", PROGRAM, **model, parts=4)[1]["job"])
        makespan = {row["name"]: row["makespan"] for row in state["output"]["schedules"] if "makespan" in row}
        check(makespan["one_f_one_b"] == 840.9225 and makespan["zbv"] > 100, f"{makespan}")
        check(str(inside) not in json.dumps(state), "the name of a temporary file")
        state = follow(served, served.run("/compare", PROGRAM, **model)[1]["job"])
        check("costs per stage" in state["diagnostics"][0]["message"] and state["diagnostics"][0]["file"] == "cost-profile", f"{state}")
        state = follow(served, served.run("/search", "", **model, parts=4, effort=1)[1]["job"])
        check(100 < state["output"]["makespan"] <= 840.9225, f"{state}")

        # A profile that does not fit, and one that is none.
        for text, order, message in ((profile, {"sizes": {"ranks": 2}}, "`stage` is 2, outside 0..2"),
                                     ('{"Q": 1}', {}, "Q"), ("{", {}, "")):
            status, answer = served.compiled(PROGRAM, **order, files={"cost-profile": text})
            [first, *_] = answer["diagnostics"]
            check(first["severity"] == "error" and first["file"] == "cost-profile" and message in first["message"], f"{answer}")
            check("pages" not in answer and str(inside) not in json.dumps(answer), f"{answer}")
        # Names of clients are those that the page shows; the server has its own.
        state = calibrated([("../x", b'{"traceEvents": [\n  {"ph": X}]}')])
        [message] = state["diagnostics"]
        check(message["file"] == "trace0.json" and message["line"] == 2 and state["file"] is None, f"{state}")
        state = calibrated([("--help", b"{}")])
        check("`trace0.json` has no list" in state["diagnostics"][0]["message"], f"{state}")
        check(sorted(path.name for path in folder.iterdir()) == sorted(["temporary", "costs.json", *(name for name, _ in recorded)]),
              "files elsewhere")
        state = calibrated(recorded[1:])
        check("none of rank 0" in state["diagnostics"][0]["message"] and state["output"] is None, f"{state}")
        state = calibrated([recorded[0], ("again", recorded[0][1])])
        check("`trace0.json` and `trace1.json` are both traces of rank 0" in state["diagnostics"][0]["message"], f"{state}")
        state = calibrated([("cut.json.gz", recorded[0][1][:1000])])
        check("cannot decompress `trace0.json`" in state["diagnostics"][0]["message"], f"{state}")

        # Bodies that are not what the page sends.
        for body in (b"", b"{", b"\n", b"[]\n", b'{"traces": [1]}', b'{"traces": ["1"]}\nx', b'{"traces": [-1]}\n',
                     b'{"traces": [3]}\nxx', b'{"traces": [1]}\nxx', b'{"traces": [1e99]}\nxx', b"{}\nx", b" " * (2 << 20),
                     json.dumps({"traces": [0] * 5000}).encode() + b"\n"):
            status, answer = served.post("/calibrate", body)
            check(status == 400 and "error" in answer, f"{body[:60]}: {status} {answer}")
        check(served.get("/calibrate")[0] == 405, "GET /calibrate")
        check(served.request("POST", "/calibrate", upload(recorded))[0] == 403, "without the token")
        # Larger than other requests, up to a limit of its own.
        state = calibrated([*recorded, ("large.json", b'{"traceEvents": []}' + b" " * (4 << 20))])
        check("trace4.json" in state["diagnostics"][0]["message"], f"{state}")
        for path, size in ("/calibrate", (64 << 20) + 1), ("/compile", (1 << 20) + 1):
            with socket.create_connection(("127.0.0.1", served.port)) as client:
                client.sendall(f"POST {path}?token={served.token} HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\n"
                               f"Content-Length: {size}\r\n\r\n".encode())
                check(client.recv(100).startswith(b"HTTP/1.1 413 "), f"{path} with {size} bytes")
        check(list(inside.iterdir()) == [], "files are left")
        served.end()
        check(not list((folder / "temporary").iterdir()), "files are left")


def imports(_):
    """Programs are found as on the command line, from the folder of the file."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "sub").mkdir()
        (folder / "more").mkdir()
        (folder / "sub" / "a.pipe").write_text(f'import "b.pipe";\nimport "c.pipe";\n{PROGRAM}')
        (folder / "sub" / "b.pipe").write_text("fn two() { 2 }")
        (folder / "more" / "c.pipe").write_text("fn three() { 3 }")
        served = Served("serve", "sub/a.pipe", "-Imore", cwd=folder)
        check(b"c.pipe" in served.get("/")[1], "the page has another program")
        text = (folder / "sub" / "a.pipe").read_text()
        status, answer = served.compiled(text)
        check("pages" in answer, f"{answer}")
        served.end()
        # The root may be another folder.
        served = Served("serve", "sub/a.pipe", "--import-root=.", cwd=folder)
        answer = served.compiled(text.replace("c.pipe", "../more/c.pipe"))[1]
        check("pages" in answer, f"{answer}")
        served.end()
        # A second schedule is one of the library, whatever files there are.
        (folder / "gpipe").write_text("SECRET")
        served = Served("serve", cwd=folder)
        status, answer = served.compiled(PROGRAM, **{"with": "gpipe"})
        check(answer["with"]["makespan"] > 0 and "SECRET" not in str(answer), f"{answer}")
        served.end()
        served = Served("serve", "zb-h1", "--port=0")
        check(b"schedule zb1p" in served.get("/")[1], "an alias")
        served.end()


def threads(_):
    """A request that gets no thread is refused, and the server goes on."""
    def limit():
        # There is room for the stack of one thread, which is that of the server.
        resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))
        resource.setrlimit(resource.RLIMIT_AS, (7 << 28, 7 << 28))

    served = Served("serve", preexec_fn=limit)
    try:
        for _ in range(2):
            status, answer = served.post("/compile", {"program": PROGRAM})
            check(status == 503 and "no thread" in answer["error"], f"{status} {answer}")
        served.end()
    finally:
        served.process.kill()


def ends(_):
    """SIGINT, SIGTERM and SIGHUP end the server at once, with 0, and leave nothing."""
    signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored, also by the server
    with tempfile.TemporaryDirectory() as folder:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            served = Served("serve", env={**os.environ, "TMPDIR": folder})
            [inside] = pathlib.Path(folder).iterdir()
            check(stat.S_IMODE(inside.stat().st_mode) == 0o700, "others may read the files")
            job = {"ranks": 4, "microbatches": 16, "chunks": 2, "placement": "v", "cost": "F=10,I=12,W=7,p2p=3", "effort": 60}
            check(served.run("/search", "", **job)[0] == 200, "no search")
            held = socket.create_connection(("127.0.0.1", served.port))
            held.sendall(b"GET / HT")
            begin = time.monotonic()
            served.end(number)
            check(time.monotonic() - begin < 4, "the end takes long")
            check(not list(pathlib.Path(folder).iterdir()), "files are left")
            children = subprocess.run(["pgrep", "-P", str(served.process.pid)], stdout=subprocess.PIPE, check=False).stdout
            check(not children, "processes are left")
            held.close()
        # An address that cannot be printed is of no use.
        with open("/dev/full", "w") as full:
            done = subprocess.run(["pipec", "serve"], stdout=full, stderr=subprocess.PIPE, text=True, check=False, timeout=20,
                                  env={**os.environ, "TMPDIR": folder})
        check(done.returncode == 1 and "cannot write `-`: no space left on device" in done.stderr, f"{done}")
        check(not list(pathlib.Path(folder).iterdir()), "files are left without an address")
    # A server that is killed leaves its folder, which the next one removes; those of others stay.
    with tempfile.TemporaryDirectory() as folder:
        place, environment = pathlib.Path(folder), {**os.environ, "TMPDIR": folder}
        killed, alive = (Served("serve", env=environment) for _ in range(2))
        kept = {inside.name for inside in place.iterdir()}
        killed.process.kill()
        killed.process.wait()
        check({inside.name for inside in place.iterdir()} == kept and len(kept) == 2, "the folder of a killed server")
        (place / "pipec-serve-file").write_text("x")
        (place / "elsewhere").mkdir()
        (place / "elsewhere/file").write_text("x")
        (place / "pipec-serve-linked").symlink_to(place / "elsewhere")
        Served("serve", env=environment).end()
        left = {inside.name for inside in place.iterdir()}
        check(len(left & kept) == 1 and left - kept == {"pipec-serve-file", "pipec-serve-linked", "elsewhere"}
              and (place / "elsewhere/file").exists(), f"{left} of {kept}")
        check("pages" in alive.compiled(PROGRAM, files={"cost-profile": "{}"})[1], "the folder of a server that runs")
        alive.end()
        # A program that the page would not take.
        (place / "large.pipe").write_text("//" + " " * (1 << 18) + "\n" + PROGRAM)
        done = subprocess.run(["pipec", "serve", f"{folder}/large.pipe"], capture_output=True, text=True, check=False, timeout=20)
        check(done.returncode == 2 and "bytes, and the page takes programs of at most 262144" in done.stderr, f"{done}")
    # A port that another server has.
    served = Served("serve")
    other = subprocess.run(["pipec", "serve", f"--port={served.port}"], capture_output=True, text=True, check=False)
    check(other.returncode == 2 and "cannot be used: address already in use" in other.stderr.lower(), f"{other}")
    served.end()


def main():
    case = globals()[sys.argv[1]]
    if case in (calibrating, imports, threads, ends):
        return case(None)
    served = Served("serve")
    try:
        case(served)
        # After all that, the server is well.
        status, answer = served.compiled(PROGRAM)
        check(status == 200 and "pages" in answer, f"at the end: {answer}")
        check(json.loads(served.get("/ping")[1]) == {}, "ping")
        served.end()
    finally:
        served.process.kill()


main()
