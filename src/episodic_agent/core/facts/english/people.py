"""Whom an English speaker names as theirs, and what they say of them: kin, friends, animals, by name."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from episodic_agent.core.facts.english.clauses import EnglishClause, predicate
from episodic_agent.core.facts.grammar import SlotMatch, name, singular
from episodic_agent.core.facts.words import doings, people, verbs
from episodic_agent.core.language.mentions.lists import word_set

_ALL_KIN: Final = people.KIN | people.FRIENDS | doings.ROLES | doings.KIN_PLUS
_ALL: Final = "|".join(
    sorted({one.replace("-", "[- ]") for one in _ALL_KIN | people.PETS}, key=lambda one: (-len(one), one))
)
_NAMED: Final = r"[A-ZÀ-Þ][\w’-]+(?: [A-ZÀ-Þ][\w’-]+)?"
_WHOSE: Final = r"\b(?:[Mm]y|[Oo]ur)"
_ADJ: Final = r"(?:(?!ex\b)[\w-]+ ){0,2}?"
_TIE: Final = re.compile(
    rf"{_WHOSE} {_ADJ}(?P<kin>{_ALL})s?,?(?: (?:called"
    rf"|named))? (?P<v>{_NAMED})(?P<more>(?:(?:, {_NAMED})*,? and {_NAMED})?)"
    r"(?!['’]s (?:\w+ )?(?:friend|brother|sister|mother|father|dog|cat))"
)
_IS: Final = re.compile(
    rf"{_WHOSE} {_ADJ}(?P<kin>{_ALL})(?: (?:since|from|of|at|in) [\w' ]{{2,20}}?)?"
    rf"(?:'s| is|'s name is|'s name's| is called| is named"
    rf"|'s called)(?: called)? (?P<v>{_NAMED})(?=[.,;!?]|$| and\b| but\b)"
)
_BACK: Final = re.compile(
    rf"(?<![\w.] )(?P<v>{_NAMED})(?: is|, |(?P<gone> is not|n't| isn't"
    rf"| is no longer)) ?my {_ADJ}(?P<kin>{_ALL})\b(?!['’]s)"
)
_HAVE: Final = re.compile(
    rf"\b(?:I|[Ww]e|i)(?:'ve| have|'ve got)? (?:just |recently )?(?:had|have|got|adopted"
    rf"|welcomed)? ?(?:an?|our|two) (?:[\w-]+ ){{0,2}}?"
    rf"(?P<kin>girl|boy|son|daughter|baby|{_ALL})s?\b[^.!?]{{0,24}}?\b(?:name is|name's|called"
    rf"|named) (?P<v>{_NAMED})"
)
_WITH: Final = re.compile(
    rf"(?P<v>{_NAMED}) and I (?:have been|are|got|were|are getting) (?:happily )?(?P<kin>together"
    rf"|married|engaged|dating|a couple)\b"
)
_OWNED: Final = re.compile(r"\b(?:my|our|mine|have|had|got|adopted|welcomed|and I)\b", re.I)
_APPOSED_PET: Final = re.compile(
    rf"\b(?:an?|our|my) {_ADJ}(?P<kin>{'|'.join(sorted(people.PETS))}), (?P<v>[A-ZÀ-Þ][\w’-]+)"
    rf"(?=[,.!;]|$| and)"
)
_MINE: Final = re.compile(rf"\b[Mm]ine (?:is|are) (?:called|named) (?P<v>{_NAMED})")
_PET_WORD: Final = re.compile(
    rf"\b(?P<kin>{'|'.join(sorted(people.PETS, key=lambda one: (-len(one), one)))})s?\b", re.I
)
_PROPER: Final = (
    people.PEOPLES
    | people.FAITHS
    | word_set(
        "english spanish french german ai gp phd dj nhs uk us eu god i i'm who what where when why"
        " how this that here there it monday tuesday wednesday thursday friday saturday sunday"
    )
)


def ties(text: str) -> Iterator[tuple[str, SlotMatch]]:
    """Yield everybody a text names as the speaker's.

    >>> [(one.attribute, one.value) for _, one in ties("Dinner with my husband Torbjørn and our dog Fig")]
    [('partner', 'husband Torbjørn'), ('has_pet', 'dog Fig')]
    """
    if not _OWNED.search(text):
        return
    for match in _WITH.finditer(text):
        if this_match := _tie("partner", match["v"], False):
            yield "tie-with", this_match
    for frame, pattern in (
        ("tie-named", _TIE),
        ("tie-is", _IS),
        ("tie-back", _BACK),
        ("tie-have", _HAVE),
        ("tie-apposed", _APPOSED_PET),
    ):
        for match in pattern.finditer(text):
            more = re.findall(_NAMED, match.groupdict().get("more") or "")
            for called in (match["v"], *more):
                if this_match := _tie(
                    match["kin"].lower(), called, "gone" in match.groupdict() and bool(match["gone"])
                ):
                    yield frame, this_match
    mine = _MINE.search(text)
    kind = _PET_WORD.search(text[: mine.start()]) if mine else None
    if mine and kind:
        yield "tie-mine", SlotMatch("has_pet", f"{kind['kin'].lower()} {mine['v']}")


def _tie(kin: str, called: str, gone: bool) -> SlotMatch | None:
    value = re.sub(r"['’]s?$", "", name(called))
    if not value or value.casefold() in _PROPER or value.isupper():
        return None
    if kin in people.PETS or singular(kin) in people.PETS:
        return SlotMatch("has_pet", f"{singular(kin)} {value}", not gone)
    if kin in people.PARTNERS | {"hubby", "missus", "other half"}:
        return SlotMatch("partner", f"{kin} {value}", not gone)
    return SlotMatch("relationship", f"{kin} {value}", not gone)


_OF_THEM: Final = re.compile(
    rf"{_WHOSE} {_ADJ}(?P<kin>{_ALL}),? (?P<v>[A-ZÀ-Þ][\w’-]+)(?P<is>['’]s| is|,? who(?: is|'s)?"
    rf"|,)? (?P<does>[a-z].+)"
)


def of_theirs(text: str, known: str) -> Iterator[EnglishClause]:
    """Yield what a chunk says of a named one of the speaker's: its subject is the name.

    `known` is the only one named before in the message, "" for none: "he", "she" and "who" mean that one.

    >>> [(one.who, one.verb, one.rest) for one in of_theirs("my wife Morag keeps bees", "")]
    [('Morag', 'keep', 'bees')]
    """
    match = _OF_THEM.search(text)
    ours = re.match(r"(?:[Oo]ur) (?P<v>[A-Z][\w’-]+)(?P<is>['’]s)? (?P<does>[a-z].+)", text)
    if ours:
        who, statement = ours["v"], _as_first(f"is {ours['does']}" if ours["is"] else ours["does"])
    elif match:
        who, link, does = match["v"], match["is"] or "", match["does"]
        be = "is" in link or link.endswith("'s") or link.endswith("’s")
        statement = _as_first(f"is {does}" if be else does)
        if link == "," and re.match(r"an? ", does):
            statement = f"am {does}"
    else:
        again = re.match(
            r"(?:and |but |so )?(?:(?:he|she|who) |(?P<v>[A-ZÀ-Þ][\w’-]+)(?P<is>['’]s)? )(?P<does>.+)", text
        )
        if not again or not known or (again["v"] and again["v"] != known):
            return
        who, statement = known, _as_first(f"is {again['does']}" if again["is"] else again["does"])
    clause = predicate(statement, who) if statement else None
    if clause is not None and re.sub(r"['’]s?$", "", who).casefold() not in _PROPER:
        yield replace(clause, text=statement)


def _as_first(text: str) -> str:
    """Return what is said of one as if it were said of oneself; "" where no verb leads."""
    words = text.split()
    for place, word in enumerate(words[:3]):
        low = word.casefold()
        if low in ("will", "can", "used", "did", "had", "was") or verbs.past_of(low):
            return " ".join(words)
        if low.endswith("s") and verbs.third_to_base(low) in verbs.KNOWN | {"am", "have", "do"}:
            return " ".join([*words[:place], verbs.third_to_base(low), *words[place + 1 :]])
        if not low.endswith("ly") and low not in ("also", "just", "still", "now", "always", "never"):
            return ""
    return ""
