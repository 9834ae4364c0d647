"""Spans: what a piece of work did for how long, one inside the other, and how they are gathered and packed.

Whoever does the work opens a recorder; whatever happens below opens `span`s, and a language model's calls add
themselves. Where nobody records, a span costs one look-up. Times are ticks, seconds of a clock that only goes
forward; a packed span holds them in microseconds after its root's beginning.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from episodic_agent.errors import StoreError
from episodic_agent.schemas import Json
from episodic_agent.schemas.jobs import Span

Ticks = Callable[[], float]
CALL: Final = "call"  # the attribute that tells a language model's call: its stage
FAILED: Final = "failed"  # the kind of error that ended it


class Recorder:
    """Gathers the spans of one piece of work. What other threads add is kept as well."""

    def __init__(self, ticks: Ticks) -> None:
        self.ticks = ticks
        self.begun = ticks()
        self.spans: list[Span] = []

    def add(self, span: Span) -> None:
        """Keep a span that has ended."""
        self.spans.append(span)

    def ended(self, name: str, attributes: Mapping[str, Json]) -> Span:
        """Return everything so far as one span that ends now."""
        return Span(name, self.begun, self.ticks() - self.begun, dict(attributes), tuple(self.spans))


_CURRENT: Final[ContextVar[Recorder | None]] = ContextVar("recorder", default=None)


def current() -> Recorder | None:
    """Return who records what this thread does now."""
    return _CURRENT.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Let a recorder gather what happens in the block."""
    token = _CURRENT.set(recorder)
    try:
        yield recorder
    finally:
        _CURRENT.reset(token)


@contextmanager
def span(name: str, /, *, within: Recorder | None = None, **attributes: Json) -> Iterator[dict[str, Json]]:
    """Record the block as a span, also where it raises; what is put into the dictionary is kept with it.

    `within` records where nobody else does in this thread: work that was handed to a pool.

    >>> clock = iter(range(9))
    >>> with recording(Recorder(lambda: float(next(clock)))) as recorder, span("outer") as told:
    ...     told["pages"] = 3
    ...     with span("inner"):
    ...         pass
    >>> [(s.name, s.seconds, [c.name for c in s.children]) for s in recorder.spans]
    [('outer', 3.0, ['inner'])]
    """
    parent = _CURRENT.get() or within
    if parent is None:
        yield attributes
        return
    inner, done = Recorder(parent.ticks), False
    try:
        with recording(inner):
            yield attributes
        done = True
    finally:
        failed = {} if done else {FAILED: type(sys.exc_info()[1]).__name__}
        parent.add(inner.ended(name, attributes | failed))


def packed(root: Span) -> str:
    """Return a root span as it is kept: JSON, times in microseconds after its beginning.

    >>> packed(Span("add", 5.0, 0.25, {"messages": 1}, [Span("embed", 5.1, 0.1)]))
    '["add",0,250000,{"messages":1},[["embed",100000,100000]]]'
    """
    return json.dumps(_packed(root, root.start), separators=(",", ":"), ensure_ascii=False)


def _packed(span: Span, origin: float) -> list[Any]:
    results: list[Any] = [span.name, round((span.start - origin) * 1e6), round(span.seconds * 1e6)]
    if span.attributes or span.children:
        results.append(dict(span.attributes))
    if span.children:
        results.append([_packed(child, origin) for child in span.children])
    return results


def unpacked(body: str) -> Span:
    """Undo `packed`; the root begins at 0. Raises StoreError for what it did not write.

    >>> unpacked('["add",0,250000,{"messages":1},[["embed",100000,100000]]]').children[0].start
    0.1
    """
    try:
        return _unpacked(json.loads(body))
    except (ValueError, TypeError, IndexError) as error:
        raise StoreError(f"a kept span cannot be read ({error}); run `episodic doctor`") from error


def _unpacked(values: Sequence[Any]) -> Span:
    name, start, length = values[:3]
    attributes = values[3] if len(values) > 3 else {}
    children = values[4] if len(values) > 4 else ()
    return Span(name, start / 1e6, length / 1e6, attributes, tuple(map(_unpacked, children)))
