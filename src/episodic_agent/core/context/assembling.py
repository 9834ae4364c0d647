"""Assemble the context for the next prompt in the form of seed 002, section 3.3, within a budget of tokens.

    You were discussing {topic}.
    Previous questions:
    - {question} ({answer})

    Current question: {message}
    (Continuing from previous thread after {gap} break)

On an explicit channel the user has chosen the thread: it stands alone, with what a recall cue or a hand has
linked. On an implicit one the current thread comes first, then up to three linked ones, most recent first;
where none is linked, up to three titles of the last day. Lines are taken greedily by what they are worth and
counted on the final text. Only stored text stands in them, made harmless (`quoting`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from uuid import UUID

from episodic_agent.core.context.frames import ContextPhrases, break_words, frame_for
from episodic_agent.core.context.quoting import one_line, quoted, topic
from episodic_agent.core.context.tokens import cut_to, estimate
from episodic_agent.core.language import tokens
from episodic_agent.schemas.contexts import (
    AnsweredQuestion,
    Basis,
    Context,
    ContextItem,
    LineKind,
    Linked,
    ThreadBackground,
)

MOST_LINKED: Final = 3
MOST_PAIRS: Final = 5  # of one thread
MOST_RECENT: Final = 3
RECENT: Final = timedelta(hours=24)
SIMILARITY, RECENCY, IMPORTANCE, DUPLICATION = 0.40, 0.25, 0.25, 0.10
_QUESTION: Final = 240  # characters quoted of each kind of text
_ANSWER: Final = 240
_TITLE: Final = 120
_SUMMARY: Final = 600
_ENTITY: Final = 60
_MOST_ENTITIES: Final = 8
_MESSAGE_SHARE: Final = 0.5  # of the budget, for a message that does not fit anyway
_Place: TypeAlias = tuple[int, int, int]  # block, kind of line, number: the order of the text


@dataclass(frozen=True, slots=True)
class _ToldFrom:
    """Where a line's words are from."""

    thread_id: UUID
    episode_id: UUID | None
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class _ToldLine:
    """A line that may be taken: `place` orders all of them as they stand in the text."""

    place: _Place
    kind: LineKind
    text: str
    source: _ToldFrom
    terms: frozenset[str]
    value: float  # similarity, recency and importance, weighted; what it repeats is taken off later


def assemble(
    message: str,
    current: ThreadBackground | None,
    *,
    at: datetime,
    linked: Sequence[Linked] = (),
    recent: Sequence[ThreadBackground] = (),
    explicit: bool = False,
    max_tokens: int = 1500,
    language: str | None = None,
) -> Context:
    """Return the context of a message that is about to be answered; the same input gives the same text.

    `current` is the message's thread without the message, None for a new one; `at` is the message's event
    time. Never longer than `max_tokens` (by `estimate`): the least is the message's line, cut to
    half the budget where it is longer than that; where not even its label fits, the text is empty. The words
    around it are of `language`, else of what the user says (`frames`).

    >>> from datetime import UTC
    >>> ten = datetime(2025, 11, 5, 10, tzinfo=UTC)
    >>> pair = AnsweredQuestion("What's the weather tomorrow?", "Sunny, high 72°F", ten, 0, 1)
    >>> end = ten + timedelta(minutes=15)
    >>> weather = ThreadBackground(UUID(int=1), "Weather in New York", ten, end, 0, 1, pairs=(pair,))
    >>> now = end + timedelta(minutes=31)
    >>> print(assemble("What is it on Thursday?", None, at=now, linked=[Linked(weather)]).text)
    You were discussing weather in New York.
    Previous questions:
    - What's the weather tomorrow? (Sunny, high 72°F)
    <BLANKLINE>
    Current question: What is it on Thursday?
    (Continuing from previous thread after 30 min break)
    """
    chosen_links = _usable(linked, current, explicit)
    talk = [one for one in (current, *(link.thread for link in chosen_links)) if one is not None]
    frame = frame_for(message, [pair.question for one in talk for pair in one.pairs], language)
    form = _ThreadForm(message, current, chosen_links, at, explicit, max_tokens=max_tokens, frame=frame)
    lines = form.lines(() if explicit or chosen_links else recent)
    if estimate(form.text(())) > max_tokens:
        return Context("", (), 0)
    topics = {line.place[0]: line for line in lines if line.kind is LineKind.TOPIC}
    taken: list[_ToldLine] = []
    scores: dict[_Place, float] = {}
    left = {line.place: line for line in lines}
    repeated = dict.fromkeys(left, 0.0)
    while left:
        worth = {place: round(line.value - DUPLICATION * repeated[place], 9) for place, line in left.items()}
        place = max(worth, key=lambda place: (worth[place], *(-n for n in place)))
        best = left.pop(place)
        # no line stands without what it is about
        above = topics.get(place[0], best)
        requested_lines = [line for line in dict.fromkeys((above, best)) if line.place not in scores]
        if estimate(form.text([*taken, *requested_lines])) > max_tokens:
            continue
        taken += requested_lines
        for line in requested_lines:
            scores[line.place] = worth.get(line.place, worth[place])
            for other, candidate in left.items():
                repeated[other] = max(repeated[other], _common(line.terms, candidate.terms))
    return form.context(taken, scores)


