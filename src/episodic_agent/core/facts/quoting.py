"""From what somebody said to facts, without a model: quoted, never rewritten.

A fact is the speaker's own words, who said them and when. A trained judge tells which words state something
that lasts (`stating`), another which earlier words they take the place of (`replacing`). A quotation cannot
turn what was said into its opposite.

What is said again, or put in the place of something, belongs to the same *matter*: its attribute is
"stated:" and the matter's mark, and a matter holds one value at a time, like any other slot of that kind.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from hashlib import blake2b
from typing import Final, NamedTuple
from uuid import UUID

from episodic_agent.core.episodes.languages import light
from episodic_agent.core.facts.amending import BEHIND, Amendment, amending_part, amendment, may_amend
from episodic_agent.core.facts.changing import (
    CHANGED,
    LONGEST_TALK,
    TALK,
    SpokenBefore,
    SpokenNow,
    likelihoods,
)
from episodic_agent.core.facts.dating import announced_for, so_since
from episodic_agent.core.facts.harm import denies_harm, may_end
from episodic_agent.core.facts.pointing import points_back
from episodic_agent.core.facts.replacing import JudgedStatement, likelihood, rivals_of, threshold
from episodic_agent.core.facts.slots import STATED, keywords, match_key
from episodic_agent.core.facts.speakers import speaker_of
from episodic_agent.core.facts.stating import (
    EVEN,
    LONG_ENTRY,
    NO_WISH,
    SURE_WISH,
    WISH,
    Judgement,
    by_shares,
    has_cue,
    is_person,
    judged,
    lasts,
    parts_of,
    wish,
)
from episodic_agent.core.language import fold, sentences, tokens
from episodic_agent.core.language.terms import stop_words
from episodic_agent.schemas import Vector
from episodic_agent.schemas.facts import Category, Fact, FactCandidate, FactEvidence, Statement, TalkLine

VERSION: Final = "facts-13"
LIKELY: Final = 0.5  # from which a statement is believed to last
LIKELY_BESIDE: Final = 0.4  # and from which a sentence of one that is,
LIKELY_ALONE: Final = 0.65  # and one of a statement that is not
FILLER: Final = 0.12  # below which a sentence is not told with the one before it, either
MAY_CHANGE: Final = 0.5  # from which words may tell of a change of others
WORTH_A_DOUBT: Final = 0.25  # and from which one about what a person must not eat or has to take is
DENIED: Final = 0.1  # below which words change nothing in their talk, whatever they would by themselves
DENIED_HARM: Final = 0.4  # from which words that deny what harms end it
SURELY_CHANGED: Final = 0.8  # from which words end in their conversation even a standing wish
SURELY_TAKEN_BACK: Final = 0.8  # from which a standing wish is ended,
REVISED: Final = 0.5  # from which it is by a wish about the same,
LIKE_A_WISH: Final = 0.15  # and by what is no less likely one itself: news of the same names are not
WORTH_A_VECTOR: Final = 0.1  # by words alone: what lies below no vector lifts to a fact
WISH_WORTH_A_VECTOR: Final = 0.2  # nor to a standing wish
_NAMES: Final = 3  # terms that words have at least which say what others point to
_ENOUGH: Final = 5  # and those that say something themselves, whatever they point to
_SPACES: Final = re.compile(r"\s+")
_JOINED: Final = re.compile(r"\s(?:and|und|y|et|e|en|и|i|ve)\s")  # or behind a word that joins
_PARTS: Final = re.compile(r"[,;.!?、，。；]\s*\w")  # something goes on behind a mark
Meaning = Callable[[Sequence[str]], "Sequence[Vector] | None"]


@dataclass(frozen=True, slots=True, eq=False)
class KnownFact:
    """A fact that stands, with the vector of what it quotes, [d] or None."""

    fact: Fact
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Quotation:
    """Words that state something that lasts, as a fact of their own, with their vector, [d] or None.

    `talk` is what was said before them in their sitting, the last of it last, `talk_vectors` the vectors of
    that, as far as there are any. What `lasts` no longer than it takes to say is a fact only where it puts
    right something known.
    """

    candidate: FactCandidate
    vector: Vector | None = None
    talk: tuple[TalkLine, ...] = ()
    talk_vectors: tuple[Vector, ...] = ()
    lasts: bool = True

    @property
    def rests_on(self) -> frozenset[UUID]:
        """Return the observations whose words it holds."""
        proofs = (self.candidate.evidence, self.candidate.lead)
        return frozenset(one.observation_id for one in proofs if one is not None)


def told_as(speaker: str, words: str, lead: str = "") -> str:
    """Return a quotation as a fact is told, after the words before it that it points to.

    >>> told_as("Ana", "I'm vegetarian.")
    'Ana: "I\\'m vegetarian."'
    >>> told_as("Ana", "Her name is Eva.", "I have a sister.")
    'Ana: "I have a sister. … Her name is Eva."'
    """
    pieces = [_SPACES.sub(" ", one).strip() for one in (lead, words)]
    return f'{speaker}: "{" … ".join(filter(None, pieces))}"'


def is_quotation(fact: Fact) -> bool:
    """Tell whether a fact is what somebody said, in their own words: no model's sentence, none edited."""
    return fact.attribute.startswith(STATED) and not fact.edited


