"""Recognise, before anything is embedded, what only repeats recalled text (memory.md, section 6).

The form of recalled text is seen in every message. Runs of words are compared only in what an agent says, its
tools and its prompts: a person who repeats something means it. They are compared with what was recalled last,
and, where a message looks as if it handed on memories, with what the index finds: the cost is bounded.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.core.echo import (
    ECHO,
    RUN,
    By,
    Echo,
    Source,
    echo_of,
    heard,
    marked_as,
    recalled_spans,
    repeated,
    unfenced,
    wanted_terms,
)
from episodic_agent.core.echo.overlap import LEAST_SHARED
from episodic_agent.core.intake import Item
from episodic_agent.core.interfaces import EPISODES, OBSERVATIONS, Transaction
from episodic_agent.core.summaries.languages import ASSISTANTS
from episodic_agent.core.text import words
from episodic_agent.engine.told import ToldText
from episodic_agent.schemas import Kind

LOOKED_AT: Final = 4  # texts of the index compared with one message
NEAR: Final = 24  # observations of its own thread that are still the talk itself, not recalled
PASSING: Final = 128  # items of the group before that are looked at
RECALLS: Final = 3  # of a thread that may be pasted now
PROMPTS: Final = frozenset({"system", "developer"})
AGENTS: Final = ASSISTANTS | PROMPTS | {"tool", "function"}
_OF_MEMORY: Final = re.compile(r"(?i)memor|recall|retriev|remember|histor|context|past")
# Signs of somebody who hands on what was remembered. The cheapest look comes first: most messages hold none.
_SIGNS: Final = ("contaste", "dijiste", "recuerd", "erinner", "gesagt", "souvien", "lembr", "ricord")
_WIDER: Final = ("помн", "记忆", "记得", "说过")
_YOU: Final = re.compile("you(?:r notes| said| told| wrote| mentioned)")
_WORDS: Final = ("memor", "remember", "recall")  # signs where they are one's own, or announce something
_WORD: Final = r"(?<![\w-])(?:memory|memories|remember\w*|recall\w*)\b"
_OWN: Final = re.compile(
    rf"(?s:\A.{{0,60}}?){_WORD}|\b(?:i|we|my|our|from|in) (?:\w+ )?{_WORD}"
    rf"|{_WORD}[^\n.?!;]{{0,40}}?(?:[:\"“«\n]|\Z)"
)
_SPEAKERS: Final = ("user: ", "human: ", "assistant: ")
_QUOTED: Final = re.compile(r"[“«„「]([^”»“」\n]{40,})[”»“」]")
_QUOTE: Final = 40  # characters of a quotation from where on it may be what somebody said at length
_SHARE: Final = 4  # and it is a quarter of the message: one sentence among twenty does no harm


class Arriving(Protocol):
    """An item on its way in, with the name of the thread it is to join, if any."""

    @property
    def origin(self) -> str | None:
        """The caller's name of the thread; None where resolution finds it."""
        ...

    @property
    def item(self) -> Item:
        """What is to be remembered."""
        ...

    @property
    def said(self) -> Collection[str]:
        """The search terms of its text."""
        ...


@dataclass(frozen=True, slots=True)
class _Place:
    """A thread that is gone on with: what it said from `near` on is still in the prompt, not recalled."""

    thread_id: UUID | None = None
    near: int = 0
    shown: Sequence[ToldText] = ()

    def is_near(self, thread_id: UUID | None, seq: int) -> bool:
        """Tell whether something was said here just now."""
        return thread_id is not None and thread_id == self.thread_id and seq >= self.near


