"""Recognise, before anything is embedded, what only repeats recalled text (memory.md, section 6).

The form of recalled text is seen in every message. Runs of words are compared only in what an agent says, its
tools and its prompts: a person who repeats something means it. They are compared with what was recalled last,
and, where a message looks as if it handed on memories, with what the index finds: the cost is bounded.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.core.echo import (
    ECHO,
    By,
    Echo,
    Source,
    echo_of,
    heard,
    marked_as,
    recalled_spans,
    repeated,
    wanted_terms,
)
from episodic_agent.core.echo.overlap import LEAST_SHARED
from episodic_agent.core.intake import Item
from episodic_agent.core.interfaces import EPISODES, OBSERVATIONS, Transaction
from episodic_agent.core.summaries.languages import ASSISTANTS
from episodic_agent.engine.told import ToldText
from episodic_agent.schemas import Kind

LOOKED_AT: Final = 4  # texts of the index compared with one message
NEAR: Final = 24  # observations of its own thread that are still the talk itself, not recalled
PASSING: Final = 128  # items of the group before that are looked at
RECALLS: Final = 3  # of a thread that may be pasted now
PROMPTS: Final = frozenset({"system", "developer"})
AGENTS: Final = ASSISTANTS | PROMPTS | {"tool", "function"}
_OF_MEMORY: Final = re.compile(r"(?i)memor|recall|retriev|remember|histor|context|past")
_SIGNS: Final = (  # of somebody who hands on what was remembered
    "memory", "memories", "remember", "recall", "your notes", "you said", "you told", "you wrote",
    "you mentioned", "contaste", "dijiste", "recuerd", "erinner", "gesagt", "souvien", "lembr", "ricord",
    "помн", "记忆", "记得", "说过",
)  # fmt: skip
_SPEAKERS: Final = ("user: ", "human: ", "assistant: ")
_QUOTED: Final = re.compile(r"[\"“«„「][^\"”»“」\n]{40,400}[\"”»“」]")


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
        *,
        language: str | None = None,
    ) -> None:
        self._tx = tx
        self._passing = _Passing(earlier, language)
        self._now = now
        self._told = told
        self._language = language
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
        terms = wanted_terms(item.text, self._language) if _may_pass_on(item) else ()
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

    def __init__(self, items: Sequence[Arriving], language: str | None) -> None:
        self._language = language
        self._items = list(items)[-PASSING:]
        self._read = 0  # so many are in `_holders`: most groups hold nothing that is looked for
        self._holders: dict[str, list[int]] = {}

    def add(self, arriving: Arriving) -> None:
        """Keep an item as what later ones may repeat."""
        self._items.append(arriving)

    def sharing(self, arriving: Arriving, terms: Sequence[str], apart: int) -> list[Source]:
        """Return what shares enough terms with an item and is not the talk it is in."""
        for n in range(self._read, len(self._items)):
            for term in wanted_terms(self._items[n].item.text, self._language):
                self._holders.setdefault(term, []).append(n)
        self._read = len(self._items)
        shared = Counter(n for term in terms for n in self._holders.get(term, ()))
        alike = sorted((n for n, count in shared.items() if count >= LEAST_SHARED), reverse=True)
        if not alike:
            return []
        own = [n for n, one in enumerate(self._items) if one.origin == arriving.origin]
        near = {*own[len(own) - apart if len(own) > apart else 0 :]}
        some = [self._items[n].item for n in alike if n not in near][:LOOKED_AT]
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
    low = item.text.lower()
    if any(sign in low for sign in _SIGNS) or low.startswith(_SPEAKERS):
        return True
    quotes = '"' in low or not low.isascii()
    return quotes and bool(_QUOTED.search(item.text))


def _passes_on(item: Item) -> bool:
    """Tell whether an item only hands on what it was given: a prompt, or what a tool of a memory answers."""
    if item.kind is Kind.TOOL:
        return bool(_OF_MEMORY.search(str(item.extras.get("name") or "")))
    return item.actor.casefold() in PROMPTS or str(item.extras.get("role", "")).casefold() in PROMPTS
