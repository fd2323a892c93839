# RUN: rm -rf %t && mkdir %t && cd %t && %python %s
"""A KeyboardInterrupt ends a search with the best schedule so far; where there is none
yet, it is raised. A compiler that does not end is killed."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import os
import signal
import stat
import threading
import time

import pipec

# A process in the background may ignore interrupts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Far more work than the test has time for. The search may not have begun when it is
# interrupted.
delay, result = 0.3, None
while result is None:
    before = time.monotonic()
    timer = threading.Timer(delay, os.kill, [os.getpid(), signal.SIGINT])
    timer.start()
    try:
        result = pipec.search(ranks=4, microbatches=16, chunks=2, placement="v", cost="F=10,I=13,W=7,p2p=3", memory_limit=5,
                              effort=10000, time="60s")
        assert time.monotonic() - before < 60, "the search ended by its clock"
    except KeyboardInterrupt:
        delay *= 2
        assert delay < 60, "no search began"
assert not result.reproducible and result.schedule.report().makespan == result.makespan >= result.bound

# A search in another thread ends by a call.
results = []
thread = threading.Thread(target=lambda: results.append(
    pipec.search(ranks=4, microbatches=16, chunks=2, placement="v", cost="F=10,I=13,W=7,p2p=3", memory_limit=5, effort=10000)))
thread.start()
time.sleep(delay)
pipec._program.interrupt(thread)
thread.join(60)
assert not thread.is_alive() and (not results or not results[0].reproducible)
pipec._program.interrupt(thread)  # it has ended

# Searches of a comparison end, too.
threading.Timer(delay, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    found = pipec.compare(ranks=4, microbatches=16, cost="F=10,I=13,W=7,p2p=3", memory_limit=5, search=10000, library=False)
    assert any(one.search for one in found)
except KeyboardInterrupt:
    pass  # before there was a result

# Programs in place of the compiler: one that has no result, and one that ignores
# the interrupt until a second one comes.
os.environ["PIPEC"] = os.path.abspath("program")


def interrupted(script):
    with open("program", "w") as file:
        file.write("#!/bin/sh\n" + script)
    os.chmod("program", stat.S_IRWXU)
    before = time.monotonic()

    def send():
        for _ in range(2):
            while not os.path.exists("started"):
                time.sleep(0.01)
            os.remove("started")
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=send, daemon=True).start()
    try:
        pipec.search(ranks=2, microbatches=2)
        raise AssertionError("there is a result")
    except KeyboardInterrupt:
        assert time.monotonic() - before < 60
    with open("process") as file:
        process = int(file.read())
    try:
        os.kill(process, 0)
        raise AssertionError("the process is still there")
    except ProcessLookupError:
        pass


interrupted("echo $$ > process; trap 'exit 1' INT; touch started; while :; do sleep 0.1; done\n")
if os.path.exists("started"):
    os.remove("started")
interrupted("echo $$ > process; trap 'touch started' INT; touch started; while :; do sleep 0.1; done\n")
