"""From what somebody said to candidate facts, by rules: no model is asked."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.entities.lexicon import is_common
from episodic_agent.core.fact_records import Candidate, Evidence, Fact, Statement
from episodic_agent.core.facts.english_life import LIFE
from episodic_agent.core.facts.english_tastes import TASTES
from episodic_agent.core.facts.english_ties import TIES
from episodic_agent.core.facts.english_wishes import REASONED, WISHES
from episodic_agent.core.facts.grammar import Found, Make, RuleBook, clauses, normal, rule_book, rules_for
from episodic_agent.core.facts.judging import accepted
from episodic_agent.core.facts.other_everyday import ANYWHERE_OTHERS, OTHERS_EVERYDAY
from episodic_agent.core.facts.other_languages import OTHERS
from episodic_agent.core.facts.proposing import proposals
from episodic_agent.core.facts.slots import SLOTS, keywords, sentence, slot_of, value_key
from episodic_agent.core.facts.voices import Sentence, earnest
from episodic_agent.core.summaries.languages import ASSISTANTS, SOURCES, guess_language
from episodic_agent.core.text import fold, words
from episodic_agent.core.timewords import parse_time

VERSION: Final = "facts-2"
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


def read_facts(statement: Statement, known: Sequence[Fact] = ()) -> tuple[Candidate, ...]:
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
    parts = earnest(statement.text, language)
    found = list(_of_english(statement, parts) if language == "en" else _of_another(parts, language))
    if _another_voice(statement.actor, [one for _, one in found]):
        return ()
    found.extend(_pointing(statement, language, known, [one for _, one in found]))
    candidates = [c for part, one in found for c in _candidates(statement, part, one, known)]
    return tuple(_distinct(candidates))


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
    found = guess_language([word.lower() for word in words(text)], text)
    return found if found in OTHERS else "en"


def _of_another(parts: Sequence[Sentence], language: str) -> Iterator[tuple[Sentence, Found]]:
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
        for one in (*exact, *_beside(exact, more)):
            if one.attribute == "rule" or not others:
                yield part, one


def _of_english(statement: Statement, parts: Sequence[Sentence]) -> Iterator[tuple[Sentence, Found]]:
    """Read English by the exact rules, and beside them by the grammar of clauses and its judge."""
    said = [one for one in proposals(statement.text, parts, statement.actor) if accepted(one)]
    for part in parts:
        exact = [] if part.wish or part.unsure else list(_exactly(part))
        yield from ((part, one) for one in exact)
        yield from ((part, one) for one in _beside(exact, [one.found for one in said if one.part is part]))


def _exactly(part: Sentence) -> Iterator[Found]:
    views = list(clauses(part))
    if not part.task:
        facts = list(_matched(_ENGLISH, views))
        yield from facts
        if any(one.attribute in ("diet", "health", "allergic", "habit", "status", "job") for one in facts):
            yield from _matched(_SO_ASKED, [normal(m["then"]) for m in _SO.finditer(part.text)])
    yield from list(_matched(_ASKED, views))[:1]


def _anywhere(text: str, rules: Sequence[tuple[re.Pattern[str], Make]]) -> Iterator[Found]:
    for pattern, make in rules:
        for match in pattern.finditer(text):
            yield from make(match)


def _beside(known: Sequence[Found], found: Sequence[Found]) -> Iterator[Found]:
    """Yield what general rules find beside the exact ones, or more of the same; each thing is told once."""
    told = [(one, set(value_key(one.value).split())) for one in known]
    for one in found:
        words_of = set(value_key(one.value).split())
        if not words_of:
            continue
        over = [(other, key) for other, key in told if _overlaps(one, words_of, other, key)]
        more = (
            over
            and one.attribute in _FULLER
            and all(
                (other.attribute, other.holds) == (one.attribute, one.holds) and key < words_of
                for other, key in over
            )
        )
        if not over or more:
            told.append((one, words_of))
            yield one


def _overlaps(one: Found, mine: set[str], other: Found, theirs: set[str]) -> bool:
    """Tell whether two finds say the same; what holds and what does not must name the very same."""
    if other.holds is not one.holds and other.attribute == one.attribute:
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


def _matched(rules: RuleBook, views: Sequence[str]) -> Iterator[Found]:
    for view in views:
        for one in rules_for(rules, view):
            match = one.pattern.match(view)
            if match is None:
                continue
            found = list(one.make(match))
            yield from found
            if found and one.stops:
                break


def _another_voice(actor: str, found: Sequence[Found]) -> bool:
    """Tell whether somebody with a name introduces themselves by another: then another one speaks."""
    if fold(actor) in _GENERIC:
        return False
    own = set(fold(actor).split())
    said = [
        set(fold(one.value).split())
        for one in found
        if one.attribute == "name" and one.holds and not one.subject
    ]
    return any(not names & own for names in said)


# --- what points back at something known -----------------------------------------------------------------


def _pointing(
    statement: Statement, language: str, known: Sequence[Fact], found: Sequence[Found]
) -> Iterator[tuple[Sentence, Found]]:
    """Read "it's Porto, not Lisbon": the slot is that of the known fact whose value is named."""
    mine = [fact for fact in known if fact.holds and fact.subject == speaker_of(statement.actor)]
    if not mine:
        return
    for part in earnest(statement.text, language):
        for pattern in () if part.wish or part.unsure else _SWAP:
            match = pattern.search(part.text)
            fact = _meant(match["old"], mine) if match else None
            if match and fact is not None and not any(one.value == match["v"].strip() for one in found):
                yield (
                    part,
                    Found(fact.attribute, _swapped(fact.value, match["old"], match["v"]), own=part.text),
                )
                break


def _swapped(value: str, old: str, new: str) -> str:
    """Return a known value with the part named put right: the rest of it still holds."""
    found = re.search(re.escape(old.strip()), value, re.IGNORECASE)
    return f"{value[: found.start()]}{new.strip()}{value[found.end() :]}" if found else new.strip()


def _meant(said: str, known: Sequence[Fact]) -> Fact | None:
    """Return the one known fact whose value the words name, None where none or several are."""
    key = value_key(said)
    fits = [
        fact
        for fact in known
        if key and (f" {key} " in f" {value_key(fact.value)} " or said.strip() == fact.value)
    ]
    return fits[0] if len(fits) == 1 else None


# --- candidates ------------------------------------------------------------------------------------------


def _candidates(
    statement: Statement, part: Sentence, one: Found, known: Sequence[Fact]
) -> Iterator[Candidate]:
    if one.ends and not one.attribute:
        for fact in known:  # the end of every tie that is known of a name
            if fact.holds and fact.category.value == "relationship" and one.value in fact.value.split():
                yield _candidate(statement, part, replace(one, attribute=fact.attribute, value=fact.value))
        return
    if one.attribute == "name" and one.own == "introduced" and not _believed(one.value, statement, part):
        return
    if one.ends and one.attribute == "partner":
        named = one.value.split()[-1]
        meant = [f for f in known if f.attribute == "partner" and f.holds and named in f.value.split()]
        one = replace(one, value=meant[0].value) if meant else one
    yield _candidate(statement, part, one)


def _believed(called: str, statement: Statement, part: Sentence) -> bool:
    """Tell whether "I'm Ready" is a name: the speaker's own, or no everyday word at the beginning."""
    if fold(statement.actor) not in _GENERIC:
        return True
    first = len(statement.text[: part.start].split()) <= 6
    return first and not any(is_common(fold(word)) for word in called.split())