def meant_words(fact: Fact | FactCandidate) -> str:
    """Return the words whose meaning a fact is found by: what a quotation quotes, else the fact's sentence.

    Who said it is left to the words: so the vector of a short message serves the fact that quotes it.
    """
    quotes = fact.attribute.startswith(STATED) and not (isinstance(fact, Fact) and fact.edited)
    return fact.value if quotes else fact.fact


def may_teach(text: str, language: str | None = None) -> bool:
    """Tell whether it is worth looking for what lasts in a person's message, by its words alone."""
    return any(
        _worth_a_vector(words := text[start:end]) or may_amend(words) or denies_harm(words)
        for start, end in parts_of(text, language)
    )


def may_wish(statement: Statement) -> bool:
    """Tell whether a statement may hold a standing wish, by its words alone."""
    text = statement.text
    return any(
        wish(text[slice(*place)]) >= WISH_WORTH_A_VECTOR for place in parts_of(text, statement.language)
    )


def _worth_a_vector(words: str, before: str = "") -> bool:
    return lasts(words, before) >= WORTH_A_VECTOR or wish(words) >= WISH_WORTH_A_VECTOR


def _believed(statement: Statement, words: str, before: str = "", vector: Vector | None = None) -> Judgement:
    """Return what is thought of words of a statement: a standing wish lasts for that alone.

    A wish is said to whoever remembers it, and what people ask of each other is none. In a long entry hardly
    a sentence is one: there it must be sure.
    """
    if not statement.to_assistant:
        return judged(words, before, vector, _share(statement, words), NO_WISH)._replace(wish=0.0)
    least = SURE_WISH if len(statement.text) > LONG_ENTRY else WISH
    judgement = judged(words, before, vector, _share(statement, words), least)
    if judgement.wish < SURE_WISH:
        return judgement
    return judgement._replace(likelihood=max(judgement.likelihood, judgement.wish))


