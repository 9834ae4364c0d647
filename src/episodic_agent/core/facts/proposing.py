"""From sentences to proposals: every fact a grammar can read, each with what speaks for it and against it.

Nothing here decides. A proposal names its signs, and `judging` weighs them.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from episodic_agent.core.facts.attribution import Sentence
from episodic_agent.core.facts.english import asks as english_asks
from episodic_agent.core.facts.english import people as english_people
from episodic_agent.core.facts.english.clauses import EnglishClause, chunks, parsed, plain
from episodic_agent.core.facts.english.mine import my_something
from episodic_agent.core.facts.english.says import says
from episodic_agent.core.facts.english.values import AGAIN, AHEAD, OFTEN, TODAY
from episodic_agent.core.facts.grammar import SlotMatch, bare
from episodic_agent.core.facts.occupations import work_of
from episodic_agent.core.facts.words import verbs
from episodic_agent.core.language.mentions import mentions


@dataclass(frozen=True, slots=True)
class Proposal:
    """One slot a grammar would fill, the frame it was read by, and the signs it is judged by."""

    match: SlotMatch
    frame: str
    part: Sentence
    signs: tuple[str, ...] = ()


def proposals(text: str, parts: Sequence[Sentence], actor: str) -> Iterator[Proposal]:
    """Yield what the sentences of an English message may say of its speaker and of those close to them.

    >>> for one in proposals("Moved to Lyon in May.", [Sentence("Moved to Lyon in May.", 0)], "Tom"):
    ...     print(one.frame, one.match.attribute, one.match.value)
    moved-to lives_in Lyon
    """
    texts = (*_whole_signs(text), *(["message has a task"] if any(part.task for part in parts) else []))
    known = ""  # the only one of the speaker's that was named so far
    for part in parts:
        statement = plain(part.text)
        for frame, match in () if part.unsure else english_asks.asks(part.text):
            yield Proposal(match, frame, part, (*texts, *_ask_signs(frame, match, part)))
        if part.wish:
            continue
        named = [] if part.task else list(english_people.ties(statement))
        for frame, match in named:
            yield Proposal(match, frame, part, (*texts, f"frame {frame}", "a tie"))
        if not part.task and not part.unsure:
            for frame, match, clause in _clauses(statement, known, actor):
                signs = (*texts, *clause_signs(frame, match, clause, statement))
                yield Proposal(match, frame, part, signs)
        names = {found.value.split(maxsplit=1)[-1] for _, found in named if found.attribute != "has_pet"}
        known = names.pop() if len(names) == 1 else "" if names else known


def _clauses(text: str, known: str, actor: str) -> Iterator[tuple[str, SlotMatch, EnglishClause]]:
    intro = bool(_INTRO.match(text)) or _introduces(text)
    for clause in () if _AHEAD.match(text) else parsed(text):
        if (
            clause.verb == "be"
            and clause.aux == "am"
            and clause.rest.split(" and ")[0].strip(" .!") == actor
            and not clause.no
        ):
            yield "am-called", SlotMatch("name", actor), clause
            intro = True
            continue
        intro = intro or (clause.form == "be" and bool(re.match(r"\d\d\b", clause.rest)))
        for frame, match in says(clause):
            yield frame, match, clause
    they = known
    for part, _ in chunks(text):
        for frame, match in my_something(part):
            yield (
                frame,
                match,
                EnglishClause("", "", not match.holds, frozenset(), "be", "my", part, text=part),
            )
        for clause in english_people.of_theirs(part, they):
            they = clause.who
            for frame, match in says(clause):
                if frame.partition("-")[0] in _THEIRS:
                    yield frame, replace(match, subject=clause.who), clause
        if intro:
            yield from _introduced(part)


# What is told of another is what they are and do; what they did today is nobody's fact.
_THEIRS: Final = frozenset(
    ("am", "live", "work", "study", "speaks", "have", "habit", "moved", "turned", "taste", "been")
)
_INTRO: Final = re.compile(
    r"(?:ok |so |hi |hello |hey |quick |some |a bit of |for )*(?:context|background|about me|intro"
    r"|me)\b[^:]{0,30}:|(?:\w+ )?I am \d\d,|\d\d, ",
    re.I,
)


_AHEAD: Final = re.compile(  # not so yet: "From March on I work for Kestrel Maps"
    r"(?:from|as of|starting|beginning) (?:next \w+|(?:january|february|march|april|may|june"
    r"|july|august|september|october|november|december|monday|tomorrow)(?: on(?:wards)?)?),? (?:I|we)\b",
    re.I,
)


def _introduces(text: str) -> bool:
    """Tell whether a sentence is a bare list of what one is: "Retired postman, widower, 79"."""
    if re.match(r"(?:the|this|that|my|our|your|his|her|their)\b", text, re.I):
        return False  # of somebody: "The dentist, Dr Weiss, pulled a tooth"
    parts = [part.strip() for part in text.split(",")]
    return len(parts) > 2 and bool(work_of(parts[0]) or re.fullmatch(r"\d\d", parts[0]))


_YEARS_AT: Final = re.compile(r"\d+ (?:yrs?|years?) (?:at|with) (?P<v>.+)", re.I)


def _introduced(part: str) -> Iterator[tuple[str, SlotMatch, EnglishClause]]:
    """Read the bare parts of an introduction: "36, Gothenburg, product designer at a hearing aid firm"."""
    body = part.rpartition(":")[2].strip(" .!")
    if re.search(r"\b(?:I|we|my|am|is|are|have)\b", body) or not body:
        return
    clause = EnglishClause("", "am", False, frozenset(), "be", "be", body, left_out=True, text=body)
    where = next(iter(mentions(body)), None)
    firm = _YEARS_AT.match(body)
    if firm:
        yield "intro-at", SlotMatch("employer", bare(firm["v"])), clause
    elif where is not None and where.kind == "place" and where.text == body:
        yield "intro-place", SlotMatch("lives_in", body), clause
    elif re.fullmatch(r"\d\d", body):
        yield "intro-age", SlotMatch("age", body), clause
    elif re.fullmatch(r"(?:widow|widower|married|divorced|single|retired|self-employed)", body, re.I):
        yield "intro-status", SlotMatch("status", body), clause
    elif work_of(body) or re.match(
        r"(?:proud |single )?(?:mum|mom|dad|father|mother|parent) of|(?:red|colou?r|type|dyslexic|deaf"
        r"|autistic|vegan|veg)",
        body,
        re.I,
    ):
        for frame, match in says(clause):
            yield f"intro-{frame}", match, clause


# --- signs -----------------------------------------------------------------------------------------------

_PAST_TIME: Final = re.compile(
    r"\b(?:in )?(?:19|20)\d\d\b|['’]\d\ds?\b|\b\d+ years ago\b|\blast (?:year|summer|spring|autumn|winter)\b"
)
_YOUNG: Final = re.compile(
    r"\b(?:when I was|as a (?:kid|child|boy|girl|student|teen\w*)|at (?:school|uni|college)"
    r"|since I was|in my (?:teens|\w+ties))\b",
    re.I,
)
_LASTED: Final = re.compile(
    r"\b(?:for|spent|did) (?:\w+ ){0,2}(?:years|seasons|decades|summers|months)\b|\bsince\b|\byears\b", re.I
)
_CAPS: Final = re.compile(r"\b[A-ZÀ-Þ][\w'’-]+")
_SCREEN: Final = re.compile(
    r"\b(?:scripts?|code|tests?|quer(?:y|ies)|server|api|functions?|errors?|bugs?|database|repo"
    r"|deploy\w*|endpoint|docker|sql|json|csv|dataset"
    r"|module|commits?|draft|thesis|app|page|file|table|port|link|spreadsheet|report|form|button|login"
    r"|session|model|loop|email|slides|homework|essay|chapter)\b",
    re.I,
)
_VAGUE: Final = re.compile(
    r"\b(?:some time|a bit|really|a lot|things?|stuff|so much|too much|everything|sometime|something"
    r"|great|fun|amazing|nice|good time|way)\b",
    re.I,
)
_CHAT: Final = re.compile(r"\b(?:lol|haha\w*|omg|lmao|rofl|wtf|jk)\b|[\U0001F300-\U0001FAFF]|:\)|😂|😭", re.I)
_POINTED: Final = re.compile(r"\b(?:you|your|it|this|that|these|those|them|him|her|his|their)\b", re.I)


def _whole_signs(text: str) -> tuple[str, ...]:
    signs = []
    if "?" in text:
        signs.append("message asks")
    if _CHAT.search(text):
        signs.append("message chats")
    return tuple(signs)


def _ask_signs(frame: str, match: SlotMatch, part: Sentence) -> tuple[str, ...]:
    signs = [f"frame {frame}", f"ask {frame.rpartition('-')[2]}"]
    if english_asks.asks_once(part.text):
        signs.append("ask points")
    if part.task:
        signs.append("ask in a task")
    if part.wish:
        signs.append("ask in doubt")
    signs.append(f"ask {'short' if len(match.value.split()) < 5 else 'long'}")
    if re.search(r"\bplease|pls\b", part.text, re.I):
        signs.append("ask please")
    return tuple(signs)


def clause_signs(frame: str, match: SlotMatch, this_clause: EnglishClause, text: str) -> tuple[str, ...]:
    """Return the signs of a clause: how it was read, its time, its words, what stands around it."""
    clause = f"{this_clause.lead} {this_clause.text}"
    count = len(match.value.split())
    kind = frame.partition("-")[0]
    tests = (
        ("again", bool(AGAIN.search(clause) or this_clause.adverbs & OFTEN)),
        ("passing", bool(TODAY.search(clause))),
        ("dated", bool(_PAST_TIME.search(clause))),
        ("young", bool(_YOUNG.search(text))),
        ("lasted", bool(_LASTED.search(clause))),
        ("ahead", kind != "did" and bool(AHEAD.search(clause))),
        ("named", bool(_CAPS.search(match.value[1:] if kind == "did" else match.value))),
        ("numbered", bool(re.search(r"\d", match.value))),
        ("points", bool(_POINTED.search(match.value))),
        ("points in clause", bool(_POINTED.search(this_clause.text))),
        ("the", bool(re.match(r"(?:\w+ )?the\b", match.value))),
        ("my", bool(re.search(r"\bmy\b", match.value))),
        ("left out", this_clause.left_out),
        ("another", bool(this_clause.who)),
        ("now", bool(this_clause.adverbs & {"now", "just", "finally", "recently"})),
        ("never", "never" in this_clause.adverbs or "ever" in this_clause.adverbs),
        (
            "hedged",
            bool(
                this_clause.adverbs
                & {"almost", "nearly", "only", "even", "so", "too", "literally", "basically"}
            ),
        ),
        ("negative", this_clause.no),
        ("passing around", bool(TODAY.search(text))),
        ("we", bool(re.search(r"\bwe\b", this_clause.text, re.I))),
        ("vague", bool(_VAGUE.search(this_clause.text))),
        ("screen", bool(_SCREEN.search(this_clause.text))),
        ("other tense", this_clause.aux in ("have", "had") and kind == "did"),
    )
    signs = [name for name, true in tests if true]
    aim = match.value.split()[0].casefold() if kind in ("plan", "want") else this_clause.verb
    sort = _verb_class(verbs.doing_of(aim) or aim)
    signs.extend((f"verb {sort}", f"{kind} verb {sort}"))
    by_kind = [f"{kind} {name}" for name in signs if name in _BY_KIND]
    size = "one" if count == 1 else "few" if count < 5 else "some" if count < 9 else "many"
    return (
        f"frame {frame}",
        f"kind {kind}",
        *signs,
        *by_kind,
        f"size {size}",
        f"{kind} {size}",
        f"join {this_clause.join or 'none'}",
    )


def _verb_class(verb: str) -> str:
    classes = (
        ("light", verbs.GENERIC_VERBS),
        ("talk", verbs.TALK),
        ("life", verbs.LIFE),
        ("practised", verbs.PRACTISED),
        ("done", verbs.DONE),
    )
    return next((name for name, words in classes if verb in words), "other")


_BY_KIND: Final = frozenset(
    (
        "again",
        "passing",
        "dated",
        "lasted",
        "ahead",
        "named",
        "left out",
        "points in clause",
        "my",
        "the",
        "young",
        "numbered",
        "another",
        "screen",
        "we",
        "vague",
        "passing around",
    )
)
