"""Names in a message: places, people, organisations, products, titles; by lexicon, capitals and neighbours.

A stretch of capitalised words is judged whole: each piece of evidence adds to one kind or several, and the
best kind wins if it is sure enough. Known names are believed in lower case too, unless they are also everyday
words. A title is what stands in quotation marks like one, or in a list of works with their makers.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Final

from episodic_agent.core.episodes.languages import light
from episodic_agent.core.language.mentions import judging
from episodic_agent.core.language.mentions.judging import is_chinese_name, judged
from episodic_agent.core.language.mentions.lexicon import Lexicon, Name, is_common, without_article
from episodic_agent.core.language.mentions.scan import ScannedText, WordMatch
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import listed_words, phrase_set
from episodic_agent.schemas.mentions import Kind

_ADDRESSED: Final = re.compile(r"\s*([^\s:,;()\"]{2,24})\s{0,2}([:,]),?(?=\s|$)")
_NAME_GAPS: Final = frozenset({" ", "-", " *", ". ", "  ", "", " & "})
_LONGEST: Final = 12  # words of one name
_HEADED: Final = frozenset(
    {"university", "bank", "ministry", "department", "institute", "republic", "kingdom"}
)
_INSTALLING: Final = frozenset({"install", "installing", "installed", "reinstall", "apt-get"})


@cache
def _venue_starts() -> frozenset[str]:
    return frozenset(venue.partition(" ")[0] for venue in phrase_set("entities/places.venues"))


def find_names(reading: ScannedText, lexicon: Lexicon, taken: set[int]) -> list[WordMatch]:
    """Return the names of a text outside the words taken, first come first served, none overlapping."""
    matches: list[WordMatch] = []
    used = set(taken)
    for title in (*credited(reading), *quoted(reading, lexicon, used)):
        if used.isdisjoint(range(title.first, title.last + 1)):
            matches.append(title)
            used.update(range(title.first, title.last + 1))
    shorts: dict[str, WordMatch] = {}
    index, count = 0, len(reading.words)
    while index < count:
        if index not in used and (reading.shapes[index] != "l" or _may_begin(reading, lexicon, index)):
            before = matches[-1] if matches else None
            match = _short(reading, index, shorts) or _name(reading, lexicon, index, used, before)
            if match is not None:
                used.update(range(match.first, match.last + 1))
                index = match.last
                matches.append(_with_neighbour(reading, matches, match))
                _introduce(reading, matches[-1], shorts)
        index += 1
    return matches


def _may_begin(reading: ScannedText, lexicon: Lexicon, index: int) -> bool:
    """Say quickly whether a word in small letters may begin a name: most may not."""
    low = reading.lows[index]
    if low in lexicon.single or low in lexicon.firsts or low in _venue_starts() or low[-1].isdigit():
        return True
    return index > 0 and reading.lows[index - 1] in _INSTALLING


def _with_neighbour(reading: ScannedText, matches: list[WordMatch], match: WordMatch) -> WordMatch:
    """Join a place to one that touches it in front: they are one address."""
    before = matches[-1] if matches else None
    if before is None or not _one_place(reading, before, match):
        return match
    matches.pop()
    return WordMatch("place", f"{before.value} {match.value}", before.first, match.last)


def _introduce(reading: ScannedText, match: WordMatch, shorts: dict[str, WordMatch]) -> None:
    """Remember the short form that follows a name: "Eligibility Screening Tool EST"."""
    short = match.last + 1
    if match.first < match.last and short < len(reading.words) and _is_acronym(reading, match.first, short):
        shorts[reading.lows[short]] = match


def _short(reading: ScannedText, index: int, shorts: dict[str, WordMatch]) -> WordMatch | None:
    match = shorts.get(reading.lows[index]) if shorts and reading.shapes[index] == "A" else None
    return WordMatch(match.kind, match.value, index, index) if match else None


def _one_place(reading: ScannedText, before: WordMatch, match: WordMatch) -> bool:
    """Say whether two places that touch are one address: "Main Street Springfield"."""
    touching = before.last + 1 == match.first and reading.gap(match.first) == " "
    return touching and before.kind == match.kind == "place" and reading.shapes[match.first] != "l"


def addressee(reading: ScannedText) -> tuple[int, int] | None:
    """Return the span of whom a message speaks to in front: "heydude: do you know ...".

    A word before a comma counts only if it is written like no word ("coz_, try this").
    """
    match = _ADDRESSED.match(reading.text)
    if match is None or not reading.words or match.end() == len(reading.text) or "【" in reading.text:
        return None
    name, sign = match[1], match[2]
    low = name.lower()
    if is_common(low) or not re.search(r"[^\W_]", name) or low.isdecimal() or name[0] in "-*#@<=[!【":
        return None
    if sign == "," and (name[0].isupper() or name.isalpha()) and not _nicklike(name, low, reading):
        return None
    return match.start(1), match.end(1)


def _nicklike(name: str, low: str, reading: ScannedText) -> bool:
    """Say whether a word before a comma is nobody's word: odd letters, or unknown to everyday talk."""
    if re.search(r"[\d_|{}\[\]^`\\]", name):
        return True
    if len(name) < 4 or not name.isalpha() or low.endswith(("ly", "ing", "ed")) or len(reading.words) < 2:
        return False
    listed = reading.after(1).startswith(",") and not is_common(reading.lows[1])  # "Borage, flax, hemp"
    talk = reading.lows[1] in stop_words()["en"] or reading.lows[1] in light() or reading.lows[1] == "i'm"
    return not listed and (talk if name[0].isupper() else reading.shapes[1] in "lI")


