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
    status, answer = served.post("/compile", {"program": PROGRAM, "sizes": {"ranks": 4}, "costs": "F=2"})
    check(status == 200 and answer["diagnostics"] == [], f"{status} {answer}")
    check(answer["schedules"][0]["parameters"][0] == {"name": "p", "role": "ranks", "default": "2"}, "parameters")
    check(answer["report"]["num_ranks"] == 4 and answer["report"]["makespan"] == 64, f"{answer['report']}")
    status, picture = served.get(f"/picture?id={answer['picture']}")
    check(status == 200 and b"<canvas" in picture, "the picture")
    # Not compressed, whatever the client takes.
    check(served.get(f"/picture?id={answer['picture']}", **{"Accept-Encoding": "br, gzip"})[1] == picture, "compressed")
    check(served.get("/picture?id=999")[0] == 404, "no such picture")

    status, answer = served.post("/compile", {"program": PROGRAM.replace("steady", "stedy")})
    message = answer["diagnostics"][0]
    check((message["severity"], message["line"], message["column"]) == ("error", 1, 65), f"{message}")
    check("picture" not in answer, "a picture of an error")
    # The parameters are known as soon as the program can be parsed.
    status, answer = served.post("/compile", {"program": PROGRAM.replace("F B", "F")})
    check(answer["schedules"] and answer["diagnostics"] and "picture" not in answer, f"{answer}")

    for with_ in ({"withName": "gpipe"}, {"withSteps": served.post("/export", {"program": PROGRAM, "as": "steps"})[1]["text"]}):
        status, answer = served.post("/compile", {"program": PROGRAM, **with_})
        check(answer["with"]["makespan"] > 0 and answer["diagnostics"] == [], f"{with_}: {answer}")

    for kind, begin in (("svg", "<svg"), ("csv", "0F0,"), ("steps", "pipec-steps"), ("html", "<!DOCTYPE")):
        status, answer = served.post("/export", {"program": PROGRAM, "as": kind, "costs": "F=2"})
        check(begin in answer.get("text", "")[:200], f"{kind}: {answer}")
    check(served.post("/export", {"program": PROGRAM, "as": "cpp"})[0] == 400, "as cpp")


def values(served):
    """Requests that are not what the page sends are refused, and cannot name files."""
    deep = b'{"program": ' + b"[" * 400000
    for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"program": "\xff"}', deep, b"\0" * 1000):
        check(served.post("/compile", body)[0] == 400, f"{body[:20]}")
    for change in ({"program": 1}, {"program": "x" * 300000}, {"program": "a\0b"}, {"sizes": []}, {"sizes": {"p=1 -o": 1}},
                   {"sizes": {"p": "1"}}, {"sizes": {"p": 1.5}}, {"target": "--output"}, {"target": "../x"},
                   {"withName": "/etc/passwd"}, {"withName": "../x"}, {"withName": "-"}, {"withName": "a.pipe"},
                   {"schedule": "a b"}, {"ranks": 0}, {"ranks": 1e9}, {"effort": 61}, {"tab": "x" * 65},
                   {"costs": "F=1," * 2000}, {"placement": "best"}):
        for path in ("/compile", "/export", "/compare", "/search"):
            status, answer = served.post(path, {"program": PROGRAM, "as": "csv", "ranks": 2, "microbatches": 4, **change})
            check(status == 400 and "error" in answer, f"{path} {change}: {status} {answer}")
    # Costs are one value of one option.
    status, answer = served.post("/compile", {"program": PROGRAM, "costs": "F=1 --output=x"})
    check("picture" not in answer and answer["diagnostics"], f"{answer}")
    # Imports stay in the folder of the file, the folders of -I and the library.
    for name in ("/etc/passwd", "../x.pipe", "a/../../x.pipe", "a/.."):
        status, answer = served.post("/compile", {"program": f'import // a comment\n"{name}";\n{PROGRAM}'})
        check(status == 400 and "import" in answer["error"], f"{name}: {answer}")
    status, answer = served.post("/compile", {"program": f'// import "/etc/passwd";\n{PROGRAM}'})
    check(status == 200, "an import in a comment")
    for job in (0, -1, 999, "1", None):
        check(served.post("/job", {"job": job})[0] == 404, f"job {job}")
        check(served.post("/cancel", {"job": job})[0] == 404, f"cancel {job}")


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
    many = [threading.Thread(target=lambda: answers.append(served.post("/compile", {"program": PROGRAM}))) for _ in range(12)]
    for thread in many:
        thread.start()
    for thread in many:
        thread.join()
    check(len(answers) == 12 and all(status == 200 and "picture" in answer for status, answer in answers), "12 at a time")

    # The budget of steps, and of the picture.
    status, answer = served.post("/compile", {"program": PROGRAM, "sizes": {"microbatches": 10000000}})
    check(status == 200 and answer["diagnostics"][0]["severity"] == "error", f"{answer}")
    # A newer order of a page ends the one before.
    old = []
    big = {"program": PROGRAM, "sizes": {"ranks": 64, "microbatches": 4000}, "tab": "a"}
    first = threading.Thread(target=lambda: old.append(served.post("/compile", big)))
    first.start()
    time.sleep(0.1)
    status, answer = served.post("/compile", {"program": PROGRAM, "tab": "a"})
    first.join()
    check(status == 200 and old[0][0] in (200, 409), f"{status} {old}")
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
                answers.append(client.recv(1 << 16).decode())
            while more := client.recv(1 << 16).decode():
                answers[-1] += more
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


