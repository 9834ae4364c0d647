"""Folders and zip archives: the files in them that may hold talk, and how each is read.

A zip is checked before anything of it is stored: encrypted ones are refused, and so are those that unpack to
more than the limits allow, with the zips in them. In a folder or a zip, a zip that is encrypted or damaged is
reported and the rest is read. What is no chat in a folder of chats is counted, and no error.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import copyfileobj
from tempfile import SpooledTemporaryFile
from typing import IO, Final
from zipfile import ZipFile, ZipInfo, is_zipfile

from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.engine.files.opening import DAMAGED, ArchiveMember
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
_UNPACK: Final = "unpack it and import its files, or pack them again, without a password"
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
    """A folder or an archive, with the files in it that may hold talk, in the order of their names.

    `closed` are the archives in it that cannot be opened, each with why and the remedy.
    """

    path: Path
    files: tuple[BundledFile, ...]
    limits: IntakeLimits
    closed: Mapping[str, str] = field(default_factory=dict)


def is_bundle(path: Path) -> bool:
    """Tell a folder, or a zip archive by its content."""
    return path.is_dir() or (path.is_file() and is_zipfile(path) and _begins_as_zip(path))


@contextmanager
def open_bundle(path: Path, limits: IntakeLimits) -> Iterator[Bundle]:
    """Open a folder (with the archives in it) or an archive (with those in it).

    Raises InvalidInput for an archive that cannot be read or is encrypted, TooLarge for what unpacks to too
    much.
    """
    with ExitStack() as stack:
        unpacking = _Unpacking(stack, limits)
        files = list(unpacking.folder(path) if path.is_dir() else unpacking.archive(path, path, ""))
        files.sort(key=lambda file: file.name)
        yield Bundle(path, tuple(files), limits, unpacking.closed)


class _Unpacking:
    """Opens what a bundle holds; `closed` says by their names why archives in it stay closed."""

    def __init__(self, stack: ExitStack, limits: IntakeLimits) -> None:
        self._stack = stack
        self._limits = limits
        self._size = 0  # of what an archive unpacks to, with all archives in it
        self.closed: dict[str, str] = {}

    def folder(self, path: Path) -> Iterator[BundledFile]:
        """Yield the files of a folder, and of the archives in it."""
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path).as_posix()
            if _HIDDEN.search(name) or not file.is_file():
                continue
            if _is_zip(name):
                self._size = 0
                yield from self._opened(file, file, name)
            elif _may_hold_talk(name):
                yield BundledFile(name, file)

    def archive(self, path: Path, file: Path | IO[bytes], prefix: str) -> Iterator[BundledFile]:
        """Yield the files of an archive, which `path` tells in errors, and of those in it."""
        try:
            archive = self._stack.enter_context(ZipFile(file))
        except DAMAGED as error:
            raise InvalidInput(f"{path} is a damaged zip archive; download or copy it again") from error
        infos = [i for i in archive.infolist() if not i.is_dir() and not _HIDDEN.search(i.filename)]
        infos = [info for info in infos if _is_zip(info.filename) or _may_hold_talk(info.filename)]
        self._check(path, infos)
        for info in infos:
            if not _is_zip(info.filename):
                yield BundledFile(prefix + info.filename, ArchiveMember(archive, path, info.filename))
            elif isinstance(file, Path):
                yield from self._inner(archive, info, path, prefix)
            else:
                self.closed[prefix + info.filename] = f"is an archive too deep in others; {_UNPACK}"

    def _inner(self, archive: ZipFile, info: ZipInfo, path: Path, prefix: str) -> Iterator[BundledFile]:
        """Yield the files of an archive in an archive, which is unpacked: it must be read from its end."""
        name = prefix + info.filename
        unpacked = self._stack.enter_context(SpooledTemporaryFile(max_size=_SMALL))  # noqa: SIM115
        try:
            with archive.open(info) as packed:
                copyfileobj(packed, unpacked)
        except (*DAMAGED, NotImplementedError):
            self.closed[name] = "is damaged; download or copy it again"
            return
        yield from self._opened(path / info.filename, unpacked, name)

    def _opened(self, path: Path, file: Path | IO[bytes], name: str) -> Iterator[BundledFile]:
        """Yield the files of an archive in a bundle; one that stays closed costs only itself."""
        try:
            yield from self.archive(path, file, f"{name}/")
        except TooLarge:
            raise
        except InvalidInput as error:
            self.closed[name] = str(error).removeprefix(f"{path} ")

    def _check(self, path: Path, infos: list[ZipInfo]) -> None:
        """Refuse what the archive's own list says is too much; no more than it says is ever unpacked."""
        if any(info.flag_bits & _ENCRYPTED for info in infos):
            raise InvalidInput(f"{path} is encrypted; {_UNPACK}")
        limits = self._limits
        self._size += sum(info.file_size for info in infos)
        if self._size > limits.unpacked:
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


def _is_zip(name: str) -> bool:
    return name.lower().endswith(".zip")


def _may_hold_talk(name: str) -> bool:
    base = name.rpartition("/")[2].lower()
    ending = f".{base.rpartition('.')[2]}" if "." in base else ""
    return ending in _ENDINGS or _MAIL.search(name) is not None


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"PK"
