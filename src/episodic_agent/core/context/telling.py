"""The default form of a context: what is known, this conversation, and what was said earlier, in a budget.

    What is known:
    - {fact} ({date})

    What has worked before:
    - {skill} → {step} → {step}

    In this conversation:
    - {question} ({answer})

    What was taken on:
    - {who} → {whom}: {sentence} (due {date})

    From earlier:
    {date}, {place}
    - {question} ({answer})
    - {sentence}

    (Continuing from previous thread after {gap} break: {title})
    Current question: {message}

Lines of all blocks compete for the tokens: each has a worth, the best are taken until nothing fits. Facts
stand in the order of time, what was taken on as it is due, and what was said earlier under its date and,
where that is another place that people come back to (a named thread of several days), under its name: two
customers may both have a date. What
one sitting's line answers stands with its question. Each line names where it is from. What does not bear on
the message is left out even where there is room: below a bar in calibrated log-odds that sinks with the
budget, as whoever gives more room wants more, and in a young memory far below the best line (under
`context-2027-01` that alone). What the thread only perhaps goes on from is not named: it misleads more often
than it helps (under `context-2027-01` it is, and that line stands last, as in the founding document).
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from enum import IntEnum
from functools import lru_cache
from math import log
from typing import Final, TypeAlias
from uuid import UUID

from episodic_agent.core.context.frames import ContextPhrases, break_words, frame_for
from episodic_agent.core.context.quoting import harmless, one_line, quoted, shown_name
from episodic_agent.core.context.relevance import RIVALS
from episodic_agent.core.context.tokens import cut_to, estimate, tenths
from episodic_agent.core.language import excerpt, tokens
from episodic_agent.core.links.features import cues
from episodic_agent.core.recall.alone import asks
from episodic_agent.schemas.contexts import Context, ContextItem, LineKind

DROP: Final = 3.2  # log-odds below the best, at a budget of 800
WIDER: Final = 3.2  # more of it, for each e-fold of the budget
BAR: Final = -5.35  # log-odds, at a budget of 800 (`context-2027-02`)
LOWER: Final = 3.0  # of it, for each e-fold of the budget: who gives more room minds a line less than a miss
YOUNG: Final = 2.3  # log-odds more below the best in a young memory: there is room for all that may be meant
_FULL: Final = 30  # candidates of a full memory
BEARS: Final = -4.5  # log-odds from which a line surely bears on the message
NEAR: Final = 4.0  # log-odds below such a line; further down, other matters come in
_BASE: Final = 800
_ENOUGH: Final = 256  # tokens: that nothing is told within them is no matter of room
LEAST: Final = -9.0  # log-odds below which nothing bears on the message
TOOL: Final = "tool"  # the speaker of what tools put out
LONGEST: Final = 60  # tokens of one quoted text; of a longer one its best sentences stand
_WIDEST: Final = 0.25  # share of the budget that one text may take where room is left
_ROOMY: Final = 1.3  # a text so much longer is not cut
_LONG_SESSION: Final = 3.0
_NAME: Final = 40  # characters of a speaker's name
_TITLE: Final = 80  # characters of the title of what is gone on from
_MESSAGE_SHARE: Final = 0.5  # of the budget, for a message that does not fit anyway
_REPEATS: Final = 0.6  # share of a text's terms that another holds, from which it waits where room is small
_SAID_BEFORE: Final = 0.9  # share of a text's terms that a fact holds: it adds nothing


Spot: TypeAlias = tuple[UUID, int]
"""Where a text begins: its thread and its first seq."""


class Block(IntEnum):
    """Where a line stands, in the order of the text."""

    KNOWN = 0
    SKILLS = 1
    SESSION = 2
    HERE = 3
    PROMISED = 4
    BEFORE = 5


SHARES: Final[Mapping[Block, float]] = {
    Block.KNOWN: 0.2,
    Block.SKILLS: 0.1,
    Block.SESSION: 0.2,
    Block.HERE: 0.3,
    Block.PROMISED: 0.5,
}
# Of the budget, for wishes beside the facts that bear on the message: they would leave these no line. The
# first few are each told even where the budget is small, since whoever forgets them annoys.
WISHES: Final = 0.2
FEW_WISHES: Final = 0.4
_FEW: Final = 5
_SMALL: Final = 300  # tokens, below which the share of these few sinks where the message asks


@dataclass(frozen=True, slots=True)
class QuotedText:
    """A text that may be told, where it is from, and what it is worth.

    `speaker` is "" for the user; a `reply` is an answer, and stands in brackets behind what it answers where
    both are told, under a name ("assistant", "tool") that no quoted text can begin a line with. `worth` is in
    log-odds as `relevances` gives them, for every block on the same scale. `sitting` tells which stretch of
    talk it is of; `quotation` a fact that stands in its speaker's own words, `wish` one of how to answer
    or a pinned one, told whatever the message is about, `rule` one that it asks for. `corrected_by` are
    texts that may have changed it: it is told with them or not at all. `answers` is the request that a
    reply concludes with tools between them. `place` is the name of the thread it is from, "" for this one
    and those whose name tells nothing.
    `nearness` is how near each of the `pieces` of a long text is to what is asked, in [-1, 1].
    """

    block: Block
    kind: LineKind
    text: str
    thread_id: UUID
    episode_id: UUID | None
    first_seq: int
    last_seq: int
    at: datetime
    worth: float
    speaker: str = ""
    reply: bool = False
    sitting: int = 0
    quotation: bool = False
    wish: bool = False
    rule: bool = False
    corrected_by: tuple[Spot, ...] = ()
    answers: Spot | None = None
    place: str = ""
    nearness: tuple[float, ...] = ()

    @property
    def spot(self) -> Spot:
        """Return where it begins."""
        return self.thread_id, self.first_seq


@dataclass(frozen=True, slots=True)
class Continued:
    """The thread a new one goes on from, when that was last active, and what it is called ("": unsaid)."""

    thread_id: UUID
    last_seq: int
    last_at: datetime
    began: datetime
    uncertain: bool = False
    title: str = ""


def floor(top: float, budget: int) -> float:
    """Return the worth below which a line is left out, by that of the best and the budget.

    >>> floor(0.0, 800), round(floor(0.0, 2_000), 1), floor(-9.0, 2_000)
    (-3.2, -6.1, -9.0)
    """
    return max(LEAST, top - DROP - WIDER * log(max(budget, _BASE) / _BASE))


def bar(count: int, budget: int) -> float:
    """Return the log-odds below which a line is left out, by how many lines there are to choose from.

    They are calibrated, so the bar is one for all messages and few lines may stand for a message nothing
    bears on. Of few candidates each is likelier to be meant than judges of full memories can tell.

    >>> bar(300, 800), round(bar(300, 2_000), 2), round(bar(3, 800), 2)
    (-5.35, -8.1, -7.65)
    """
    return BAR - LOWER * log(max(budget, _BASE) / _BASE) + log(min(max(count, 1), _FULL) / _FULL)


def _least_worth(recalled: Sequence[float], budget: int, policy: str) -> float:
    """Return the log-odds below which a line is left out, from those of all that is recalled."""
    relative = floor(max(recalled, default=LEAST), budget)
    if policy != RIVALS:
        return relative
    absolute, top = bar(len(recalled), budget), max(recalled, default=LEAST)
    if len(recalled) >= _FULL:
        return absolute
    # of a young memory all is above the bar: what is far below the best is not meant; where a line of it
    # surely bears on the message, what stands near that line is told below the bar, too
    young = max(absolute, LEAST, relative - YOUNG)
    return max(LEAST, min(young, top - NEAR)) if top >= BEARS else young


def told_within(max_tokens: int, write: Callable[..., Context]) -> Context:
    """Return what is written within a budget; where a small one tells nothing, with the least that would.

    `write` takes `max_tokens`. Of a budget that is no small one it is no matter of room.
    """
    context = write(max_tokens=max_tokens)
    if context.items or max_tokens >= _ENOUGH or not write(max_tokens=_ENOUGH).items:
        return context
    too_few, least = max_tokens, _ENOUGH
    while least - too_few > 1:
        middle = (too_few + least) // 2
        too_few, least = (too_few, middle) if write(max_tokens=middle).items else (middle, least)
    return replace(context, least=least)


def tell(
    message: str,
    candidates: Sequence[QuotedText],
    *,
    max_tokens: int,
    continued: Continued | None = None,
    frame: ContextPhrases | None = None,
    policy: str = RIVALS,
    place_of: Callable[[UUID], str] = lambda _: "",
) -> Context:
    """Return the context of a message, never longer than `max_tokens`; the same input gives the same text.

    `frame` has the words around it, by default those of the message's language. `place_of` gives the name of
    a thread as lines from there are told; it is asked for those alone.
    """
    frame = frame or frame_for(message)
    ending = _ending(frame, message, max_tokens)
    if not ending or estimate(ending) > max_tokens:
        return Context("", (), 0)
    if policy == RIVALS and continued is not None and continued.uncertain:
        continued = None
    room = 10 * max_tokens - tenths(ending)
    going_on = None if continued is None else _going_on(frame, continued)
    if going_on is not None:
        room -= tenths(going_on)
    recalled = [quote.worth for quote in candidates if quote.block is Block.BEFORE]
    least = _least_worth(recalled, max_tokens, policy)
    if policy == RIVALS:
        candidates = _once([one for one in candidates if one.block is not Block.KNOWN or one.worth >= least])
    named = place_of if policy == RIVALS else lambda _: ""

    def choose(facts_below: AbstractSet[str]) -> list[QuotedText]:
        return _chosen(
            message,
            candidates,
            frame,
            room,
            max_tokens,
            least,
            place_of=named,
            dated=policy == RIVALS,
            facts_below=facts_below,
        )

    taken = _said_once(choose) if policy == RIVALS else choose(frozenset())
    if policy == RIVALS:
        taken = [line for line in taken if not _is_lone_assent(line, taken)]
    rows = _written(taken, frame, dated=policy == RIVALS)
    if continued is not None and all(quote.thread_id != continued.thread_id for quote in taken):
        going_on = None  # nothing of it is told
    items = [item for number, (_, quote) in enumerate(rows) for item in _items(number, quote)]
    texts = [*(text for text, _ in rows), *([""] if rows else []), ending]
    if continued is not None and going_on is not None:
        seq, line = continued.last_seq, len(texts) - 1 if policy == RIVALS else len(texts)
        texts.insert(line, going_on)
        items.append(ContextItem(line, LineKind.CONTINUING, continued.thread_id, None, seq, seq, 0.0))
    text = "\n".join(texts)
    return Context(text, tuple(items), estimate(text))


def _items(number: int, quote: QuotedText | None) -> list[ContextItem]:
    if quote is None:
        return []
    score = round(quote.worth, 6)
    return [
        ContextItem(
            number, quote.kind, quote.thread_id, quote.episode_id, quote.first_seq, quote.last_seq, score
        )
    ]


def _ending(frame: ContextPhrases, message: str, max_tokens: int) -> str:
    line = frame.asks + harmless(message)
    if estimate(line) <= max_tokens * _MESSAGE_SHARE:
        return line
    cut = cut_to(line, int(max(max_tokens * _MESSAGE_SHARE, min(max_tokens, 20))))
    return cut if cut.startswith(frame.asks.strip()) else ""


def _going_on(frame: ContextPhrases, continued: Continued) -> str:
    gap = break_words(continued.began - continued.last_at, frame)
    form = frame.maybe_continuing if continued.uncertain else frame.continuing
    line = form.replace("{}", gap)
    title = quoted(continued.title, _TITLE)
    # the founding document's line ends in a bracket in every language: what is gone on from stands before it
    return f"{line[:-1]}: {title}{line[-1]}" if title else line


class _Shares:
    """What is left of the budget and, of it, of each block's share, in tenths of a token."""

    def __init__(self, room: int, max_tokens: int, *, wishes_apart: bool, asks: bool) -> None:
        few = FEW_WISHES * min(1.0, max_tokens / _SMALL) if asks else FEW_WISHES
        self._few = max(WISHES, few)
        self._room = room
        self._left = {block: 10 * share * max_tokens for block, share in SHARES.items()}
        self._apart = wishes_apart
        self._wishes = 0  # lines
        self._wished = 0  # tenths of a token that they take
        self._budget = 10 * max_tokens

    def spare(self, block: Block) -> int:
        """Return what a line of a block may take, but for wishes."""
        return int(min(self._room, self._left.get(block, self._room)))

    def take(self, quote: QuotedText, cost: int) -> bool:
        """Take the room of a line; False where there is none."""
        wishes = self._apart and quote.block is Block.KNOWN and quote.wish
        if quote.rule:
            share: float = self._room
        elif wishes:
            share = self._budget * (self._few if self._wishes < _FEW else WISHES) - self._wished
        else:
            share = self._left.get(quote.block, self._room)
        if cost > min(self._room, share):
            return False
        self._room -= cost
        if quote.rule:
            return True
        if wishes:
            self._wishes += 1
            self._wished += cost
        elif quote.block in self._left:
            self._left[quote.block] -= cost
        return True


