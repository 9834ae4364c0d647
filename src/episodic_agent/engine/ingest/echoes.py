"""Recognise, before anything is embedded, what only repeats recalled text.

The form of recalled text is seen in every message. Runs of words are compared only in what an agent says, its
tools and its prompts: a person who repeats something means it. They are compared with what was recalled last,
and, where a message looks as if it handed on memories, with what was said before: the cost is bounded.
What is stored already and what comes in the same call count alike, and an episode only where it was shown:
the verdict must not hang on how messages were grouped, nor on how far later work had come.
History that is imported repeats nothing that was recalled here: only its form is looked at, so that the order
in which its conversations come changes nothing either.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final, Protocol
from uuid import UUID

from episodic_agent.core.echo import (
    ECHO,
    LEAST_SHARED,
    RUN,
    By,
    Echo,
    Source,
    echo_of,
    marked_as,
    own_text,
    own_words,
    recalled_spans,
    repeated,
    unfenced,
    wanted_terms,
    with_questions,
)
from episodic_agent.core.episodes.languages import PROMPTS
from episodic_agent.core.ingest import Item
from episodic_agent.core.language import words
from episodic_agent.core.threads.turns import AGENTS, role_of
from episodic_agent.engine.recently_shown import ShownText
from episodic_agent.protocols import OBSERVATIONS, Transaction
from episodic_agent.schemas import Kind, Observation

LOOKED_AT: Final = 4  # texts of the index compared with one message
NEAR: Final = 24  # observations of its own thread that are still the talk itself, not recalled
JUST_NOW: Final = timedelta(hours=1)  # the same where the thread is not known yet
HISTORY: Final = timedelta(days=1)  # what was said so long ago was not said after a recall of now
RECALLS: Final = 3  # of a thread that may be pasted now
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


class OnTheWay(Protocol):
    """An item on its way in, with the name of the thread it is to join, if any."""

    @property
    def origin(self) -> str | None:
        """The caller's name of the thread; None where resolution finds it."""
        ...

    @property
    def id(self) -> UUID:
        """The id it is to be stored under."""
        ...

    @property
    def item(self) -> Item:
        """What is to be remembered."""
        ...

    @property
    def spoken_terms(self) -> Collection[str]:
        """The search terms of its text."""
        ...


@dataclass(frozen=True, slots=True)
class _EchoThread:
    """A thread that is gone on with: how long it was before what is passing, and what was shown to it."""

    thread_id: UUID | None = None
    length: int = 0
    shown: Sequence[ShownText] = ()