def _name(
    reading: ScannedText, lexicon: Lexicon, index: int, used: set[int], before: WordMatch | None
) -> WordMatch | None:
    known = _known(reading, lexicon, index, used)
    last = _stretch(reading, index, used)
    if known is not None and (last is None or known.last >= last or known.value == ""):
        return _grown(reading, known, used)
    if (last is None or last == index) and _is_kin(reading, index):
        return WordMatch("person", reading.lows[index], index, index)
    if last is None:
        return _lower(reading, lexicon, index)
    last = _trimmed(reading, index, last)
    if last == index + 2 and is_chinese_name(reading.lows[index + 1 : last + 1]):
        return None  # "Instruct Zhao Qiang": the name begins with the next word
    if reading.titled[index]:
        return _in_heading(reading, lexicon, index, last)
    kind, value = judged(reading, lexicon, index, last, before=before)
    if kind is None:
        return None
    first, last = _extended(reading, kind, index, last, used)
    return WordMatch(kind, value, first, last)


def _is_kin(reading: ScannedText, index: int) -> bool:
    """Say whether a word for kin is somebody's name: "Mom, I'm home", "I asked Dad", not "my Dad"."""
    if (
        reading.shapes[index] != "C"
        or reading.titled[index]
        or reading.lows[index] not in listed_words("entities/names.kin_names")
    ):
        return False
    if reading.opens[index]:
        return reading.after(index).startswith((", ", "!"))
    return reading.lows[index - 1] not in listed_words("entities/names.owning")


def _known(reading: ScannedText, lexicon: Lexicon, index: int, used: set[int]) -> WordMatch | None:
    """Return the longest known name of two words or more that begins here and is written like one."""
    if index + 1 >= len(reading.words):
        return None
    for parts, name in lexicon.longer.get(f"{reading.lows[index]} {reading.lows[index + 1]}", ()):
        last = index + len(parts) - 1
        if tuple(reading.lows[index : last + 1]) != parts or used.intersection(range(index, last + 1)):
            continue
        if parts[0] == "the" and _goes_on(reading, index, last):
            continue
        if not all(
            reading.gap(place) in {" ", "-", ". ", "'", "/", " & ", ", ", "."}
            for place in range(index + 1, last + 1)
        ):
            continue
        if name.own or _written_as_name(reading, index, last):
            return WordMatch(name.kind, name.value, index, last)
    return None


def _goes_on(reading: ScannedText, first: int, last: int) -> bool:
    """Say whether the words after an article are another name, or none: "the Pacific Northwest"."""
    following = reading.shapes[last + 1 : last + 2]
    if reading.shapes[last] == "l" and any(shape in "CA" for shape in reading.shapes):
        return True  # "the guardian animal": in a text with capitals the name would have one
    return reading.shapes[first] == "l" and reading.after(last) == " " and following in (["C"], ["A"], ["M"])


def _written_as_name(reading: ScannedText, first: int, last: int) -> bool:
    """Say whether words are capitalised, or are no everyday words at all ("new york", "star wars")."""
    numbers = [place for place in range(first, last + 1) if reading.lows[place] not in judging.title_words()]
    if numbers and all(reading.shapes[place] not in "l" for place in numbers):
        return not (reading.titled[first] and all(is_common(reading.lows[place]) for place in numbers))
    return not all(is_common(reading.lows[place]) for place in numbers)


def _stretch(reading: ScannedText, index: int, used: set[int]) -> int | None:
    """Return the last word of the capitalised stretch that begins here, None if none does."""
    if not _begins(reading, index):
        return None
    last, place = index, index + 1
    while place < len(reading.words) and place - index < _LONGEST and place not in used:
        gap = reading.gap(place)
        if gap not in _NAME_GAPS:
            break
        if (gap == ". " and reading.opens[place]) or _is_acronym(reading, index, place):
            break
        if (
            gap == " "
            and reading.lows[place] == "of"
            and place > index + 1
            and reading.lows[index] in phrase_set("entities/people.given")
        ):
            break  # "Belinda Ayers of Christian Broadcasting Network"
        if _named_so(reading, place):
            last = place
        elif (
            reading.lows[place] not in listed_words("entities/cues.connectors")
            or place - last > 2
            or reading.shapes[place] != "l"
        ):
            break
        place += 1
    return last