def _chosen(
    message: str,
    candidates: Sequence[QuotedText],
    frame: ContextPhrases,
    room: int,
    max_tokens: int,
    least: float,
    *,
    place_of: Callable[[UUID], str],
    dated: bool,
    facts_below: AbstractSet[str],
) -> list[QuotedText]:
    """Return the lines that are taken: greedily by worth, each block within its share.

    `dated`: wishes have a share of their own, and facts say since when, as nobody can tell otherwise which of
    two is the newer. `facts_below` are lines of facts that are left out.
    """
    order = sorted(
        candidates, key=lambda quote: (-round(quote.worth, 9), quote.block, quote.at, quote.first_seq)
    )
    if dated and max_tokens < _BASE:
        order = _repeats_last(order, message, least)
    shares = _Shares(room, max_tokens, wishes_apart=dated, asks=asks(message))
    taken: list[QuotedText] = []
    uncut: list[QuotedText] = []
    headed: set[object] = set()
    seen = {(Block.KNOWN, text) for text in facts_below}
    no_room: set[Spot] = set()
    for quote in order:
        if quote.block is Block.BEFORE and quote.worth < least:
            continue
        if any(spot in no_room for spot in quote.corrected_by):
            continue
        text = _trimmed(quote, message, frame)
        place = place_of(quote.thread_id) if quote.block in (Block.KNOWN, Block.BEFORE) else ""
        terms = terms_of(text)
        when = _date(quote, place)
        text = f"{text} ({when})" if dated and text and quote.block is Block.KNOWN else text
        if (quote.block, text) in seen or (quote.block is Block.BEFORE and _is_told(text, terms, taken)):
            continue
        heads: dict[object, str] = {quote.block: _head(frame, quote.block)}
        if quote.block is Block.BEFORE:
            heads[when] = when
        fresh = [head for key, head in heads.items() if key not in headed]
        cost = tenths(f"- {_speaker(quote)}{text}") + sum(map(tenths, fresh))
        if not text or not shares.take(quote, cost):
            no_room.add(quote.spot)
            continue
        no_room.discard(quote.spot)  # as a fact it may have had none
        headed.update(heads)
        seen.add((quote.block, text))
        taken.append(replace(quote, text=text, place=place))
        uncut.append(quote)
    most = int(_WIDEST * max_tokens)
    return _widened(taken, uncut, message, frame, shares=shares, most=most)


