"""Files that are written whole or not at all."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import os
import shutil


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes ASCII text to a file, as `write_bytes` does."""
    write_bytes(path, text.encode("ascii"))


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file. It is written beside the file and then takes
    its name, so that a disk that is full leaves the file as it was. In place are
    written what is not a regular file, and a file in a folder that takes no new
    ones."""
    import tempfile

    target = os.path.realpath(path)
    if os.path.exists(target) and not os.path.isfile(target):
        folder = None
    else:
        try:
            folder = tempfile.mkdtemp(prefix=".pipec-", dir=os.path.dirname(target))
        except (PermissionError, FileNotFoundError):  # the second: open() below says which folder
            folder = None
    if folder is None:
        with open(target, "wb") as file:
            file.write(data)
        return
    try:
        beside = os.path.join(folder, "file")
        with open(beside, "wb") as file:
            file.write(data)
        if os.path.exists(target):
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
