"""The words around a context, by the language of the talk: seed 002's to the letter in English.

Which language a user speaks is read from a short message, and where that leaves a doubt from their earlier
talk. A question of four words has two function words, and neighbours share them: "quando" is Portuguese and
Italian. So words, letters and signs that are one language's own count beside them
(`data/language/own_words.toml`). Between languages that stay close the one decides in which most of the
user's earlier messages are.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.episodes.languages import UNSPACED, guess_language, other_words
from episodic_agent.core.language import fold, script, words
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import listed_words, tables, texts


@dataclass(frozen=True, slots=True)
class ContextPhrases:
    """The words of one language; "{}" stands for a topic, a break, a date or a list.

    `outcomes` are success, partial, failure, ongoing and abandoned; `units` minute, hour, day, week, month
    and year, each for one and for several.
    """

    discussing: str
    maybe_discussing: str
    previous: str
    recent: str
    asks: str
    summary: str
    mentioned: str
    unlinked: str
    continuing: str
    maybe_continuing: str
    known: str
    skills: str
    here: str
    promised: str
    due: str
    done: str
    before: str
    session: str
    outcome: str
    outcomes: tuple[str, ...]
    decided: str
    units: tuple[tuple[str, str], ...]


def _units(text: str) -> tuple[tuple[str, str], ...]:
    pairs = [pair.split("|") for pair in text.split(", ")]
    return tuple((pair[0], pair[-1]) for pair in pairs)


@cache
def frames() -> Mapping[str, ContextPhrases]:
    """Return the frames by language, as `data/context/frames.toml` holds them."""
    return {
        language: ContextPhrases(
            **{name: word for name, word in said.items() if name not in ("outcomes", "units")},
            outcomes=tuple(said["outcomes"].split("|")),
            units=_units(said["units"]),
        )
        for language, said in tables("context/frames").items()
    }


def frame_for(message: str, asked: Sequence[str] = (), language: str | None = None) -> ContextPhrases:
    """Return the frame of a language, or that of what the user says: the message, then what was asked before.

    English where nothing tells it (`spoken_language`), or the language has no frame.

    >>> frame_for("Und was kostet die Kupplung?").asks, frame_for("Berlin?", ["那我们明天去哪里？"]).asks
    ('Aktuelle Frage: ', '当前问题：')
    >>> frame_for("x y").asks, frame_for("Lisbon", language="xx").asks
    ('Current question: ', 'Current question: ')
    """
    if language is None:
        language = spoken_language(message, asked) or "en"
    return frames().get(language, frames()["en"])


_STEP: Final = 5  # minutes a break is rounded to
_MINUTES: Final = {"hour": 60, "day": 1_440, "week": 10_080, "month": 43_830, "year": 525_960}
# up to here a break is said in the smaller unit: "90 min" is no "2 hours", nor are ten days "1 week"
_FROM: Final = (("year", 1.0), ("month", 2.0), ("week", 2.0), ("day", 1.5), ("hour", 3.0))


_UNITS: Final = tuple(_MINUTES)


def break_words(gap: timedelta, frame: ContextPhrases | None = None) -> str:
    """Return a break as it is said, rounded to five minutes, and more coarsely the longer it is.

    The words are those of a frame, by default the English one.

    >>> [break_words(timedelta(minutes=m)) for m in (1, 32, 33, 60, 75, 118, 190)]
    ['5 min', '30 min', '35 min', '1 hour', '1 hour 15 min', '2 hours', '3 hours']
    >>> [break_words(timedelta(hours=h)) for h in (30, 37, 72, 24 * 20, 24 * 100, 24 * 800)]
    ['30 hours', '2 days', '3 days', '3 weeks', '3 months', '2 years']
    >>> break_words(timedelta(hours=1), frames()["zh"])
    '1小时'
    """
    frame = frame or frames()["en"]
    minutes = max(_STEP, _STEP * round(gap / timedelta(minutes=_STEP)))
    if minutes < _MINUTES["hour"]:
        return _count(minutes, frame.units[0])
    for unit, least in _FROM:
        if minutes >= least * _MINUTES[unit]:
            return _count(round(minutes / _MINUTES[unit]), frame.units[1 + _UNITS.index(unit)])
    hours, rest = divmod(minutes, _MINUTES["hour"])
    return _count(hours, frame.units[1]) + (f" {_count(rest, frame.units[0])}" if rest else "")


def _count(count: int, unit: tuple[str, str]) -> str:
    word = unit[count != 1]
    return f"{count}{'' if script(word) in UNSPACED else ' '}{word}"


_OWN: Final = "language/own_words"
_OTHER: Final = "und"  # a language in which nothing is written here (ISO 639-2: undetermined)
_FUNCTION: Final = 2.0  # what a function word adds, shared between the languages that have it,
_SPECIAL: Final = 3.0  # and a listed word, or a letter
_CERTAIN: Final = 9.0  # a sign
_ELISION: Final = 1.0
_OUTSPOKEN: Final = 1.5  # and English, beside what it adds, that a function word is its alone
_FEWEST: Final = 2  # words that speak for a language which is believed; one that is its own counts as two
_CLOSE: Final = 1.0  # below the best by no more, the talk decides,
_CLOSE_ENGLISH: Final = 2.2  # or English, whose words stand in any talk,
_ENGLISH: Final = 0.9  # where there is so much of it
_AGAINST_TALK: Final = 2.6  # by so much more than for that of the talk, a text is in another language
_ALONE: Final = 2.6  # or more than for English, where no talk tells
_LONG: Final = 5  # letters of a function word that is no English word by chance, as "hat" and "war" are
_LONGEST: Final = 400  # characters that are read of a text
_NO_WORDS: Final = re.compile(
    r"\x1b\].*?(?:\x07|\x1b\\)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|</?[a-zA-Z][^<>]*>|\b[a-zA-Z]+://[^\s\])>]+"
)
_PLAIN: Final = re.compile(r"[^\W\d_]+")
_ELIDED: Final = re.compile(r"(?<!\w)([^\W\d_]+)['’](?=\w)")


@dataclass(slots=True)
class _LanguageSigns:
    """What speaks for each language: how much, and how many words it counts as."""

    sums: Counter[str] = field(default_factory=Counter)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, languages: Sequence[str], sharing: int, worth: float, counts: int) -> None:
        """Add a sign that some languages have, of all those that share it."""
        for language in languages:
            self.sums[language] += worth / sharing  # type: ignore[assignment]
            self.counts[language] += counts


def spoken_language(message: str, asked: Sequence[str] = ()) -> str:
    """Return the ISO 639-1 code of the language a user speaks, "" where nothing tells.

    It is that of the message, or where that is in doubt the one which most of `asked` is in, their earlier
    messages.

    >>> [spoken_language(text) for text in ("¿Cuándo llega?", "Quando chega?", "Lisbon", "Wann kommt er an?")]
    ['es', 'pt', '', 'de']
    >>> spoken_language("Quando?", ["Il mio ordine è arrivato senza le viti"])
    'it'
    >>> spoken_language("hen was class", ["van man can do the 28th"])
    'en'
    >>> spoken_language("Yarın ne var?"), spoken_language("Merhaba", ["bugün çok yoruldum"])
    ('', '')
    """
    return _written(_language_of(message, _talk(asked)))


def language_written(text: str, talk: Sequence[str] = (), default: str = "") -> str:
    """Return the language in which a short text is told again: that of the talk around it, in doubt.

    `default` is that of its user where `talk`, the messages before it, does not tell. What stands alone is
    told in none sooner than in a wrong one.

    >>> [language_written(text) for text in ("hen was class", "Das Haus ist verkauft")]
    ['', 'de']
    >>> language_written("hen was class", default="en"), language_written("Wann?", ["Wir ziehen morgen um"])
    ('en', 'de')
    """
    return _written(_language_of(text, _talk(talk) or [default] * bool(default), _ALONE))


def _written(language: str) -> str:
    return "" if language == _OTHER else language


def _talk(messages: Sequence[str]) -> list[str]:
    """Return the languages that messages are in without doubt, the most frequent first."""
    talk = Counter(read[0] for text in messages if len(read := likely_languages(text)) == 1)
    return [language for language, _ in talk.most_common()]


def _language_of(message: str, talk: Sequence[str], alone: float = 0.0) -> str:
    likely = likely_languages(message)
    usual = next(iter(talk), "")
    shared = next((language for language in talk if language in likely), "")
    if shared or not likely:
        return shared or usual
    best = "en" if "en" in likely else likely[0]
    # English words of its own are no chance, as "van", "hen" and "op" are to others
    if best == "en" or script(message) != "latin":
        return best
    sums = _signs(_NO_WORDS.sub(" ", message[:_LONGEST])).sums
    lead = sums[best] - sums[usual or "en"]
    return best if lead >= (_AGAINST_TALK if usual else alone) else usual


@lru_cache(maxsize=4_096)  # the same talk is read again with each message
def likely_languages(text: str) -> tuple[str, ...]:
    """Return the languages a text may be in, the likeliest first; none where too little tells.

    "und" stands for one in which nothing is written here.

    >>> likely_languages("que le debo a Nuria")[0], likely_languages("brief an herrn drews wegen lotte")
    ('es', ('de', 'en'))
    >>> likely_languages("word word word")
    ()
    """
    plain = _NO_WORDS.sub(" ", text[:_LONGEST])
    written = script(plain)
    if written != "latin":
        guessed = guess_language(plain)
        return (guessed,) if guessed else ()
    signs = _signs(plain)
    order = sorted(signs.sums, key=lambda language: (-signs.sums[language], language))
    if not order or signs.counts[order[0]] < _FEWEST:
        return ()
    best = signs.sums[order[0]]
    return tuple(
        language
        for language in order
        if best - signs.sums[language] <= _CLOSE
        or (language == "en" and signs.sums["en"] >= _ENGLISH and best - signs.sums["en"] <= _CLOSE_ENGLISH)
    )


def _signs(text: str) -> _LanguageSigns:
    """Return what speaks for each language in a text of Latin letters."""
    signs = _LanguageSigns()
    read = [word for word in dict.fromkeys(words(text)) if len(word) > 1 and word not in _listed("neutral")]
    function = {word: [name for name in _names() if word in stop_words()[name]] for word in read}
    # beside English, a word that is another language's own is a name or a quotation: "the heute show"
    english = any(having == ["en"] for having in function.values())
    if english:
        signs.add(["en"], 1, _OUTSPOKEN, 0)
    for word in read:
        own = [name for name in _listed("words").get(word, ()) if not english or name == "en"]
        sharing = {*own, *function[word]}
        signs.add(own, len(sharing), _FUNCTION if own == ["en"] else _SPECIAL, 2 if len(sharing) == 1 else 1)
        others = [name for name in function[word] if name not in own]
        alone = sharing == {"en"} or (len(sharing) == 1 and len(word) >= _LONG)
        signs.add(others, len(sharing), _FUNCTION, 2 if alone else 1)
    for _ in other_words(text, read):
        signs.add([_OTHER], 1, _SPECIAL, _FEWEST)
    for mark, having in _listed("marks").items():
        if mark in text:
            signs.add(having, len(having), _CERTAIN, _FEWEST)
    if english:
        return signs
    for word in dict.fromkeys(_PLAIN.findall(text)):
        for letter in dict.fromkeys(word if word[0].islower() and fold(word) not in _listed("words") else ""):
            having = _listed("letters").get(letter, ())
            signs.add(having, len(having), _SPECIAL, 2 if len(having) == 1 else 1)
    for elided in dict.fromkeys(match.lower() for match in _ELIDED.findall(text)):
        having = _listed("elided").get(elided, ())
        signs.add(having, len(having), _ELISION, 1)
    return signs


@cache
def _names() -> tuple[str, ...]:
    return tuple(texts(f"{_OWN}.words"))


@cache
def _listed(kind: str) -> Mapping[str, tuple[str, ...]]:
    """Return the languages that have each entry of a kind of list."""
    languages: dict[str, tuple[str, ...]] = {}
    for name in texts(f"{_OWN}.{kind}"):
        for entry in listed_words(f"{_OWN}.{kind}.{name}"):
            languages[entry] = (*languages.get(entry, ()), name)
    return languages