class _ThreadForm:
    """The form of one message: which lines there are, and how a choice of them is written."""

    def __init__(
        self,
        message: str,
        current: ThreadBackground | None,
        linked: Sequence[Linked],
        at: datetime,
        explicit: bool,
        *,
        max_tokens: int,
        frame: ContextPhrases,
    ) -> None:
        self._frame = frame
        self._message = _fitting(frame.asks, message, max_tokens)
        self._terms = frozenset(tokens(message))
        self._asked = one_line(message)
        self._current = current
        self._linked = linked
        self._at = at
        self._explicit = explicit

    def lines(self, recent: Sequence[ThreadBackground]) -> list[_ToldLine]:
        """Return every line that may be taken, in the order of the text."""
        lines: list[_ToldLine] = []
        if self._current is not None:
            lines.extend(self._block(0, self._current, self._frame.discussing))
        for number, link in enumerate(self._linked, 1):
            form = self._frame.maybe_discussing if link.uncertain else self._frame.discussing
            lines.extend(self._block(number, link.thread, form))
        fresh = [t for t in recent if self._at - t.last_activity_at <= RECENT and not self._is_current(t)]
        fresh.sort(key=lambda t: (t.last_activity_at, t.thread_id), reverse=True)
        for number, thread in enumerate(fresh[:MOST_RECENT]):
            title = quoted(thread.title, _TITLE, brackets=False)
            if title:
                text = f"- {title} {self._frame.unlinked}"
                lines.append(self._line((MOST_LINKED + 1, 3, number), LineKind.RECENT, text, thread))
        return lines

    def _is_current(self, thread: ThreadBackground) -> bool:
        return self._current is not None and thread.thread_id == self._current.thread_id

    def _block(self, number: int, thread: ThreadBackground, form: str) -> Iterable[_ToldLine]:
        texts = [text for pair in thread.pairs for text in (pair.question, pair.answer)]
        about = quoted(topic(thread.title, thread.speakers, [*texts, thread.summary]), _TITLE)
        if about:
            yield self._line((number, 0, 0), LineKind.TOPIC, form.replace("{}", about.rstrip(".。")), thread)
        shown = [p for p in thread.pairs if one_line(p.question) and not self._repeats(p, number)][
            -MOST_PAIRS:
        ]
        summary = quoted(thread.summary, _SUMMARY)
        # the pairs tell a short thread whole; a summary would say it twice
        if summary and (not shown or thread.turns > len(shown)):
            text = self._frame.summary.replace("{}", summary)
            yield self._line((number, 1, 0), LineKind.SUMMARY, text, thread)
        words = " ".join([about, summary, *texts]).casefold()
        entities = [quoted(e, _ENTITY) for e in thread.entities if e.casefold() not in words]
        names = ", ".join([e for e in entities if e][:_MOST_ENTITIES])
        if names:
            text = self._frame.mentioned.replace("{}", names)
            yield self._line((number, 2, 0), LineKind.ENTITIES, text, thread)
        seen: set[str] = set()
        for place in reversed(range(len(shown))):  # of equal lines the latest stands
            pair = shown[place]
            text = _pair_text(pair)
            if text not in seen:
                seen.add(text)
                yield self._line((number, 3, place), LineKind.PAIR, text, thread, pair)

    def _repeats(self, pair: AnsweredQuestion, number: int) -> bool:
        """Tell whether a pair of the current thread is only the message itself, stored already."""
        return number == 0 and not pair.answer.strip() and one_line(pair.question) == self._asked

    def _line(
        self,
        place: _Place,
        kind: LineKind,
        text: str,
        thread: ThreadBackground,
        pair: AnsweredQuestion | None = None,
    ) -> _ToldLine:
        terms = frozenset(tokens(text))
        moment = thread.last_activity_at if pair is None else pair.at
        part = thread if pair is None else pair
        source = _ToldFrom(
            thread.thread_id, part.episode_id or thread.episode_id, part.first_seq, part.last_seq
        )
        supplied = None if pair is None else pair.similarity
        similarity = _common(self._terms, terms) if supplied is None else supplied
        recency = max(0.0, 1.0 - max(self._at - moment, timedelta(0)) / RECENT)
        value = SIMILARITY * similarity + RECENCY * recency + IMPORTANCE * part.importance
        return _ToldLine(place, kind, text, source, terms, value)

    def _label(self, kind: LineKind) -> str:
        return self._frame.recent if kind is LineKind.RECENT else self._frame.previous

    def text(self, taken: Sequence[_ToldLine]) -> str:
        """Return the final text of a choice of lines."""
        return "\n".join(text for text, _ in self._written(taken))

    def context(self, taken: Sequence[_ToldLine], scores: Mapping[_Place, float]) -> Context:
        """Return the text with an item for each recalled line."""
        written = self._written(taken)
        items = [
            ContextItem(
                number,
                line.kind,
                line.source.thread_id,
                line.source.episode_id,
                line.source.first_seq,
                line.source.last_seq,
                scores.get(line.place, 0.0),
            )
            for number, (_, line) in enumerate(written)
            if line is not None
        ]
        text = "\n".join(text for text, _ in written)
        return Context(text, tuple(items), estimate(text))

    def _written(self, taken: Sequence[_ToldLine]) -> list[tuple[str, _ToldLine | None]]:
        rows: list[tuple[str, _ToldLine | None]] = []
        for number in range(MOST_LINKED + 2):
            block = sorted((line for line in taken if line.place[0] == number), key=lambda line: line.place)
            if rows and block:
                rows.append(("", None))
            labelled = False
            for line in block:
                if line.place[1] == 3 and not labelled:
                    rows.append((self._label(line.kind), None))
                    labelled = True
                rows.append((line.text, line))
        rest: list[tuple[str, _ToldLine | None]] = [(self._message, None)] if self._message else []
        rest += self._continuing(taken)
        if rows and rest:  # a budget may leave no room for the message
            rows.append(("", None))
        return [*rows, *rest]

    def _continuing(self, taken: Sequence[_ToldLine]) -> list[tuple[str, _ToldLine | None]]:
        """Return the line of the break since the most recent linked thread that is told of.

        None where every such thread went on after this one began: then this one is the earlier.
        """
        began = self._at if self._current is None else self._current.first_at
        numbers = sorted({line.place[0] for line in taken if 1 <= line.place[0] <= MOST_LINKED})
        linkeds = [self._linked[number - 1] for number in numbers]
        link = next((one for one in linkeds if one.thread.last_activity_at <= began), None)
        if self._explicit or link is None:
            return []
        gap = break_words(began - link.thread.last_activity_at, self._frame)
        form = self._frame.maybe_continuing if link.uncertain else self._frame.continuing
        text = form.replace("{}", gap)
        return [(text, self._line((MOST_LINKED + 2, 0, 0), LineKind.CONTINUING, text, link.thread))]


