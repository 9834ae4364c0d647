"""What an English speaker does again and again, can do, did, and will do."""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from episodic_agent.core.entities.lists import word_set
from episodic_agent.core.facts.english_clauses import Clause
from episodic_agent.core.facts.english_values import (
    AGAIN,
    AHEAD,
    LASTS,
    OFTEN,
    POINTS,
    TODAY,
    core,
    thing,
    things_of,
)
from episodic_agent.core.facts.grammar import Found
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import doings, verbs

# Of the moment, or another's: "get the appeal", "keep wanting", "cut my hair".
_IDLE: Final = re.compile(
    r"get the (?!bus|train|tram|tube|metro|ferry)|keep \w+ing\b"
    r"|(?:cut|put|set|let|hit|shut|hurt) |do (?:as|i|indeed|too|that|so)\b",
    re.I,
)


def habits(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read the present: what is done again and again, or not at all."""
    said = core(one.rest) if one.rest else ""
    idle = _IDLE.match(f"{one.verb} {one.rest}")
    alone = one.verb == "grow" and re.match(r"(?:from|at|as|together|up)\b", one.rest)
    offered = one.verb == "volunteer" and one.rest.startswith("to ")
    if one.verb in ("up", "down", "out", "off"):  # "Ana swam, I only up to the knees"
        return
    if (
        TODAY.search(one.rest)
        or one.verb == "split"
        or alone
        or offered
        or (idle and not AGAIN.search(one.rest))
    ):
        return
    if not said and (one.rest or one.verb not in verbs.PRACTISED):
        return
    living = re.match(r"(?P<v>.+) for a living", one.rest)
    if living and not one.no:
        yield "for-a-living", Found("job", f"{one.verb} {core(living['v'])}")
        return
    ails = re.match(
        rf"(?:(?:\w+ )?{doings.AILS}|(?:[\w.]+ ?(?:mg|mcg|micrograms) of )?{doings.MEDICINES})\b", said, re.I
    )
    if ails and one.verb in ("get", "take", "suffer", "use", "inject"):
        yield f"body-{one.verb}", Found("health", ails.group(), not one.no)
        return
    marks = "again" if one.adverbs & OFTEN or AGAIN.search(f"{one.lead} {one.rest}") else "bare"
    kind = "practised" if one.verb in verbs.PRACTISED else "done" if one.verb in verbs.DONE else "other"
    if one.verb in verbs.STEADY and not verbs.doing_of(one.rest.split(" ", 1)[0].casefold()):
        kind = "steady"
    if kind == "other" and marks == "bare" and not one.no:
        return
    ended = (
        bool(re.search(r"\b(?:any ?more|no longer|these days|now)\b", one.rest)) or "no longer" in one.adverbs
    )
    no = one.no
    if no and one.verb in ("eat", "drink") and said and not ended:
        for value in things_of(said, one.more):
            yield "habit-no-food", Found("diet", f"no {value}")
        return
    lead = "never " if "never" in one.adverbs else ""
    words = [one.verb] if one.verb not in ("do",) or not no else []
    value = f"{lead}{' '.join([*words, said])}".strip()
    yield (
        f"habit-{'not' if no else marks}-{kind}",
        Found("habit", value, not no, own=f"{'does not ' if no else ''}{value}"),
    )


_CAN_NOT_BEAR: Final = word_set("stand abide bear stomach take handle tolerate face")
_CAN_IDLE: Final = word_set(
    "see find believe get wait tell remember say make come go help prove send think imagine enjoy"
    " keep check use"
)


def abilities(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "I can", "I can't": a skill, an ailment, a distaste."""
    said = core(one.rest)
    if re.match(r"another\b|any more\b|more\b", one.rest) or (one.rest and not said):
        return
    if re.search(r"\byou\b", one.rest):  # an offer
        return
    if one.no and (found := list(_can_not(one, said))):
        yield from found
        return
    idle = one.verb in _CAN_IDLE or (not one.no and (one.join == "so" or one.verb in verbs.LIGHT))
    if not idle and one.verb not in _CAN_NOT_BEAR:
        can = f"{one.verb} {said}".strip()
        own = f"can {'not ' if one.no else ''}{can}"
        yield f"can-{'not' if one.no else 'do'}", Found("habit", can if one.no else own, not one.no, own=own)


def _can_not(one: Clause, said: str) -> Iterator[tuple[str, Found]]:
    if one.verb in _CAN_NOT_BEAR:
        values = [value for value in things_of(one.rest, one.more) if not POINTS.match(value)]
        yield from (("can-not-stand", Found("dislikes", value)) for value in values)
    elif one.verb == "get" and one.rest.startswith("enough of "):
        yield "can-not-get-enough", Found("likes", thing(one.rest.removeprefix("enough of ")))
    elif one.verb == "do" and said:
        yield "can-not-do", Found("dislikes", said)
    elif one.verb in ("eat", "have", "digest"):
        yield from (("can-not-eat", Found("diet", f"no {food}")) for food in things_of(one.rest, one.more))


_LONG: Final = re.compile(
    r"\b(?:years?|months|summers?|winters?|childhood|decades?|seasons?|life|semesters?|youth|teens"
    r"|gap year)\b",
    re.I,
)


def past(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read what was done, once or for years; what is over; what was given up."""
    if "never" in one.adverbs or (one.aux in ("did", "have", "had") and one.no):
        value = core(one.rest) if one.adverbs & {"never", "ever"} else ""
        if one.verb == "learn" and value.startswith("to "):
            yield "done-never-learnt", Found("habit", value[3:], False, own=f"never learnt {value}")
            return
        if value and not re.match(r"(?:in|since|for|back|yet|any|anything|had the)\b", value):
            did = f"{_past_word(one)} {value}"
            yield "done-never", Found("did", did, False, own=f"never {did}")
        return
    for reader in (_given_up, _parted, _idle, _begun, _got):
        found = reader(one)
        if found is not None:
            yield from found
            return
    value = core(one.rest, 16)
    if value and not POINTS.match(one.rest):
        dated = LASTS.search(f"{one.lead} {one.rest}")
        kind = "life" if one.verb in verbs.LIFE else "dated" if dated else "other"
        yield f"did-{kind}", Found("did", f"{_past_word(one)} {value}")


Read: TypeAlias = list[tuple[str, Found]] | None  # None: it is no such clause


def _given_up(one: Clause) -> Read:
    """Read "gave up the sugar", "quit Fernwood"."""
    verb, rest = one.verb, one.rest
    up = (verb == "give" and rest.startswith("up ")) or (verb == "cut" and rest.startswith("out "))
    if verb not in ("quit", "stop") and not up:
        return None
    if re.match(r"up on\b|at\b|by\b|trying\b|(?:the|this|that)\b(?! job)", rest):
        return []
    said = re.split(r"\s(?:on|at|in|since|when|for) (?=[A-Z\d]|the\b|my\b)", rest, maxsplit=1)[0]
    value = core(re.sub(r"^(?:(?:up|out|on|my job (?:at|as)(?: an?)?) )?(?:the |my )?", "", said))
    if not value:
        return []
    if verb == "quit" and value[:1].isupper():
        return [("quit-firm", Found("employer", value, False))]
    return [("given-up", Found("habit", value, False, own=value))]


def _parted(one: Clause) -> Read:
    """Read "sold the Micra", "left Halden"."""
    if one.verb == "leave" and one.rest[:1].isupper() and (value := thing(one.rest)):
        return [("left-firm", Found("employer", value, False))]
    lead = r"(?:rid of |away )?" if one.verb in verbs.PARTING else r"(?:rid of|away|in) "
    gone = re.match(rf"{lead}(?P<v>(?:the|my|our) .+)", one.rest)
    if one.verb in verbs.PARTING | {"get", "give", "trade"} and gone and (value := thing(gone["v"])):
        return [("parted", Found("owns", value, False))]
    return None


def _idle(one: Clause) -> Read:
    """Leave out what was said, what was done at a desk, and what only passed."""
    verb, rest = one.verb, one.rest
    idle = (
        not rest
        or (verb == "have" and rest.startswith("to "))
        or (verb == "work" and rest.startswith("on "))
        or verb in verbs.TALK | {"say", "tell"}
        or (verb in ("leave", "quit") and re.match(r"(?:in|on|at|early|for|it|him|her)\b", rest))
        or (verb == "leave" and verbs.doing_of(rest.partition(" ")[0]))
        or (verb == "spend" and not _LONG.search(rest))
        or (verb in verbs.OFFICE and not LASTS.search(f"{one.lead} {rest}"))
    )
    return [] if idle else None


def _begun(one: Clause) -> Read:
    """Read "started at Brightwater Labs as an engineer", "signed up for a course"."""
    if one.verb == "sign" and one.rest.startswith(("up ", "on ")):
        value = core(re.sub(r"^(?:up|on) (?:for|to|at) (?:the |an? )?", "", one.rest), 14)
        return [("signed-up", Found("plans", value))]
    at = re.match(r"(?:work|working|a new job|a job)?\s?(?:at|with|for) (?P<v>[A-Z].+)", one.rest)
    if one.verb not in ("start", "join") or not at:
        return None
    firm = re.split(r"\s(?:as|on|in|this|last|next|yesterday)\s", f"{at['v']} ", maxsplit=1)[0].strip()
    role = re.search(r"\bas (?:an? |the )?(?P<v>.+)$", core(one.rest))
    work = [("started-as", Found("job", role["v"]))] if role and work_of(role["v"]) else []
    return [("started-at", Found("employer", firm)), *work]


_NEW_STATE: Final = re.compile(
    r"(?:married|engaged|divorced|promoted|fired|laid off|sober|diagnosed|hired|elected|ordained|baptised)\b",
    re.I,
)


def _got(one: Clause) -> Read:
    """Read "turned 71", "have inherited her hives"."""
    age = re.match(r"(\d{1,2})\b(?!:|th|st)", one.rest)
    if one.verb == "turn" and age:
        return [("turned", Found("age", age.group(1)))]
    if one.verb == "get" and _NEW_STATE.match(one.rest):
        return [("got-state", Found("did", f"got {core(one.rest)}"))]
    if one.verb in ("inherit", "adopt", "buy", "get") and one.aux == "have" and (value := thing(one.rest)):
        return [(f"got-{one.verb}", Found("owns", value))]
    return None


def _past_word(one: Clause) -> str:
    return next(
        (
            word
            for word in one.text.split()
            if verbs.past_of(word.casefold()) == one.verb or verbs.participle_of(word.casefold()) == one.verb
        ),
        one.verb,
    )


def plans(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read what lies ahead, and what is being prepared."""
    if not _is_planned(one):
        return
    rest, verb = one.rest, one.verb
    if to := _GOING_TO.match(rest) if verb == "go" else None:
        said, frame = to["v"], "plan-going-to"
    elif to := _AIMING_TO.match(rest) if verb in ("plan", "hope", "aim") else None:
        said, frame = to["v"], "plan-planning"
    elif one.form == "ing":
        said, frame = f"{_ing_word(one)} {rest}", f"plan-{'ready' if verb in _READY else 'ing'}"
    else:
        said, frame = f"{verb} {rest}", f"plan-{one.aux or one.form}"
    value = core(said, 14)
    if len(value.split()) > 1 or value in ("retire", "graduate"):
        yield frame, Found("plans", value, not one.no, own=value)


def _is_planned(one: Clause) -> bool:
    """Tell whether more is said than what comes next: a time that lies ahead, or what changes a life."""
    ahead = bool(AHEAD.search(f"{one.lead} {one.rest}"))
    if one.form == "ing" and one.verb == "do" and not re.match(r"(?:an?|my|the|another|our) ", one.rest):
        return False
    if one.form == "ing" and one.verb in _NO_PLAN:
        return one.verb == "have" and bool(
            re.match(r"(?:an? )?(?:baby|twins|surgery|operation|wedding)", one.rest)
        )
    to = _GOING_TO.match(one.rest) if one.verb == "go" else None
    if to:
        aim = to["v"].partition(" ")[0].casefold()
        return ahead or aim in verbs.LIFE | _READY | {"be", "become"}
    if re.search(r"\b(?:you|things|stuff|(?:with|for|of) (?:one|it|them))\b", one.rest):
        return False
    return ahead or one.aux != "will"  # a bare "I'll" is the next minute's promise


_GOING_TO: Final = re.compile(r"to (?P<v>[a-z]+.*)")
_AIMING_TO: Final = re.compile(r"(?:to|on) (?P<v>.+)")


def _ing_word(one: Clause) -> str:
    return next(
        (word.casefold() for word in one.text.split() if verbs.doing_of(word.casefold()) == one.verb),
        one.verb,
    )


_NO_PLAN: Final = (verbs.TALK - {"hope", "expect"}) | word_set(
    "try struggle figure use deal handle prepare get look be include offer debug wait earn enjoy have"
)
_READY: Final = word_set(
    "train save learn expect retrain apply adopt emigrate marry retire build write renovate move open"
    " launch study"
)
_NEED: Final = re.compile(r"to (?P<v>(?:eat|take|sleep|wear|avoid|have|use|sit|drink|inject|be in bed)\b.+)")


def needs(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read a need that the body has, or an aim: "I need to eat by six", "I want to go out on my own"."""
    if one.verb in ("need", "have"):
        found = _NEED.match(one.rest)
        value = core(found["v"]) if found else ""
        if value and not one.no:
            yield (
                f"need{'-again' if AGAIN.search(one.rest) else ''}",
                Found("habit", value, own=f"needs to {value}"),
            )
    elif one.verb == "want" and (found := re.match(r"to (?P<v>.+)", one.rest)):
        value = core(found["v"], 12)
        if (
            value
            and not one.no
            and len(value.split()) > 1
            and not value.startswith(("make sure", "be sure", "make "))
        ):
            yield "want-to", Found("plans", value, own=value)
