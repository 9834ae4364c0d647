"""What kind of thing a stretch of words names: evidence for each kind, added up.

The weights are set by hand. About 2 is what a known name or a telling head noun is worth ("Main Street"), 1
what a good neighbour is ("in", "with"), .5 a hint. Less than the bar and the stretch names nothing. The words
that tell kinds, what may end, begin, precede or follow a name, are sets.
"""

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias

from episodic_agent.core.language.mentions import lexicon
from episodic_agent.core.language.mentions.lexicon import Lexicon, is_common, without_article
from episodic_agent.core.language.mentions.scan import ScannedText, WordMatch
from episodic_agent.core.language.terms import stop_words
from episodic_agent.data import listed_words, numbers, phrase_set
from episodic_agent.schemas.mentions import Kind

Scores: TypeAlias = dict[Kind, float]

_BAR: Final = 0.9
_SURE_BAR: Final = 1.9
_ORDER: Final[tuple[Kind, ...]] = ("person", "place", "organisation", "product")


def judged(
    reading: ScannedText,
    lexicon: Lexicon,
    first: int,
    last: int,
    *,
    before: WordMatch | None = None,
    quoted: bool = False,
    sure: bool = False,
) -> tuple[Kind | None, str]:
    """Return the kind and value of the words `first..last`, None for no name.

    `before` is the name found last: "Kansas, Platte and ..." are of one kind. `quoted`: they stand in
    quotation marks. `sure`: believe only what the words themselves say.
    """
    scores: Scores = dict.fromkeys(_ORDER, 0.0)
    value = _inside(reading, lexicon, first, last, scores, sure=sure)
    if quoted:  # a title first of all: "Dr. Dolittle", "Rhetoric in Modern Media"
        scores.update({kind: score / 2 for kind, score in scores.items() if kind != "product"})
        scores["product"] += 1.9
    if not sure:
        _before(reading, first, scores)
        _after(reading, first, last, scores)
        if before is not None and before.kind in scores and _listed(reading, before.last, first):
            scores[before.kind] += 1.0
        _next_in_list(reading, lexicon, last, scores)
        _unknown(reading, first, last, scores)
    best = max(_ORDER, key=lambda kind: scores[kind])
    bar = _SURE_BAR if sure else _BAR
    if first == last and sum(map(str.isdigit, reading.lows[first])) > 4:
        return None, ""  # an order number
    if first == last and reading.lows[first] in stop_words()["en"] and reading.shapes[first] != "A":
        return None, ""
    if reading.lows[last] in phrase_set("entities/places.adjectives") or _of_a_nation(reading.lows[last]):
        return None, ""  # "South Korean", "Spanish-speaking"
    if not quoted and all(_is_plain(reading, place) for place in range(first, last + 1)):
        inside = last - first > 1 and first and not reading.opens[first] and not reading.titled[first]
        bar += (
            0.1 if inside else 0.9 if first == last else 1.3
        )  # three capitals amid a sentence are a name, whatever the words
    return (best, _bare(value, best)) if scores[best] >= bar else (None, "")


def _listed(reading: ScannedText, last: int, first: int) -> bool:
    """Say whether two names stand in one list."""
    return reading.text[reading.ends[last] : reading.starts[first]] in _LIST_GAPS


def _next_in_list(reading: ScannedText, lexicon: Lexicon, last: int, scores: Scores) -> None:
    """Add the kind of a known name that follows in a list: "Georgia, North Carolina"."""
    if last + 1 >= len(reading.words) or reading.after(last) not in {", ", " "}:
        return
    then = last + 1 + (reading.lows[last + 1] in {"and", "or"})
    if then == last + 1 and reading.after(last) == " ":
        return
    if then < len(reading.words) and reading.shapes[then] in "CAM":
        for name in lexicon.single.get(reading.lows[then], ())[:1]:
            scores[name.kind] += 0.4 if name.doubtful else 1.0
        for parts, name in lexicon.longer.get(" ".join(reading.lows[then : then + 2]), ()):
            if tuple(reading.lows[then : then + len(parts)]) == parts:
                scores[name.kind] += 1.0
                break


_LIST_GAPS: Final = frozenset({", ", " and ", ", and ", " or ", ", or ", " & ", " und ", " y ", " et ", "/"})


def _of_a_nation(low: str) -> bool:
    return "-" in low and not phrase_set("entities/places.adjectives").isdisjoint(low.split("-"))


def _is_plain(reading: ScannedText, index: int) -> bool:
    """Say whether a lone word is an everyday one, a doubtful name or a head noun: its capital says little."""
    low = reading.lows[index]
    if reading.shapes[index] == "A" and len(low) < 5:
        return low in listed_words("entities/judging.written_big")
    if (
        low in phrase_set("entities/places.heads")
        or low in organisation_heads()
        or low in phrase_set("entities/products.heads")
    ):
        return True
    return (
        is_common(low)
        or low in phrase_set("entities/places.adjectives")
        or low in phrase_set("entities/people.doubtful")
    )