class Listening:
    """Looks for what one group of items repeats, in one read transaction; of `earlier` some may be stored."""

    def __init__(
        self,
        tx: Transaction,
        earlier: Sequence[OnTheWay],
        now: datetime,
        texts: Sequence[ShownText] = (),
        picked: Sequence[str] = (),
    ) -> None:
        """Take texts that were shown lately, and the channels on which users pick threads."""
        self._tx = tx
        self._now = now
        self._picked = picked
        self._recently_shown = texts
        self._passing = list(earlier)
        self._places: dict[str | None, _EchoThread] = {}

    def hear(self, arriving: OnTheWay) -> Echo | None:
        """Return what an item repeats of what was shown, and of what was said before."""
        echo = by_form(arriving.item)
        at = arriving.item.at or self._now
        if (
            self._now - at < HISTORY
            and is_agent(arriving.item)
            and not (echo is not None and echo.is_complete)
        ):
            echo = _both(arriving.item, echo, self._overlap(arriving))
        return echo

    def keep(self, arriving: OnTheWay) -> None:
        """Let what comes next repeat an item, which carries its own mark by now."""
        self._passing.append(arriving)

    def _overlap(self, arriving: OnTheWay) -> Echo | None:
        item, place = arriving.item, self._place(arriving.origin)
        trusted = _passes_on(item)  # it has nothing of its own to say: even what was said just now is not its
        talk = (
            None
            if trusted
            else _SpokenJustNow(place, [o for o in self._passing if o.origin == arriving.origin])
        )
        shown = [
            one
            for one in (*self._recently_shown, *place.shown)
            if not (talk and talk.holds(one.thread_id, one.seq))
        ]
        sources = [one.shown_to(item.actor) for one in shown]
        terms = wanted_terms(item.text, arriving.spoken_terms) if _may_pass_on(item) else ()
        if terms:
            sources += self._earlier_sources(arriving, talk, terms)
        return repeated(item.text, sources, trusted=trusted) if sources else None

    def _earlier_sources(
        self, arriving: OnTheWay, talk: "_SpokenJustNow | None", terms: Sequence[str]
    ) -> list[Source]:
        """Return what shares most terms with an item and was said before it, but not just now."""
        item, passing = arriving.item, {one.id for one in self._passing}
        until = item.at or self._now
        if talk is not None and arriving.origin is None:  # where it belongs is found later
            until -= JUST_NOW
        pairs: list[tuple[int, Source]] = []  # in the order they came
        for shared, observation in self._sharing(terms):
            if (
                observation.at <= until
                and observation.id not in passing
                and not (talk and talk.holds(observation.thread_id, observation.seq))
            ):
                pairs.append(
                    (
                        shared,
                        Source(
                            str(observation.id), own_words(observation).text, observation.actor == item.actor
                        ),
                    )
                )
        for other in self._passing:
            shared = sum(map(other.spoken_terms.__contains__, terms))
            if (
                shared >= LEAST_SHARED
                and (other.item.at or self._now) <= until
                and not (talk and other in talk)
            ):
                text = own_text(other.item.text, other.item.extras)
                pairs.append((shared, Source(str(other.id), text, other.item.actor == item.actor)))
        pairs.sort(key=lambda one: -one[0])
        return [source for _, source in pairs[:LOOKED_AT]]

    def _sharing(self, terms: Sequence[str]) -> list[tuple[int, Observation]]:
        """Return what is stored and holds most of some terms, with how many; equals as they came."""
        weights = dict.fromkeys(terms, 1.0)
        # with k1 = 0 a document scores how many of the terms it holds
        refs, scores = self._tx.index.text_scores(
            OBSERVATIONS, weights, k1=0.0, b=0.0, average_length=1.0, limit=LOOKED_AT + NEAR
        )
        held = {ref: round(score) for ref, score in zip(refs.tolist(), scores.tolist(), strict=True)}
        enough = [ref for ref, shared in held.items() if shared >= LEAST_SHARED]
        stored = self._tx.observations.get(enough) if enough else {}
        return [(held[ref], stored[ref]) for ref in enough if ref in stored]

    def _place(self, origin: str | None) -> _EchoThread:
        if origin not in self._places:
            self._places[origin] = self._look_up(origin)
        return self._places[origin]

    def _look_up(self, origin: str | None) -> _EchoThread:
        tx = self._tx
        current = tx.threads.list("current", picked=self._picked, limit=1) if origin is None else ()
        thread = current[0] if current else None if origin is None else tx.threads.get(origin)
        if thread is None:
            return _EchoThread()
        waiting = tx.upkeep.reviews(thread.id)[-RECALLS:]
        shown = list(dict.fromkeys(identity for one in waiting for identity in one.shown))
        passing = [one.id for one in self._passing if one.origin == origin]
        stored = len(tx.observations.known(passing)) if passing else 0
        return _EchoThread(thread.id, tx.threads.frame(thread.id).next_seq - stored, list(self._shown(shown)))

    def _shown(self, shown: Sequence[UUID]) -> Iterable[ShownText]:
        """Yield the words of episodes that were shown to this thread and may be pasted now."""
        for episode in self._tx.episodes.get(shown).values():
            yield ShownText(str(episode.id), episode.summary)
            observations = self._tx.observations.read(episode.thread_id, episode.first_seq, episode.last_seq)
            yield from (ShownText(str(o.id), o.text, o.actor, o.thread_id, o.seq) for o in observations)


class _SpokenJustNow:
    """What was said in a thread just now: it is still in the prompt, and no echo of a memory."""

    def __init__(self, place: _EchoThread, passing: Sequence[OnTheWay]) -> None:
        self._thread_id = place.thread_id
        self._passing = {one.id for one in passing[-NEAR:]}
        self._from = place.length + len(passing) - NEAR

    def holds(self, thread_id: UUID | None, seq: int) -> bool:
        """Tell whether it holds what stands there."""
        return thread_id is not None and thread_id == self._thread_id and seq >= self._from

    def __contains__(self, passing: OnTheWay) -> bool:
        """Tell whether it holds an item that may not be stored yet."""
        return passing.id in self._passing


def by_form(item: Item) -> Echo | None:
    """Return what of an item has the form of recalled text."""
    spans = recalled_spans(item.text)
    if not spans:
        return None
    agent = is_agent(item)
    return marked_as(item.text, with_questions(item.text, spans) if agent else spans, By.FORM, own=not agent)


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
    return role_of(item).casefold() in AGENTS


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
    texts = text.split('"')[1:-1]
    if not text.isascii():
        texts += _QUOTED.findall(text)
    least = max(_QUOTE, len(text) // _SHARE)
    long = (one for one in texts if len(one) >= least and "\n" not in one)
    return any(not one.isascii() or len(words(one)) >= RUN for one in long)


def _passes_on(item: Item) -> bool:
    """Tell whether an item only hands on what it was given: a prompt, or what a tool of a memory answers."""
    if item.kind is Kind.TOOL:
        return bool(_OF_MEMORY.search(str(item.extras.get("name") or "")))
    return role_of(item).casefold() in PROMPTS
