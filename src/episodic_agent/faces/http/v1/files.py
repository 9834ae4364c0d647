"""Files of a user: a memory as JSON lines that stream out, chats and exports that stream in."""

import asyncio
import re
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import Parser
from functools import partial
from pathlib import Path as FilePath
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from time import monotonic
from typing import Annotated, Any, BinaryIO, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.types import Receive, Scope, Send

from episodic_agent.engine.jobs.operations import Operation, by_its_name
from episodic_agent.engine.results import ImportReport
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.guard import SLOWEST
from episodic_agent.faces.http.v1.asking import (
    AS_OF,
    PREFIX,
    adding_to,
    answered,
    for_http,
    memory_of,
    name_in_path,
    needs,
    v1_router,
)
from episodic_agent.faces.http.v1.nouns import noun_model
from episodic_agent.schemas.keys import Role
from episodic_agent.showing import plain

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


def take_file(body: FilePath, content_type: str) -> tuple[str, FilePath]:
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


def _copied(stream: BinaryIO, part: _FormPart, target: FilePath) -> FilePath:
    stream.seek(part.begin)
    left = part.end - part.begin
    with target.open("wb") as file:
        while left and (piece := stream.read(min(left, _LINE))):
            file.write(piece)
            left -= len(piece)
    return target


LINES: Final = "application/x-ndjson"
LARGEST_FILE: Final = 1 << 30  # bytes of an import
LEAST: Final = 4096  # bytes a second, after the first seconds: a place is not held by dripping
_UPLOAD: Final = "upload.jsonl"
_FORM: Final = {"type": "object", "properties": {"file": {"type": "string", "format": "binary"}}}
_BODIES: Final = {
    "application/octet-stream": {"schema": {"type": "string"}},
    "multipart/form-data": {"schema": _FORM},
}


def streams(scope: Scope) -> bool:
    """Tell whether a request's body is read piece by piece, not held whole in memory: an import's."""
    path: str = scope["path"]
    return scope["method"] == "POST" and path.startswith(f"{PREFIX}/users/") and path.endswith("/import")


def file_routes(largest: int) -> APIRouter:
    """Return the routes of import and export; `largest` bounds a file in bytes."""
    router = v1_router("memory")
    lines = {200: {"description": "JSON lines", "content": {LINES: {"schema": {"type": "string"}}}}}

    @router.get(
        "/users/{user}/export",
        response_class=StreamingResponse,
        responses=lines,  # type: ignore[arg-type]
        operation_id="export",
        dependencies=[Depends(needs(Role.READ))],
        openapi_extra={"x-role": "read", "x-verb": "export"},
    )
    def export(
        request: Request,
        user: Annotated[str, Path(min_length=1)],
        where: Annotated[str | None, Query(description="Only threads about this: tag=memory.")] = None,
        as_of: Annotated[str | None, Query(description=AS_OF)] = None,
    ) -> Response:
        """Return the user's memory as JSON lines that import takes back without loss, line by line."""
        memory = memory_of(request).user(name_in_path("user", user))
        exported = (memory if as_of is None else memory.as_of(as_of)).export(where=where)
        return LinesResponse(exported)

    _add_import(router, largest)
    return router


_Source = Annotated[
    str | None, Query(description="Your own name for where the messages are from: ids are told apart by it.")
]
_Began = Annotated[str | None, Query(description="When a meeting began whose captions do not say it.")]

_Me = Annotated[
    list[str] | None, Query(description="What the user is called there: names, addresses, accounts.")
]
_Speaker = Annotated[str | None, Query(description="Which key of JSON messages says who spoke.")]