def quotations(statements: Sequence[Statement], meaning: Meaning | None = None) -> list[Quotation]:
    """Return what statements say that lasts, each in its speaker's own words, in the texts' order.

    `meaning` embeds texts with `stating.EMBEDDER`; without it words alone decide. Assistants and devices say
    nothing about people.

    >>> from datetime import datetime
    >>> from uuid import UUID
    >>> at = datetime.fromisoformat("2026-03-02T09:00:00+00:00")
    >>> told = Statement("I'm allergic to walnuts and I live in Bonn.", at, "Tom", UUID(int=1))
    >>> [quotation.candidate.fact for quotation in quotations([told])]
    ['Tom: "I\\'m allergic to walnuts and I live in Bonn."']
    """
    likely: list[tuple[Statement, int, int]] = []
    for statement in statements:
        if not is_person(statement.actor):
            continue
        before = statement.before
        for start, end in parts_of(statement.text, statement.language):
            words = statement.text[start:end]
            if meaning:
                worth = _worth_a_vector(words, before)
            else:
                worth = _believed(statement, words, before).likelihood >= _least(words)
            worth = worth or _may_put_right(statement, words)
            likely += [(statement, start, end)] if worth else []
            before = ""
    spoken = _judged_statements(likely, meaning)
    lasting = list(_by_sentences(spoken, meaning))
    amending = list(_putting_right(spoken, lasting))
    result = []
    for place, piece in enumerate((*lasting, *amending)):
        # a wish how to answer points to nothing: "And stop that" goes on in form alone
        points = piece.judgement.wish < SURE_WISH and points_back(piece.words)
        lead = _lead(piece.statement, piece.start) if points else None
        nothing = points and lead is None and says_nothing(piece.words)
        if nothing and not _may_put_right(piece.statement, piece.words):
            continue
        candidate = _candidate(piece.statement, piece.start, piece.end, piece.judgement, lead)
        lasts = place < len(lasting) and not nothing
        result.append(Quotation(candidate, piece.vector, piece.statement.talk, lasts=lasts))
    return result


def _putting_right(
    spoken: Sequence["_JudgedWords"], lasting: Sequence["_JudgedWords"]
) -> Iterator["_JudgedWords"]:
    """Yield the words that may put others right and do not last themselves, be it beside some that do."""
    places = {(one.statement.observation_id, one.end) for one in lasting}
    for words in spoken:
        if (words.statement.observation_id, words.end) not in places:
            if _may_put_right(words.statement, words.words):
                yield words
        elif words.statement.talk and (part := amending_part(words.words)) is not None:
            start, end = (words.start + at for at in part)
            if all(one.end <= start or end <= one.start for one in _of_one(lasting, words)):
                yield words._replace(start=start, end=end)


def _of_one(lasting: Sequence["_JudgedWords"], words: "_JudgedWords") -> list["_JudgedWords"]:
    return [one for one in lasting if one.statement.observation_id == words.statement.observation_id]


def _may_put_right(statement: Statement, words: str) -> bool:
    """Tell whether words may end something that is known though they may not last themselves."""
    return (bool(statement.talk) and may_amend(words)) or denies_harm(words)


class _JudgedWords(NamedTuple):
    """Words of a statement, by their place in it, with what is thought of them and their vector."""

    statement: Statement
    start: int
    end: int
    judgement: Judgement
    vector: Vector | None

    @property
    def words(self) -> str:
        """Return the words themselves."""
        return self.statement.text[self.start : self.end]

    @property
    def lasts(self) -> bool:
        """Tell whether the words are believed to state what lasts."""
        return self.judgement.likelihood >= _least(self.words)


def _judged_statements(
    places: Sequence[tuple[Statement, int, int]], meaning: Meaning | None
) -> list[_JudgedWords]:
    texts = [statement.text[start:end] for statement, start, end in places]
    vectors = meaning(texts) if meaning and texts else None
    result = []
    for place, (statement, start, end) in enumerate(places):
        vector = None if vectors is None else vectors[place]
        before = statement.before if not statement.text[:start].strip() else ""
        judgement = _believed(statement, texts[place], before, vector)
        result.append(_JudgedWords(statement, start, end, judgement, vector))
    return result


def _by_sentences(spoken: Sequence[_JudgedWords], meaning: Meaning | None) -> Iterator[_JudgedWords]:
    """Yield the statements that last, in place of those of several sentences the sentences that do.

    "Ran 6k. I need to give Ravi his drill back" is ended by "the drill is back with Ravi", which no sum over
    both sentences tells, and what ends one sentence of a message ends no other. Where none lasts by itself
    they do together; of a statement that does not last a sentence must do so the more surely.
    """
    parts = [_parts_to_judge(words) for words in spoken]
    several = [(words, some) for words, some in zip(spoken, parts, strict=True) if len(some) > 1]
    by_place = iter(
        _judged_statements([(w.statement, *place) for w, some in several for place in some], meaning)
    )
    for words, some in zip(spoken, parts, strict=True):
        pieces = [next(by_place) for _ in some] if len(some) > 1 else []
        yield from _lasting(pieces, LIKELY_BESIDE if words.lasts else LIKELY_ALONE) or (
            [words] if words.lasts else []
        )


