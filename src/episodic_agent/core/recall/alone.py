"""Whether a question asks for nothing but a place, or for nothing but what was said at a time.

Then that is the answer, and no likeness of words: "What happened in the kitchen yesterday?" is answered with
the kitchen's days, "What did we talk about yesterday?" with yesterday. A question holds nothing else where
each of its words is a function word, or one that such questions are made of (`data/recall/alone.toml`), or
part of a time.
"""

import re
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from episodic_agent.core.language import fold, script
from episodic_agent.core.language.coming import words_pattern
from episodic_agent.core.language.dayparts import without
from episodic_agent.core.language.glued import folded_times
from episodic_agent.core.language.japanese import has_sign, shared_times
from episodic_agent.core.language.pastdays import asked_time, speaks_of_days_over, sums_up
from episodic_agent.core.language.phrases import unspaced_pattern
from episodic_agent.core.language.sentences import sentences
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS, stop_words
from episodic_agent.data import lines, listed_words, phrase_set, phrases, text, texts
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from episodic_agent.core.language import clocks
else:
    clocks = module("episodic_agent.core.language.clocks")  # few questions name an hour

_WORD: Final = re.compile(r"[^\W_]+")
QUESTION_MARKS: Final = ("?", "？", "؟")
_KANA: Final = re.compile(r"[\u3040-\u309f]")


class _Piece(NamedTuple):
    start: int
    end: int
    folded: str


