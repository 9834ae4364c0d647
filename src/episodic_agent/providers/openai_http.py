"""What every OpenAI-compatible endpoint needs: sending, trying again, giving up, and errors of one line.

Imported only where a model on a server is asked for: the HTTP client is an extra.
"""

import json
import logging
import os
import random
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from typing import Final

import httpx2

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput, ProviderError, ProviderRefused, ProviderUnavailable

log = logging.getLogger(__name__)
DEFAULT_URL: Final = "https://api.openai.com/v1"
PREFIX: Final = "openai:"
FIRST_WAIT: Final = 0.5  # seconds, doubled at each try
LONGEST_WAIT: Final = 20.0  # a server that asks for more is as good as away: somebody waits for an answer
LONGEST_REFUSED: Final = 3600.0  # seconds after which a key that was refused is tried again: it may be mended
LONGEST_AWAY: Final = 300.0  # seconds a server may ask to be left alone; it is asked again then
CONNECT: Final = 5.0  # seconds
MOST_BYTES: Final = 64 << 20  # of an answer: no model says more, but a broken server may
_SHOWN: Final = 160  # characters of a server's own words in a message
_PASSING: Final = (408, 409, 425, 429)
_OF_THE_KEY: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.PAYMENT_REQUIRED)  # whatever it is used for
_EVERYBODY: Final = ""  # in place of a stage


@dataclass(frozen=True, slots=True)
class Patience:
    """How often is asked, how long an answer may take as a whole, and for how long who failed is left alone.

    Times in seconds.
    """

    tries: int
    timeout: float
    away: float


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """What a server answered, whatever its status."""

    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        """Tell whether the request was done."""
        return 200 <= self.status < 300