def _lasting(pieces: Sequence[_JudgedWords], least: float) -> list[_JudgedWords]:
    """Return the sentences of a statement that last, each with those behind it that are more than filler."""
    result: list[_JudgedWords] = []
    goes_on = False
    for piece in pieces:
        likely = piece.judgement.likelihood
        if likely >= least:
            result.append(piece)
        elif goes_on and likely >= FILLER:
            result[-1] = result[-1]._replace(end=piece.end)
        goes_on = bool(result) and result[-1].end == piece.end
    return result


def _parts_to_judge(words: _JudgedWords) -> list[tuple[int, int]]:
    """Return the places of a statement's sentences; none where their words say that none lasts."""
    text, places = words.statement.text, _sentences_of(words)
    may_last = words.lasts or any(lasts(text[slice(*place)]) >= LIKELY_BESIDE for place in places)
    return places if may_last else []


def _names_somebody(words: str) -> bool:
    """Tell whether words say of whom they are: "new url: …" is told with "staging moved!" before it."""
    return has_cue(words, "self") or has_cue(words, "kin")


def _sentences_of(believed: _JudgedWords) -> list[tuple[int, int]]:
    """Return the places of a statement's sentences, what needs the one before it together with that."""
    text, at = believed.statement.text, believed.start
    places: list[tuple[int, int]] = []
    for sentence in sentences(text[believed.start : believed.end], believed.statement.language):
        at = text.index(sentence, at)
        end = at + len(sentence)
        if places and (points_back(sentence) or not _names_somebody(sentence)):
            places[-1] = (places[-1][0], end)
        else:
            places.append((at, end))
        at = end
    return places


def says_nothing(words: str) -> bool:
    """Tell whether words are no fact without those they point to: few, and not about what may harm.

    >>> says_nothing("Same dates, 11 to 25 July."), says_nothing("She is allergic to eggs.")
    (True, False)
    """
    return points_back(words) and len(keywords(words)) < _ENOUGH and not has_cue(words, "care")


def _lead(statement: Statement, start: int) -> tuple[Statement, int, int] | None:
    """Return the nearest words before in the same sitting that stand by themselves, and whose they are."""
    for source in (statement, *reversed(statement.earlier)):
        for begin, end in reversed(parts_of(source.text, source.language)):
            words = source.text[begin:end]
            is_before = source is not statement or end <= start
            if not is_before or len(keywords(words)) < _NAMES or points_back(words):
                continue
            if wish(words) < SURE_WISH:  # one of how to answer names nobody
                return source, begin, end
    return None


def _least(words: str) -> float:
    """Return how likely words must last to be believed: what may harm a person rather once too often."""
    return WORTH_A_DOUBT if has_cue(words, "care") else LIKELY


def _share(statement: Statement, words: str) -> float | None:
    """Return the share by which words are judged: what may harm a person is asked no more in any talk."""
    if statement.share is None:
        return None
    return max(statement.share, EVEN) if has_cue(words, "care") else statement.share


def in_doubt(statement: Statement, vectors: Mapping[str, Vector] | None) -> bool:
    """Tell whether the share of what lasts in the talk before may decide what a statement tells.

    `vectors` are those known by text, None where words alone decide. Hearing the talk costs a hundred
    messages, so it is heard for those alone.
    """
    before = statement.before
    for start, end in parts_of(statement.text, statement.language):
        words = statement.text[start:end]
        vector = None if vectors is None else vectors.get(words)
        if vectors is not None and vector is None:
            doubted = lasts(words, before) >= WORTH_A_VECTOR
        else:
            least, most = by_shares(words, before, vector, (0.0, EVEN))
            doubted = least < LIKELY <= most
        if doubted and not has_cue(words, "care"):
            return True
        before = ""
    return False


