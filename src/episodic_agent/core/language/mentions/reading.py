"""The mentions of a message (times first, then names, then numbers, each word read once), and its topics.

What a message is about are the domains its words tell, and its content stems. A domain ("weather") joins
messages that share no word: "umbrella tomorrow?" and "rain in Boston". Stems keep apart what one domain
joins. Names, times and numbers are left out (they are compared as entities), and so are words of talk.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

from episodic_agent.core.episodes.languages import light, weak
from episodic_agent.core.language import fold, script, tokens
from episodic_agent.core.language.mentions.han import find_unspaced
from episodic_agent.core.language.mentions.judging import judged
from episodic_agent.core.language.mentions.lexicon import Lexicon
from episodic_agent.core.language.mentions.names import addressee, find_names
from episodic_agent.core.language.mentions.numbers import find_numbers
from episodic_agent.core.language.mentions.scan import ScannedText, WordMatch, scan, word_set
from episodic_agent.core.language.mentions.times import find_times
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS, letter_script, stop_words
from episodic_agent.data import phrases, texts
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


_MOST: Final = 12  # stems kept of one message
_STOP_WORD_WEIGHT: Final = 0.25
_STEM_WEIGHT: Final = 0.6


def topics(
    text: str, *, matching_mentions: Sequence[Mention] | None = None, language: str | None = None
) -> Mapping[str, float]:
    """Return the topics of a message with weights in (0, 1], the weightiest first.

    Domains are named by a word (`weather`), stems are as `text.tokens` makes them. `matching_mentions` are
    the message's
    mentions where they are known already; `language` is an ISO 639-1 code.

    >>> sorted(set(topics("umbrella tomorrow?")) & set(topics("How is the weather in Boston?")))
    ['weather']
    >>> topics("ok, thanks!")
    {}
    """
    if matching_mentions is None:
        matching_mentions = mentions(text, language=language)
    rest = _without(text[:_LONGEST_TEXT], matching_mentions)
    weights: dict[str, float] = {}
    for stem in tokens(rest, language):
        weight = _weight(stem)
        if weight:
            weights[stem] = min(1.0, weights.get(stem, 0.0) + weight * (0.5 if stem in weights else 1.0))
    stems = sorted(weights.items(), key=lambda item: -item[1])[:_MOST]
    values = dict(stems)
    for domain, weight in _domains(rest, language).items():
        values[domain] = max(weight, values.get(domain, 0.0))
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))


def domains(text: str, *, language: str | None = None) -> Mapping[str, float]:
    """Return the domains a text tells and how surely: one word .5, two .75, names included.

    >>> domains("Will it rain? I forgot my umbrella.")
    {'weather': 0.75}
    """
    values = _domains(text[:_LONGEST_TEXT], language)
    return dict(sorted(values.items(), key=lambda item: (-item[1], item[0])))


def _without(text: str, matching_mentions: Sequence[Mention]) -> str:
    """Blank the mentions out of a text."""
    pieces, last = [], 0
    for mention in matching_mentions:
        pieces.append(text[last : mention.start])
        last = max(last, mention.end)
    return " ".join([*pieces, text[last:]])


@lru_cache(maxsize=65_536)
def _weight(stem: str) -> float:
    """Return what a stem is worth as a topic: nothing for words of talk, little for words for anything."""
    if stem in _is_generic() or stem[0].isdigit():
        return 0.0
    if letter_script(stem[0]) in BIGRAM_SCRIPTS:
        return 0.0 if len(stem) < 2 else 0.3
    if len(stem) < 3:
        return 0.0
    return _STOP_WORD_WEIGHT if stem in _is_stop_word() else _STEM_WEIGHT


@lru_cache(maxsize=1)
def _is_generic() -> frozenset[str]:
    foreign = frozenset().union(*(words for language, words in stop_words().items() if language != "en"))
    terms = {stem for words in _domain_words().values() for word in words for stem in tokens(word)}
    return (frozenset(stem for word in light() for stem in tokens(word)) | light() | foreign) - terms


@lru_cache(maxsize=1)
def _is_stop_word() -> frozenset[str]:
    return frozenset(stem for word in weak() for stem in tokens(word)) | weak()


def _domains(text: str, language: str | None) -> dict[str, float]:
    table = _table(language)
    counts: dict[str, float] = {}
    for stem in dict.fromkeys(tokens(text, language)):
        for domain, share in table.get(stem, ()):
            counts[domain] = counts.get(domain, 0.0) + share
    written = frozenset() if text.isascii() else frozenset(text)
    for domain, words in _unspaced() if not written.isdisjoint(_first_signs()) else ():
        held = sum(word in text for word in words if word[0] in written)
        counts[domain] = counts.get(domain, 0.0) + held
    return {domain: round(1.0 - 0.5**count, 3) for domain, count in counts.items() if count >= 0.5}


@lru_cache(maxsize=16)
def _table(language: str | None) -> dict[str, tuple[tuple[str, float], ...]]:
    """Return the domains of each stem; a stem of several tells each a share."""
    answers: dict[str, dict[str, None]] = {}
    for domain, words in _domain_words().items():
        for word in words:
            for stem in tokens(fold(word), language)[:1]:
                answers.setdefault(stem, {})[domain] = None
    return {stem: tuple((domain, 1.0 / len(found)) for domain in found) for stem, found in answers.items()}


@lru_cache(maxsize=1)
def _unspaced() -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple(
        (domain, tuple(dict.fromkeys(phrases(f"entities/domains.han.{domain}"))))
        for domain in texts("entities/domains.han")
    )


@lru_cache(maxsize=1)
def _first_signs() -> frozenset[str]:
    return frozenset(word[0] for _, words in _unspaced() for word in words)


def _domain_words() -> dict[str, tuple[str, ...]]:
    return {domain: phrases(f"entities/domains.words.{domain}") for domain in texts("entities/domains.words")}
