"""States with an English verb of their own: where one lives, works, what one has, speaks, likes, believes."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english_clauses import Clause
from episodic_agent.core.facts.english_values import core, holds_now, tense, things_of
from episodic_agent.core.facts.grammar import Found, bare, head, place, singular
from episodic_agent.core.facts.words import doings, people, things, verbs


def lives(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read a home: "live on Senja with my husband", "moved up to Dundee from Lagos"."""
    if one.verb in ("move", "relocate", "emigrate", "immigrate"):
        to = re.search(r"(?:^|\s)(?:to|into|in with [\w ]+ in) (?P<v>.+)", one.rest)
        back = re.search(r"\bfrom (?P<v>[A-ZÀ-Þ].+)", one.rest)
        if to and not one.no and (value := place(to["v"])):
            yield "moved-to", Found("lives_in", value)
        if back and (value := place(back["v"])) and not re.search(rf"\bto {re.escape(value)}", one.rest):
            yield "moved-from", Found("from", value)
        return
    where = re.match(
        r"(?:(?:alone|here|down|up|over|out|together|just|mostly|now|with [\w' ]+?) )*(?:in|on|at|near"
        r"|outside|by|just outside) (?P<v>.+)",
        one.rest,
    )
    value = place(where["v"]) if where else ""
    beside = re.search(
        r"\b(?:with|and) (?:my |our |the )?(?P<v>(?:an?|two|three|four|five|six|seven|eight|nine|ten|\w+teen"
        r"|\d+) (?:\w+ )?(?P<kind>\w+))$",
        core(one.rest, 14),
    )
    if beside and singular(beside["kind"]) in people.PETS and not one.no and holds_now(one):
        yield "live-beside", Found("has_pet", bare(beside["v"]))
    if value:
        yield f"live-{tense(one)}", Found("lives_in", value, not one.no and holds_now(one))
    elif re.match(
        r"(?:with|alone|by myself|on my own|above|next|opposite|in an?|on an?|off)\b", one.rest
    ) and (said := core(one.rest)):
        yield (
            f"live-how-{tense(one)}",
            Found(
                "habit" if not one.no else "lives_in",
                f"live {said}" if not one.no else said,
                not one.no,
                own=f"live {said}",
            ),
        )


_ORG: Final = re.compile(
    r"(?:^|\s)(?:at|for|with(?= [A-Z]| an? )|in(?= an? )) (?P<v>(?:(?:the|an?"
    r"|my) )?[\w'’&.-]+(?: [\w'’&.-]+)*)$"
)
_SHIFTS: Final = re.compile(
    r"(?P<v>nights|days|shifts|weekends|evenings|(?:late|early|night|day|split) shifts|from home"
    r"|part[- ]?time|full[- ]?time|remotely|freelance|\w+ days a week|four tens|in shifts)\b",
    re.I,
)


