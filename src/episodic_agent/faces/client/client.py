"""`Client` and `AsyncClient`: the tree of `Memory`, whose verbs ask a service (docs/clients.md)."""

import asyncio
import functools
import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Final, Self, TypeAlias

from episodic_agent.engine.memory import Memory
from episodic_agent.engine.scoped import scope_of
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import (
    Conflict,
    EpisodicError,
    IdTaken,
    InvalidInput,
    KeyRefused,
    NotFound,
    ProviderError,
    StoreUnavailable,
    TooLarge,
    install_extra,
)
from episodic_agent.faces.client.calls import (
    SPECIAL,
    Call,
    HttpCall,
    asked_too,
    missing,
    quoted,
    rooms,
    sendable,
    verbs,
)

try:
    import httpx2
except ImportError as _error:
    raise InvalidInput(f"the client needs an HTTP library; {install_extra('client')}") from _error

URL: Final = "http://127.0.0.1:8765"
TIMEOUT: Final = 60.0  # seconds for an answer
TRIES: Final = 4
LONGEST_WAIT: Final = 30.0  # seconds a server may ask to be waited for
_PIECE: Final = 1 << 16
_PASSING: Final = (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE)
_ERRORS: Final[Mapping[int, type[EpisodicError]]] = {
    400: InvalidInput,
    404: NotFound,
    409: Conflict,
    413: TooLarge,
    422: InvalidInput,
    429: StoreUnavailable,
    502: ProviderError,
    503: StoreUnavailable,
}
Run: TypeAlias = Callable[[Call], Any]
Moment: TypeAlias = str | float | datetime


class _Door:
    """A handle or one of its rooms: attributes are verbs that ask the service."""

    def __init__(self, owner: type, base: str, run: Run, room: str = "") -> None:
        self._owner, self._base, self._run, self._room = owner, base, run, room

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._room}.{name}" if self._room else name
        if not self._room and name in rooms(self._owner):
            return _Door(self._owner, self._base, self._run, name)
        if self._owner is UserMemory and path in SPECIAL:
            return _verb(*SPECIAL[path], self._base, self._run)
        verb = verbs(self._owner).get(path)
        if verb is None:
            raise missing(self._owner, path)
        return _verb(verb.call, verb.function, self._base, self._run)

    def __dir__(self) -> list[str]:
        own = {*verbs(self._owner), *(SPECIAL if self._owner is UserMemory else ())}
        inside = [name.removeprefix(f"{self._room}.") for name in own if name.startswith(f"{self._room}.")]
        return sorted(inside if self._room else [*(n for n in own if "." not in n), *rooms(self._owner)])

    def __repr__(self) -> str:
        return f"<{self._room or 'memory'} at {self._base}>"


def _verb(call: Callable[..., Call], mirrored: Callable[..., Any], base: str, run: Run) -> Callable[..., Any]:
    """Return a verb with the name, signature and documentation of the one it mirrors."""

    @functools.wraps(mirrored)
    def verb(*values: Any, **named: Any) -> Any:
        return run(call(base, *values, **named))

    signature = inspect.signature(mirrored)
    verb.__signature__ = signature.replace(parameters=[*signature.parameters.values()][1:])  # type: ignore[attr-defined]
    return verb


class _UserDoor(_Door):
    """One user's memory at a service: the verbs and rooms of `UserMemory`."""

    def __init__(self, name: str, run: Run, as_of: Moment | None) -> None:
        self.name = scope_of(name, "default").user_id
        self._asked = {} if as_of is None else {"as_of": sendable(as_of, str)}
        asked = self._asked
        super().__init__(
            UserMemory,
            f"/v1/users/{quoted(self.name)}",
            (lambda call: run(asked_too(call, asked))) if asked else run,
        )

    def __dir__(self) -> list[str]:
        return ["as_of", "export", "name", *super().__dir__()]


class RemoteUser(_UserDoor):
    """One user's memory at a service, for programs that wait for an answer."""

    def __init__(self, name: str, client: "Client", as_of: Moment | None = None) -> None:
        super().__init__(name, client._ask, as_of)
        self._client = client

    def as_of(self, moment: "datetime | str | float") -> "RemoteUser":
        """Return the memory as it stood at a moment of record time, to read only; nothing is asked for it."""
        return RemoteUser(self.name, self._client, moment)

    def export(self, *, where: str | None = None) -> Iterator[str]:
        """Return the user's memory as JSON lines, each read as it arrives."""
        asked = self._asked if where is None else {**self._asked, "where": where}
        with self._client._http.stream("GET", f"{self._base}/export", params=asked) as response:
            if response.status_code != HTTPStatus.OK:
                response.read()
                raise error_of(response.status_code, _document(response))
            yield from response.iter_lines()


class AsyncRemoteUser(_UserDoor):
    """One user's memory at a service, for programs with an event loop."""

    def __init__(self, name: str, client: "AsyncClient", as_of: Moment | None = None) -> None:
        super().__init__(name, client._ask, as_of)
        self._client = client

    def as_of(self, moment: "datetime | str | float") -> "AsyncRemoteUser":
        """Return the memory as it stood at a moment of record time, to read only; nothing is asked for it."""
        return AsyncRemoteUser(self.name, self._client, moment)

    async def export(self, *, where: str | None = None) -> AsyncIterator[str]:
        """Return the user's memory as JSON lines, each read as it arrives."""
        asked = self._asked if where is None else {**self._asked, "where": where}
        async with self._client._http.stream("GET", f"{self._base}/export", params=asked) as response:
            if response.status_code != HTTPStatus.OK:
                await response.aread()
                raise error_of(response.status_code, _document(response))
            async for line in response.aiter_lines():
                yield line