def in_its_matter(quotation: Quotation, known: Sequence[KnownFact]) -> FactCandidate:
    """Return a quotation as one of the matter it belongs to, of those known, or of one of its own.

    What was read from the same place before keeps its matter; what says the same words belongs to theirs;
    what takes the place of other words, or they of it, to that of the likeliest. What harms a person is ended
    by words about that alone.
    """
    candidate, evidence = quotation.candidate, quotation.candidate.evidence
    subject, words = fold(candidate.subject), match_key(STATED, candidate.value)
    mine = [
        other
        for other in known
        if other.fact.attribute.startswith(STATED) and fold(other.fact.subject) == subject
    ]
    for other in mine:
        again = match_key(STATED, other.fact.value) == words
        if again or any(
            proof.start == evidence.start and proof.observation_id == evidence.observation_id
            for proof in other.fact.telling
        ):
            return _after_what_it_ends(candidate, other.fact.attribute, mine)
    # what came late may be what something known already takes the place of
    others = [
        other
        for other in mine
        if not other.fact.pinned
        and _may_take_the_place(candidate, other.fact)
        and (other.fact.held_at(evidence.said_at) or other.fact.telling[0].said_at > evidence.said_at)
        and all(proof.observation_id != evidence.observation_id for proof in other.fact.telling)
    ]
    amended = _what_it_amends(quotation, others)
    if amended is not None:
        return _amending(quotation, *amended, mine)
    if not quotation.lasts and denies_harm(candidate.value):
        others = [other for other in others if has_cue(other.fact.value, "care")]
    elif not quotation.lasts:
        others = []
    likeliest = _what_it_changes(quotation, others, known) if others else None
    return candidate if likeliest is None else _after_what_it_ends(candidate, likeliest.attribute, mine)


def _what_it_amends(quotation: Quotation, others: Sequence[KnownFact]) -> tuple[Fact, Amendment] | None:
    """Return the one of `others` that a quotation puts right, and how; None for none.

    Of several that is one with a value of the kind, the one it shares most with, the last that was said.
    """
    statement, talk = quotation.candidate.value, quotation.talk
    if not talk or not may_amend(statement):
        return None
    amended = [
        (how, other.fact)
        for other in others
        if other.fact.telling[-1].said_at <= quotation.candidate.evidence.said_at
        and (how := amendment(statement, talk, other.fact.value, just_said=_just_said(other.fact, talk)))
    ]
    if not amended:
        return None

    def closest(pair: tuple[Amendment, Fact]) -> tuple[bool, int, datetime, str]:
        how, fact = pair
        return how.same_kind, how.shared, fact.telling[-1].said_at, str(fact.id)

    how, fact = max(amended, key=closest)
    return fact, how


def _just_said(fact: Fact, talk: Sequence[TalkLine]) -> bool:
    """Tell whether a fact was told in the last message, or in the one before with only an answer behind."""
    last = [line.observation_id for line in talk[-BEHIND:] if line.own]
    return bool(last) and any(proof.observation_id == last[-1] for proof in fact.telling)


def _amending(quotation: Quotation, fact: Fact, how: Amendment, known: Sequence[KnownFact]) -> FactCandidate:
    """Put a quotation into the place of what it puts right, behind its words where it needs them.

    What was said in the same breath was never so; of what was said long ago nobody knows.
    """
    candidate = _after_what_it_ends(quotation.candidate, fact.attribute, known)
    words = None
    if not how.stands_alone:
        words = next((one for one in fact.evidence if one.leads_to is not None), fact.telling[-1])
    evidence = replace(
        candidate.evidence,
        fact=told_as(candidate.subject, candidate.value, words.value if words else ""),
        corrects=_just_said(fact, quotation.talk),
    )
    lead = _led_by(evidence, words) if words else None
    return replace(candidate, category=fact.category, evidence=evidence, lead=lead)