def _bare(value: str, kind: Kind) -> str:
    """Drop what does not compare: an article, and a person's title."""
    value = without_article(value)
    head, _, rest = value.partition(" ")
    return rest if kind == "person" and rest and head.rstrip(".") in titles() else value


def _inside(
    reading: ScannedText, lexicon: Lexicon, first: int, last: int, scores: Scores, *, sure: bool
) -> str:
    """Add what the words themselves say and return their value."""
    lows = reading.lows[first : last + 1]
    value = " ".join(lows)
    known = _known_whole(lexicon, lows)
    torn = len({kind for kind, _, _ in known}) > 1  # Petra, Jordan: what stands around decides
    for kind, text, doubtful in known:
        if kind in scores:
            sure_of = not doubtful or (
                last == first and reading.shapes[first] == "A" and not _is_plain(reading, first)
            )
            scores[kind] += 1.6 if torn else 2.4 if sure_of else 1.2
            if doubtful and kind in {"organisation", "product"} and _amid(reading, first):
                scores[kind] += 0.8  # "I asked Apple": the capital tells
            value = text
    if last > first:
        if sure and all(is_common(low) for low in lows):
            return value
        _heads(lows, scores)
        _people(reading, first, last, scores)
        if not known:
            _known_parts(lexicon, lows, scores)
    elif not known and not _is_plain(reading, first):
        _lone(reading, first, scores)
    if any(map(_has_digit, lows[1:])):  # "iPhone 15", "Galaxy S24"
        scores["product"] += 1.2
    return value


def _has_digit(low: str) -> bool:
    return any(map(str.isdigit, low))


def _amid(reading: ScannedText, index: int) -> bool:
    """Say whether a capital inside a sentence of small letters tells a name."""
    return reading.shapes[index] in "CM" and not reading.opens[index] and not reading.titled[index]


def _known_whole(lexicon: Lexicon, lows: list[str]) -> list[tuple[Kind, str, bool]]:
    if len(lows) == 1:
        return [
            (name.kind, name.value, name.doubtful and not name.own)
            for name in lexicon.single.get(lows[0], ())
        ]
    return [
        (name.kind, name.value, False)
        for parts, name in lexicon.longer.get(" ".join(lows[:2]), ())
        if list(parts) == lows
    ]


def _known_parts(lexicon: Lexicon, lows: list[str], scores: Scores) -> None:
    """Let a known name inside tell a little: "Google Calendar", "Miami Heat"."""
    for kind, _, _ in _known_whole(lexicon, lows[:2]) if len(lows) > 2 else ():
        if kind == "product":
            scores["product"] += 2.2  # "Google Play Store"
    for kind, _, doubtful in _known_whole(lexicon, lows[:1]):
        if kind == "organisation" and not doubtful:
            scores["product"] += 0.8
            scores["organisation"] += 0.5
        elif kind == "product" and not doubtful:
            scores["product"] += 2.0
        elif kind == "place" and not doubtful:
            scores["place"] += 1.0
            scores["organisation"] += 0.4
    for kind, _, doubtful in _known_whole(lexicon, lows[-1:]):
        if kind == "place" and not doubtful:
            scores["place"] += 0.8


def _heads(lows: list[str], scores: Scores) -> None:
    """Add what the last and first words say: "Main Street", "Acme Inc", "Lake Tahoe", "Reminders App"."""
    end = _head(lows[-1])
    two = " ".join(lows[-2:])
    of = next((place for place, low in enumerate(lows[1:], 1) if low in {"of", "for", "de"}), 0)
    head = _head(lows[of - 1]) if of else end
    if not listed_words("entities/judging.streets").isdisjoint(lows[1:]):
        scores["place"] += 2.6
    elif (
        end in phrase_set("entities/places.heads")
        or head in phrase_set("entities/places.heads")
        or two in phrase_set("entities/places.heads")
    ):
        scores["place"] += 2.0
    if end in organisation_heads() or head in organisation_heads() or two in organisation_heads():
        scores["organisation"] += 2.0
    if end in phrase_set("entities/products.heads"):
        scores["product"] += 1.7 if not all(is_common(low) for low in lows) else 1.0
    if of and lows[of] == "for" and head in {"center", "centre", "office", "home"}:
        scores["organisation"] += 2.5
    if "for" in lows[1:-1] or lows[0] == "national":
        scores["organisation"] += 0.6
    if lows[0] in {"national", "international", "federal", "royal", "provincial", "municipal"}:
        scores["organisation"] += 0.9
    if lows[0] in place_fronts() and not (lows[0] == "new" and is_common(lows[1])):
        scores["place"] += 2.0 if lows[0] in {"mount", "mt", "lake", "fort", "cape"} else 1.2
    if lows[0] in {
        "university",
        "bank",
        "ministry",
        "department",
        "institute",
        "academy",
        "college",
        "church",
    }:
        scores["organisation"] += 2.0 if of else 0.0


