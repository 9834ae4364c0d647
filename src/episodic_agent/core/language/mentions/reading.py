"""The mentions of a message: times first, then names, then numbers, each word read once."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from episodic_agent.core.language import fold, script
from episodic_agent.core.language.mentions.han import find_unspaced
from episodic_agent.core.language.mentions.judging import judged
from episodic_agent.core.language.mentions.lexicon import Lexicon
from episodic_agent.core.language.mentions.lists import word_set
from episodic_agent.core.language.mentions.matches import WordMatch
from episodic_agent.core.language.mentions.names import addressee, find_names
from episodic_agent.core.language.mentions.numbers import find_numbers
from episodic_agent.core.language.mentions.scan import ScannedText, scan
from episodic_agent.core.language.mentions.times import find_times
from episodic_agent.schemas.mentions import Kind, Mention

_SIGNS_BEFORE: Final = "$€£¥￥₹₩₽₿"
_SIGNS_AFTER: Final = "%€£¥￥°$₽"
_SIGNED: Final = re.compile(r"【([^】\n]{2,40})】|\[([A-Z][^\]\n]{1,40})\]")
_GERMAN: Final = word_set("der das und ist ich nicht eine einen wir mit auf für ein zu im am wann wie habe")
_LONGEST_TEXT: Final = 20_000  # characters read of one message
_LONGEST_REMEMBERED: Final = 2_000  # longer ones are rare and would fill the memory of what was read


def mentions(
    text: str, *, at: datetime | None = None, lexicon: Lexicon | None = None, language: str | None = None
) -> tuple[Mention, ...]:
    """Return the entities a message mentions, in the order of the text, none overlapping another.

    `at` is when it was written: with it "tomorrow" is a date, without it `day:+1`. `lexicon` is by default
    the shipped one. `language` is an ISO 639-1 code; German nouns in capitals are then no names.

    >>> [(m.kind, m.value) for m in mentions("Lunch with Anna in NYC on Thursday, twenty-five dollars")]
    [('person', 'anna'), ('place', 'new york'), ('time', 'weekday:thursday'), ('number', '25 dollar')]
    """
    if lexicon is None and len(text) <= _LONGEST_REMEMBERED:
        return _remembered(text, at, None if at is None else at.utcoffset(), language)
    return _read(text, at, Lexicon.shipped() if lexicon is None else lexicon, language)


# Linking, encoding and each later judgement of a chain read the same messages. Two times of the same instant
# are equal, but may be different days: the offset tells them apart.
@lru_cache(maxsize=2_048)
def _remembered(
    text: str, at: datetime | None, _offset: timedelta | None, language: str | None
) -> tuple[Mention, ...]:
    return _read(text, at, Lexicon.shipped(), language)


def _read(text: str, at: datetime | None, names: Lexicon, language: str | None) -> tuple[Mention, ...]:
    mentions: list[Mention] = []
    if not text.isascii():
        mentions.extend(find_unspaced(text[:_LONGEST_TEXT], names, at))
    reading = scan(text[:_LONGEST_TEXT])
    if reading.words:
        covered = [(one.start, one.end) for one in mentions]
        mentions.extend(one for one in _spaced(reading, names, at, language) if not _overlaps(one, covered))
    mentions.sort(key=lambda one: one.start)
    return tuple(mentions)


def _overlaps(mention: Mention, spans: list[tuple[int, int]]) -> bool:
    return any(mention.start < end and start < mention.end for start, end in spans)


def _spaced(
    reading: ScannedText, lexicon: Lexicon, at: datetime | None, language: str | None
) -> list[Mention]:
    """Read words between spaces: an addressee, times, names, numbers."""
    if language == "de" or (language is None and len(_GERMAN.intersection(reading.lows)) > 1):
        reading.titled = [True] * len(reading.words)  # every noun has a capital: it tells nothing
    mentions: list[Mention] = []
    taken: set[int] = set()
    senders = dict(_senders(reading, lexicon))
    for (start, end), (kind, value) in senders.items():
        mentions.append(Mention(kind, reading.text[start:end], value, start, end))
        taken.update(reading.within(start, end))
    spoken_to = addressee(reading)
    if spoken_to is not None and not taken.intersection(range(2)):
        start, end = spoken_to
        own = {n for n, begin in enumerate(reading.starts[:4]) if begin < end}
        if not _is_known_thing(reading, lexicon, own):
            name = reading.text[start:end]
            mentions.append(Mention("person", name, fold(name), start, end))
            taken |= own
    times = [one for one in find_times(reading, at) if one.first not in taken]
    for match in times:
        taken.update(range(match.first, match.last + 1))
    names = find_names(reading, lexicon, taken)
    for match in names:
        taken.update(range(match.first, match.last + 1))
    numbers = find_numbers(reading, taken)
    mentions.extend(_mention(reading, one) for one in (*times, *names, *numbers))
    return mentions


def _senders(reading: ScannedText, lexicon: Lexicon) -> Iterator[tuple[tuple[int, int], tuple[Kind, str]]]:
    """Yield who signs a notice as phones show it, here and in front: "Snowball: ... 【Snowball】"."""
    for match in _SIGNED.finditer(reading.text):
        group = 1 if match[1] else 2
        name = match[group].strip()
        places = reading.within(*match.span(group))
        if group == 2 and not reading.text.startswith(f"{name}:"):
            continue
        if not places or name.islower() or script(name) in {"han", "kana", "hangul"}:
            continue
        kind, value = judged(reading, lexicon, places[0], places[-1], sure=True)
        named = (kind or "product", value or fold(name))
        yield match.span(group), named
        for again in re.finditer(rf"(?<!\w){re.escape(name)}(?=:)", reading.text[: match.start()]):
            yield again.span(), named


def _is_known_thing(reading: ScannedText, lexicon: Lexicon, places: set[int]) -> bool:
    """Say whether a message begins with a known product or firm and a colon: "Bilibili: new episode"."""
    return any(
        name.kind != "person" for place in places for name in lexicon.single.get(reading.lows[place], ())
    )


def _mention(reading: ScannedText, match: WordMatch) -> Mention:
    start, end, text = reading.starts[match.first], reading.ends[match.last], reading.text
    if match.kind == "number":
        if start and text[start - 1] in _SIGNS_BEFORE:
            start -= 1
        if text[end : end + 1] and text[end] in _SIGNS_AFTER:
            end += 2 if text[end : end + 2] in {"°C", "°F"} else 1
    if match.kind in {"place", "organisation"} and text[start:end].lower().startswith("the "):
        start += 4
    return Mention(match.kind, text[start:end], match.value, start, end)
