"""Embed texts through any OpenAI-compatible `/v1/embeddings` endpoint: a hosted one or one's own.

Imported only where such an embedder is asked for: its HTTP client is an extra.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.language import plural
from episodic_agent.errors import BadReply, InvalidInput, ProviderError
from episodic_agent.providers.openai_http import (
    DEFAULT_URL,
    PREFIX,
    ApiServer,
    HttpAnswer,
    Patience,
    model_in,
    one_line,
)

BATCH_TEXTS: Final = 64
BATCH_CHARACTERS: Final = 60_000
"""At most so much in one request: servers refuse more than 300,000 tokens, a CJK character may be two."""
MAX_CHARACTERS: Final = 6_000
"""Longer texts are cut: models of 8,192 tokens refuse them whole. The engine's windows are far shorter."""
TRIES: Final = 4
TIMEOUT: Final = 60.0  # seconds; a server of one's own may need half a second a text
AWAY: Final = 5.0
"""Seconds in which a server that was given up is not asked again: a caller may go on without vectors."""
_TOO_MUCH: Final = (413, 422)  # some servers answer so to more texts than they take at once

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbedderLimits:
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
        limits: EmbedderLimits | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Keep where the model is; an empty key sends none. Raises InvalidInput for an unusable URL."""
        self.name = f"{PREFIX}{model}" + (f"?dimensions={dimensions}" if dimensions else "")
        self._model = model
        self._asked = dimensions
        self._known = dimensions
        self._limits = limits or EmbedderLimits()
        self._server = ApiServer(
            self.name,
            "/embeddings",
            base_url=base_url,
            api_key=api_key,
            patience=Patience(self._limits.tries, self._limits.timeout, self._limits.away),
            sleep=sleep,
        )

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
        numbers = [n for n, text in enumerate(texts) if text.strip()]
        rows: list[Vectors] = []
        for group in batches([min(len(texts[n]), MAX_CHARACTERS) for n in numbers], self._limits):
            rows.append(self._embed([_clean(texts[numbers[n]]) for n in group]))
        if not numbers:
            return np.zeros((len(texts), self._known or 0), np.float32)
        vectors = np.zeros((len(texts), rows[0].shape[1]), np.float32)
        vectors[numbers] = np.concatenate(rows)
        return vectors

    def _embed(self, texts: Sequence[str]) -> Vectors:
        body: dict[str, object] = {"model": self._model, "input": list(texts), "encoding_format": "float"}
        if self._asked:
            body["dimensions"] = self._asked
        answer = self._server.post(body)
        if answer.status in _TOO_MUCH and len(texts) > 1:
            half = len(texts) // 2
            return np.concatenate([self._embed(texts[:half]), self._embed(texts[half:])])
        if not answer.is_success:
            raise self._server.refused(answer, "model, dimensions")
        vectors = self._read(answer, len(texts))
        self._known = self._known or vectors.shape[1]
        if vectors.shape[1] != self._known:
            raise ProviderError(
                f"{self.name} gave vectors of {vectors.shape[1]} dimensions, not {self._known}; "
                f"is another model served under this name?"
            )
        return vectors

    def _read(self, answer: HttpAnswer, count: int) -> Vectors:
        """Read an answer as unit vectors in the order of the texts; BadReply says what is wrong with it."""
        try:
            wide = np.array(ordered(json.loads(answer.content), count), dtype=np.float64)
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
        return BadReply(one_line(f"{self.name} answered what cannot be used: {problem}; is it an embedder?"))


class _Unusable(ValueError):
    """An answer of the wrong form; the message says in what way."""


def read_name(name: str) -> tuple[str, int | None]:
    """Read `openai:MODEL?dimensions=N` into model and dimensions (None: the model's own).

    >>> read_name("openai:text-embedding-3-small?dimensions=256"), read_name("openai:nomic-embed-text:v1")
    (('text-embedding-3-small', 256), ('nomic-embed-text:v1', None))
    """
    model, query = model_in(name)
    key, _, number = query.partition("=")
    if not query:
        return model, None
    if key != "dimensions" or not (number.isascii() and number.isdigit() and 0 < int(number) <= 65_536):
        raise InvalidInput(f"{name!r}: after the ? only dimensions=N is known, N a whole number from 1")
    return model, int(number)


def batches(lengths: Sequence[int], limits: EmbedderLimits) -> Iterator[list[int]]:
    """Group positions in order, at most so many texts and characters together (one text may be longer).

    >>> list(batches([5, 5, 5, 20, 1], EmbedderLimits(texts=2, characters=12)))
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
        held = plural(len(data), "vector") if isinstance(data, list) else "no vectors"
        raise _Unusable(f"{held} for {plural(count, 'text')}")
    places = [item.get("index") for item in data]
    if all(place is None for place in places):  # some servers leave it out
        return [item["embedding"] for item in data]
    if sorted(p for p in places if type(p) is int) != list(range(count)):
        raise _Unusable("the vectors' indices are not those of the texts")
    return [item["embedding"] for item in sorted(data, key=lambda item: item["index"])]


def _clean(text: str) -> str:
    """Cut a text to what models take; a surrogate without its pair, which JSON cannot carry, becomes "?"."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode("utf-8")