def _usable(linked: Sequence[Linked], current: ThreadBackground | None, explicit: bool) -> list[Linked]:
    """Return the links to tell of, most recent first, each thread once."""
    own = None if current is None else current.thread_id
    fit = [
        link
        for link in linked
        if link.thread.thread_id != own and not (explicit and link.basis is Basis.CONTINUITY)
    ]
    fit.sort(key=lambda link: (link.thread.last_activity_at, link.thread.thread_id), reverse=True)
    once = {link.thread.thread_id: link for link in reversed(fit)}
    return [link for link in fit if once[link.thread.thread_id] is link][:MOST_LINKED]


def _fitting(asks: str, message: str, max_tokens: int) -> str:
    """Return the line of the message, cut where it would leave no room; "" where there is none for it."""
    line = asks + quoted(message, len(message) + 1)
    if estimate(line) <= max_tokens * _MESSAGE_SHARE:
        return line
    cut = cut_to(line, int(max(max_tokens * _MESSAGE_SHARE, min(max_tokens, 20))))
    return cut if cut.startswith(asks.strip()) else ""


def _pair_text(pair: AnsweredQuestion) -> str:
    question = quoted(pair.question, _QUESTION, brackets=False)
    answer = quoted(pair.answer, _ANSWER)
    return f"- {question} ({answer})" if answer else f"- {question}"


def _common(terms: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of the smaller set of terms that the other holds too."""
    return len(terms & other) / min(len(terms), len(other)) if terms and other else 0.0
