"""Embed texts through any OpenAI-compatible `/v1/embeddings` endpoint: a hosted one or one's own.

Imported only where such an embedder is asked for: its HTTP client is an extra.
"""

import json
import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from email.utils import mktime_tz, parsedate_tz
from http import HTTPStatus
from typing import Any, Final

import httpx2
import numpy as np
from numpy.typing import NDArray

from episodic_agent.errors import BadReply, InvalidInput, ProviderError, ProviderUnavailable

DEFAULT_URL: Final = "https://api.openai.com/v1"
PREFIX: Final = "openai:"
BATCH_TEXTS: Final = 64
BATCH_CHARACTERS: Final = 60_000
"""At most so much in one request: servers refuse more than 300,000 tokens, a CJK character may be two."""
MAX_CHARACTERS: Final = 6_000
"""Longer texts are cut: models of 8,192 tokens refuse them whole. The engine's windows are far shorter."""
TRIES: Final = 4
FIRST_WAIT: Final = 0.5  # seconds, doubled at each try
LONGEST_WAIT: Final = 20.0  # a server that asks for more is as good as away: somebody waits for an answer
CONNECT: Final = 5.0  # seconds
TIMEOUT: Final = 60.0  # a server of one's own may need half a second a text
AWAY: Final = 5.0
"""Seconds in which a server that was given up is not asked again: a caller may go on without vectors."""
_SHOWN: Final = 160  # characters of a server's own words in a message
_TOO_MUCH: Final = (413, 422)  # some servers answer so to more texts than they take at once
_PASSING: Final = (408, 409, 425, 429)

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is sent at once and how long an answer is waited for; times in seconds."""

    texts: int = BATCH_TEXTS
    characters: int = BATCH_CHARACTERS
    tries: int = TRIES
    timeout: float = TIMEOUT
    away: float = AWAY


class OpenAIEmbedder:
    """Embed texts as unit vectors by a model on a server.

    The name is `openai:MODEL`, with `?dimensions=N` where the caller chose N: it is what stored vectors are
    known by, whichever server computed them. Nothing is sent before the first `embed`. Thread safe.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str = DEFAULT_URL,
        api_key: str = "",
        dimensions: int | None = None,
        limits: Limits | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep where the model is; an empty key sends none. Raises InvalidInput for an unusable URL."""
        if not base_url.startswith(("http://", "https://")):
            raise InvalidInput(f"EPISODIC_OPENAI_BASE_URL must be an http(s):// address, not {base_url!r}")
        self.name = f"{PREFIX}{model}" + (f"?dimensions={dimensions}" if dimensions else "")
        self._model = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._shown = re.sub(r"//[^/]*@", "//***@", self._url)
        self._key = api_key.strip()
        if not (self._key.isascii() and (self._key.isprintable() or not self._key)):
            # Sent as it is, it would come back in an error that shows it.
            raise InvalidInput("EPISODIC_OPENAI_API_KEY holds characters no key has; copy it again")
        self._asked = dimensions
        self._known = dimensions
        self._limits = limits or Limits()
        self._sleep = sleep
        self._lock = threading.Lock()
        self._client: tuple[int, httpx2.Client] | None = None
        self._away: tuple[float, str] = (0.0, "")

    @property
    def dimensions(self) -> int:
        """Return the vectors' dimensions; where nothing was embedded yet, the server is asked once."""
        if self._known is None:
            self.embed(["dimensions"])
        if self._known is None:  # an answer of the right number always has a width
            raise BadReply(f"{self.name} gave no vector")
        return self._known

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: float32 [n, dimensions], rows of length 1, or 0 for a blank text (which is not sent).

        Raises ProviderUnavailable when the server cannot be reached or is too busy, BadReply for an answer
        that cannot be used, ProviderError when it refuses key, model or request.
        """
        said = [n for n, text in enumerate(texts) if text.strip()]
        rows: list[Vectors] = []
        for group in batches([min(len(texts[n]), MAX_CHARACTERS) for n in said], self._limits):
            rows.append(self._embed([_clean(texts[said[n]]) for n in group]))
        if not said:
            return np.zeros((len(texts), self._known or 0), np.float32)
        vectors = np.zeros((len(texts), rows[0].shape[1]), np.float32)
        vectors[said] = np.concatenate(rows)
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._asked:
            body["dimensions"] = self._asked
        response = self._post(body)
        if response.status_code in _TOO_MUCH and len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([self._embed(texts[:half]), self._embed(texts[half:])])
        if not response.is_success:
            raise self._refused(response)
        vectors = self._read(response, len(texts))
        with self._lock:
            self._known = self._known or vectors.shape[1]
        if vectors.shape[1] != self._known:
            raise ProviderError(
                f"{self.name} gave vectors of {vectors.shape[1]} dimensions, not {self._known}; "
                f"is another model served under this name?"
            )
        return vectors

    def _post(self, body: dict[str, object]) -> httpx2.Response:
        """Send a request, again where trying again may help; ProviderUnavailable when it does not."""
        until, why = self._away
        if time.monotonic() < until:
            raise ProviderUnavailable(why)
        problem, wait = "", 0.0
        for attempt in range(self._limits.tries):
            if attempt:
                # Jitter: workers that failed together must not come back together.
                self._sleep(max(wait, FIRST_WAIT * 2 ** (attempt - 1) * random.uniform(0.75, 1.25)))
            try:
                response = self._connected().post(self._url, json=body, headers=self._headers())
            except httpx2.TimeoutException:
                # Not again: somebody waits, and a server that is overloaded is not helped by more.
                problem = f"no answer in {self._limits.timeout:g} s"
                break
            except (httpx2.RequestError, httpx2.InvalidURL) as error:
                problem, wait = str(error) or type(error).__name__, 0.0
                continue
            if not _passes(response):
                return response
            problem, wait = _described(response), asked_to_wait(response)
            if wait > LONGEST_WAIT:
                problem += f", again in {wait:.0f} s"
                break
        raise self._give_up(problem)

    def _give_up(self, problem: str) -> ProviderUnavailable:
        line = _one_line(f"{self.name} cannot be reached at {self._shown} ({problem}); is the server up?")
        self._away = time.monotonic() + self._limits.away, line
        return ProviderUnavailable(line)

    def _refused(self, response: httpx2.Response) -> ProviderError:
        told = _described(response)
        match response.status_code:
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                remedy = "set EPISODIC_OPENAI_API_KEY to a key that may use it"
            case HTTPStatus.NOT_FOUND | HTTPStatus.METHOD_NOT_ALLOWED:
                remedy = f"check the model's name and EPISODIC_OPENAI_BASE_URL (asked: {self._shown})"
            case HTTPStatus.TOO_MANY_REQUESTS:
                remedy = "the account's quota is spent; add to it or use another key"
            case code if 300 <= code < 400:
                remedy = "set EPISODIC_OPENAI_BASE_URL to where it leads"
            case _:
                remedy = "see what the server allows (model, dimensions)"
        return ProviderError(_one_line(f"{self.name} was refused ({told}); {remedy}"))

    def _read(self, response: httpx2.Response, count: int) -> Vectors:
        """Read an answer as unit vectors in the order of the texts; BadReply says what is wrong with it."""
        try:
            wide = np.array(ordered(json.loads(response.content), count), dtype=np.float64)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            raise self._unusable(
                str(error) if isinstance(error, _Unusable) else "no list of vectors"
            ) from error
        if wide.ndim != 2 or not wide.shape[1]:
            raise self._unusable("vectors of different dimensions, or none")
        if not np.isfinite(wide).all():
            raise self._unusable("numbers that are not finite")
        lengths = np.linalg.norm(wide, axis=1, keepdims=True)
        unit: Vectors = (wide / np.where(lengths > 0.0, lengths, 1.0)).astype(np.float32)
        return unit

    def _unusable(self, problem: str) -> BadReply:
        return BadReply(_one_line(f"{self.name} answered what cannot be used: {problem}; is it an embedder?"))

    def _connected(self) -> httpx2.Client:
        """Return this process's client; connections do not survive a fork."""
        client = self._client
        if client is not None and client[0] == os.getpid():
            return client[1]
        with self._lock:
            if self._client is None or self._client[0] != os.getpid():
                self._client = (
                    os.getpid(),
                    httpx2.Client(timeout=httpx2.Timeout(self._limits.timeout, connect=CONNECT)),
                )
            return self._client[1]

    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}


