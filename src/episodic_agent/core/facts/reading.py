"""From what somebody said to candidate facts, by rules: no model is asked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.episodes.languages import ASSISTANTS, SOURCES, guess_language
from episodic_agent.core.facts.attribution import Sentence, clauses_apart, earnest
from episodic_agent.core.facts.door import admitted, has_gone
from episodic_agent.core.facts.english.life import LIFE
from episodic_agent.core.facts.english.tastes import TASTES
from episodic_agent.core.facts.english.ties import TIES
from episodic_agent.core.facts.english.wishes import REASONED, WISHES
from episodic_agent.core.facts.grammar import Make, RuleBook, SlotMatch, clauses, normal, rule_book, rules_for
from episodic_agent.core.facts.judging import accepted
from episodic_agent.core.facts.other_everyday import ANYWHERE_OTHERS, OTHERS_EVERYDAY
from episodic_agent.core.facts.other_languages import OTHERS
from episodic_agent.core.facts.proposing import proposals
from episodic_agent.core.facts.slots import SLOTS, keywords, sentence, slot_of, value_key
from episodic_agent.core.language import fold
from episodic_agent.core.language.mentions.lexicon import is_common
from episodic_agent.core.language.timewords import TimeRange, parse_time
from episodic_agent.schemas.facts import Fact, FactCandidate, FactEvidence, Statement

VERSION: Final = "facts-3"
_GENERIC: Final = frozenset({"user", "me", "human", "customer", "person", "client", "i"})
_FULLER: Final = frozenset({"health", "has_pet"})  # slots whose longer value says more
_LONGEST: Final = 2_000  # characters: what is longer was pasted, not said
_ENGLISH: Final = rule_book((*LIFE, *TIES, *TASTES))
_ASKED: Final = rule_book(WISHES)
_SO_ASKED: Final = rule_book(REASONED)
_OTHERS: Final = {language: rule_book(rules) for language, rules in OTHERS.items()}
_OTHERS_EVERYDAY: Final = {language: rule_book(rules) for language, rules in OTHERS_EVERYDAY.items()}
_NO_RULES: Final = rule_book(())
_CORRECTS: Final = re.compile(
    r"^(?:actually|correction|sorry|no\b[,. ]|i meant|i misspoke|typo|my mistake|wait|oops"
    r"|scrap that|me equivoqué|pardon|stimmt nicht|entschuldigung)|\bi meant\b|\bi misspoke\b",
    re.I,
)
_CHANGED: Final = re.compile(
    r"\b(?:now|no longer|any ?more|since|moved|changed|these days"
    r"|switched|ya no|nicht mehr|jetzt"
    r"|plus)\b",
    re.I,
)
_BEGAN: Final = re.compile(
    r"\b(?:since|moved|started|joined|quit|left|married|adopted|bought|sold|retired|last"
    r"|from (?:\d|\w+ \d|january|february|march|april|may|june|july|august|september|october"
    r"|november|december|next)|in (?:january|february|march|april"
    r"|may|june|july|august|september"
    r"|october|november|december)|as of|seit|desde|depuis|自|从|上个月|去年)\b|上个月|去年",
    re.I,
)
# What says that a time named lies behind, and what says that it lies ahead; else the next such time is meant.
_PASSED: Final = re.compile(
    r"\b(?:since|left|quit|got|became|bought|sold|was|were|had|did|went|came|began|broke|split|met|last|ago"
    r"|been|born|\w{3,}ed|seit|ge\w+(?:t|en)|desde|hace|depuis)\b|[自从了]|上个月|去年",
    re.IGNORECASE,
)
_AHEAD: Final = re.compile(
    r"\b(?:from|as of|starting|beginning|next(?! to\b)|will|shall|going to|ab|nächste\w*|próxim[oa]"
    r"|prochaine?)\b|['’]ll\b|下个?[月周]|明年",
    re.IGNORECASE,
)
_STATES: Final = frozenset(
    ("lives_in", "employer", "job", "owns", "partner", "marital", "relationship", "has_pet")
)
_TIES_DATED: Final = frozenset(("partner", "relationship", "has_pet"))
_TIED: Final = re.compile(
    r"\b(?:since|together|born|adopted?|got|get|getting|bought|married|engaged|met|have|has|had|died|passed|split"
    r"|broke|left|separated|divorced|until|seit|desde|depuis)\b",
    re.IGNORECASE,
)
_HAN_SELF: Final = re.compile(
    r"(?:嗯|其实|对了|顺便说|另外|还有|而且|不过|但|哦|啊|因为|从|自从|上个月|去年|今年|现在|平时|以前|小时候|，|,|\s)*(?:我|咱)"
)
_SO: Final = re.compile(r"[,;]\s+so,? (?P<then>.+)", re.IGNORECASE)
_SWAP: Final = (
    re.compile(
        r"(?:it is|it's|its|that's|that is|i meant|should be"
        r"|make that) (?P<v>[^,;.!?]+?),? (?:and )?not (?P<old>[^,;.!?]+)",
        re.I,
    ),
    re.compile(r"not (?P<old>[^,;.!?]+?)[,;]? (?:but|it's|it is|i meant) (?P<v>[^,;.!?]+)", re.I),
    re.compile(r"(?P<v>[A-Z][\w' ]*?), not (?P<old>[A-Z][\w' ]*)", re.I),
    re.compile(r"(?:el|la|los|las)? ?(?:[\w ]+? (?:es|son)) (?P<v>[^,;.!?]+), no (?P<old>[^,;.!?]+)", re.I),
)


def read_facts(statement: Statement, known: Sequence[Fact] = ()) -> tuple[FactCandidate, ...]:
    """Return what a statement says of its speaker, and of named people close to them, in the text's order.

    Only what lasts and is said in earnest counts; `known` facts are what corrections without a subject ("it's
    Porto, not Lisbon"; "Tofu died in March") refer to. Assistants and devices say nothing about themselves.

    >>> from uuid import UUID
    >>> at = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
    >>> said = Statement("My sister Hannah is a nurse, and I live in Bonn.", at, "Tom", UUID(int=1))
    >>> for one in read_facts(said):
    ...     print(one.category, "|", one.fact)
    relationship | Tom's sister Hannah
    identity | Hannah's work: nurse
    identity | Tom lives in Bonn
    """
    if fold(statement.actor) in ASSISTANTS | SOURCES or len(statement.text) > _LONGEST:
        return ()
    language = statement.language or language_of(statement.text)
    parts = clauses_apart(earnest(statement.text, language, statement.actor), language)
    pairs = list(_of_english(statement, parts) if language == "en" else _of_another(parts, language))
    if _attributed(statement.actor, [one for _, one in pairs]):
        return ()
    pointing = list(_pointing(statement, language, known, [one for _, one in pairs]))
    read = [(c, part.denies) for part, one in pairs for c in _candidates(statement, part, one, known)]
    # "Porto, not Lisbon" denies what is known, and names what takes its place
    read.extend((c, False) for part, one in pointing for c in _candidates(statement, part, one, known))
    return tuple(_distinct(list(admitted(read, known, statement.at))))


def speaker_of(actor: str) -> str:
    """Return the subject of what an actor says of themselves: their name, if it is one.

    >>> speaker_of("Maya"), speaker_of("user")
    ('Maya', 'The user')
    """
    return "The user" if fold(actor) in _GENERIC else actor


def language_of(text: str) -> str:
    """Return the language a text is read in: one that has rules, else English.

    >>> language_of("Ich wohne seit März in Halle."), language_of("lol ok")
    ('de', 'en')
    """
    result = guess_language(text)
    return result if result in OTHERS else "en"


def _of_another(parts: Sequence[Sentence], language: str) -> Iterator[tuple[Sentence, SlotMatch]]:
    """Read sentences of another language by their rules, the exact ones first."""
    for part in parts:
        if part.wish or part.unsure:
            continue
        views = list(_foreign_clauses(part.text))
        exact = list(_matched(_OTHERS.get(language, _NO_RULES), views))
        more = [
            *_anywhere(part.text, ANYWHERE_OTHERS.get(language, ())),
            *_matched(_OTHERS_EVERYDAY.get(language, _NO_RULES), views),
        ]
        others = part.task or (language == "zh" and not _HAN_SELF.match(part.text))
        for match in (*exact, *_beside(exact, more)):
            if match.attribute == "rule" or not others:
                yield part, match


def _of_english(statement: Statement, parts: Sequence[Sentence]) -> Iterator[tuple[Sentence, SlotMatch]]:
    """Read English by the exact rules, and beside them by the grammar of clauses and its judge."""
    spoken_proposals = [one for one in proposals(statement.text, parts, statement.actor) if accepted(one)]
    for part in parts:
        exact = [] if part.wish or part.unsure else list(_exactly(part))
        yield from ((part, one) for one in exact)
        yield from (
            (part, one) for one in _beside(exact, [one.match for one in spoken_proposals if one.part is part])
        )


def _exactly(part: Sentence) -> Iterator[SlotMatch]:
    views = list(clauses(part))
    if not part.task:
        facts = list(_matched(_ENGLISH, views))
        yield from facts
        if any(one.attribute in ("diet", "health", "allergic", "habit", "status", "job") for one in facts):
            yield from _matched(_SO_ASKED, [normal(m["then"]) for m in _SO.finditer(part.text)])
    yield from list(_matched(_ASKED, views))[:1]


def _anywhere(text: str, rules: Sequence[tuple[re.Pattern[str], Make]]) -> Iterator[SlotMatch]:
    for pattern, make in rules:
        for match in pattern.finditer(text):
            yield from make(match)


def _beside(known: Sequence[SlotMatch], matches: Sequence[SlotMatch]) -> Iterator[SlotMatch]:
    """Yield what general rules find beside the exact ones, or more of the same; each thing is told once."""
    pairs = [(one, set(value_key(one.value).split())) for one in known]
    for match in matches:
        words_of = set(value_key(match.value).split())
        if not words_of:
            continue
        over = [(other, key) for other, key in pairs if _overlaps(match, words_of, other, key)]
        more = (
            over
            and match.attribute in _FULLER
            and all(
                (other.attribute, other.holds) == (match.attribute, match.holds) and key < words_of
                for other, key in over
            )
        )
        if not over or more:
            pairs.append((match, words_of))
            yield match


def _overlaps(match: SlotMatch, mine: set[str], other: SlotMatch, theirs: set[str]) -> bool:
    """Tell whether two finds say the same; what holds and what does not must name the very same."""
    if other.holds is not match.holds and other.attribute == match.attribute:
        return theirs == mine
    return len(theirs & mine) * 2 >= min(len(theirs), len(mine))


def _foreign_clauses(text: str) -> Iterator[str]:
    for cut in (
        0,
        *(m.end() for m in re.finditer(r"[,;:，；：—–]\s*|\s(?=(?:und|y|et|pero|aber|mais) )", text)),
    ):
        view = re.sub(
            r"^(?:und|y|et|aber|pero|mais|denn|ja|sí|oui|bitte|sorry|oye|hola|hallo|bonjour)\b[, ]*",
            "",
            text[cut:],
            flags=re.I,
        )
        if view:
            yield view.replace("’", "'")


def _matched(rules: RuleBook, views: Sequence[str]) -> Iterator[SlotMatch]:
    for view in views:
        for rule in rules_for(rules, view):
            match = rule.pattern.match(view)
            if match is None:
                continue
            matches = list(rule.make(match))
            yield from matches
            if matches and rule.stops:
                break


def _attributed(actor: str, matches: Sequence[SlotMatch]) -> bool:
    """Tell whether somebody with a name introduces themselves by another: then another one speaks."""
    if fold(actor) in _GENERIC:
        return False
    own = set(fold(actor).split())
    terms = [
        set(fold(one.value).split())
        for one in matches
        if one.attribute == "name" and one.holds and not one.subject
    ]
    return any(not names & own for names in terms)


# --- what points back at something known -----------------------------------------------------------------


def _pointing(
    statement: Statement, language: str, known: Sequence[Fact], matches: Sequence[SlotMatch]
) -> Iterator[tuple[Sentence, SlotMatch]]:
    """Read "it's Porto, not Lisbon": the slot is that of the known fact whose value is named."""
    mine = [fact for fact in known if fact.holds and fact.subject == speaker_of(statement.actor)]
    if not mine:
        return
    for part in earnest(statement.text, language, statement.actor):
        for pattern in () if part.wish or part.unsure else _SWAP:
            match = pattern.search(part.text)
            fact = _meant(match["old"], mine) if match else None
            if match and fact is not None and not any(one.value == match["v"].strip() for one in matches):
                yield (
                    part,
                    SlotMatch(fact.attribute, _swapped(fact.value, match["old"], match["v"]), own=part.text),
                )
                break


def _swapped(value: str, old: str, new: str) -> str:
    """Return a known value with the part named put right: the rest of it still holds."""
    match = re.search(re.escape(old.strip()), value, re.IGNORECASE)
    return f"{value[: match.start()]}{new.strip()}{value[match.end() :]}" if match else new.strip()


def _meant(text: str, known: Sequence[Fact]) -> Fact | None:
    """Return the one known fact whose value the words name, None where none or several are."""
    key = value_key(text)
    fits = [
        fact
        for fact in known
        if key and (f" {key} " in f" {value_key(fact.value)} " or text.strip() == fact.value)
    ]
    return fits[0] if len(fits) == 1 else None


# --- candidates ------------------------------------------------------------------------------------------


def _candidates(
    statement: Statement, part: Sentence, match: SlotMatch, known: Sequence[Fact]
) -> Iterator[FactCandidate]:
    if match.ends and not match.attribute:
        for fact in known:  # the end of every tie that is known of a name
            if fact.holds and fact.category.value == "relationship" and match.value in fact.value.split():
                yield _candidate(statement, part, replace(match, attribute=fact.attribute, value=fact.value))
        return
    if (
        match.attribute == "name"
        and match.own == "introduced"
        and not _believed(match.value, statement, part)
    ):
        return
    if match.attribute == "has_pet" and match.holds and has_gone(match.value, part.text):
        match = replace(match, holds=False)
    if match.ends and match.attribute == "partner":
        named = match.value.split()[-1]
        meant = [f for f in known if f.attribute == "partner" and f.holds and named in f.value.split()]
        match = replace(match, value=meant[0].value) if meant else match
    yield _candidate(statement, part, match)


def _believed(called: str, statement: Statement, part: Sentence) -> bool:
    """Tell whether "I'm Ready" is a name: the speaker's own, or no everyday word at the beginning."""
    if fold(statement.actor) not in _GENERIC:
        return True
    first = len(statement.text[: part.start].split()) <= 6
    return first and not any(is_common(fold(word)) for word in called.split())


def _candidate(statement: Statement, part: Sentence, match: SlotMatch) -> FactCandidate:
    subject = match.subject or speaker_of(statement.actor)
    valid = _valid_at(statement, part.text, match)
    evidence = FactEvidence(
        observation_id=statement.observation_id,
        start=part.start,
        end=part.end,
        fact=sentence(subject, match.attribute, match.value, match.holds, match.own),
        value=match.value,
        said_at=statement.at,
        valid_at=valid,
        episode_id=statement.episode_id,
        learned_at=statement.learned_at,
        confidence=0.9,
        corrects=bool(_CORRECTS.search(part.full_text or part.text)) and not _CHANGED.search(part.text),
    )
    category = slot_of(match.attribute).category
    return FactCandidate(
        subject, match.attribute, match.value, category, evidence, match.holds, keywords(match.value)
    )


def _valid_at(statement: Statement, text: str, match: SlotMatch) -> datetime:
    """Return since when a fact is so: the time its sentence names for the change, else when it was said.

    Only slots of state are dated; a plan and an experience name the time of something else, and so does what
    somebody close does ("my daughter starts school in September"). What lies ahead never dates a fact back.
    """
    changes = _BEGAN.search(text) or _AHEAD.search(text)
    if not statement.dated or match.attribute not in _STATES or not changes:
        return statement.at
    if match.attribute in _TIES_DATED and not _TIED.search(text):
        return statement.at
    offset = timedelta(seconds=statement.utc_offset or 0)
    ranges = parse_time(text, statement.at, offset).ranges
    if len(ranges) != 1:  # several times: which one is the change's cannot be told
        return statement.at
    (only,) = ranges
    passed = _PASSED.search(text) is not None and _AHEAD.search(text) is None
    if passed or only.start > statement.at or re.search(r"\d{4}", text):
        return only.start
    return statement.at if only.end > statement.at else _next_of(only, statement.at)


def _next_of(past: TimeRange, at: datetime) -> datetime:
    """Return when a day or month that was read as the latest one comes again: "from 1 October" lies ahead."""
    if past.kind == "day" and at - past.start <= timedelta(days=7):  # a day of the week
        return past.start + timedelta(days=7)
    leap = (past.start.month, past.start.day) == (2, 29)
    start = past.start.replace(day=28) if leap else past.start
    while start <= at:
        start = start.replace(year=start.year + 1)
    return start


def _distinct(candidates: Sequence[FactCandidate]) -> Iterator[FactCandidate]:
    """Drop what says less of the same: "cat" beside "cat Miso", a kind beside its name."""
    stored_candidates: dict[tuple[str, str, str, bool], FactCandidate] = {}
    for candidate in candidates:
        if candidate.attribute in SLOTS and candidate.value:
            stored_candidates.setdefault(
                (candidate.subject, candidate.attribute, value_key(candidate.value), candidate.holds),
                candidate,
            )
    pairs: list[tuple[FactCandidate, set[str]]] = []
    for candidate in stored_candidates.values():
        words_of = set(value_key(candidate.value).split())
        others = (
            set(value_key(o.value).split())
            for o in stored_candidates.values()
            if o is not candidate and _alike(o, candidate)
        )
        again = any(
            words_of == said and o.attribute != candidate.attribute and _alike(o, candidate)
            for o, said in pairs
        )
        if not again and not any(words_of < other for other in others):
            pairs.append((candidate, words_of))
            yield candidate


def _alike(candidate: FactCandidate, other: FactCandidate) -> bool:
    same = candidate.attribute == other.attribute or {candidate.attribute, other.attribute} <= {
        "habit",
        "likes",
        "dislikes",
        "diet",
    }
    return candidate.subject == other.subject and candidate.holds == other.holds and same