def _is_acronym(reading: ScannedText, first: int, place: int) -> bool:
    """Say whether a word in capitals is short for the words before it: "Eligibility Tool ET"."""
    if reading.shapes[place] != "A":
        return False
    initials = "".join(
        low[0] for low in reading.lows[first:place] if low not in listed_words("entities/cues.connectors")
    )
    return reading.lows[place] == initials


def _begins(reading: ScannedText, index: int) -> bool:
    """Say whether a capitalised word may begin a name; an everyday word that opens a sentence may not."""
    shape, low = reading.shapes[index], reading.lows[index]
    if shape in "ldo" or (shape == "I" and not reading.words[index].endswith(".")):
        return False
    if reading.shouted:
        return False
    if reading.opens[index] and is_common(low) and low not in judging.titles():
        return _opens_name(reading, index)
    if low in listed_words("entities/names.offices") and reading.lows[index + 1 : index + 2] == ["of"]:
        return False  # "Head of the Secret Service": the service is named, the head is not
    return not ("'" in low and low.partition("'")[2] in {"m", "ll", "ve", "re", "d", "t"})


def _opens_name(reading: ScannedText, index: int) -> bool:
    """Say whether an everyday word begins a name all the same: "University of", "[Super Brand Mall"."""
    if reading.shapes[index + 1 : index + 2] == ["C"] and reading.gap(index).endswith("["):
        return True
    return reading.lows[index] in _HEADED and reading.lows[index + 1 : index + 2] == ["of"]


def _named_so(reading: ScannedText, place: int) -> bool:
    """Say whether a word inside a stretch belongs to it: capitalised, or a roman or version number."""
    shape = reading.shapes[place]
    if shape == "l" or reading.words[place][:2] in {"I", "I'", "I’"}:
        return False
    if shape == "d":
        if reading.words[place][-2:] in {"st", "nd", "rd", "th"}:  # "Jianshe 1st Road"
            return reading.shapes[place + 1 : place + 2] == ["C"] and reading.after(place) == " "
        return reading.shapes[place - 1] in "CAM" and _version(reading, place)
    return shape != "o"


def _version(reading: ScannedText, place: int) -> bool:
    """Say whether a number belongs to the name before it: "iPhone 15", "Windows 7", not "In 2022"."""
    return reading.lows[place - 1] in listed_words("entities/names.versioned") and not re.fullmatch(
        r"(?:19|20)\d\d", reading.words[place]
    )


def _grown(reading: ScannedText, known: WordMatch, used: set[int]) -> WordMatch:
    """Let a known product take its version number and "app"."""
    following = known.last + 1
    if known.kind != "product" or following >= len(reading.words) or following in used:
        return known
    if reading.shapes[following] == "d" and reading.after(known.last) == " " and _version(reading, following):
        return known._replace(last=following, value=f"{known.value} {reading.lows[following]}")
    return known


def _lower(reading: ScannedText, lexicon: Lexicon, index: int) -> WordMatch | None:
    """Judge a single word that no capital marks: a known name, or a known product with a number glued on."""
    low = reading.lows[index]
    names = lexicon.single.get(low)
    if names is None:
        stem = low.rstrip("0123456789")
        stemmed = lexicon.single.get(stem) if stem != low and len(stem) > 3 else None
        if stemmed and stemmed[0].kind == "product" and not stemmed[0].doubtful:
            return WordMatch("product", low, index, index)
        return _venue(reading, index) or _installed(reading, index)
    for name in names:
        if name.own or _believed(reading, index, name):
            return _grown(reading, WordMatch(name.kind, name.value, index, index), set())
    return None


def _believed(reading: ScannedText, index: int, name: Name) -> bool:
    """Say whether a known single word stands for its name though it opens a sentence or has no capital."""
    before = reading.lows[index - 1] if index else ""
    capital = reading.shapes[index] != "l"
    if not name.doubtful:
        return True
    if reading.lows[index] == "windows":
        return before not in listed_words("entities/names.owning")
    if name.kind == "place":
        common = is_common(reading.lows[index])
        short = len(reading.lows[index]) < 3
        if short:
            return capital and not reading.shouted
        return before in {"in", "to", "from", "near", "visit", "visiting", "visited"} and not common
    if name.kind == "product" and not capital:
        return _used(reading, index)
    if name.kind == "person":
        following = reading.lows[index + 1] if index + 1 < len(reading.words) else ""
        return (
            capital
            and not reading.titled[index]
            and following in phrase_set("entities/people.saying")
            and reading.after(index) == " "
        )
    return capital and not reading.opens[index] and not reading.titled[index]