def asks_nothing_else(rest: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question without its places holds nothing but function words and a time.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_nothing_else("What happened in the        two days ago?", now)
    True
    >>> asks_nothing_else("Where did I put the cup in the       ?", now)
    False
    """
    pieces = list(_pieces(rest := shared_times(folded_times(rest))))
    return any(_holds_only(rest, pieces, known, now, utc_offset) for known in _fillers().values())


def outcomes_asked(question: str) -> Mapping[str, Sequence[tuple[int, int]]]:
    """Return which outcomes a question asks for, each with where its words stand.

    >>> [*outcomes_asked("what went wrong with docking, and what worked?")], [*outcomes_asked("what is new?")]
    (['failure', 'success'], [])
    """
    folded = re.sub(r"\w+", lambda match: fold(match.group()), question)
    asked: dict[str, Sequence[tuple[int, int]]] = {}
    for outcome in texts("recall/outcomes.forms"):
        spans = [match.span() for match in _listed_forms(outcome).finditer(folded)]
        folded = without(folded, spans)  # of "did not work" nothing worked
        if spans:
            asked[outcome] = spans
    return asked


@cache
def _listed_forms(outcome: str) -> re.Pattern[str]:
    return words_pattern(phrases(f"recall/outcomes.forms.{outcome}"))


def asks_only_outcomes(question: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question without its places is for what failed or worked, and for no matter.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_only_outcomes("Which steps failed yesterday?", now), asks_only_outcomes("Why did it fail?", now)
    (True, False)
    """
    asked = outcomes_asked(question)
    beside = listed_words("recall/outcomes.beside.words")
    pieces = list(_pieces(rest := without(question, [span for spans in asked.values() for span in spans])))
    if not asked or _asks_for_details(question, {piece.folded for piece in pieces}):
        return False
    return any(_holds_only(rest, pieces, known | beside, now, utc_offset) for known in _fillers().values())


def asks_what_was_said(question: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question is for nothing but what was said, at a time.

    What happened on Tuesday may be told on Wednesday; what was said, or agreed, on Tuesday was so then. What
    should be said is yet to come.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_what_was_said("What did we talk about yesterday?", now)
    True
    >>> asks_what_was_said("What did I say about the rent yesterday?", now)
    False
    >>> asks_what_was_said("What did we agree last week?", now)
    True
    >>> asks_what_was_said("What did we agree for Friday?", now)
    False
    """
    pieces = list(_pieces(question := shared_times(folded_times(question))))
    present = {piece.folded for piece in pieces}
    for language, (speaking, agreeing) in _speech().items():
        is_for_a_time = not _meant_for().get(language, frozenset()).isdisjoint(present)
        speech = speaking if is_for_a_time else speaking | agreeing
        if speech.isdisjoint(present) or _looks_ahead(present, language):
            continue
        if _holds_only(question, pieces, _fillers()[language] | speech, now, utc_offset):
            return True
    return False


def asks_what_happened(question: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question is for nothing but what happened, or is new, in a time.

    Who asks who, where, when or how asks for more than that, but for how that time was.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> questions = "I'm back. What did I miss since Friday?", "What did I do on Monday?", "How was my week?"
    >>> [asks_what_happened(question, now) for question in questions]
    [True, True, True]
    >>> asks_what_happened("What happened with the invoice since Friday?", now)
    False
    """
    pieces = list(_pieces(question := shared_times(folded_times(question))))
    present = {piece.folded for piece in pieces}
    if _asks_how(question, present) and any(
        _holds_only(question, pieces, faring, now, utc_offset) for faring in _faring()
    ):
        return True
    is_open = _listed("open").search(fold(question)) is not None and not asks_what_is_new(question)
    if is_open or _asks_for_details(question, present):
        return False
    signs = phrases("recall/alone.happening_han")
    spoken = any(sign in question for sign in signs)
    return any(
        (spoken or not present.isdisjoint(happening))
        and _holds_only(question, pieces, known.union(*signs), now, utc_offset)
        for happening, known in _happening()
    )


def _asks_how(question: str, present: Set[str]) -> bool:
    signs = phrases("recall/alone.how_han")
    return not present.isdisjoint(listed_words("recall/alone.how")) or any(sign in question for sign in signs)


def _asks_for_details(question: str, present: Set[str]) -> bool:
    words = listed_words("language/coming.details")
    return not present.isdisjoint(words) or has_sign(question, "language/coming.details_han", "details")


def asks_what_became(question: str) -> bool:
    """Tell whether a question is for what became of something: in the time it names, and no other.

    >>> asks_what_became("How did the flat go this week?"), asks_what_became("Sum up the flat this week")
    (True, True)
    >>> asks_what_became("What did Tom promise last week?")
    False
    """
    words = {fold(match.group()) for match in _WORD.finditer(question)}
    if not words.isdisjoint(listed_words("recall/alone.course")) or sums_up(question):
        return True
    signs = phrases("recall/alone.course_han")
    return (
        any(sign in question for sign in signs)
        or _listed("course_phrases").search(fold(question)) is not None
    )


def asks_what_is_new(question: str) -> bool:
    """Tell whether a question is for what is new, changed or missed, or a summary: not of days to come."""
    words = {fold(match.group()) for match in _WORD.finditer(question)}
    signs = phrases("recall/alone.happening_han")
    if not words.isdisjoint(listed_words("recall/alone.new")) or any(sign in question for sign in signs):
        return True
    return sums_up(question) or _listed("changed").search(fold(question)) is not None


def asks_who_came(question: str, now: datetime, utc_offset: timedelta | None = None) -> bool:
    """Tell whether a question is for nothing but who came, perhaps at a time.

    >>> from datetime import UTC
    >>> now = datetime(2024, 3, 20, tzinfo=UTC)
    >>> asks_who_came("Who came yesterday?", now), asks_who_came("What happened?", now)
    (True, False)
    """
    pieces = list(_pieces(question := shared_times(folded_times(question))))
    return any(
        any(piece.folded in coming for piece in pieces)
        and _holds_only(question, pieces, _fillers()[language] | coming, now, utc_offset)
        for language, coming in _coming().items()
    )


def asks(message: str) -> bool:
    """Tell whether a message asks: by its mark, or by how it begins where there is none.

    >>> asks("what did we talk about yesterday"), asks("I told him yesterday.")
    (True, False)
    """
    if any(mark in message for mark in QUESTION_MARKS):
        return True
    first = _WORD.search(message)
    opening = first is not None and fold(first.group()) in listed_words("recall/alone.asking")
    return opening or any(word in message for word in text("recall/alone.asking_han").split())


def only_asks(message: str) -> bool:
    """Tell whether all that a message does is ask: whoever looks for what it asks wants the answer.

    "We meet at eight, right?" states what it asks.

    >>> only_asks("ok and what was my longest swim so far"), only_asks("I swam a lot. How far was it?")
    (True, False)
    """
    parts = sentences(message)
    return bool(parts) and all(map(_is_bare_question, parts))


def _is_bare_question(sentence: str) -> bool:
    if script(sentence) in BIGRAM_SCRIPTS:
        return asks(sentence)
    words = [fold(match.group()) for match in _WORD.finditer(sentence)]
    greetings = phrase_set("language/coming.greetings")
    first = next((word for word in words if word not in greetings), "")
    if first in listed_words("recall/alone.asking") or first in phrase_set("boundary/speech.wh"):
        return True
    marked = any(mark in sentence for mark in QUESTION_MARKS)
    return marked and first in phrase_set("boundary/speech.aux")


def looks_back(message: str) -> bool:
    """Tell whether a message speaks of what is over, by its verbs; of "on Friday" nothing else tells."""
    words = {fold(match.group()) for match in _WORD.finditer(message)}
    return not words.isdisjoint(phrase_set("language/dayparts.alone.past")) or speaks_of_days_over(message)


def _looks_ahead(words: Set[str], language: str) -> bool:
    ahead, past = _tenses()
    return not words.isdisjoint(ahead.get(language, ())) and words.isdisjoint(past[language])


def _holds_only(
    question: str, pieces: list[_Piece], known: frozenset[str], now: datetime, utc_offset: timedelta | None
) -> bool:
    odd = [piece for piece in pieces if piece.folded not in known]
    return all(_is_time(question, piece, now, utc_offset) for piece in odd)


def _pieces(question: str) -> Iterator[_Piece]:
    """Yield words, and characters where words stand together, without those that only join."""
    nobody = unspaced_pattern("recall/alone.everybody_han").sub(lambda one: " " * len(one.group()), question)
    for match in _WORD.finditer(nobody):
        if script(match.group()) not in BIGRAM_SCRIPTS - {"hangul"}:  # Korean has spaces
            yield _Piece(match.start(), match.end(), fold(match.group()))
            continue
        for at, character in enumerate(match.group(), match.start()):
            if character not in text("recall/alone.han") and not _KANA.match(character):
                yield _Piece(at, at + 1, character)


@cache
def _fillers() -> Mapping[str, frozenset[str]]:
    """Return by language what a question for a place or a time is made of."""
    languages = texts("recall/alone.fillers")
    stop = stop_words()
    return {
        one: stop.get(one, frozenset()) | listed_words(f"recall/alone.fillers.{one}") for one in languages
    }


@cache
def _speech() -> Mapping[str, tuple[frozenset[str], frozenset[str]]]:
    """Return by language words of which one stands in a question for what was said, or what was agreed."""
    speaking, agreeing = (frozenset(text(f"recall/alone.{kind}_han")) for kind in ("spoken", "agreeing"))
    return {
        one: (
            speaking.union(listed_words(f"recall/alone.speech.{one}")),
            agreeing.union(listed_words(f"recall/alone.agreeing.{one}")),
        )
        for one in texts("recall/alone.speech")
    }


@cache
def _meant_for() -> Mapping[str, frozenset[str]]:
    """Return by language the words by which something is agreed for a time, and not then."""
    return {
        one: frozenset(listed_words(f"recall/alone.meant_for.{one}"))
        for one in texts("recall/alone.meant_for")
    }


@cache
def _happening() -> Sequence[tuple[frozenset[str], frozenset[str]]]:
    """Return by language the words of which one stands in a question for what happened, and all it holds."""
    languages = {
        one: listed_words(f"recall/alone.happening.{one}") for one in texts("recall/alone.happening")
    }
    return [
        (words, words.union(_fillers()[one], listed_words(f"recall/alone.beside.{one}")))
        for one, words in languages.items()
    ]


@cache
def _faring() -> Sequence[frozenset[str]]:
    """Return by language all the words of a question for how a time was."""
    han = frozenset("".join(phrases("recall/alone.faring_han")))
    return [han.union(listed_words(f"recall/alone.faring.{one}")) for one in texts("recall/alone.faring")]


@cache
def _listed(name: str) -> re.Pattern[str]:
    return words_pattern(phrases(f"recall/alone.{name}"))


@cache
def _coming() -> Mapping[str, frozenset[str]]:
    """Return by language the words of which one stands in a question for who came."""
    return {one: listed_words(f"recall/alone.coming.{one}") for one in texts("recall/alone.coming")}


@cache
def _tenses() -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """Return by language the words that look ahead, and those that look back all the same."""
    ahead, past = (
        {
            one: frozenset(listed_words(f"recall/alone.{tense}.{one}"))
            for one in texts(f"recall/alone.{tense}")
        }
        for tense in ("ahead", "past")
    )
    return ahead, past


def _is_time(question: str, piece: _Piece, now: datetime, utc_offset: timedelta | None) -> bool:
    """Tell whether a word is part of an expression of time: without it another time is meant.

    Or a figure, a month or "pm" beside one: the year of a date changes nothing when it is the last such date.
    """
    meant = asked_time(question, now, utc_offset)
    rest = without(question, [(piece.start, piece.end)])
    other = asked_time(rest, now, utc_offset)
    beside = piece.folded.isdecimal() or piece.folded in text("recall/alone.beside_times_han")
    beside |= piece.folded in clocks.clock_words()
    if other == meant and meant.names_hours:  # "after 4 pm" alone may be of the same day
        meant, other = (asked_time(said, now, utc_offset, hours=False) for said in (question, rest))
    return other != meant or (bool(meant) and (beside or piece.folded in _months()))


@cache
def _months() -> frozenset[str]:
    return frozenset(name for names in lines("entities/times.months") for name in names.split())
