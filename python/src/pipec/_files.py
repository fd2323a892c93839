"""Files that are written whole or not at all."""
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

from __future__ import annotations

import errno
import os
import shutil
import stat


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Writes text to a file in UTF-8, as `write_bytes` does."""
    write_bytes(path, text.encode())


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Writes a file as the compiler does (lib/Driver/Io.h): under another
    name in the same folder, and then renamed, so that it is unchanged if the disk is
    full. A file that is not regular, has further hard links, or is in a folder that
    does not allow new files is overwritten. Raises PermissionError for a file without
    write permission, whatever the permissions of its folder."""
    import tempfile

    path = os.fspath(path)
    try:
        old = os.stat(path)
    except FileNotFoundError:
        old = None
    if old is not None and not (old.st_mode & 0o222 and os.access(path, os.W_OK)):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)
    target = path
    folder = None
    if (old is None and not path.endswith(os.sep)) or (old is not None and stat.S_ISREG(old.st_mode) and old.st_nlink == 1):
        target = os.path.realpath(path)
        try:
            folder = tempfile.mkdtemp(prefix=".pipec-", dir=os.path.dirname(target))
        except (PermissionError, FileNotFoundError):  # the second: open() below says which folder
            pass
    if folder is None:
        with open(target, "wb") as file:
            file.write(data)
        return
    try:
        beside = os.path.join(folder, "file")
        with open(beside, "wb") as file:
            file.write(data)
        if old is not None:
            shutil.copymode(target, beside)
        os.replace(beside, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