class _Unusable(ValueError):
    """An answer of the wrong form; the message says in what way."""


def read_name(name: str) -> tuple[str, int | None]:
    """Read `openai:MODEL?dimensions=N` into model and dimensions (None: the model's own).

    >>> read_name("openai:text-embedding-3-small?dimensions=256"), read_name("openai:nomic-embed-text:v1")
    (('text-embedding-3-small', 256), ('nomic-embed-text:v1', None))
    """
    model, _, query = name.removeprefix(PREFIX).partition("?")
    key, _, number = query.partition("=")
    if not model.strip() or model != model.strip() or not model.isprintable():
        raise InvalidInput(f"{name!r} names no model; write openai:MODEL or openai:MODEL?dimensions=N")
    if not query:
        return model, None
    if key != "dimensions" or not (number.isascii() and number.isdigit() and 0 < int(number) <= 65_536):
        raise InvalidInput(f"{name!r}: after the ? only dimensions=N is known, N a whole number from 1")
    return model, int(number)


def batches(lengths: Sequence[int], limits: Limits) -> Iterator[list[int]]:
    """Group positions in order, at most so many texts and characters together (one text may be longer).

    >>> list(batches([5, 5, 5, 20, 1], Limits(texts=2, characters=12)))
    [[0, 1], [2], [3], [4]]
    """
    group: list[int] = []
    size = 0
    for position, length in enumerate(lengths):
        if group and (len(group) == limits.texts or size + length > limits.characters):
            yield group
            group, size = [], 0
        group.append(position)
        size += length
    if group:
        yield group


