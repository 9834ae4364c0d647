"""What is cut from an English clause: a phrase without what hangs on it, a list, a word of time."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.clauses import EnglishClause
from episodic_agent.core.language.mentions.lists import word_set

_MOST_WORDS: Final = 11
_TAIL: Final = re.compile(
    r"\s+(?:(?:so|because|when|while|if|unless|cos|coz|until|but|though|although|than|sure|you know"
    r"|tbh|btw|lol|ok|okay"
    r"|pls|please|thanks|anyway|by the way|as you know|no matter|in case|thank god|haha|as well|too"
    r"|either|though|yet"
    r"|in fact|after all|to be honest|I think|I guess|or something|and stuff|and everything|and so on"
    r"|sis|mate|pal)\b.*"
    r"|any ?more\b.*|(?:these days|now|nowadays|at the moment|right now|currently|again|already|myself|atm"
    r"|for now)\s*)$",
    re.IGNORECASE,
)
POINTS: Final = re.compile(
    r"^(?:it|that|this|them|him|her|you|us|these|those|there|here|so|something|anything|everything"
    r"|nothing|one|ones|what"
    r"|how|where|why|who|whether|someone|anyone|everyone|me|such|some of|all of (?:them|it|you))\b",
    re.IGNORECASE,
)
AGAIN: Final = re.compile(
    r"\b(?:every|each|most (?:days|mornings|nights|weekends|weeks)|(?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)days|weekends"
    r"|(?:once|twice|\w+ times) (?:a|per|each) \w+|daily|weekly|monthly|yearly|nightly|days a week"
    r"|since|for (?:years|ages"
    r"|decades|\w+ years)|all (?:year|my life|the time)|by (?:six|seven|eight|nine|ten|\d+))\b",
    re.IGNORECASE,
)
TODAY: Final = re.compile(
    r"\b(?:today|tonight|tomorrow|tmrw|tmw|yesterday|this (?:morning|evening|afternoon|weekend|week"
    r"|time|one|minute)|just now"
    r"|last night|the other day|so far|in a (?:minute|bit|sec|while|moment)|an hour|for (?:lunch"
    r"|dinner|breakfast)"
    r"|for (?:a|one|two|three|\d+) (?:weeks?|days?|nights?|hours?|while|bit|minutes?|sec)|(?:an?|two"
    r"|three|\d+|few) (?:hours?|minutes?|days?) ago|all day|again|in days|in the end|so far|already"
    r"|ended up|half of|later|soon|till \w+|until (?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|on the way|\d+ minutes?|half an hour)\b",
    re.IGNORECASE,
)


def core(text: str, most: int = _MOST_WORDS) -> str:
    """Return what is said up to where it only runs on; "" where that is too long or points elsewhere.

    >>> core("coffee any more"), core("vegan since uni so swap the butter out"), core("it since May")
    ('coffee', 'vegan since uni', '')
    """
    value = text.strip()
    for _ in range(3):
        shorter = _TAIL.sub("", f" {value}").strip(" .,!'\"-")
        if shorter == value:
            break
        value = shorter
    words = value.split()
    if len(words) > most:  # the first of it says most of it
        value = re.sub(
            r"(?:\s(?:with|over|on|in|at|to|of|for|and|the|a|my|by|from|that|they|I|or|who))+$",
            "",
            " ".join(words[:most]),
        )
    return "" if not value or len(words) > 2 * most or POINTS.match(value) else value


def thing(text: str) -> str:
    """Return the noun phrase in front, without what tells when and where."""
    text = re.sub(r"^(?:my|our|the|an?|any|some|her|his|their|all)\s+", "", text.strip(), flags=re.I)
    if re.match(r"(?:both|all|neither|each|most|often|yes|no|ok)\b(?! kinds| sorts| types)", text, re.I):
        return ""
    return core(
        re.split(
            r"\s(?:since|for|in|at|on|with|from|because of|apart from|except|they|that|which|I|we|you)\s",
            f"{text} ",
            maxsplit=1,
        )[0]
    )


def things_of(first: str, more: str) -> Iterator[str]:
    """Yield the things of a list that may run on behind a comma."""
    text = first
    for part in re.split(r"\s*,\s*", more.lstrip(" "))[1:4] if more.lstrip().startswith(",") else []:
        if not re.match(r"(?:and |or )?[\w' -]{2,28}[.!]?$", part) or re.search(
            r"\b(?:I|it|we|they|he|she|you|is|are|am|was|not|so|but|because|please|do|really"
            r"|especially|even|the)\b",
            part,
        ):
            break
        text += f", {part}"
    for part in re.split(r"\s*,\s*(?:and |or )?|\s+(?:and|or|nor|&)\s+", text):
        if re.search(r"\b(?:is|are|was|were|can|will)\b|\w (?:has|have|had|hates?|loves?|wants?)\b", part):
            break  # another clause
        value = thing(re.split(r"\s(?:that|which|who) ", part, maxsplit=1)[0])
        if value:
            yield value


OFTEN: Final = word_set(
    "always never usually normally mostly often typically generally regularly rarely seldom sometimes"
    " occasionally mainly only religiously hardly still"
)
LASTS: Final = re.compile(
    r"\b(?:19|20)\d\d\b|\b(?:(?<!New )years|since|as a|when I was|decades|seasons)\b", re.I
)
_MONTHS: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
AHEAD: Final = re.compile(
    rf"\b(?:next (?:year|month|spring|summer|autumn|winter|term)|in (?:\w+ )?(?:{_MONTHS}|spring"
    rf"|summer|autumn|winter|20\d\d|\w+ years)"
    rf"|from (?:{_MONTHS}|next)|on (?:the )?\d+\w*|(?:{_MONTHS}) \d|\d+ (?:{_MONTHS})|by (?:the time"
    rf"|the end|20\d\d)|before I"
    rf"|when I retire|one day)\b",
    re.I,
)


def tense(clause: EnglishClause) -> str:
    """Return the helping verb of a clause, or the form of its verb where it has none."""
    return clause.aux or clause.form


def holds_now(clause: EnglishClause) -> bool:
    """Say whether a clause tells of the present, or of what has lasted until now."""
    return clause.form in ("base", "ing", "be") or clause.aux == "have"