def _what_it_changes(
    quotation: Quotation, others: Sequence[KnownFact], known: Sequence[KnownFact]
) -> Fact | None:
    """Return the one of `others` that a quotation takes the place of, or that takes its place; None for none.

    Two judges are asked: the one of what words change in their conversation, beside all that is known, and
    the one of pairs, which is not heard where the first is sure of the contrary.
    """
    evidence = quotation.candidate.evidence
    here = JudgedStatement(
        quotation.candidate.value, evidence.said_at, quotation.candidate.category, quotation.vector
    )
    in_talk = _likely_in_talk(quotation, here, known)
    cosines = [
        0.0 if other.vector is None or quotation.vector is None else float(other.vector @ quotation.vector)
        for other in others
    ]
    best, likeliest, denies = 0.0, None, denies_harm(here.text)
    for other, rivals in zip(others, rivals_of(cosines), strict=True):
        there = _judged(other)
        older, newer = (there, here) if there.at <= here.at else (here, there)
        by_pair = likelihood(older, newer, rivals)
        by_talk = in_talk.get(other.fact.id)
        denied = by_talk is not None and by_talk < DENIED
        least = threshold(quotation.vector is not None)
        ends_harm = denies if newer is here else denies_harm(newer.text)
        if ends_harm and has_cue(older.text, "care"):  # of what is named, too (`may_end`)
            least, denied = DENIED_HARM, False
        likely = by_pair >= least and not denied
        if not likely and not _revises(older, newer, by_pair):
            by_pair = 0.0
        sure = max(by_pair, by_talk if by_talk is not None and by_talk >= CHANGED else 0.0)
        surely = by_talk is not None and by_talk >= SURELY_CHANGED
        if sure > best and (surely or _may_take_back(older, newer, sure)):
            best, likeliest = sure, other.fact
    return likeliest


def _likely_in_talk(
    quotation: Quotation, here: JudgedStatement, known: Sequence[KnownFact]
) -> dict[UUID, float]:
    """Return by fact how likely a quotation changes it, of all said before it that have vectors."""
    if quotation.vector is None:
        return {}
    before = [
        other
        for other in known
        if is_quotation(other.fact)
        and other.vector is not None
        and other.fact.telling[-1].said_at < here.at
        and other.fact.held_at(here.at)
    ]
    talk = quotation.talk[-TALK:]
    now = SpokenNow(
        here,
        fold(quotation.candidate.subject),
        [line.text[:LONGEST_TALK] for line in talk],
        quotation.talk_vectors[-TALK:],
        len(quotation.talk),
    )
    in_sitting = {line.observation_id for line in quotation.talk}
    spoken = [
        SpokenBefore(
            _judged(other),
            fold(other.fact.subject),
            any(proof.observation_id in in_sitting for proof in other.fact.telling),
        )
        for other in before
    ]
    return dict(zip((other.fact.id for other in before), likelihoods(now, spoken), strict=True))


def _judged(known: KnownFact) -> JudgedStatement:
    fact = known.fact
    return JudgedStatement(fact.value, fact.evidence[-1].said_at, fact.category, known.vector)


def _may_take_back(older: JudgedStatement, newer: JudgedStatement, replaces: float) -> bool:
    """Tell whether words that seem to end others do so, where the others are a standing wish.

    Only a wish takes another back, and of one that has several parts perhaps not all: in doubt both are told,
    the later one last. One that names what the other is about need be less sure. Only where their
    conversation leaves no doubt (`SURELY_CHANGED`) this is not asked.
    """
    if older.category is not Category.GUIDELINE:
        return True
    surely = replaces >= SURELY_TAKEN_BACK and wish(newer.text) >= LIKE_A_WISH
    return _revises(older, newer, replaces) or (surely and not _PARTS.search(older.text))


def _revises(older: JudgedStatement, newer: JudgedStatement, replaces: float) -> bool:
    """Tell whether a standing wish is about what another one is about and likelier than not takes its place.

    "Fewer questions" leaves no other wish about questions as it was.
    """
    if older.category is not Category.GUIDELINE or replaces < REVISED:
        return False
    if wish(newer.text, newer.vector) < WISH:
        return False
    common = (frozenset(tokens(older.text)) & frozenset(tokens(newer.text))) - _light()
    return bool(common) and not _PARTS.search(older.text) and not _JOINED.search(fold(older.text))


