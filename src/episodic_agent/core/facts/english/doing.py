"""What an English speaker does again and again, can do, did, and will do."""

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from episodic_agent.core.facts.english.clauses import EnglishClause
from episodic_agent.core.facts.english.values import (
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
from episodic_agent.core.facts.grammar import SlotMatch
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import doings, verbs
from episodic_agent.core.language.mentions.lists import word_set

# Of the moment, or another's: "get the appeal", "keep wanting", "cut my hair".
_IDLE: Final = re.compile(
    r"get the (?!bus|train|tram|tube|metro|ferry)|keep \w+ing\b"
    r"|(?:cut|put|set|let|hit|shut|hurt) |do (?:as|i|indeed|too|that|so)\b",
    re.I,
)


def routines(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read the present: what is done again and again, or not at all."""
    text = core(clause.rest) if clause.rest else ""
    idle = _IDLE.match(f"{clause.verb} {clause.rest}")
    alone = clause.verb == "grow" and re.match(r"(?:from|at|as|together|up)\b", clause.rest)
    offered = clause.verb == "volunteer" and clause.rest.startswith("to ")
    if clause.verb in ("up", "down", "out", "off"):  # "Ana swam, I only up to the knees"
        return
    if (
        TODAY.search(clause.rest)
        or clause.verb == "split"
        or alone
        or offered
        or (idle and not AGAIN.search(clause.rest))
    ):
        return
    if not text and (clause.rest or clause.verb not in verbs.PRACTISED):
        return
    living = re.match(r"(?P<v>.+) for a living", clause.rest)
    if living and not clause.no:
        yield "for-a-living", SlotMatch("job", f"{clause.verb} {core(living['v'])}")
        return
    ails = re.match(
        rf"(?:(?:\w+ )?{doings.AILS}|(?:[\w.]+ ?(?:mg|mcg|micrograms) of )?{doings.MEDICINES})\b", text, re.I
    )
    ailing = ails is not None and doings.is_medicine(ails.group())
    if ails and ailing and clause.verb in ("get", "take", "suffer", "use", "inject"):
        yield f"body-{clause.verb}", SlotMatch("health", ails.group(), not clause.no)
        return
    marks = "again" if clause.adverbs & OFTEN or AGAIN.search(f"{clause.lead} {clause.rest}") else "bare"
    kind = "practised" if clause.verb in verbs.PRACTISED else "done" if clause.verb in verbs.DONE else "other"
    if clause.verb in verbs.STEADY and not verbs.doing_of(clause.rest.split(" ", 1)[0].casefold()):
        kind = "steady"
    if kind == "other" and marks == "bare" and not clause.no:
        return
    ended = (
        bool(re.search(r"\b(?:any ?more|no longer|these days|now)\b", clause.rest))
        or "no longer" in clause.adverbs
    )
    no = clause.no
    if no and clause.verb in ("eat", "drink") and text and not ended:
        for value in things_of(text, clause.more):
            yield "habit-no-food", SlotMatch("diet", f"no {value}")
        return
    lead = "never " if "never" in clause.adverbs else ""
    words = [clause.verb] if clause.verb not in ("do",) or not no else []
    value = f"{lead}{' '.join([*words, text])}".strip()
    yield (
        f"habit-{'not' if no else marks}-{kind}",
        SlotMatch("habit", value, not no, own=f"{'does not ' if no else ''}{value}"),
    )


_CAN_NOT_BEAR: Final = word_set("stand abide bear stomach take handle tolerate face")
_CAN_IDLE: Final = word_set(
    "see find believe get wait tell remember say make come go help prove send think imagine enjoy"
    " keep check use"
)


def abilities(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "I can", "I can't": a skill, an ailment, a distaste."""
    text = core(clause.rest)
    if re.match(r"another\b|any more\b|more\b", clause.rest) or (clause.rest and not text):
        return
    if re.search(r"\byou\b", clause.rest):  # an offer
        return
    if clause.no and (pairs := list(_can_not(clause, text))):
        yield from pairs
        return
    idle = clause.verb in _CAN_IDLE or (
        not clause.no and (clause.join == "so" or clause.verb in verbs.GENERIC_VERBS)
    )
    if not idle and clause.verb not in _CAN_NOT_BEAR:
        can = f"{clause.verb} {text}".strip()
        own = f"can {'not ' if clause.no else ''}{can}"
        yield (
            f"can-{'not' if clause.no else 'do'}",
            SlotMatch("habit", can if clause.no else own, not clause.no, own=own),
        )


def _can_not(clause: EnglishClause, text: str) -> Iterator[tuple[str, SlotMatch]]:
    if clause.verb in _CAN_NOT_BEAR:
        values = [value for value in things_of(clause.rest, clause.more) if not POINTS.match(value)]
        yield from (("can-not-stand", SlotMatch("dislikes", value)) for value in values)
    elif clause.verb == "get" and clause.rest.startswith("enough of "):
        yield "can-not-get-enough", SlotMatch("likes", thing(clause.rest.removeprefix("enough of ")))
    elif clause.verb == "do" and text:
        yield "can-not-do", SlotMatch("dislikes", text)
    elif clause.verb in ("eat", "have", "digest"):
        yield from (
            ("can-not-eat", SlotMatch("diet", f"no {food}")) for food in things_of(clause.rest, clause.more)
        )


_LONG: Final = re.compile(
    r"\b(?:years?|months|summers?|winters?|childhood|decades?|seasons?|life|semesters?|youth|teens"
    r"|gap year)\b",
    re.I,
)


def past(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read what was done, once or for years; what is over; what was given up."""
    if "never" in clause.adverbs or (clause.aux in ("did", "have", "had") and clause.no):
        value = core(clause.rest) if clause.adverbs & {"never", "ever"} else ""
        if clause.verb == "learn" and value.startswith("to "):
            yield "done-never-learnt", SlotMatch("habit", value[3:], False, own=f"never learnt {value}")
            return
        if value and not re.match(r"(?:in|since|for|back|yet|any|anything|had the)\b", value):
            did = f"{_past_word(clause)} {value}"
            yield "done-never", SlotMatch("did", did, False, own=f"never {did}")
        return
    for reader in (_given_up, _parted, _idle, _begun, _got):
        pairs = reader(clause)
        if pairs is not None:
            yield from pairs
            return
    value = core(clause.rest, 16)
    if value and not POINTS.match(clause.rest):
        dated = LASTS.search(f"{clause.lead} {clause.rest}")
        kind = "life" if clause.verb in verbs.LIFE else "dated" if dated else "other"
        yield f"did-{kind}", SlotMatch("did", f"{_past_word(clause)} {value}")


Read: TypeAlias = list[tuple[str, SlotMatch]] | None  # None: it is no such clause


def _given_up(clause: EnglishClause) -> Read:
    """Read "gave up the sugar", "quit Fernwood"."""
    verb, rest = clause.verb, clause.rest
    up = (verb == "give" and rest.startswith("up ")) or (verb == "cut" and rest.startswith("out "))
    if verb not in ("quit", "stop") and not up:
        return None
    if re.match(r"up on\b|at\b|by\b|trying\b|(?:the|this|that)\b(?! job)", rest):
        return []
    statement = re.split(r"\s(?:on|at|in|since|when|for) (?=[A-Z\d]|the\b|my\b)", rest, maxsplit=1)[0]
    value = core(re.sub(r"^(?:(?:up|out|on|my job (?:at|as)(?: an?)?) )?(?:the |my )?", "", statement))
    if not value:
        return []
    if verb == "quit" and value[:1].isupper():
        return [("quit-firm", SlotMatch("employer", value, False))]
    return [("given-up", SlotMatch("habit", value, False, own=value))]


def _parted(clause: EnglishClause) -> Read:
    """Read "sold the Micra", "left Halden"."""
    if clause.verb == "leave" and clause.rest[:1].isupper() and (value := thing(clause.rest)):
        return [("left-firm", SlotMatch("employer", value, False))]
    lead = r"(?:rid of |away )?" if clause.verb in verbs.PARTING else r"(?:rid of|away|in) "
    gone = re.match(rf"{lead}(?P<v>(?:the|my|our) .+)", clause.rest)
    if clause.verb in verbs.PARTING | {"get", "give", "trade"} and gone and (value := thing(gone["v"])):
        return [("parted", SlotMatch("owns", value, False))]
    return None


def _idle(clause: EnglishClause) -> Read:
    """Leave out what was said, what was done at a desk, and what only passed."""
    verb, rest = clause.verb, clause.rest
    idle = (
        not rest
        or (verb == "have" and rest.startswith("to "))
        or (verb == "work" and rest.startswith("on "))
        or verb in verbs.TALK | {"say", "tell"}
        or (verb in ("leave", "quit") and re.match(r"(?:in|on|at|early|for|it|him|her)\b", rest))
        or (verb == "leave" and verbs.doing_of(rest.partition(" ")[0]))
        or (verb == "spend" and not _LONG.search(rest))
        or (verb in verbs.OFFICE and not LASTS.search(f"{clause.lead} {rest}"))
    )
    return [] if idle else None


def _begun(clause: EnglishClause) -> Read:
    """Read "started at Brightwater Labs as an engineer", "signed up for a course"."""
    if clause.verb == "sign" and clause.rest.startswith(("up ", "on ")):
        value = core(re.sub(r"^(?:up|on) (?:for|to|at) (?:the |an? )?", "", clause.rest), 14)
        return [("signed-up", SlotMatch("plans", value))]
    at = re.match(r"(?:work|working|a new job|a job)?\s?(?:at|with|for) (?P<v>[A-Z].+)", clause.rest)
    if clause.verb not in ("start", "join") or not at:
        return None
    firm = re.split(r"\s(?:as|on|in|this|last|next|yesterday)\s", f"{at['v']} ", maxsplit=1)[0].strip()
    role = re.search(r"\bas (?:an? |the )?(?P<v>.+)$", core(clause.rest))
    work = [("started-as", SlotMatch("job", role["v"]))] if role and work_of(role["v"]) else []
    return [("started-at", SlotMatch("employer", firm)), *work]


_NEW_STATE: Final = re.compile(
    r"(?:married|engaged|divorced|promoted|fired|laid off|sober|diagnosed|hired|elected|ordained|baptised)\b",
    re.I,
)


def _got(clause: EnglishClause) -> Read:
    """Read "turned 71", "have inherited her hives"."""
    age = re.match(r"(\d{1,2})\b(?!:|th|st)", clause.rest)
    if clause.verb == "turn" and age:
        return [("turned", SlotMatch("age", age.group(1)))]
    if clause.verb == "get" and _NEW_STATE.match(clause.rest):
        return [("got-state", SlotMatch("did", f"got {core(clause.rest)}"))]
    if (
        clause.verb in ("inherit", "adopt", "buy", "get")
        and clause.aux == "have"
        and (value := thing(clause.rest))
    ):
        return [(f"got-{clause.verb}", SlotMatch("owns", value))]
    return None


def _past_word(clause: EnglishClause) -> str:
    return next(
        (
            word
            for word in clause.text.split()
            if verbs.past_of(word.casefold()) == clause.verb
            or verbs.participle_of(word.casefold()) == clause.verb
        ),
        clause.verb,
    )


def plans(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read what lies ahead, and what is being prepared."""
    if not _is_planned(clause):
        return
    rest, verb = clause.rest, clause.verb
    if to := _GOING_TO.match(rest) if verb == "go" else None:
        statement, frame = to["v"], "plan-going-to"
    elif to := _AIMING_TO.match(rest) if verb in ("plan", "hope", "aim") else None:
        statement, frame = to["v"], "plan-planning"
    elif clause.form == "ing":
        statement, frame = f"{_ing_word(clause)} {rest}", f"plan-{'ready' if verb in _READY else 'ing'}"
    else:
        statement, frame = f"{verb} {rest}", f"plan-{clause.aux or clause.form}"
    value = core(statement, 14)
    if len(value.split()) > 1 or value in ("retire", "graduate"):
        yield frame, SlotMatch("plans", value, not clause.no, own=value)


def _is_planned(clause: EnglishClause) -> bool:
    """Tell whether more is said than what comes next: a time that lies ahead, or what changes a life."""
    ahead = bool(AHEAD.search(f"{clause.lead} {clause.rest}"))
    if (
        clause.form == "ing"
        and clause.verb == "do"
        and not re.match(r"(?:an?|my|the|another|our) ", clause.rest)
    ):
        return False
    if clause.form == "ing" and clause.verb in _NO_PLAN:
        return clause.verb == "have" and bool(
            re.match(r"(?:an? )?(?:baby|twins|surgery|operation|wedding)", clause.rest)
        )
    to = _GOING_TO.match(clause.rest) if clause.verb == "go" else None
    if to:
        aim = to["v"].partition(" ")[0].casefold()
        return ahead or aim in verbs.LIFE | _READY | {"be", "become"}
    if re.search(r"\b(?:you|things|stuff|(?:with|for|of) (?:one|it|them))\b", clause.rest):
        return False
    return ahead or clause.aux != "will"  # a bare "I'll" is the next minute's promise


_GOING_TO: Final = re.compile(r"to (?P<v>[a-z]+.*)")
_AIMING_TO: Final = re.compile(r"(?:to|on) (?P<v>.+)")


def _ing_word(clause: EnglishClause) -> str:
    return next(
        (word.casefold() for word in clause.text.split() if verbs.doing_of(word.casefold()) == clause.verb),
        clause.verb,
    )


_NO_PLAN: Final = (verbs.TALK - {"hope", "expect"}) | word_set(
    "try struggle figure use deal handle prepare get look be include offer debug wait earn enjoy have"
)
_READY: Final = word_set(
    "train save learn expect retrain apply adopt emigrate marry retire build write renovate move open"
    " launch study"
)
_NEED: Final = re.compile(r"to (?P<v>(?:eat|take|sleep|wear|avoid|have|use|sit|drink|inject|be in bed)\b.+)")


def needs(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read a need that the body has, or an aim: "I need to eat by six", "I want to go out on my own"."""
    if clause.verb in ("need", "have"):
        match = _NEED.match(clause.rest)
        value = core(match["v"]) if match else ""
        if value and not clause.no:
            yield (
                f"need{'-again' if AGAIN.search(clause.rest) else ''}",
                SlotMatch("habit", value, own=f"needs to {value}"),
            )
    elif clause.verb == "want" and (match := re.match(r"to (?P<v>.+)", clause.rest)):
        value = core(match["v"], 12)
        if (
            value
            and not clause.no
            and len(value.split()) > 1
            and not value.startswith(("make sure", "be sure", "make "))
        ):
            yield "want-to", SlotMatch("plans", value, own=value)