def _used(reading: ScannedText, index: int) -> bool:
    """Say whether a doubtful product in lower case is used: "on windows", "install wine", "with python"."""
    before = reading.lows[index - 1] if index else ""
    return (
        before in _use_words()
        and reading.lows[index] not in listed_words("entities/names.works_only")
        and not _is_everyday(reading.lows[index])
    )


def _is_everyday(low: str) -> bool:
    return is_common(low) and low not in {"windows", "word", "excel"}


@cache
def _use_words() -> frozenset[str]:
    return phrase_set("entities/products.using") | {
        "on",
        "in",
        "with",
        "under",
        "using",
        "for",
        "to",
        "and",
        "partition",
        "linux",
        "microsoft",
    }


def _installed(reading: ScannedText, index: int) -> WordMatch | None:
    """Read "apt-get install gdm": what is installed is a product, known or not."""
    low = reading.lows[index]
    if not index or reading.lows[index - 1] not in _INSTALLING:
        return None
    if reading.shapes[index] != "l" or is_common(low) or len(low) < 3 or reading.gap(index) != " ":
        return None
    return WordMatch("product", low, index, index)


def _venue(reading: ScannedText, index: int) -> WordMatch | None:
    """Read "in the kitchen": a room is a place where somebody is."""
    last, venues = index, phrase_set("entities/places.venues")
    if index + 1 < len(reading.words) and f"{reading.lows[index]} {reading.lows[index + 1]}" in venues:
        last += 1
    low = " ".join(reading.lows[index : last + 1])
    if low not in venues or index < 2 or reading.lows[index - 1] not in {"the", "my", "our", "his", "her"}:
        return None
    following = reading.lows[last + 1] if last + 1 < len(reading.words) else ""
    if reading.lows[index - 2] not in {"in", "into", "to", "at", "from"}:
        return None
    if reading.after(last) == " " and following not in stop_words()["en"]:
        return None
    return WordMatch("place", low, index, last)


def _trimmed(reading: ScannedText, first: int, last: int) -> int:
    while last > first and reading.lows[last] in judging.not_last():
        last -= 1
    return last


def _in_heading(reading: ScannedText, lexicon: Lexicon, first: int, last: int) -> WordMatch | None:
    """Find only what is known where every word is capitalised."""
    for end in range(last, first - 1, -1):
        if first == end and is_common(reading.lows[first]):
            return None
        kind, value = judged(reading, lexicon, first, end, sure=True)
        if kind is not None:
            return WordMatch(kind, value, first, end)
    return None


def _extended(reading: ScannedText, kind: Kind, first: int, last: int, used: set[int]) -> tuple[int, int]:
    """Take in a house number before a street and a small noun that belongs to a name ("Reminders app")."""
    if kind == "place" and first and first - 1 not in used and reading.gap(first) == " ":
        street = not listed_words("entities/names.streets").isdisjoint(reading.lows[first : last + 1])
        if reading.lows[first - 1] in listed_words("entities/names.directions") or (
            street and reading.shapes[first - 1] == "d"
        ):
            first -= 1
    following = last + 1
    if following < len(reading.words) and reading.after(last) == " " and following not in used:
        low = reading.lows[following]
        if low in listed_words("entities/cues.part_of_name") and kind in {"place", "product", "organisation"}:
            last = following
    return first, last


_QUOTED: Final = re.compile(
    r"[\"“”„«]([^\"“”„«»\n]{2,60}?)[\"“”»]"
    r"|(?<![\w'’])['‘]([A-Z][^'‘\n]{1,50}?(?:['’]s [^'‘\n]{1,40}?)?)['’](?!\w)|《([^》\n]{1,40})》"
)
_CREDIT: Final = re.compile(
    r"^[-*•\d.\s\"“]*([A-Z][^\n\"”]{1,50}?)[\"”]? by ([A-Z][^\n,.(:]{1,40})$", re.MULTILINE
)
_LONGEST_TITLE: Final = 9  # words of one title


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
        if not places or used.intersection(places) or len(places) > _LONGEST_TITLE:
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
        reading.lows[place] in judging.title_words() for place in small
    )


def _foreign_title(reading: ScannedText, places: range) -> bool:
    """Say whether words look like a foreign title, which capitalises only the first: "Säg det"."""
    lows = [reading.lows[place] for place in places]
    unknown = sum(not is_common(low) for low in lows)
    return len(lows) > 1 and reading.shapes[places[0]] == "C" and unknown >= max(len(lows) - 1, 2)