def _head(low: str) -> str:
    """Return a head noun in the singular."""
    low = low.rstrip(".")
    return low[:-1] if low.endswith("s") and low[:-1] in _all_heads() else low


@cache
def _all_heads() -> frozenset[str]:
    return phrase_set("entities/places.heads") | organisation_heads() | phrase_set("entities/products.heads")


def _people(reading: ScannedText, first: int, last: int, scores: Scores) -> None:
    """Add what makes a person of several words: a title, a given name, a family name, an initial."""
    lows = reading.lows[first : last + 1]
    title = int(lows[0] == "the")
    if lows[title].rstrip(".") in titles() and (
        title or not is_common(lows[1]) or lows[1] in phrase_set("entities/people.given")
    ):
        scores["person"] += 2.2
    if len(lows) == 2 and is_chinese_name(lows):
        scores["person"] += 2.2
        return
    if len(lows) > 4 or any(
        is_common(low) and low not in phrase_set("entities/people.family") for low in lows[1:]
    ):
        return
    if lows[0] in phrase_set("entities/people.given"):
        scores["person"] += 1.2 if lows[0] in phrase_set("entities/people.doubtful") else 2.2
    if lows[-1] in phrase_set("entities/people.family") and lows[-1] not in phrase_set(
        "entities/places.heads"
    ):
        scores["person"] += 0.8
    if any(reading.shapes[place] == "I" for place in range(first + 1, last)):
        scores["person"] += 1.2


def is_chinese_name(lows: Sequence[str]) -> bool:
    """Say whether two words are a Chinese name in Latin letters, in either order.

    >>> is_chinese_name(["lei", "mingxuan"]), is_chinese_name(["main", "street"])
    (True, False)
    """
    family, value = lows
    if family in phrase_set("entities/people.pinyin_family"):
        return lexicon.is_word(value.replace("-", "").replace("'", ""))
    return value in phrase_set("entities/people.pinyin_family") and lexicon.is_given(family)


def _lone(reading: ScannedText, index: int, scores: Scores) -> None:
    """Add what the writing of one unknown word says."""
    low, shape = reading.lows[index], reading.shapes[index]
    if shape == "M" or (shape == "C" and any(map(str.isdigit, low))):
        scores["product"] += 1.8
    elif shape == "A" and any(map(str.isdigit, low)):
        scores["product"] += 1.0
    elif shape == "A" and 2 <= len(low) <= 6:
        scores["organisation"] += 0.7
        scores["product"] += 0.6
    elif low in phrase_set("entities/people.family"):
        scores["person"] += 1.1
    elif lexicon.is_given(low):
        scores["person"] += 0.95
    elif low.endswith(
        ("ville", "burg", "berg", "stadt", "shire", "grad", "stan", "polis", "ton", "land", "ford")
    ):
        scores["place"] += 0.6


def _before(reading: ScannedText, first: int, scores: Scores) -> None:
    """Add what the words in front say: "in", "with", "my friend", "work at", "watching"."""
    if not first:
        return
    gap, before = reading.gap(first), reading.lows[first - 1]
    if gap not in {" ", ", ", ' "', " '", " “", " ‘", "  ", " ("}:
        return
    article = reading.words[first - 1].lower() in {"the", "a", "an"}
    if reading.words[first - 1] == "à":
        scores["place"] += 1.6
    if article:
        scores["person"] -= 0.8
        scores["organisation"] += 0.3
        scores["product"] += 0.3
        if before != "the":
            scores["place"] -= 0.6
        before = reading.lows[first - 2] if first > 1 and reading.gap(first - 1) == " " else ""
    if gap == ", ":
        if before in phrase_set("entities/people.kin"):
            scores["person"] += 1.2
        return
    scores["place"] += numbers("entities/cues.place_words").get(before, 0.0)
    if before in phrase_set("entities/products.using"):
        scores["product"] += 1.3
    _before_people(reading, first, before, article, scores)
    pair = f"{reading.lows[first - 2]} {before}" if first > 1 and not article else before
    if pair in phrase_set("entities/organisations.working") or before in phrase_set(
        "entities/organisations.working"
    ):
        scores["organisation"] += 1.8
        scores["place"] -= 0.5