class Refusals:
    """Which keys were refused, where and what for, for as long as nobody need ask again. Thread safe."""

    def __init__(self, ticks: Callable[[], float] = time.monotonic) -> None:
        self._ticks = ticks
        self._warned: dict[tuple[str, ...], tuple[float, str]] = {}

    def note(self, what: tuple[str, ...], why: str) -> None:
        """Remember a refusal, and say so once in the log."""
        if not self.of(what):
            log.warning("%s; not asked again for %d minutes, or until restarted", why, LONGEST_REFUSED // 60)
        self._warned[what] = (self._ticks() + LONGEST_REFUSED, why)

    def of(self, what: tuple[str, ...]) -> str:
        """Return why a key was refused, "" where it was not, or long ago."""
        until, why = self._warned.get(what, (0.0, ""))
        return why if self._ticks() < until else ""


refusals: Final = Refusals()  # of this process: another model with the same key is refused as well


class ApiServer:
    """One base URL with its key: requests in JSON, tried again where that may help.

    `name` is the model's, for messages. Nothing is sent before the first `post`. Thread safe; after a fork
    the child makes connections of its own. What makes one `stage` fail (a timeout, an error of the server)
    keeps that stage away for a while; what concerns the server or its key keeps all of them away.
    """

    def __init__(
        self,
        name: str,
        path: str,
        *,
        base_url: str = DEFAULT_URL,
        api_key: str = "",
        patience: Patience,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep where requests go; an empty key sends none. Raises InvalidInput for an unusable URL or key."""
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput(f"EPISODIC_OPENAI_BASE_URL must be an http(s):// address, not {base_url!r}")
        self.name = name
        self._url = base_url.rstrip("/") + path
        self.shown = re.sub(r"//[^/]*@", "//***@", self._url)
        self._key = api_key.strip()
        if not (self._key.isascii() and (self._key.isprintable() or not self._key)):
            # Sent as it is, it would come back in an error that shows it.
            raise InvalidInput("EPISODIC_OPENAI_API_KEY holds characters no key has; copy it again")
        self._patience = patience
        self._sleep = sleep
        self._away: dict[str, tuple[float, str]] = {}  # by stage
        place = self._url.removesuffix(path), self._key
        self._refusable = (place, (*place, name))
        self.renew()
        _renewed.add(self)

    def renew(self) -> None:
        """Forget connections without closing them: a child process must not touch its parent's."""
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None

    def post(
        self, body: Mapping[str, object], *, timeout: float | None = None, stage: str = _EVERYBODY
    ) -> HttpAnswer:
        """Send a request, again where trying again may help; ProviderUnavailable when it does not.

        `timeout` (seconds, for this request) replaces the usual one. Raises ProviderRefused, and sends
        nothing, where the key was refused a while ago.
        """
        self._check(stage)
        seconds = self._patience.timeout if timeout is None else timeout
        problem, wait, failing, late = "", 0.0, stage, False
        for attempt in range(self._patience.tries):
            if attempt:
                # Jitter: workers that failed together must not come back together.
                self._sleep(max(wait, FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)))
            try:
                answer = self._send(body, seconds)
            except httpx2.TimeoutException:
                # Not again: somebody waits, and a server that is overloaded is not helped by more.
                problem, wait, late = f"no answer in {seconds:g} s", 0.0, True
                break
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                problem, wait = str(error) or type(error).__name__, 0.0
                failing = _EVERYBODY if isinstance(error, httpx2.ConnectError) else stage
                continue
            if not passes(answer):
                return answer
            problem, wait = described(answer), asked_to_wait(answer)
            failing = stage
            if wait > LONGEST_WAIT:  # it asked to be left alone, by whomever
                problem, failing = f"{problem}, again in {wait:.0f} s", _EVERYBODY
                break
        raise self._give_up(problem, wait, failing, late=late)

    def _check(self, stage: str) -> None:
        for what in self._refusable:
            if why := refusals.of(what):
                raise ProviderRefused(why, sent=False)
        for text in (stage, _EVERYBODY):
            until, why = self._away.get(text, (0.0, ""))
            if time.monotonic() < until:
                raise ProviderUnavailable(why)

    def _send(self, body: Mapping[str, object], seconds: float) -> HttpAnswer:
        """Send once; the whole answer must be there in time, however slowly it drips."""
        client = self._connected()
        deadline = time.monotonic() + seconds
        limits = httpx2.Timeout(seconds, connect=min(CONNECT, seconds))
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        with client.stream("POST", self._url, json=body, headers=headers, timeout=limits) as response:
            held = bytearray()
            for piece in response.iter_bytes():
                held += piece
                if time.monotonic() > deadline:
                    raise httpx2.ReadTimeout("the answer drips", request=response.request)
                if len(held) > MOST_BYTES:
                    raise httpx2.ReadError("the answer does not end", request=response.request)
            return HttpAnswer(response.status_code, response.headers, bytes(held))

    def _give_up(self, problem: str, wait: float, stage: str, *, late: bool) -> ProviderUnavailable:
        line = one_line(f"{self.name} cannot be reached at {self.shown} ({problem}); is the server up?")
        asked_for = min(wait, LONGEST_AWAY) if wait > LONGEST_WAIT else 0.0
        self._away[stage] = time.monotonic() + max(self._patience.away, asked_for), line
        return ProviderUnavailable(line, late=late)

    def refused(self, answer: HttpAnswer, allowed: str) -> ProviderError:
        """Return the error for an answer that is a refusal; `allowed` names what a server may not allow.

        That of a key or an account is remembered: of a key it holds for every model, where the key may
        not do what was asked (403) or has no quota left, for this one.
        """
        text = described(answer)
        match answer.status:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                remedy = "set EPISODIC_OPENAI_API_KEY to a key that may use it"
            case HTTPStatus.PAYMENT_REQUIRED:
                remedy = "the account has nothing left to pay with; add to it or use another key"
            case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED:
                remedy = f"check the model's name and EPISODIC_OPENAI_BASE_URL (asked: {self.shown})"
            case HTTPStatus.TOO_MANY_REQUESTS:
                remedy = "the account's quota is spent; add to it or use another key"
            case code if 300 <= code < 400:
                remedy = "set EPISODIC_OPENAI_BASE_URL to where it leads"
            case _:
                remedy = f"see what the server allows ({allowed})"
        line = one_line(f"{self.name} was refused ({text}); {remedy}")
        if answer.status not in (*_OF_THE_KEY, HTTPStatus.FORBIDDEN, HTTPStatus.TOO_MANY_REQUESTS):
            return ProviderError(line)
        every, this = self._refusable
        refusals.note(every if answer.status in _OF_THE_KEY else this, line)
        return ProviderRefused(line)

    def _connected(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                self._client = httpx2.Client()
            return self._client


class ModelSlots:
    """How many calls may be under way at once, over all models of a process that share this object."""

    def __init__(self, count: int) -> None:
        """Take `count` from 1; raises InvalidInput."""
        if count < 1:
            raise InvalidInput(f"EPISODIC_LLM_CONCURRENCY must be 1 or more, not {count}")
        self.count = count
        self.renew()
        _renewed.add(self)

    def renew(self) -> None:
        """Make all places free: in a child process nobody is left who would give them back."""
        self._free = threading.BoundedSemaphore(self.count)

    @contextmanager
    def slot(self, patience: float) -> Iterator[None]:
        """Hold a place; ProviderUnavailable when none is free within `patience` seconds."""
        free = self._free  # a fork inside the block makes a new one
        if not free.acquire(timeout=patience):
            raise ProviderUnavailable(
                f"{plural(self.count, 'call to a language model was', 'calls to language models were')} "
                f"under way for {patience:g} s; "
                "try again, or raise EPISODIC_LLM_CONCURRENCY"
            )
        try:
            yield
        finally:
            free.release()


_renewed: "weakref.WeakSet[ApiServer | ModelSlots]" = weakref.WeakSet()


def _after_fork() -> None:
    for item in list(_renewed):
        item.renew()


if hasattr(os, "register_at_fork"):  # elsewhere nothing forks
    os.register_at_fork(after_in_child=_after_fork)


def model_in(name: str) -> tuple[str, str]:
    """Split `openai:MODEL?query` into model and query; InvalidInput where there is no model.

    >>> model_in("openai:gpt-4o-mini"), model_in("openai:small:v1?dimensions=8")
    (('gpt-4o-mini', ''), ('small:v1', 'dimensions=8'))
    """
    model, _, query = name.removeprefix(PREFIX).partition("?")
    if not model.strip() or model != model.strip() or not model.isprintable():
        raise InvalidInput(f"{name!r} names no model; write openai:MODEL")
    return model, query


def retry_after(header: str | None, date: str | None = None) -> float:
    """Return the seconds a `Retry-After` header asks to wait, 0 without a usable one.

    A moment is read against the answer's own `Date`, so that the clocks of two machines need not agree.

    >>> retry_after("2"), retry_after("soon")
    (2.0, 0.0)
    >>> retry_after("Wed, 21 Oct 2015 07:28:05 GMT", "Wed, 21 Oct 2015 07:28:00 GMT")
    5.0
    """
    try:
        seconds = float(header or "0")
    except ValueError:
        then, now = (parsedate_tz(text or "") for text in (header, date))
        seconds = float(mktime_tz(then) - mktime_tz(now)) if then and now else 0.0
    return max(seconds, 0.0) if seconds < float("inf") else 0.0


def asked_to_wait(answer: HttpAnswer) -> float:
    """Return how many seconds a server wants to be left alone."""
    return retry_after(answer.headers.get("retry-after"), answer.headers.get("date"))


def passes(answer: HttpAnswer) -> bool:
    """Tell whether the same request may succeed later. A spent quota answers 429 too, and does not."""
    return (answer.status in _PASSING or answer.status >= 500) and b"insufficient_quota" not in answer.content


def described(answer: HttpAnswer) -> str:
    """Return an answer's status and what the server says about it."""
    return f"{answer.status} {complaint(answer)}".strip()


def complaint(answer: HttpAnswer) -> str:
    """Return what a server says is wrong, "" where it says nothing.

    >>> complaint(HttpAnswer(400, {}, b'{"error": {"message": "no such model"}}'))
    'no such model'
    """
    try:
        loads = json.loads(answer.content)
        inner = loads.get("error", loads) if isinstance(loads, dict) else loads
        text = inner.get("message", "") if isinstance(inner, dict) else inner
    except (ValueError, RecursionError):
        text = ""
    return text if isinstance(text, str) else ""


def one_line(text: str) -> str:
    """Keep a server's words from breaking out of a line or filling a screen.

    >>> one_line("no such" + chr(10) + "  model")
    'no such model'
    """
    line = " ".join(text.split())
    return line if len(line) <= 2 * _SHOWN else line[: 2 * _SHOWN - 1] + "…"