def _candidate(statement: Statement, part: Sentence, one: Found) -> Candidate:
    subject = one.subject or speaker_of(statement.actor)
    valid = _valid_at(statement, part.text, one)
    said = Evidence(
        observation_id=statement.observation_id,
        start=part.start,
        end=part.end,
        fact=sentence(subject, one.attribute, one.value, one.holds, one.own),
        value=one.value,
        said_at=statement.at,
        valid_at=valid,
        episode_id=statement.episode_id,
        learned_at=statement.learned_at,
        confidence=0.9,
        corrects=bool(_CORRECTS.search(part.text)) and not _CHANGED.search(part.text),
    )
    category = slot_of(one.attribute).category
    return Candidate(subject, one.attribute, one.value, category, said, one.holds, keywords(one.value))


def _valid_at(statement: Statement, text: str, one: Found) -> datetime:
    """Return since when a fact is so: the time its sentence names for the change, else when it was said.

    Only slots of state are dated; a plan and an experience name the time of something else.
    """
    if not statement.dated or one.attribute not in (
        "lives_in",
        "employer",
        "job",
        "owns",
        "partner",
        "marital",
        "relationship",
        "has_pet",
    ):
        return statement.at
    if _BEGAN.search(text) is None:
        return statement.at
    offset = timedelta(seconds=statement.utc_offset or 0)
    ranges = parse_time(text, statement.at, offset).ranges
    if len(ranges) != 1:  # several times: which one is the change's cannot be told
        return statement.at
    (only,) = ranges
    ahead = re.search(r"\bfrom\b|\bas of\b|\bstarting\b", text, re.I) is not None
    start = only.start
    if (
        ahead
        and start < statement.at
        and start.replace(year=start.year + 1) > statement.at
        and not re.search(r"\d{4}", text)
    ):
        start = start.replace(year=start.year + 1)  # "from 1 October" lies ahead
    return start


def _distinct(found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Drop what says less of the same: "cat" beside "cat Miso", a kind beside its name."""
    kept: dict[tuple[str, str, str, bool], Candidate] = {}
    for one in found:
        if one.attribute in SLOTS and one.value:
            kept.setdefault((one.subject, one.attribute, value_key(one.value), one.holds), one)
    told: list[tuple[Candidate, set[str]]] = []
    for one in kept.values():
        words_of = set(value_key(one.value).split())
        others = (set(value_key(o.value).split()) for o in kept.values() if o is not one and _alike(o, one))
        again = any(words_of == said and o.attribute != one.attribute and _alike(o, one) for o, said in told)
        if not again and not any(words_of < other for other in others):
            told.append((one, words_of))
            yield one


def _alike(one: Candidate, other: Candidate) -> bool:
    same = one.attribute == other.attribute or {one.attribute, other.attribute} <= {
        "habit",
        "likes",
        "dislikes",
        "diet",
    }
    return one.subject == other.subject and one.holds == other.holds and same
