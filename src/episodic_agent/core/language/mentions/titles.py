"""Titles of works: what stands in quotation marks like a title, and lists of works with their makers."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.language.mentions import cues
from episodic_agent.core.language.mentions.judging import judged
from episodic_agent.core.language.mentions.lexicon import Lexicon, is_common, without_article
from episodic_agent.core.language.mentions.matches import WordMatch
from episodic_agent.core.language.mentions.scan import ScannedText
from episodic_agent.data import phrase_set
from episodic_agent.schemas.mentions import Kind

_QUOTED: Final = re.compile(
    r"[\"“”„«]([^\"“”„«»\n]{2,60}?)[\"“”»]"
    r"|(?<![\w'’])['‘]([A-Z][^'‘\n]{1,50}?(?:['’]s [^'‘\n]{1,40}?)?)['’](?!\w)|《([^》\n]{1,40})》"
)
_CREDIT: Final = re.compile(
    r"^[-*•\d.\s\"“]*([A-Z][^\n\"”]{1,50}?)[\"”]? by ([A-Z][^\n,.(:]{1,40})$", re.MULTILINE
)
_LONGEST: Final = 9  # words of one title


def credited(reading: ScannedText) -> Iterator[WordMatch]:
    """Yield works and their makers in lists: "River Flows in You by Yiruma"."""
    if " by " not in reading.text or not _CREDIT.search(reading.text):
        return
    for match in _CREDIT.finditer(reading.text):
        work, maker = (reading.within(*match.span(group)) for group in (1, 2))
        if len(work) > 1 and reading.lows[work[0]] in phrase_set(
            "entities/products.using"
        ):  # "Play Bohemian Rhapsody by Queen"
            work = work[1:]
        if work and maker and _in_capitals(reading, work) and _in_capitals(reading, maker):
            common = any(is_common(reading.lows[place]) for place in maker)
            kind: Kind = "organisation" if common else "person"  # bands have everyday words in their names
            yield WordMatch("product", _words_at(reading, work), work[0], work[-1])
            yield WordMatch(kind, _words_at(reading, maker), maker[0], maker[-1])


def _words_at(reading: ScannedText, places: range) -> str:
    return without_article(" ".join(reading.lows[place] for place in places))


def quoted(reading: ScannedText, lexicon: Lexicon, used: set[int]) -> Iterator[WordMatch]:
    """Yield titles in quotation marks: capitalised words, little else."""
    if not _QUOTED.search(reading.text):
        return
    several = len(_QUOTED.findall(reading.text)) > 2  # a list of titles: one everyday word may be one
    for match in _QUOTED.finditer(reading.text):
        group = next(number for number in (1, 2, 3) if match[number])
        begin, end = match.span(group)
        places = reading.within(begin, end)
        if not places or used.intersection(places) or len(places) > _LONGEST:
            continue
        first, last = places[0], places[-1]
        if not _like_title(reading, places, alone=several) or re.search(r"[!?:;]\s|[.?]$|[()]", match[group]):
            continue
        kind, value = judged(reading, lexicon, first, last, quoted=True)
        if kind is not None:
            yield WordMatch(kind, value, first, last)


def _like_title(reading: ScannedText, places: range, *, alone: bool = False) -> bool:
    """Say whether words look like a title: all capitalised but the small ones, not one everyday word."""
    if not _in_capitals(reading, places):
        return _foreign_title(reading, places)
    return len(places) > 1 or alone or not is_common(reading.lows[places[0]])


def _in_capitals(reading: ScannedText, places: range) -> bool:
    small = (place for place in places if reading.shapes[place] == "l")
    return reading.shapes[places[0]] not in "ld" and all(
        reading.lows[place] in cues.title_words() for place in small
    )


def _foreign_title(reading: ScannedText, places: range) -> bool:
    """Say whether words look like a foreign title, which capitalises only the first: "Säg det"."""
    lows = [reading.lows[place] for place in places]
    unknown = sum(not is_common(low) for low in lows)
    return len(lows) > 1 and reading.shapes[places[0]] == "C" and unknown >= max(len(lows) - 1, 2)
