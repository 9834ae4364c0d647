"""What is said of something of an English speaker's: "my favourite animal is the axolotl"."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.values import core, thing
from episodic_agent.core.facts.grammar import SlotMatch, bare, place, singular
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.language.mentions.lists import word_set

_MY: Final = re.compile(
    r"(?:and |but |so |also )?(?:my|our) (?P<what>[\w' -]{2,44}?)(?:'s| is| are|'re"
    r"| has (?:always )?been| will always be| used to be)(?P<no> not)? (?:now |called |probably "
    r"|still |just )*(?P<v>.+)",
    re.I,
)
_BEST: Final = re.compile(
    r"(?P<v>(?!(?:it|that|this|which|what|who|he|she|they|there|these|those"
    r"|one)\b)[A-Za-z][\w'’ -]{1,40}?)(?:'s| is| are| has (?:always )?been) (?P<no>not )?"
    r"(?:(?:my|our) (?:absolute |all-time |very )?(?:favou?rite\w*(?: [\w-]+)?|comfort food"
    r"|guilty pleasure|happy place|passion|hobby|go-to(?: \w+)?|jam|thing|cup of tea|weakness)"
    r"|the best [\w ]+ (?:in the world|ever|of all time|there is))\b",
    re.I,
)
_BAD_ME: Final = re.compile(
    r"(?P<v>(?!(?:it|that|this|which|what|who|he|she|they|there|these|those|you|and"
    r"|but)\b)[A-Za-z][\w'-]+(?: [\w'-]+){0,3}?) (?:really |just |always )?"
    r"(?P<how>terrif(?:y|ies)|frightens?|scares?|bores?|disgusts?|annoys?|creeps?|freaks?"
    r"|stress(?:es)?|fascinates?|delights?|calms?|relax(?:es)?|depress(?:es)?|irritates?) me\b",
    re.I,
)
_ILL: Final = re.compile(
    r"(?P<v>(?!(?:it|that|this|which|what|who|he|she|they|there|these|those|you|and"
    r"|but)\b)[A-Za-z][\w'-]+(?: [\w'-]+){0,3}?) (?:really |just |always )?"
    r"(?:(?:gives?|makes?|brings?|turns?|drives?|sends?) me (?:(?P<ill>(?:a )?(?:migraines?|hives"
    r"|headaches?|rash|asthma|ill|sick|wheeze|out in))"
    r"|the creeps|nightmares|mad|crazy|nuts|up the wall|anxious|furious))\b",
    re.I,
)
_CALLED_ME: Final = re.compile(
    r"(?:everyone|everybody|people|my friends|friends|my family|my mates) calls? me (?P<v>[A-ZÀ-Þ]\w+)"
)
_STATUS: Final = word_set(
    "religion major degree surname nickname nationality citizenship politics height eyesight sign"
)


_THINGS: Final = word_set("car bike laptop phone van boat computer machine motorbike camera guitar")
_AIMS: Final = word_set("dream goal aim plan ambition resolution target")
_HOMES: Final = word_set("hometown home flat house place apartment")


def my_something(text: str) -> Iterator[tuple[str, SlotMatch]]:
    """Read what is said of something of the speaker's: "my favourite animal is the axolotl".

    >>> [(one.attribute, one.value) for _, one in my_something("my favourite animal is the axolotl")]
    [('likes', 'axolotl')]
    """
    if best := _BEST.match(text):
        if value := thing(best["v"]):
            yield "my-best", SlotMatch("likes" if not best["no"] else "dislikes", value)
    elif bad := _BAD_ME.match(text):
        slot = "likes" if re.match(r"fasc|del|calm|rel", bad["how"]) else "dislikes"
        yield "bad-me", SlotMatch(slot, thing(bad["v"]))
    elif ill := _ILL.match(text):
        yield (
            "makes-ill",
            SlotMatch(
                "health" if ill["ill"] else "dislikes", thing(ill["v"]) if not ill["ill"] else core(text)
            ),
        )
    elif called := _CALLED_ME.match(text):
        yield "called-me", SlotMatch("also_called", called["v"])
    elif match := _MY.match(text):
        value = core(match["v"])
        if value and not re.search(r"\b(?:is|are|was|has to be)\b", value):
            yield from _mine(match["what"].casefold(), value, bool(match["no"]))


def _mine(what: str, value: str, no: bool) -> Iterator[tuple[str, SlotMatch]]:
    last = singular(what.rpartition(" ")[2])
    if re.match(r"(?:all-time |absolute )?(?:fav\w*|go-to|guilty pleasure|comfort)", what):
        yield "my-favourite", SlotMatch("likes", re.sub(r"^(?:the|an?) ", "", value), not no)
    elif last in _THINGS and re.match(r"(?:an? )?(?:[\w-]+ )*[A-Z]|an? ", value):
        yield "my-thing", SlotMatch("owns", bare(value), not no)
    elif last in ("job", "trade", "profession", "occupation") and (job := work_of(value) or bare(value)):
        yield "my-job", SlotMatch("job", job, not no)
    elif last in _AIMS:
        yield "my-goal", SlotMatch("plans", core(value.removeprefix("to "), 14), not no)
    elif last in _HOMES and (where := place(value.removeprefix("in "))):
        yield "my-home", SlotMatch("from" if last == "hometown" else "lives_in", where, not no)
    else:
        yield from _marked(what, last, value, no)


def _marked(what: str, last: str, value: str, no: bool) -> Iterator[tuple[str, SlotMatch]]:
    if re.search(r"(?:native|first|mother) (?:language|tongue)$", what):
        yield "my-tongue", SlotMatch("speaks", value.partition(" ")[0], not no)
    elif re.search(r"blood (?:type|group)", what) and re.match(r"(?:[ABO]|AB)\b", value):
        yield "my-blood", SlotMatch("health", f"blood group {value}", not no)
    elif last in _STATUS or re.search(
        r"(?:last|middle|first|pen|stage|derby|maiden) name|(?:shoe|dress) size", what
    ):
        yield "my-status", SlotMatch("status", f"{what} {value}", not no)