class Client(_Door):
    """A memory behind a service, with the verbs, results and errors of `Memory`: `client.user("ana").add(…)`.

    `key` is one that `episodic keys create` made; none is needed on the machine itself where there are
    none. The space is the key's. `timeout` is in seconds. Leave it by `with` or `close()`.
    """

    def __init__(
        self,
        url: str = URL,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        transport: "httpx2.BaseTransport | None" = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        super().__init__(Memory, "/v1", self._ask)
        self._sleep = sleep
        self._http = httpx2.Client(
            base_url=_address(url), headers=_headers(key), timeout=timeout, transport=transport
        )

    def user(self, name: str) -> RemoteUser:
        """Return a user's memory; nothing is asked for it."""
        return RemoteUser(name, self)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, call: Call) -> Any:
        answer = None
        try:
            while True:
                answer = self._send(call.send(answer))
        except StopIteration as result:
            return result.value

    def _send(self, asked: HttpCall) -> Any:
        for left in reversed(range(TRIES)):
            try:
                content = None if asked.file is None else _pieces(asked)
                response = self._http.request(asked.method, asked.path, content=content, **_sent(asked))
            except httpx2.HTTPError as error:
                if not left or not isinstance(error, httpx2.ConnectError):
                    raise unreachable(str(self._http.base_url), error) from error
                self._sleep(_pause(TRIES - left, None))
                continue
            if response.is_success or not left or response.status_code not in _PASSING:
                return _answer(response)
            self._sleep(_pause(TRIES - left, response.headers.get("retry-after")))
        raise AssertionError("the last try returns or raises")


class AsyncClient(_Door):
    """A memory behind a service for programs with an event loop; every verb of `Client`, to be awaited."""

    def __init__(
        self,
        url: str = URL,
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        super().__init__(Memory, "/v1", self._ask)
        self._http = httpx2.AsyncClient(
            base_url=_address(url), headers=_headers(key), timeout=timeout, transport=transport
        )

    def user(self, name: str) -> AsyncRemoteUser:
        """Return a user's memory; nothing is asked for it."""
        return AsyncRemoteUser(name, self)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _ask(self, call: Call) -> Any:
        answer = None
        try:
            while True:
                answer = await self._send(call.send(answer))
        except StopIteration as result:
            return result.value

    async def _send(self, asked: HttpCall) -> Any:
        for left in reversed(range(TRIES)):
            try:
                content = None if asked.file is None else _pieces_later(asked)
                response = await self._http.request(asked.method, asked.path, content=content, **_sent(asked))
            except httpx2.HTTPError as error:
                if not left or not isinstance(error, httpx2.ConnectError):
                    raise unreachable(str(self._http.base_url), error) from error
                await asyncio.sleep(_pause(TRIES - left, None))
                continue
            if response.is_success or not left or response.status_code not in _PASSING:
                return _answer(response)
            await asyncio.sleep(_pause(TRIES - left, response.headers.get("retry-after")))
        raise AssertionError("the last try returns or raises")


def error_of(status: int, problem: Mapping[str, Any]) -> EpisodicError:
    """Return the error of the handle that a problem document stands for."""
    detail = str(problem.get("detail") or f"the service answered {status}")
    if status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.MISDIRECTED_REQUEST):
        return KeyRefused(detail)
    if status == HTTPStatus.CONFLICT and problem.get("retryable") is False:
        return IdTaken(detail)
    return _ERRORS.get(status, EpisodicError)(detail)


def unreachable(url: str, error: Exception) -> StoreUnavailable:
    """Return the error for a service that does not answer."""
    reason = str(error) or type(error).__name__
    return StoreUnavailable(f"no answer from {url} ({reason}); is `episodic serve` running there?")


def _address(url: str) -> str:
    if not url.startswith(("http://", "https://")):
        raise InvalidInput(f"name the service as http(s)://HOST:PORT, not {url!r}")
    return url.rstrip("/")


def _headers(key: str | None) -> Mapping[str, str]:
    if key is None:
        return {}
    if not (key.isascii() and key.isprintable() and key.strip() == key and key):
        raise InvalidInput("the key holds characters no key has; copy it again")
    return {"Authorization": f"Bearer {key}"}


def _sent(asked: HttpCall) -> dict[str, Any]:
    return {"params": dict(asked.asked), "json": asked.body, "headers": dict(asked.headers)}


def _pieces(asked: HttpCall) -> Iterator[bytes]:
    assert asked.file is not None
    with asked.file.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece


async def _pieces_later(asked: HttpCall) -> AsyncIterator[bytes]:
    for piece in _pieces(asked):
        yield piece


def _pause(tried: int, asked: str | None) -> float:
    """Return after how many seconds to try again."""
    wait = float(asked) if asked and asked.isdigit() else 0.0
    return float(min(LONGEST_WAIT, max(wait, 0.2 * 2**tried)))


def _answer(response: "httpx2.Response") -> Any:
    if not response.is_success:
        raise error_of(response.status_code, _document(response))
    return response.json() if response.content else None


def _document(response: "httpx2.Response") -> Mapping[str, Any]:
    try:
        document = response.json()
    except ValueError:
        return {}
    return document if isinstance(document, Mapping) else {}
