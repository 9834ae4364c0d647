"""Open a file as text lines: gzip or not, any encoding, undecodable bytes marked instead of fatal.

A byte that is not text in the chosen encoding becomes the mark U+DCFF, which no decoder ever yields by
itself, so that the one record it stands in can be refused while its neighbours are read.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, Final, cast
from zipfile import BadZipFile, ZipFile

from episodic_agent.core.ingest import IntakeLimits
from episodic_agent.errors import InvalidInput, TooLarge

MARK: Final = "\udcff"
SAMPLE: Final = 65_536
_EXCERPT: Final = 80
_SMALL: Final = 16_000_000  # unpacked bytes that do no harm, however well they were packed
NORMAL: Final = IntakeLimits()
_SURROGATES: Final = re.compile("[\ud800-\udfff]")
DAMAGED: Final = (OSError, EOFError, zlib.error, BadZipFile)  # what reading a damaged file raises
_GZIP: Final = b"\x1f\x8b"
_ZIP: Final = b"PK\x03\x04"  # of an archive; a whole one is opened before it comes here
_BOMS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A record that could not be read: its line in the file (from 1), why, and its beginning."""

    line: int
    reason: str
    excerpt: str = ""


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file inside a zip archive that is open; `name` is its path there."""

    archive: ZipFile
    path: Path
    name: str

    def open(self, mode: str = "rb") -> BinaryIO:
        """Open it to be read as bytes."""
        del mode
        return cast(BinaryIO, self.archive.open(self.name))

    def __str__(self) -> str:
        return f"{self.path}/{self.name}"


@dataclass(frozen=True, slots=True)
class Opened:
    """What the first bytes tell: the encoding to use and the first characters as text."""

    path: Path | ArchiveMember
    encoding: str
    sample: str
    limits: IntakeLimits


def _mark(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return MARK, error.end


codecs.register_error("episodic-mark", _mark)


def excerpt(text: str) -> str:
    r"""Shorten a record for a report: one line, at most 80 characters, undecodable bytes as U+FFFD.

    >>> excerpt("a\nb" + chr(0xDCFF))
    'a b\ufffd'
    """
    shown = " ".join(_SURROGATES.sub("\ufffd", text[: 4 * _EXCERPT]).split())
    return shown if len(shown) <= _EXCERPT else shown[: _EXCERPT - 1] + "…"


def inspect(path: Path | ArchiveMember, encoding: str | None = None, limits: IntakeLimits = NORMAL) -> Opened:
    """Read the beginning of a file and settle its encoding: the caller's, else the mark's, else UTF-8.

    Raises InvalidInput when the file cannot be opened or is not text.
    """
    head = _head(path, limits)
    if head.startswith(_ZIP):
        raise InvalidInput(f"{path} is a damaged zip archive; download or copy it again")
    chosen = encoding or next((name for bom, name in _BOMS if head.startswith(bom)), "utf-8")
    try:
        text = codecs.getincrementaldecoder(chosen)("episodic-mark").decode(head)
    except (LookupError, ValueError) as error:
        raise InvalidInput(
            f"unknown encoding {chosen!r}; examples: utf-8, utf-16, latin-1, cp1252"
        ) from error
    if head[:SAMPLE].count(0) and text.count("\0") > len(text) / 20:
        raise InvalidInput(not_text(path))
    return Opened(path, chosen, text[:SAMPLE], limits)


def not_text(path: Path | ArchiveMember) -> str:
    """Say that a file is not text, with the remedy."""
    return f"{path} is not text (or UTF-16 without its mark); convert it to UTF-8 or pass --encoding"


def check_unpacked(path: Path, limits: IntakeLimits) -> None:
    """Unpack a packed file and forget it, before anything of it is stored; raises TooLarge for too much."""
    with suppress(*DAMAGED), binary(path, limits) as stream:
        while isinstance(stream, _Unpacked) and stream.read(SAMPLE * 16):
            pass


def _head(path: Path | ArchiveMember, limits: IntakeLimits) -> bytes:
    head = b""
    try:
        with binary(path, limits) as stream:
            while len(head) < 4 * SAMPLE and (part := stream.read(8192)):
                head += part
    except DAMAGED as error:
        if not head:  # else a damaged archive, whose beginning is worth reading
            raise InvalidInput(f"cannot read {path}: {_why(error)}") from error
    return head


def lines(opened: Opened) -> Iterator[tuple[int, str] | Unreadable]:
    """Stream (line number from 1, line without its end); lines that are not text come as Unreadable."""
    for number, line in raw_lines(opened):
        if isinstance(line, Unreadable):
            yield line
        elif MARK in line:
            yield Unreadable(number, undecodable(opened.encoding), excerpt(line))
        else:
            yield number, line


def raw_lines(opened: Opened) -> Iterator[tuple[int, str | Unreadable]]:
    """Stream numbered lines with undecodable bytes marked; a damaged archive ends with one Unreadable."""
    number, longest = 0, opened.limits.line
    try:
        with binary(opened.path, opened.limits) as stream, _text(stream, opened.encoding) as text:
            while line := text.readline(longest):
                number += 1
                if len(line) < longest:
                    yield number, line.removesuffix("\n")
                    continue
                shown = excerpt(line)
                while line and not line.endswith("\n"):
                    line = text.readline(SAMPLE)
                yield number, Unreadable(number, f"the line is {opened.limits.too_long}", shown)
    except DAMAGED as error:
        yield number + 1, Unreadable(number + 1, f"the file ends here: {_why(error)}")


def pieces(opened: Opened) -> Iterator[str]:
    """Stream a file that is one document (JSON) in pieces, undecodable bytes marked.

    A damaged archive gives what could be unpacked; the document then breaks off there.
    """
    nothing = True
    try:
        with binary(opened.path, opened.limits) as stream, _text(stream, opened.encoding) as text:
            while part := text.read(SAMPLE):
                nothing = False
                yield part
    except DAMAGED as error:
        if nothing:
            raise InvalidInput(f"cannot read {opened.path}: {_why(error)}") from error


def undecodable(encoding: str) -> str:
    """Say that a record is not text in this encoding, with the remedy."""
    name = encoding.upper().removesuffix("-SIG")
    return f"not valid {name}; convert the file to UTF-8 or pass --encoding"


@contextmanager
def binary(path: Path | ArchiveMember, limits: IntakeLimits) -> Iterator[BinaryIO]:
    """Open a file as bytes, unpacked where it is packed."""
    with path.open("rb") as raw:
        packed = raw.read(2) == _GZIP  # by content: a name may lie
        raw.seek(0)
        if not packed:
            yield raw
            return
        with _Unpacked(raw, path, limits) as unpacked:
            yield cast(BinaryIO, unpacked)


class _Unpacked(gzip.GzipFile):
    """A packed file that refuses to become larger than the limits; whoever packed it may mean harm."""

    def __init__(self, raw: BinaryIO, path: Path | ArchiveMember, limits: IntakeLimits) -> None:
        super().__init__(fileobj=raw)
        self._raw, self._path, self._limits = raw, path, limits
        self._size = 0

    def read(self, size: int | None = -1) -> bytes:
        return self._counted(super().read(size))

    def read1(self, size: int = -1) -> bytes:
        return self._counted(super().read1(size))

    def _counted(self, part: bytes) -> bytes:
        self._size += len(part)
        packed, limits = self._raw.tell(), self._limits
        if self._size > limits.unpacked:
            raise TooLarge(
                f"{self._path} unpacks to more than {limits.unpacked:,} bytes; divide it, or raise "
                "EPISODIC_UNPACKED_BYTES"
            )
        if self._size > _SMALL and self._size > limits.ratio * packed:
            raise TooLarge(
                f"{self._path} unpacks to {self._size // packed:,} times its size or more, "
                f"more than {limits.ratio:,} times; raise EPISODIC_UNPACKED_RATIO if you trust it"
            )
        return part


@contextmanager
def _text(stream: BinaryIO, encoding: str) -> Iterator[TextIOWrapper]:
    text = TextIOWrapper(stream, encoding, errors="episodic-mark")
    try:
        yield text
    finally:
        text.detach()  # the stream is closed by its opener


def _why(error: Exception) -> str:
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    return f"{reason[0].lower()}{reason[1:]}".rstrip(".")