def _before_people(reading: ScannedText, first: int, before: str, article: bool, scores: Scores) -> None:
    pair = f"{reading.lows[first - 2]} {before}" if first > 1 else before
    if before in {"i'm", "im"} or pair in {
        "name is",
        "call me",
        "this is",
        "i am",
        "name's",
        "named after",
        "it's me",
    }:
        scores["person"] += 2.0
    if before in {"in", "near"} and not article:
        scores["person"] -= 1.5
    if (
        before in {"to", "as"}
        and first > 1
        and reading.lows[first - 2] in listed_words("entities/judging.speaking")
    ):
        scores["person"] += 2.0
    if before in phrase_set("entities/people.meeting") and not article:
        scores["person"] += 1.0
    if before in phrase_set("entities/people.kin"):
        scores["person"] += 1.5


def _after(reading: ScannedText, first: int, last: int, scores: Scores) -> None:
    """Add what follows: "said", a possessive, "team", "app", a colon, the end after a comma."""
    after = reading.after(last)
    following = reading.lows[last + 1] if last + 1 < len(reading.words) else ""
    if after.lower().startswith(("'s ", "’s ")):
        capital = not reading.opens[first] and not reading.titled[first]
        scores["person"] += (
            1.9
            if capital and first == last and reading.lows[first] not in phrase_set("entities/people.kin")
            else 0.5
        )
    elif after == " ":
        if following in phrase_set("entities/people.saying"):
            scores["person"] += 1.3
        weight = 0.5 if max(scores.values()) > 1.5 else 1.0  # a known name stays what it is
        if following in listed_words("entities/cues.after_place"):
            scores["place"] += 1.4 * weight
        if following in listed_words("entities/cues.after_organisation"):
            scores["organisation"] += 1.8 * weight
        if following in listed_words("entities/cues.after_product"):
            scores["product"] += 1.5 * weight
        _defined(reading, last + 1, scores)
    if after[:1] in {".", "!", "?", ",", ""} and first and reading.gap(first) == ", " and last - first < 2:
        scores["person"] += 0.7 if after[:1] != "," else 0.2  # "That helps, Craig!"
    if after.startswith(":") and (first == 0 or "\n" in reading.gap(first) or reading.opens[first]):
        scores["person"] += 0.2
    if after.startswith(", ") and following in {"my", "our", "who", "whose"}:
        scores["person"] += 1.3


def _defined(reading: ScannedText, verb: int, scores: Scores) -> None:
    """Add what a definition says: "Howdy Doody is an American television program"."""
    if (
        reading.lows[verb : verb + 1] not in (["is"], ["was"])
        or reading.lows[verb + 1 : verb + 2] not in _ARTICLED
    ):
        return
    for low in reading.lows[verb + 2 : verb + 10]:
        for kind in _DEFINED:
            if low in listed_words(f"entities/judging.defining.{kind}"):
                scores[kind] += 2.0
                return


_ARTICLED: Final = (["a"], ["an"], ["the"])
_DEFINED: Final[tuple[Kind, ...]] = ("product", "place", "person", "organisation")


def _unknown(reading: ScannedText, first: int, last: int, scores: Scores) -> None:
    """Lean to some kind where nothing was said of an unknown capitalised name inside a sentence."""
    if max(scores.values()) >= _BAR or reading.titled[first]:
        return
    unknown = [
        low
        for low in reading.lows[first : last + 1]
        if not is_common(low) and low not in phrase_set("entities/places.adjectives")
    ]
    if not unknown:
        return
    if reading.opens[first] and first == last:
        scores["person"] += 0.3
        return
    complete = len(unknown) == last - first + 1  # titles have everyday words among them, names do not
    kind: Kind = "person" if last - first < 2 or (complete and last - first == 2) else "product"
    scores[kind] += 0.95 if complete and (last > first or len(unknown[0]) > 3) else 0.7


@cache
def titles() -> frozenset[str]:
    """Return the titles of persons, without the full stop of their short forms."""
    return _without_stops("entities/people.titles")


@cache
def place_fronts() -> frozenset[str]:
    """Return the words that begin a place's name."""
    return _without_stops("entities/places.fronts")


@cache
def organisation_heads() -> frozenset[str]:
    """Return the words that end an organisation's name."""
    return _without_stops("entities/organisations.heads")


@cache
def not_last() -> frozenset[str]:
    """Return the words that stand inside a name and never end it."""
    return listed_words("entities/cues.connectors") | {"and", "in", "a", "an", "to", "with", "on", "at"}


@cache
def title_words() -> frozenset[str]:
    """Return the connectors inside quoted titles: "An American Werewolf in London"."""
    return not_last() | listed_words("entities/cues.in_titles")


def _without_stops(address: str) -> frozenset[str]:
    return frozenset(word.rstrip(".") for word in phrase_set(address))