def _repeats_last(order: Sequence[QuotedText], message: str, least: float) -> list[QuotedText]:
    """Return candidates with those of earlier talk last that say little beside the message or a better one.

    A test that failed as it does now holds all that the message quotes of it, and no cure. What may have
    changed another text keeps its place: without it that one would not be told.
    """
    changes = {spot for quote in order for spot in quote.corrected_by}
    first: list[QuotedText] = []
    last: list[QuotedText] = []
    known = [terms_of(message)]
    for quote in order:
        if quote.block is not Block.BEFORE or quote.worth < least or quote.spot in changes:
            first.append(quote)
            continue
        terms = terms_of(quote.text)
        if any(len(terms & others) >= _REPEATS * len(terms) for others in known):
            last.append(quote)
        else:
            first.append(quote)
            known.append(terms)
    return [*first, *last]


def _widened(
    taken: Sequence[QuotedText],
    uncut: Sequence[QuotedText],
    message: str,
    frame: ContextPhrases,
    *,
    shares: _Shares,
    most: int,
) -> list[QuotedText]:
    """Return lines with more of what people said at length, as far as room is left, the best first.

    No line gets longer than `most` tokens.
    """
    result = list(taken)
    for number, (line, quote) in enumerate(zip(taken, uncut, strict=True)):
        size = min(most, LONGEST + shares.spare(line.block) // 10)
        if line.block not in (Block.HERE, Block.BEFORE) or quote.reply or size <= LONGEST * _ROOMY:
            continue
        text = _trimmed(quote, message, frame, size) if is_long(one_line(quote.text)) else line.text
        more = tenths(text) - tenths(line.text)
        if more > 0 and shares.take(line, more):
            result[number] = replace(line, text=text)
    return result


def _once(candidates: Sequence[QuotedText]) -> list[QuotedText]:
    """Return candidates without a quoted fact that another tells beside words of its own, with its worth.

    Both may be of one message: its first sentence, and that with another one.
    """
    facts = [one for one in candidates if one.quotation]
    tells = {
        id(one): [other for other in facts if len(other.text) < len(one.text) and _words(other) in one.text]
        for one in facts
    }
    again = {id(other) for others in tells.values() for other in others}
    return [
        replace(one, worth=max(one.worth, *(other.worth for other in tells[id(one)])))
        if one.quotation and tells[id(one)]
        else one
        for one in candidates
        if id(one) not in again
    ]


def _said_once(choose: Callable[[AbstractSet[str]], list[QuotedText]]) -> list[QuotedText]:
    """Return the lines that are chosen without quoted facts whose words stand in a line of talk among them.

    There they stand under their day, between what was said before and behind them. The room they leave goes
    to other lines, unless these would take that of the talk.
    """
    taken = choose(frozenset())
    repeated = _stand_below(taken, taken)
    if not repeated:
        return taken
    again = choose({fact.text for fact in repeated})
    taken = again if len(_stand_below(repeated, again)) == len(repeated) else taken
    below = _stand_below(taken, taken)
    return [line for line in taken if line not in below]


def _is_lone_assent(line: QuotedText, taken: Sequence[QuotedText]) -> bool:
    """Tell whether a reply only assents ("Got it.") and what it answers stands elsewhere or nowhere."""
    if not line.reply or line.block is not Block.BEFORE or line.kind is LineKind.SESSION:
        return False
    joined = any(
        other.block is line.block
        and (other.spot == line.answers or (other.thread_id, other.last_seq + 1) == line.spot)
        for other in taken
        if not other.reply
    )
    return not joined and cues(line.text).nothing


def _stand_below(facts: Sequence[QuotedText], taken: Sequence[QuotedText]) -> list[QuotedText]:
    """Return the quoted facts whose words stand in this conversation or, but for wishes, in earlier talk.

    How to answer counts whatever is asked, and stands above it all. What was said again later is not told by
    the earlier words: of two that differ the last one holds.
    """

    def stands(fact: QuotedText) -> bool:
        words = _words(fact)
        return any(
            words in line.text and (line.block is Block.HERE or line.spot == fact.spot or line.at >= fact.at)
            for line in taken
            if line.block is Block.HERE or (line.block is Block.BEFORE and not fact.wish)
        )

    return [fact for fact in facts if fact.quotation and stands(fact)]


def _words(fact: QuotedText) -> str:
    """Return what a fact quotes; of one that was cut all there is."""
    return fact.text.partition('"')[2].rpartition('"')[0] or fact.text


def _is_told(text: str, terms: frozenset[str], taken: Sequence[QuotedText]) -> bool:
    """Tell whether one line that is taken says a text already: in these words, or as a fact.

    It must be one line: "it's codeine, not penicillin" is said by no two lines that have its words.
    """
    return bool(terms) and any(
        text in other.text
        or (other.block is Block.KNOWN and len(terms & terms_of(other.text)) >= _SAID_BEFORE * len(terms))
        for other in taken
    )


def is_long(text: str) -> bool:
    """Tell whether a text is too long to be told whole wherever it bears on a message."""
    return estimate(text) > LONGEST * _ROOMY


def _trimmed(quote: QuotedText, message: str, frame: ContextPhrases, most: int = LONGEST) -> str:
    """Return a text for its line; of one longer than `most` tokens the pieces nearest to the message."""
    text = one_line(quote.text)
    size = estimate(text)
    if quote.block is not Block.PROMISED and size > most * (
        _ROOMY if quote.block is not Block.SESSION else _LONG_SESSION
    ):
        # the lines of an output are its own: on one line they are no sentences
        output = quote.reply and quote.speaker == TOOL
        own = quote.text if output else text
        limit = max(80, len(text) * most // size)
        text = one_line(excerpt(own, message, limit, output=output, nearness=quote.nearness))
    shown = _shown(text)
    return frame.session.replace("{}", shown) if shown and quote.block is Block.SESSION else shown


# Each message asks for much the same lines: a third of the time went into making them harmless anew.


@lru_cache(maxsize=8_192)
def _shown(text: str) -> str:
    return harmless(text)


@lru_cache(maxsize=8_192)
def terms_of(text: str) -> frozenset[str]:
    """Return the words a text is compared by."""
    return frozenset(tokens(text))


def _speaker(quote: QuotedText) -> str:
    return _called(quote.speaker)


@lru_cache(maxsize=1_024)
def _called(speaker: str) -> str:
    name = quoted(shown_name(speaker), _NAME, brackets=False).replace(":", "")
    return f"{name}: " if name else ""


def _head(frame: ContextPhrases, block: Block) -> str:
    heads = {
        Block.KNOWN: frame.known,
        Block.SKILLS: frame.skills,
        Block.HERE: frame.here,
        Block.PROMISED: frame.promised,
        Block.BEFORE: frame.before,
    }
    return heads.get(block, "")


def _date(quote: QuotedText, place: str) -> str:
    """Return the day of a line and where it was said."""
    return f"{quote.at:%Y-%m-%d}{f', {quoted(place, _NAME)}' if place else ''}"


def _written(
    taken: Sequence[QuotedText], frame: ContextPhrases, *, dated: bool
) -> list[tuple[str, QuotedText | None]]:
    """Return the rows of the text with what each tells, None for those of the form.

    Where facts are `dated` they too stand in the order of time: the last of two that differ holds.
    """
    rows: list[tuple[str, QuotedText | None]] = []
    for block in Block:
        lines = [quote for quote in taken if quote.block is block]
        if block is Block.PROMISED:
            lines.sort(key=lambda quote: -quote.worth)
        elif dated or block is not Block.KNOWN:
            # what a session came to stands behind its last words
            lines = _in_order(lines)
        if not lines:
            continue
        if rows:
            rows.append(("", None))
        if head := _head(frame, block):
            rows.append((head, None))
        day = ""
        for quote in _paired(lines):
            if block is Block.BEFORE and _head_of(quote) != day:
                day = _head_of(quote)
                rows.append((day, None))
            rows.append((quote.text if block is Block.SESSION else f"- {quote.text}", quote))
    return rows


def _in_order(lines: Sequence[QuotedText]) -> list[QuotedText]:
    """Return lines in the order they were said, those of one day and place together."""
    begun: dict[str, datetime] = {}
    for quote in lines:
        begun[_head_of(quote)] = min(quote.at, begun.get(_head_of(quote), quote.at))

    def order(quote: QuotedText) -> tuple[datetime, datetime, UUID, int, bool]:
        first = begun[_head_of(quote)] if quote.block is Block.BEFORE else quote.at
        return first, quote.at, quote.thread_id, quote.first_seq, quote.kind is LineKind.SESSION

    return sorted(lines, key=order)


def _head_of(quote: QuotedText) -> str:
    return _date(quote, quote.place)


def _paired(lines: Sequence[QuotedText]) -> list[QuotedText]:
    """Return the lines with their speakers, each reply behind what it answers where that is told."""
    result: list[QuotedText] = []
    answered = False
    spots = {quote.spot for quote in lines}
    concluded = {quote.answers: quote for quote in lines if quote.answers in spots}
    for quote in lines:
        if quote.answers in spots:
            continue  # stands with what it answers
        end = None if quote.kind is LineKind.SESSION else concluded.get(quote.spot)
        if end is not None:
            result.append(_answer(replace(quote, text=f"{_speaker(quote)}{quote.text}"), end))
            answered = True
            continue
        above = result[-1] if result else None
        if (
            quote.reply
            and above is not None
            and not answered
            and not above.reply
            and (above.thread_id, above.last_seq + 1) == (quote.thread_id, quote.first_seq)
        ):
            result[-1] = _answer(above, quote)
            answered = True
            continue
        result.append(replace(quote, text=f"{_speaker(quote)}{quote.text}"))
        answered = False
    return result


def _answer(above: QuotedText, reply: QuotedText) -> QuotedText:
    """Return a line with what answers it in brackets behind it."""
    text = f"{above.text} ({_speaker(reply)}{reply.text})"
    return replace(above, text=text, last_seq=reply.last_seq, worth=max(above.worth, reply.worth))