@cache
def _light() -> frozenset[str]:
    """Return the terms of words that say nothing of what a wish is about, in any language."""
    empty = frozenset(word for known in stop_words().values() for word in known)
    return frozenset(term for word in empty | light() for term in tokens(word))


def probability_of_change(older: KnownFact, newer: KnownFact) -> float:
    """Return how likely what was said later takes the place of what was said before, in [0, 1].

    From `MAY_CHANGE` on both are told, the newer one first: only what is surer ends the other.
    """
    if not is_quotation(newer.fact) or newer.fact.telling[0].said_at <= older.fact.evidence[-1].said_at:
        return 0.0
    before, after = (
        JudgedStatement(one.fact.value, one.fact.evidence[-1].said_at, one.fact.category, one.vector)
        for one in (older, newer)
    )
    return likelihood(before, after)


def _may_take_the_place(candidate: FactCandidate, fact: Fact) -> bool:
    """Tell whether one of the two may end the other, whichever was said first."""
    later = candidate.evidence.said_at >= fact.telling[0].said_at
    return may_end(candidate.value, fact.value) if later else may_end(fact.value, candidate.value)


def _after_what_it_ends(
    candidate: FactCandidate, attribute: str, known: Sequence[KnownFact]
) -> FactCandidate:
    """Put a candidate into a matter: what was said later is so later, however long it says it was so.

    "I eat fish again since Monday", said on Saturday, ends what was said on Wednesday.
    """
    evidence = candidate.evidence
    before = [
        proof.valid_at
        for other in known
        if other.fact.attribute == attribute
        for proof in other.fact.evidence
        if proof.said_at < evidence.said_at
    ]
    if before and max(before) >= evidence.valid_at:
        evidence = replace(evidence, valid_at=evidence.said_at)
    return replace(candidate, attribute=attribute, evidence=evidence)


def _candidate(
    statement: Statement,
    start: int,
    end: int,
    judgement: Judgement,
    lead: tuple[Statement, int, int] | None,
) -> FactCandidate:
    subject = speaker_of(statement.actor)
    quote = statement.text[start:end]
    evidence = FactEvidence(
        observation_id=statement.observation_id,
        start=start,
        end=end,
        fact=told_as(subject, quote, lead[0].text[lead[1] : lead[2]] if lead else ""),
        value=_SPACES.sub(" ", quote).strip(),
        said_at=statement.at,
        valid_at=so_since(statement, quote),
        episode_id=statement.episode_id,
        learned_at=statement.learned_at,
        confidence=round(judgement.likelihood, 4),
        begins_at=announced_for(statement, quote),
    )
    mark = blake2b(f"{statement.observation_id}\x1f{start}".encode(), digest_size=6).hexdigest()
    before = None if lead is None else _leading(evidence, *lead)
    terms = keywords(evidence.value)
    return FactCandidate(
        subject, f"{STATED}:{mark}", evidence.value, judgement.category, evidence, keywords=terms, lead=before
    )


def _leading(evidence: FactEvidence, lead: Statement, start: int, end: int) -> FactEvidence:
    words = replace(
        evidence,
        observation_id=lead.observation_id,
        start=start,
        end=end,
        value=_SPACES.sub(" ", lead.text[start:end]).strip(),
        said_at=lead.at,
        episode_id=lead.episode_id,
        learned_at=lead.learned_at,
    )
    return _led_by(evidence, words)


def _led_by(evidence: FactEvidence, words: FactEvidence) -> FactEvidence:
    """Return the place of words as what evidence is told behind."""
    return replace(
        words,
        fact=evidence.fact,
        valid_at=evidence.valid_at,
        confidence=evidence.confidence,
        corrects=evidence.corrects,
        ended_by=evidence.ended_by,
        leads_to=evidence.observation_id,
    )