def jobs(served):
    """compare and search: progress, results, and cancelling."""
    def follow(job, until):
        for _ in range(400):
            status, state = served.post("/job", {"job": job})
            check(status == 200, f"{status} {state}")
            if until(state):
                return state
            time.sleep(0.05)
        check(False, f"no end: {state}")

    job = served.post("/compare", {"program": PROGRAM, "ranks": 2, "microbatches": 4, "costs": "F=1,B=2"})[1]["job"]
    state = follow(job, lambda state: state["done"])
    names = [row["name"] for row in state["comparison"]["schedules"]]
    check("one" in names and "zb1p" in names, f"{names}")

    size = {"ranks": 4, "microbatches": 12, "chunks": 2, "placement": "v", "costs": "F=10,I=12,W=7,p2p=3", "memoryLimit": "5"}
    job = served.post("/search", {**size, "effort": 60})[1]["job"]
    follow(job, lambda state: "makespan" in state["progress"] or state["done"])
    check(served.post("/cancel", {"job": job})[0] == 200, "cancel")
    state = follow(job, lambda state: state["done"])
    # What was found until then is the result.
    check(state["diagnostics"] == [] and state["search"]["makespan"] > 0 and "pipec-steps" in state["steps"][:40], f"{state}")
    check(state["seconds"] < 30, "cancelled late")

    answer = served.post("/search", {"ranks": 2, "microbatches": 4, "costs": "nonsense"})[1]
    state = follow(answer["job"], lambda state: state["done"])
    check(state["diagnostics"] and "search" not in state, f"{state}")

    # At most four at a time.
    started = [served.post("/search", {**size, "effort": 60}) for _ in range(5)]
    check([status for status, _ in started] == [200] * 4 + [503], f"{started}")


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
        status, answer = served.post("/compile", {"program": text})
        check("picture" in answer, f"{answer}")
        served.end()
        served = Served("serve", "zb-h1", "--port=0")
        check(b"schedule zb1p" in served.get("/")[1], "an alias")
        served.end()


def ends(_):
    """SIGINT and SIGTERM end the server at once, with 0, and leave nothing."""
    with tempfile.TemporaryDirectory() as folder:
        for number in (signal.SIGINT, signal.SIGTERM):
            served = Served("serve", env={**os.environ, "TMPDIR": folder})
            [inside] = pathlib.Path(folder).iterdir()
            check(stat.S_IMODE(inside.stat().st_mode) == 0o700, "others may read the files")
            job = {"ranks": 4, "microbatches": 16, "chunks": 2, "placement": "v", "costs": "F=10,I=12,W=7,p2p=3", "effort": 60}
            check(served.post("/search", job)[0] == 200, "no search")
            held = socket.create_connection(("127.0.0.1", served.port))
            held.sendall(b"GET / HT")
            begin = time.monotonic()
            served.end(number)
            check(time.monotonic() - begin < 4, "the end takes long")
            check(not list(pathlib.Path(folder).iterdir()), "files are left")
            children = subprocess.run(["pgrep", "-P", str(served.process.pid)], stdout=subprocess.PIPE, check=False).stdout
            check(not children, "processes are left")
            held.close()
    # A port that another server has.
    served = Served("serve")
    other = subprocess.run(["pipec", "serve", f"--port={served.port}"], capture_output=True, text=True, check=False)
    check(other.returncode == 2 and "cannot be used: address already in use" in other.stderr.lower(), f"{other}")
    served.end()


def main():
    case = globals()[sys.argv[1]]
    if case in (imports, ends):
        return case(None)
    served = Served("serve")
    try:
        case(served)
        # After all that, the server is well.
        status, answer = served.post("/compile", {"program": PROGRAM})
        check(status == 200 and "picture" in answer, f"at the end: {answer}")
        check(json.loads(served.get("/ping")[1]) == {}, "ping")
        served.end()
    finally:
        served.process.kill()


main()