class Listening:
    """Looks for what one group of items repeats, in one read transaction; `earlier` may not be stored yet."""

    def __init__(
        self,
        tx: Transaction,
        earlier: Sequence[Arriving],
        now: datetime,
        told: Sequence[ToldText] = (),
    ) -> None:
        self._tx = tx
        self._passing = _Passing(earlier)
        self._now = now
        self._told = told
        self._places: dict[str | None, _Place] = {}

    def hear(self, arriving: Arriving) -> Echo | None:
        """Return what an item repeats, and keep it as what the next ones may repeat."""
        echo = by_form(arriving.item)
        if is_agent(arriving.item) and not (echo is not None and echo.whole):
            echo = _both(arriving.item, echo, self._overlap(arriving))
        self._passing.add(arriving)
        return echo

    def _overlap(self, arriving: Arriving) -> Echo | None:
        item, place = arriving.item, self._place(arriving.origin)
        if _passes_on(item):  # it has nothing of its own to say: even what was said just now is not its
            place = replace(place, thread_id=None)
        shown = [one for one in (*self._told, *place.shown) if not place.is_near(one.thread_id, one.seq)]
        sources = [one.heard_by(item.actor) for one in shown]
        terms = wanted_terms(item.text, arriving.said) if _may_pass_on(item) else ()
        if terms:
            sources += self._stored(item, place, terms)
            sources += self._passing.sharing(arriving, terms, 0 if _passes_on(item) else NEAR)
        return repeated(item.text, sources, trusted=_passes_on(item)) if sources else None

    def _stored(self, item: Item, place: _Place, terms: Sequence[str]) -> list[Source]:
        """Return the texts of the index that share enough terms and were said before, but not just now."""
        until = item.at or self._now
        stored = self._tx.threads.by_refs(self._sharing(OBSERVATIONS, terms)).values()
        found = [o for o in stored if o.at <= until and not place.is_near(o.thread_id, o.seq)]
        told = [Source(str(o.id), heard(o).text, o.actor == item.actor) for o in found]
        episodes = self._tx.episodes.by_refs(self._sharing(EPISODES, terms)).values()
        worded = [Source(str(e.id), e.summary) for e in episodes if e.summary]
        return [*told[:LOOKED_AT], *worded[:LOOKED_AT]]

    def _sharing(self, kind: str, terms: Sequence[str]) -> list[int]:
        limit = LOOKED_AT + (NEAR if kind == OBSERVATIONS else 0)
        weights = dict.fromkeys(terms, 1.0)
        # with k1 = 0 a document scores how many of the terms it holds
        refs, scores = self._tx.index.text_scores(
            kind, weights, k1=0.0, b=0.0, average_length=1.0, limit=limit
        )
        found = zip(refs.tolist(), scores.tolist(), strict=True)
        return [ref for ref, score in found if score >= LEAST_SHARED - 0.01]

    def _place(self, origin: str | None) -> _Place:
        if origin not in self._places:
            self._places[origin] = self._look_up(origin)
        return self._places[origin]

    def _look_up(self, origin: str | None) -> _Place:
        tx = self._tx
        current = tx.threads.current(limit=1) if origin is None else ()
        thread = current[0] if current else None if origin is None else tx.threads.by_origin(origin)
        if thread is None:
            return _Place()
        waiting = tx.reviews.pending(thread.id)[-RECALLS:]
        shown = list(dict.fromkeys(identity for one in waiting for identity in one.shown))
        near = max(0, tx.threads.frame(thread.id).next_seq - NEAR)
        return _Place(thread.id, near, list(self._shown(shown)))

    def _shown(self, shown: Sequence[UUID]) -> Iterable[ToldText]:
        """Yield the words of episodes that were shown to this thread and may be pasted now."""
        for episode in self._tx.episodes.by_ids(shown).values():
            yield ToldText(str(episode.id), episode.summary)
            said = self._tx.threads.observations(episode.thread_id, episode.first_seq, episode.last_seq)
            yield from (ToldText(str(o.id), o.text, o.actor, o.thread_id, o.seq) for o in said)


class _Passing:
    """What came in the same call: not in the index yet, but as good as said."""

    def __init__(self, items: Sequence[Arriving]) -> None:
        self._items = list(items)[-PASSING:]

    def add(self, arriving: Arriving) -> None:
        """Keep an item as what later ones may repeat."""
        self._items.append(arriving)

    def sharing(self, arriving: Arriving, terms: Sequence[str], apart: int) -> list[Source]:
        """Return what shares enough terms with an item and is not the talk it is in."""
        own = [n for n, one in enumerate(self._items) if one.origin == arriving.origin]
        near = {*own[max(0, len(own) - apart) :]}
        held = [
            (sum(map(one.said.__contains__, terms)), n) for n, one in enumerate(self._items) if n not in near
        ]
        alike = sorted((found for found in held if found[0] >= LEAST_SHARED), reverse=True)[:LOOKED_AT]
        some = [self._items[n].item for _, n in alike]
        return [Source("", one.text, one.actor == arriving.item.actor) for one in some]


def by_form(item: Item) -> Echo | None:
    """Return what of an item has the form of recalled text."""
    spans = recalled_spans(item.text)
    return marked_as(item.text, spans, By.FORM, own=not is_agent(item)) if spans else None


def _both(item: Item, form: Echo | None, words: Echo | None) -> Echo | None:
    """Join what was seen by form and by words."""
    if form is None or words is None:
        return form or words
    return marked_as(item.text, [*form.spans, *words.spans], By.FORM, words.sources)


def with_echo(item: Item, echo: Echo | None) -> Item:
    """Return an item that tells of its echo; one that tells already (an import) stays as it is."""
    if echo is None or echo_of(item.extras, item.text) is not None:
        return item
    return replace(item, extras={**item.extras, ECHO: echo.as_json()})


def is_agent(item: Item) -> bool:
    """Tell whether an agent, its tool or its prompt speaks, and not a person; an embodied step is neither."""
    if item.kind is not Kind.MESSAGE:
        return item.kind is Kind.TOOL
    return item.actor.casefold() in AGENTS or str(item.extras.get("role", "")).casefold() in AGENTS


def _may_pass_on(item: Item) -> bool:
    """Tell whether an item looks as if it handed on what a memory holds: only then is the index asked."""
    if item.kind is not Kind.MESSAGE or _passes_on(item):
        return _passes_on(item)
    text = unfenced(item.text)
    low = text.lower()
    if _YOU.search(low) or any(sign in low for sign in _SIGNS) or low.startswith(_SPEAKERS):
        return True
    if any(word in low for word in _WORDS) and _OWN.search(low):
        return True
    return (not low.isascii() and any(sign in low for sign in _WIDER)) or _quotes(text)


def _quotes(text: str) -> bool:
    """Tell whether a text quotes anything so long that it could be what is looked for."""
    said = text.split('"')[1:-1]
    if not text.isascii():
        said += _QUOTED.findall(text)
    least = max(_QUOTE, len(text) // _SHARE)
    long = (one for one in said if len(one) >= least and "\n" not in one)
    return any(not one.isascii() or len(words(one)) >= RUN for one in long)


def _passes_on(item: Item) -> bool:
    """Tell whether an item only hands on what it was given: a prompt, or what a tool of a memory answers."""
    if item.kind is Kind.TOOL:
        return bool(_OF_MEMORY.search(str(item.extras.get("name") or "")))
    return item.actor.casefold() in PROMPTS or str(item.extras.get("role", "")).casefold() in PROMPTS
