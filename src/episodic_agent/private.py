"""Files and folders that only their owner may read: what people said is nobody else's business.

Whatever holds text is made here, with mode 0600 (folders 0700, less what the umask forbids). A file that is
there keeps its mode: somebody may have opened it to others on purpose.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, TextIO

FILE: Final = 0o600
FOLDER: Final = 0o700


def make_folder(folder: Path) -> None:
    """Make a folder, and those above it that are missing; raises OSError where that cannot be."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for path in reversed(missing):
        path.mkdir(FOLDER, exist_ok=True)
    if not folder.is_dir():
        folder.mkdir()  # a file stands there: says so


def create(path: Path) -> None:
    """Create an empty file where there is none; one that is there is not even opened.

    Opening it would do harm: closing any descriptor of a file drops all locks of this process on it.
    """
    try:
        os.close(os.open(os.path.realpath(path), os.O_CREAT | os.O_EXCL | os.O_WRONLY, FILE))
    except FileExistsError:
        return


def opened(path: Path) -> BinaryIO:
    """Open a file to write it anew, in bytes."""
    flags = os.O_CREAT | os.O_TRUNC | os.O_WRONLY | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, FILE), "wb")


def write_text(path: Path, text: str) -> None:
    """Write a text, in UTF-8."""
    with opened(path) as file:
        file.write(text.encode("utf-8"))


@contextmanager
def replacing(path: Path) -> Iterator[TextIO]:
    """Write a text file that appears, or changes, only when all of it is written.

    What is no regular file (a pipe, a terminal) is written as it comes.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        with target.open("w", encoding="utf-8") as file:
            yield file
        return
    partial = target.with_name(target.name + ".partial")
    try:
        with TextIOWrapper(opened(partial), encoding="utf-8") as file:
            yield file
        if target.exists():
            partial.chmod(target.stat().st_mode & 0o7777)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
