"""The mentions of a message: times first, then names, then numbers, each word read once."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from episodic_agent.core.entities.found import Found
from episodic_agent.core.entities.han import find_unspaced
from episodic_agent.core.entities.judging import judged
from episodic_agent.core.entities.lexicon import Lexicon
from episodic_agent.core.entities.lists import word_set
from episodic_agent.core.entities.names import addressee, find_names
from episodic_agent.core.entities.numbers import find_numbers
from episodic_agent.core.entities.records import Kind, Mention
from episodic_agent.core.entities.scan import Reading, scan
from episodic_agent.core.entities.times import find_times
from episodic_agent.core.text import fold, script

_SIGNS_BEFORE: Final = "$€£¥￥₹₩₽₿"
_SIGNS_AFTER: Final = "%€£¥￥°$₽"
_SIGNED: Final = re.compile(r"【([^】\n]{2,40})】|\[([A-Z][^\]\n]{1,40})\]")
_GERMAN: Final = word_set("der das und ist ich nicht eine einen wir mit auf für ein zu im am wann wie habe")
_LONGEST_TEXT: Final = 20_000  # characters read of one message


def mentions(
    text: str, *, at: datetime | None = None, lexicon: Lexicon | None = None, language: str | None = None
) -> tuple[Mention, ...]:
    """Return the entities a message mentions, in the order of the text, none overlapping another.

    `at` is when it was written: with it "tomorrow" is a date, without it `day:+1`. `lexicon` is by default
    the shipped one. `language` is an ISO 639-1 code; German nouns in capitals are then no names.

    >>> [(m.kind, m.value) for m in mentions("Lunch with Anna in NYC on Thursday, twenty-five dollars")]
    [('person', 'anna'), ('place', 'new york'), ('time', 'weekday:thursday'), ('number', '25 dollar')]
    """
    names = Lexicon.shipped() if lexicon is None else lexicon
    found: list[Mention] = []
    if not text.isascii():
        found.extend(find_unspaced(text[:_LONGEST_TEXT], names, at))
    reading = scan(text[:_LONGEST_TEXT])
    if reading.words:
        covered = [(one.start, one.end) for one in found]
        found.extend(one for one in _spaced(reading, names, at, language) if not _overlaps(one, covered))
    found.sort(key=lambda one: one.start)
    return tuple(found)


def _overlaps(one: Mention, spans: list[tuple[int, int]]) -> bool:
    return any(one.start < end and start < one.end for start, end in spans)


def _spaced(reading: Reading, lexicon: Lexicon, at: datetime | None, language: str | None) -> list[Mention]:
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
    for one in times:
        taken.update(range(one.first, one.last + 1))
    names = find_names(reading, lexicon, taken)
    for one in names:
        taken.update(range(one.first, one.last + 1))
    numbers = find_numbers(reading, taken)
    mentions.extend(_mention(reading, one) for one in (*times, *names, *numbers))
    return mentions


def _senders(reading: Reading, lexicon: Lexicon) -> Iterator[tuple[tuple[int, int], tuple[Kind, str]]]:
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


def _is_known_thing(reading: Reading, lexicon: Lexicon, places: set[int]) -> bool:
    """Say whether a message begins with a known product or firm and a colon: "Bilibili: new episode"."""
    return any(
        name.kind != "person" for place in places for name in lexicon.single.get(reading.lows[place], ())
    )


def _mention(reading: Reading, one: Found) -> Mention:
    start, end, text = reading.starts[one.first], reading.ends[one.last], reading.text
    if one.kind == "number":
        if start and text[start - 1] in _SIGNS_BEFORE:
            start -= 1
        if text[end : end + 1] and text[end] in _SIGNS_AFTER:
            end += 2 if text[end : end + 2] in {"°C", "°F"} else 1
    if one.kind in {"place", "organisation"} and text[start:end].lower().startswith("the "):
        start += 4
    return Mention(one.kind, text[start:end], one.value, start, end)
