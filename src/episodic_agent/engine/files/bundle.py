"""Folders and zip archives: the files in them that may hold talk, and how each is read.

A zip is checked before anything of it is stored: encrypted ones are refused, and so are those that unpack to
more than the limits allow. What is no chat in a folder of chats is counted, and no error.
"""

import re
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.engine.files.opening import ArchiveMember
from episodic_agent.errors import InvalidInput, TooLarge

_ENDINGS: Final = (
    ".json",
    ".jsonl",
    ".ndjson",
    ".txt",
    ".log",
    ".md",
    ".markdown",
    ".csv",
    ".tsv",
    ".vtt",
    ".srt",
    ".mbox",
    ".mbx",
    ".eml",
    ".emlx",
    ".gz",
    "",
)
_HIDDEN: Final = re.compile(r"(?:^|/)(?:\.|__MACOSX/|Thumbs\.db)")
_MAIL: Final = re.compile(r"(?:^|/)(?:cur|new)/[^/]+$")  # of a Maildir: names of any ending
_ENCRYPTED: Final = 1
_SMALL: Final = 16_000_000  # unpacked bytes that do no harm, however well they were packed


@dataclass(frozen=True, slots=True)
class BundledFile:
    """A file of a bundle; `name` is its path there, with slashes."""

    name: str
    file: Path | ArchiveMember

    @property
    def folder(self) -> str:
        """Return the folder it is in, "" for the top."""
        return self.name.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A folder or an archive, with the files in it that may hold talk, in the order of their names."""

    path: Path
    files: tuple[BundledFile, ...]
    limits: IntakeLimits


def is_bundle(path: Path) -> bool:
    """Tell a folder, or a zip archive by its content."""
    return path.is_dir() or (path.is_file() and zipfile.is_zipfile(path) and _begins_as_zip(path))


@contextmanager
def open_bundle(path: Path, limits: IntakeLimits) -> Iterator[Bundle]:
    """Open a folder (with the archives in it) or an archive.

    Raises InvalidInput for one that cannot be read or is encrypted, TooLarge for what unpacks to too much.
    """
    with ExitStack() as stack:
        if path.is_dir():
            files = list(_in_folder(path, stack, limits))
        else:
            files = list(_in_archive(path, "", stack, limits))
        yield Bundle(path, tuple(sorted(files, key=lambda file: file.name)), limits)


def _in_folder(path: Path, stack: ExitStack, limits: IntakeLimits) -> Iterator[BundledFile]:
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path).as_posix()
        if _HIDDEN.search(name) or not file.is_file():
            continue
        if file.suffix.lower() == ".zip" and zipfile.is_zipfile(file):
            yield from _in_archive(file, f"{name}/", stack, limits)
        elif file.suffix.lower() == ".zip" or _may_hold_talk(name):  # a damaged one is counted
            yield BundledFile(name, file)


def _in_archive(path: Path, prefix: str, stack: ExitStack, limits: IntakeLimits) -> Iterator[BundledFile]:
    try:
        archive = stack.enter_context(zipfile.ZipFile(path))
    except (OSError, zipfile.BadZipFile) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
    infos = [i for i in archive.infolist() if not i.is_dir() and not _HIDDEN.search(i.filename)]
    infos = [info for info in infos if _may_hold_talk(info.filename)]
    _check(path, infos, limits)
    for info in infos:
        yield BundledFile(prefix + info.filename, ArchiveMember(archive, path, info.filename))


def _check(path: Path, infos: list[zipfile.ZipInfo], limits: IntakeLimits) -> None:
    """Refuse what the archive's own list says is too much; no more than it says is ever unpacked."""
    if any(info.flag_bits & _ENCRYPTED for info in infos):
        raise InvalidInput(f"{path} is encrypted; unpack it with its password and import the folder")
    if sum(info.file_size for info in infos) > limits.unpacked:
        raise TooLarge(
            f"{path} unpacks to more than {limits.unpacked:,} bytes; divide it, or raise "
            "EPISODIC_UNPACKED_BYTES"
        )
    for info in infos:
        if info.file_size > max(_SMALL, limits.ratio * max(info.compress_size, 1)):
            raise TooLarge(
                f"{info.filename} in {path} unpacks to more than {limits.ratio:,} times its size; "
                "raise EPISODIC_UNPACKED_RATIO if you trust it"
            )


def _may_hold_talk(name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    ending = f".{base.rpartition('.')[2]}" if "." in base else ""
    return ending in _ENDINGS or _MAIL.search(name) is not None


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"PK"