def ordered(answer: Any, count: int) -> list[Any]:
    """Return the embeddings of an answer in the order of the texts; ValueError when there are not `count`.

    >>> ordered({"data": [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1, 0]}]}, 2)
    [[1, 0], [0, 1]]
    """
    data = answer["data"]
    if not isinstance(data, list) or len(data) != count:
        held = len(data) if isinstance(data, list) else "no"
        raise _Unusable(f"{held} vectors for {count} texts")
    places = [item.get("index") for item in data]
    if all(place is None for place in places):  # some servers leave it out
        return [item["embedding"] for item in data]
    if sorted(p for p in places if type(p) is int) != list(range(count)):
        raise _Unusable("the vectors' indices are not those of the texts")
    return [item["embedding"] for item in sorted(data, key=lambda item: item["index"])]


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


def asked_to_wait(response: httpx2.Response) -> float:
    """Return how many seconds a server wants to be left alone."""
    headers = response.headers
    return retry_after(headers.get("retry-after"), headers.get("date"))


def _passes(response: httpx2.Response) -> bool:
    """Tell whether the same request may succeed later. A spent quota answers 429 too, and does not."""
    code = response.status_code
    return (code in _PASSING or code >= 500) and "insufficient_quota" not in response.text


def _described(response: httpx2.Response) -> str:
    """Return an answer's status and what the server says about it."""
    try:
        told = json.loads(response.content)
        inner = told.get("error", told) if isinstance(told, dict) else told
        said = inner.get("message", "") if isinstance(inner, dict) else inner
    except (ValueError, RecursionError):
        said = ""
    return f"{response.status_code} {said}".strip() if isinstance(said, str) else str(response.status_code)


def _one_line(text: str) -> str:
    """Keep a server's words from breaking out of a line or filling a screen."""
    line = " ".join(text.split())
    return line if len(line) <= 2 * _SHOWN else line[: 2 * _SHOWN - 1] + "…"


def _clean(text: str) -> str:
    """Cut a text to what models take; a surrogate without its pair, which JSON cannot carry, becomes "?"."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