def works(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read work: as what, for whom, when."""
    said = core(re.split(r"\s(?:since|for (?:\w+ )?(?:years|ages|months))\b", one.rest, maxsplit=1)[0])
    if not said or re.match(r"(?:on|out|through|hard|towards?|fine|well|like|around)\b", said):
        return
    holds = not one.no and holds_now(one)
    as_what = re.search(r"(?:^|\s)as (?P<v>(?:(?:an?|the) )?[^,]+)$", said)
    if as_what:
        value = bare(re.split(r"\s(?:at|for|in|on|with)\s", as_what["v"], maxsplit=1)[0])
        if value:
            yield f"work-as-{tense(one)}", Found("job", value, holds)
    shifts = _SHIFTS.match(said)
    if shifts and one.form == "base":
        yield "work-when", Found("habit", f"work {shifts['v']}", not one.no, own=f"work {shifts['v']}")
    at = _ORG.search(re.split(r"\sas\s", said, maxsplit=1)[0])
    value = re.split(r"\s(?:in|on|near|as)\s", at["v"], maxsplit=1)[0] if at else ""
    if value and not re.match(
        r"(?:this|that|the (?:moment|weekend|morning|evening)|it|my|them|him|her|people|kids|home|team)\b",
        value,
    ):
        yield f"work-at-{tense(one)}", Found("employer", bare(value), holds)


_CALLED: Final = re.compile(
    r"\b(?:called|named|whose name is|name is) (?P<v>[A-ZÀ-Þ][\w'’-]+(?: and [A-ZÀ-Þ][\w'’-]+)?)"
)
_CALLED_LOW: Final = re.compile(r"\b(?:called|named) (?P<v>(?!the\b|a\b|after\b|for\b)[a-z]{3,})\b")
_HANGS_ON: Final = re.compile(
    r"\s(?:called|named|who|which|that|with|about|since|from|in|at|by|out|for|on|behind|near|coming|whose)\s"
)
_HOME: Final = re.compile(
    r"(?:an? |my own |our own |the )(?:[\w-]+ ){0,2}?"
    r"(?:place|flat|house|apartment|room|studio|cottage|farm|home) (?:in|near|outside) (?P<v>[A-ZÀ-Þ].+)"
)
_AILMENT: Final = re.compile(
    r"\b(?:allerg|syndrome|disease|disorder|phobia|intoleran|tinnitus|pressure|condition|deficien|migraine"
    r"|diabetes|cancer|transplant|pacemaker|arthritis)\w*",
    re.I,
)
_DEGREE: Final = re.compile(
    r"(?:an? )?(?:degree|phd|master'?s|diploma|licen[cs]e|certificate|black belt|doctorate)\b", re.I
)
_WEAKNESS: Final = re.compile(
    r"(?:an? )?(?:(?P<soft>soft spot|weakness|thing|passion)\b|sweet tooth|bad (?:back|knee|hip|memory"
    r"|temper)"
    r"|dodgy \w+|fear|horror|stammer|stutter|tattoo)(?: for (?P<v>.+))?",
    re.I,
)


def has_something(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "I have": animals, kin, conditions, belongings by the head of the phrase."""
    no = one.no or bool(re.match(r"no |not? longer ", one.rest)) or "never" in one.adverbs
    said = re.sub(r"^(?:no|any|no longer) ", "", one.rest)
    called = _CALLED.search(said) or (_CALLED_LOW.search(said) if one.rest.islower() else None)
    what = core(_HANGS_ON.split(f"{said} ", maxsplit=1)[0])
    if called and what in ("one", "two") and not no:
        yield "have-called", Found("has_pet", called["v"])
    home = _HOME.match(said)
    if home and not no and (where := place(home["v"])):
        yield "have-home", Found("lives_in", where)
    elif one.verb == "own" and what and not re.match(r"(?:it|that|this|the)\b", what):
        yield "own-thing", Found("owns", bare(what), not no)
    elif what and holds_now(one) and "in mind" not in said:
        yield from _has(said, what, called["v"] if called else "", no)


def _has(said: str, what: str, called: str, no: bool) -> Iterator[tuple[str, Found]]:
    kind = singular(head(what))
    held = re.sub(r"\b(?:kids|kid)$", "children", bare(what))
    if kind in people.PETS:
        yield "have-pet", Found("has_pet", f"{kind} {called}" if called else held, not no)
    elif kind in people.KIN | doings.KIN_PLUS:
        if called or no or re.match(r"(?:an?|one|two|three|four|five|six|seven|\d+|no)\b", said):
            yield "have-kin", Found("relationship", f"{held} {called}".strip(), not no)
    elif {kind, head(what)} & things.HEALTH or _AILMENT.search(held):
        yield "have-health", Found("health", held, not no)
    elif kind in things.BELONGINGS and not re.match(r"(?:the|this|that|your|his|her)\b", what):
        yield "have-thing", Found("owns", held, not no)
    elif _DEGREE.match(what):
        yield "have-degree", Found("studies", core(said), not no)
    elif weak := _WEAKNESS.match(said):
        has = f"has {core(said)}"
        soft = weak["soft"] and weak["v"]
        yield (
            "have-trait",
            Found("likes", core(weak["v"]), not no) if soft else Found("habit", has, not no, own=has),
        )


def speaks(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read languages, named wherever the clause and its list go."""
    said = re.split(r"[.;!?]", f"{one.rest}{one.more}", maxsplit=1)[0]
    for found in re.finditer(
        r"\b(?:[A-Z][a-z]+ (?=[A-Z][a-z]*(?:ole|ese|sian|ian|ish|ic)\b))*[A-Z][a-z]{2,}\b", said
    ):
        last = found.group().split()[-1].casefold()
        if last in people.PEOPLES | doings.TONGUES:
            yield "speaks", Found("speaks", found.group(), not one.no)


def studies(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read what is studied or learnt."""
    if (one.verb == "learn" and one.form == "done") or re.match(r"(?:a lot|about|so much|that)\b", one.rest):
        return
    value = core(re.sub(r"^(?:for|towards?|to be)\s+", "", one.rest))
    if value and not re.match(r"(?:and|in|at|the|hard|all|with|my|tonight|now|how|from|more)\b", value):
        yield f"study-{tense(one)}", Found("studies", value, not one.no and holds_now(one))


_KNOWN_THE: Final = (
    r"the (?:sea|ocean|mountains|outdoors|cold|heat|rain|dark|theatre|opera|cinema|beach|forest|woods"
    r"|countryside|city|winter|summer|snow|sun"
    r"|internet|gym|peace|quiet|smell of|sound of|taste of|feel of|idea of"
    r"|colou?r (?:red|blue|green|yellow|pink|purple|black|white|orange))\b"
)


def tastes(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read what is liked, disliked or preferred; doings count, moments do not."""
    verb, no = one.verb, one.no or "never" in one.adverbs
    if (
        one.form == "ing"
        or one.aux in ("will", "did", "was", "used")
        or (one.form == "past" and not one.adverbs & {"always", "never"})
    ):
        return
    if re.match(
        r"(?:it|that|this|how|when|the way|you|your|him|her|them|these|those|what|to hear|to know"
        r"|to see|the idea|the sound|if|my|our)\b",
        one.rest,
        re.I,
    ):
        return
    good = verb in verbs.TASTE or verb == "prefer"
    slot = "prefers" if verb == "prefer" else "likes" if good is not no else "dislikes"
    frame = f"taste-{'prefer' if verb == 'prefer' else 'like' if good else 'hate'}{'-not' if no else ''}"
    if slot == "prefers":
        value = core(re.split(r"\s(?:to|over|rather than|instead of)\s", one.rest, maxsplit=1)[0])
        if value and not re.match(
            r"the (?:first|second|third|last|other|\w+ (?:one|option|version))\b", value
        ):
            yield frame, Found(slot, value, not no)
        return
    said = re.sub(r"^to (?=\w)", "", one.rest)
    if re.match(r"the (?![A-Z])", said) and not re.match(_KNOWN_THE, said, re.I):
        return
    said = re.split(
        r"\s(?:except|apart from|other than|more than|so much|a lot|very much|much)\b", said, maxsplit=1
    )[0]
    doing = re.match(r"\w+ing\b", said) or said != one.rest
    for value in [core(said)] if doing else things_of(said, one.more):
        passing = head(value) in things.SHORT_LIVED or singular(head(value)) in things.SHORT_LIVED
        if value and len(value.split()) <= 8 and not passing:
            yield frame, Found(slot, value)


def believes(one: Clause) -> Iterator[tuple[str, Found]]:
    """Read "I believe in", "I don't trust", "I vote"."""
    if one.verb == "believe" and not one.rest.startswith("in "):
        return
    if (
        one.verb == "reckon"
        or re.search(r"\byour?\b", one.rest)
        or (one.verb == "trust" and re.match(r"(?:you|me|him|her|it|that|them)\b", one.rest))
    ):
        return
    value = core(one.rest.removeprefix("in "))
    if value:
        denied = one.no and one.verb == "trust"  # not to trust is a belief too
        yield (
            f"believe-{one.verb}",
            Found(
                "belief",
                f"does not trust {value}" if denied else value,
                denied or not one.no,
                own=f"{'does not ' if one.no else ''}{one.verb} {value}",
            ),
        )
