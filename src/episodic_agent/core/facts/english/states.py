"""States with an English verb of their own: where one lives, works, what one has, speaks, likes, believes."""

import re
from collections.abc import Iterator
from typing import Final

from episodic_agent.core.facts.english.clauses import EnglishClause
from episodic_agent.core.facts.english.values import core, holds_now, tense, things_of
from episodic_agent.core.facts.grammar import SlotMatch, bare, head, place, singular
from episodic_agent.core.facts.words import doings, people, things, verbs


def lives(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read a home: "live on Senja with my husband", "moved up to Dundee from Lagos"."""
    if clause.verb in ("move", "relocate", "emigrate", "immigrate"):
        to = re.search(r"(?:^|\s)(?:to|into|in with [\w ]+ in) (?P<v>.+)", clause.rest)
        back = re.search(r"\bfrom (?P<v>[A-ZÀ-Þ].+)", clause.rest)
        if to and not clause.no and (value := place(to["v"])):
            yield "moved-to", SlotMatch("lives_in", value)
        if back and (value := place(back["v"])) and not re.search(rf"\bto {re.escape(value)}", clause.rest):
            yield "moved-from", SlotMatch("from", value)
        return
    where = re.match(
        r"(?:(?:alone|here|down|up|over|out|together|just|mostly|now|with [\w' ]+?) )*(?:in|on|at|near"
        r"|outside|by|just outside) (?P<v>.+)",
        clause.rest,
    )
    value = place(where["v"]) if where else ""
    beside = re.search(
        r"\b(?:with|and) (?:my |our |the )?(?P<v>(?:an?|two|three|four|five|six|seven|eight|nine|ten|\w+teen"
        r"|\d+) (?:\w+ )?(?P<kind>\w+))$",
        core(clause.rest, 14),
    )
    if beside and singular(beside["kind"]) in people.PETS and not clause.no and holds_now(clause):
        yield "live-beside", SlotMatch("has_pet", bare(beside["v"]))
    if value:
        yield f"live-{tense(clause)}", SlotMatch("lives_in", value, not clause.no and holds_now(clause))
    elif re.match(
        r"(?:with|alone|by myself|on my own|above|next|opposite|in an?|on an?|off)\b", clause.rest
    ) and (text := core(clause.rest)):
        yield (
            f"live-how-{tense(clause)}",
            SlotMatch(
                "habit" if not clause.no else "lives_in",
                f"live {text}" if not clause.no else text,
                not clause.no,
                own=f"live {text}",
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


def works(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read work: as what, for whom, when."""
    text = core(re.split(r"\s(?:since|for (?:\w+ )?(?:years|ages|months))\b", clause.rest, maxsplit=1)[0])
    if not text or re.match(r"(?:on|out|through|hard|towards?|fine|well|like|around)\b", text):
        return
    holds = not clause.no and holds_now(clause)
    as_what = re.search(r"(?:^|\s)as (?P<v>(?:(?:an?|the) )?[^,]+)$", text)
    if as_what:
        value = bare(re.split(r"\s(?:at|for|in|on|with)\s", as_what["v"], maxsplit=1)[0])
        if value:
            yield f"work-as-{tense(clause)}", SlotMatch("job", value, holds)
    shifts = _SHIFTS.match(text)
    if shifts and clause.form == "base":
        yield "work-when", SlotMatch("habit", f"work {shifts['v']}", not clause.no, own=f"work {shifts['v']}")
    at = _ORG.search(re.split(r"\sas\s", text, maxsplit=1)[0])
    value = re.split(r"\s(?:in|on|near|as)\s", at["v"], maxsplit=1)[0] if at else ""
    if value and not re.match(
        r"(?:this|that|the (?:moment|weekend|morning|evening)|it|my|them|him|her|people|kids|home|team)\b",
        value,
    ):
        yield f"work-at-{tense(clause)}", SlotMatch("employer", bare(value), holds)


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


def has_something(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "I have": animals, kin, conditions, belongings by the head of the phrase."""
    no = clause.no or bool(re.match(r"no |not? longer ", clause.rest)) or "never" in clause.adverbs
    text = re.sub(r"^(?:no|any|no longer) ", "", clause.rest)
    called = _CALLED.search(text) or (_CALLED_LOW.search(text) if clause.rest.islower() else None)
    what = core(_HANGS_ON.split(f"{text} ", maxsplit=1)[0])
    if called and what in ("one", "two") and not no:
        yield "have-called", SlotMatch("has_pet", called["v"])
    home = _HOME.match(text)
    if home and not no and (where := place(home["v"])):
        yield "have-home", SlotMatch("lives_in", where)
    elif clause.verb == "own" and what and not re.match(r"(?:it|that|this|the)\b", what):
        yield "own-thing", SlotMatch("owns", bare(what), not no)
    elif what and holds_now(clause) and "in mind" not in text:
        yield from _has(text, what, called["v"] if called else "", no)


def _has(text: str, what: str, called: str, no: bool) -> Iterator[tuple[str, SlotMatch]]:
    kind = singular(head(what))
    held = re.sub(r"\b(?:kids|kid)$", "children", bare(what))
    if kind in people.PETS:
        yield "have-pet", SlotMatch("has_pet", f"{kind} {called}" if called else held, not no)
    elif kind in people.KIN | doings.KIN_PLUS:
        if called or no or re.match(r"(?:an?|one|two|three|four|five|six|seven|\d+|no)\b", text):
            yield "have-kin", SlotMatch("relationship", f"{held} {called}".strip(), not no)
    elif {kind, head(what)} & things.HEALTH or _AILMENT.search(held):
        yield "have-health", SlotMatch("health", held, not no)
    elif kind in things.BELONGINGS and not re.match(r"(?:the|this|that|your|his|her)\b", what):
        yield "have-thing", SlotMatch("owns", held, not no)
    elif _DEGREE.match(what):
        yield "have-degree", SlotMatch("studies", core(text), not no)
    elif weak := _WEAKNESS.match(text):
        has = f"has {core(text)}"
        soft = weak["soft"] and weak["v"]
        yield (
            "have-trait",
            SlotMatch("likes", core(weak["v"]), not no) if soft else SlotMatch("habit", has, not no, own=has),
        )


def speaks(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read languages, named wherever the clause and its list go."""
    statement = re.split(r"[.;!?]", f"{clause.rest}{clause.more}", maxsplit=1)[0]
    for match in re.finditer(
        r"\b(?:[A-Z][a-z]+ (?=[A-Z][a-z]*(?:ole|ese|sian|ian|ish|ic)\b))*[A-Z][a-z]{2,}\b", statement
    ):
        last = match.group().split()[-1].casefold()
        if last in people.PEOPLES | doings.TONGUES:
            yield "speaks", SlotMatch("speaks", match.group(), not clause.no)


def studies(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read what is studied or learnt."""
    if (clause.verb == "learn" and clause.form == "done") or re.match(
        r"(?:a lot|about|so much|that)\b", clause.rest
    ):
        return
    value = core(re.sub(r"^(?:for|towards?|to be)\s+", "", clause.rest))
    if value and not re.match(r"(?:and|in|at|the|hard|all|with|my|tonight|now|how|from|more)\b", value):
        yield f"study-{tense(clause)}", SlotMatch("studies", value, not clause.no and holds_now(clause))


_KNOWN_THE: Final = (
    r"the (?:sea|ocean|mountains|outdoors|cold|heat|rain|dark|theatre|opera|cinema|beach|forest|woods"
    r"|countryside|city|winter|summer|snow|sun"
    r"|internet|gym|peace|quiet|smell of|sound of|taste of|feel of|idea of"
    r"|colou?r (?:red|blue|green|yellow|pink|purple|black|white|orange))\b"
)


def tastes(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read what is liked, disliked or preferred; doings count, moments do not."""
    verb, no = clause.verb, clause.no or "never" in clause.adverbs
    if (
        clause.form == "ing"
        or clause.aux in ("will", "did", "was", "used")
        or (clause.form == "past" and not clause.adverbs & {"always", "never"})
    ):
        return
    if re.match(
        r"(?:it|that|this|how|when|the way|you|your|him|her|them|these|those|what|to hear|to know"
        r"|to see|the idea|the sound|if|my|our)\b",
        clause.rest,
        re.I,
    ):
        return
    good = verb in verbs.TASTE or verb == "prefer"
    slot = "prefers" if verb == "prefer" else "likes" if good is not no else "dislikes"
    frame = f"taste-{'prefer' if verb == 'prefer' else 'like' if good else 'hate'}{'-not' if no else ''}"
    if slot == "prefers":
        value = core(re.split(r"\s(?:to|over|rather than|instead of)\s", clause.rest, maxsplit=1)[0])
        if value and not re.match(
            r"the (?:first|second|third|last|other|\w+ (?:one|option|version))\b", value
        ):
            yield frame, SlotMatch(slot, value, not no)
        return
    text = re.sub(r"^to (?=\w)", "", clause.rest)
    if re.match(r"the (?![A-Z])", text) and not re.match(_KNOWN_THE, text, re.I):
        return
    text = re.split(
        r"\s(?:except|apart from|other than|more than|so much|a lot|very much|much)\b", text, maxsplit=1
    )[0]
    doing = re.match(r"\w+ing\b", text) or text != clause.rest
    for value in [core(text)] if doing else things_of(text, clause.more):
        passing = head(value) in things.SHORT_LIVED or singular(head(value)) in things.SHORT_LIVED
        if value and len(value.split()) <= 8 and not passing:
            yield frame, SlotMatch(slot, value)


def believes(clause: EnglishClause) -> Iterator[tuple[str, SlotMatch]]:
    """Read "I believe in", "I don't trust", "I vote"."""
    if clause.verb == "believe" and not clause.rest.startswith("in "):
        return
    if (
        clause.verb == "reckon"
        or re.search(r"\byour?\b", clause.rest)
        or (clause.verb == "trust" and re.match(r"(?:you|me|him|her|it|that|them)\b", clause.rest))
    ):
        return
    value = core(clause.rest.removeprefix("in "))
    if value:
        denied = clause.no and clause.verb == "trust"  # not to trust is a belief too
        yield (
            f"believe-{clause.verb}",
            SlotMatch(
                "belief",
                f"does not trust {value}" if denied else value,
                denied or not clause.no,
                own=f"{'does not ' if clause.no else ''}{clause.verb} {value}",
            ),
        )
