"""A file that comes in a form (`curl -F file=@notes.txt`): taken out of it piece by piece."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path
from typing import BinaryIO, Final

from fastapi import HTTPException

_LINE: Final = 1 << 16  # bytes held at a time
_REMEDY: Final = "send one file, as curl -F file=@chat.txt or curl --data-binary @chat.txt"


@dataclass(slots=True)
class _FormPart:
    head: Message
    begin: int
    end: int = 0


def is_form(content_type: str) -> bool:
    """Tell a form with files by its content type.

    >>> is_form("multipart/form-data; boundary=x"), is_form("application/octet-stream")
    (True, False)
    """
    return content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def take_file(body: Path, content_type: str) -> tuple[str, Path]:
    """Return the name of the one file in a form that lies in `body`, and where its content lies now.

    Raises HTTPException (422) with the remedy where there is none, more than one, or a field beside it.
    """
    boundary = _head_of(b"Content-Type: " + content_type.encode("latin-1", "replace")).get_boundary()
    if not boundary:
        raise HTTPException(422, f"the form names no boundary in its content-type; {_REMEDY}")
    with body.open("rb") as stream:
        parts = list(_parts(stream, b"--" + boundary.encode("latin-1", "replace")))
        files = [part for part in parts if part.head.get_filename() is not None]
        fields = [
            str(part.head.get_param("name", "", "content-disposition"))
            for part in parts
            if part.head.get_filename() is None
        ]
        if len(files) != 1:
            held = f"{len(files)} files" if files else "no file"
            raise HTTPException(422, f"the form holds {held}; {_REMEDY}")
        if fields:
            problem = (
                f"{fields[0]!r} is a field of the form; give it in the query, as ?timezone=Europe/Berlin"
            )
            raise HTTPException(422, problem)
        return str(files[0].head.get_filename()), _copied(stream, files[0], body.with_name("part"))


def _head_of(lines: bytes) -> Message:
    return Parser().parsestr(lines.decode("utf-8", "replace") + "\r\n\r\n", headersonly=True)


def _parts(stream: BinaryIO, mark: bytes) -> Iterator[_FormPart]:
    """Yield the parts of a form; each ends before the line end that the next boundary begins after."""
    pattern = re.compile(re.escape(mark) + rb"(--)?[ \t]*\r?\n?")
    part: _FormPart | None = None
    at, tail = 0, b"\n"
    while line := stream.readline(_LINE):
        match = pattern.fullmatch(line) if tail.endswith(b"\n") else None
        if match is not None:
            if part is not None:
                part.end = max(at - (2 if tail == b"\r\n" else 1), part.begin)
                yield part
            at += len(line)
            if match[1]:
                return
            head = b"".join(iter(lambda: stream.readline(_LINE).strip(b"\r\n") + b"\n", b"\n"))
            at = stream.tell()
            part, tail = _FormPart(_head_of(head), at), b"\n"
            continue
        at += len(line)
        tail = (tail + line)[-2:]  # a line may come in two pieces
    raise HTTPException(422, f"the form breaks off before its last boundary; {_REMEDY}")


def _copied(stream: BinaryIO, part: _FormPart, target: Path) -> Path:
    stream.seek(part.begin)
    left = part.end - part.begin
    with target.open("wb") as file:
        while left and (piece := stream.read(min(left, _LINE))):
            file.write(piece)
            left -= len(piece)
    return target
