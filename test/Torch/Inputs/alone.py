"""Tests that measure times and tests that keep all processors busy take turns."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import fcntl
import os
import tempfile


def wait():
    """Waits until no other such test of this user runs. The result must live until the
    end of the test."""
    lock = open(os.path.join(tempfile.gettempdir(), f"pipec-tests-{os.getuid()}.lock"), "w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    return lock