def _add_import(router: APIRouter, largest: int) -> None:
    @router.post(
        "/users/{user}/import",
        response_model=noun_model(ImportReport),
        responses={202: {"model": noun_model(Operation), "description": "With `wait=false`: follow it"}},
        operation_id="import_file",
        dependencies=[Depends(needs(Role.WRITE))],
        openapi_extra={
            "x-role": "write",
            "x-verb": "import_file",
            "requestBody": {"required": True, "content": _BODIES},
        },
    )
    async def import_file(
        request: Request,
        user: Annotated[str, Path(min_length=1)],
        *,
        name: Annotated[str | None, Query(description="The file's name, which may title the chat.")] = None,
        source: _Source = None,
        encoding: Annotated[str | None, Query(description="Of a text; UTF-8 unless it says so.")] = None,
        timezone: Annotated[str | None, Query(description="Of times without one: Europe/Berlin.")] = None,
        dates: Annotated[str | None, Query(description="The order of numeric dates: dmy, mdy, ymd.")] = None,
        began: _Began = None,
        me: _Me = None,
        speaker: _Speaker = None,
        dry_run: Annotated[bool, Query(description="Store nothing, tell what would come.")] = False,
        wait: Annotated[bool, Query(description="Answer when it is done; false: an operation.")] = True,
    ) -> Response:
        """Import a chat file or an export, sent as the body; sending it again adds nothing.

        A form with one file does as well (`curl -F file=@chat.txt`); its name is the file's. With
        `wait=false` this answers once the file is here, by an operation of which `Location` tells the state.
        """
        whose = name_in_path("user", user)
        memory = adding_to(request, user)
        how: dict[str, Any] = {"source": source, "encoding": encoding, "timezone": timezone, "dates": dates}
        how |= {"began": began, "me": me, "speaker": speaker}
        if dry_run and not wait:
            raise InvalidInput("a `dry_run` stores nothing that could be followed: leave `wait=false` out")
        with ExitStack() as stack:
            folder = mkdtemp(prefix="episodic-import-")
            deleted = stack.callback(partial(rmtree, folder, ignore_errors=True))
            body = FilePath(folder) / "body"
            await _save(request, body, largest)
            target = await run_in_threadpool(_file, body, request.headers.get("content-type", ""), name)
            if wait:
                try:
                    report = await run_in_threadpool(memory.import_file, target, dry_run=dry_run, **how)
                except InvalidInput as error:
                    raise type(error)(by_its_name(str(error), target)) from error
                if report.unreadable and not report.observations:
                    raise HTTPException(422, _nothing_read(report))
                unreadable, notes = [*map(for_http, report.unreadable)], [*map(for_http, report.notes)]
                return answered(request, plain(replace(report, unreadable=unreadable, notes=notes)))
            operation = await run_in_threadpool(memory.jobs.import_file, target, then=deleted, **how)
            stack.pop_all()  # the operation deletes it
        response = answered(request, plain(operation))
        response.status_code = 202
        response.headers["Location"] = f"{PREFIX}/users/{quote(whose, safe='')}/operations/{operation.id}"
        return response


def _file(body: FilePath, content_type: str, name: str | None) -> FilePath:
    """Return the file that came as a body or in a form, by its own name; refuse one that holds nothing."""
    held = body
    if is_form(content_type):
        called, held = take_file(body, content_type)
        name = name or called
    if not held.stat().st_size:
        raise HTTPException(422, "the file is empty; send its content, as curl --data-binary @chat.txt")
    folder = body.parent / "file"
    folder.mkdir()
    return held.rename(folder / _file_name(name or _UPLOAD))


def _nothing_read(report: ImportReport) -> str:
    more = len(report.unreadable) - 1
    return f"nothing of it can be read: {report.unreadable[0]}" + (f" (and {more:,} more)" if more else "")


def _file_name(name: str) -> str:
    """Return a file's name as it may be written in a folder.

    >>> _file_name("../../chat.json"), _file_name("..")
    ('chat.json', 'upload.jsonl')
    """
    base = re.sub(r"[^\w.() &'-]+", "_", re.split(r"[/\\]", name)[-1])[-100:].strip(".")
    return base or _UPLOAD


class LinesResponse(StreamingResponse):
    """Lines as they are made, whose making ends with the answer however that ends.

    What makes them reads in a transaction. Left to itself it stays open where the client goes away, takes
    nothing more or the server ends, and nothing that is erased leaves the file while somebody reads in it.
    """

    media_type = LINES

    def __init__(self, lines: Iterator[str]) -> None:
        self._lines = lines
        self._making = Lock()  # a request that is cancelled leaves the thread that makes a line behind
        super().__init__(self._one_by_one())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the lines, then end the read."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            # given to a thread before anything is awaited: a server that ends cancels this too
            await asyncio.shield(asyncio.get_running_loop().run_in_executor(None, self._end))

    def _one_by_one(self) -> Iterator[str]:
        while (line := self._next()) is not None:
            yield line

    def _next(self) -> str | None:
        with self._making:
            line = next(self._lines, None)
        return line if line is None or line.endswith("\n") else f"{line}\n"

    def _end(self) -> None:
        with self._making:
            if isinstance(self._lines, Generator):
                self._lines.close()


async def _save(request: Request, target: FilePath, largest: int) -> None:
    """Write a body to a file as it arrives; refuse one that is too large, stands still or drips."""
    size, pieces, begun = 0, request.stream().__aiter__(), monotonic()
    with target.open("wb") as file:
        while True:
            try:
                piece = await asyncio.wait_for(anext(pieces), SLOWEST)
            except StopAsyncIteration:
                return
            except TimeoutError:
                raise HTTPException(408, f"nothing came for {SLOWEST:g} s; send the file again") from None
            size += len(piece)
            if size > largest:
                raise HTTPException(413, f"the file is larger than {largest} bytes; send it in parts")
            if monotonic() - begun > SLOWEST + size / LEAST:
                raise HTTPException(408, f"it comes with less than {LEAST} bytes a second; send it faster")
            file.write(piece)
