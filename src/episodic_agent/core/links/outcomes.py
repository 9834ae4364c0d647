"""What the user's next turns say about a linking decision: right, wrong, or nothing (seed 002, section 2.4).

Explicit words count 1, behaviour .5; silence and a bare "ok" label nothing.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from episodic_agent.core.language import tokens, words
from episodic_agent.core.language.phrases import phrase_pattern, unspaced_pattern
from episodic_agent.core.links.evidence import score
from episodic_agent.core.links.features import Features, ThreadFeatures, cues, own_words, recalls
from episodic_agent.core.links.policies import PAIRWISE, link_policy

CORRECT: Final = "CORRECT"
INCORRECT: Final = "INCORRECT"
EXPLICIT, BEHAVIOUR = 1.0, 0.5
MOST_TURNS: Final = 2
WINDOW: Final = timedelta(minutes=10)
GOES_ON: Final = 0.5  # probability that a turn belongs with what went before it
SWITCHES: Final = 0.35  # between the two nobody can tell

_DOUBTS: Final = re.compile(
    r"^\W*(?:which|what|welche\w*|qu[eé]|cu[aá]l\w*|quel\w*)\s+\S+\s*\?\?|^\W*(?:huh|hä|eh)\W*\?",
    re.IGNORECASE,
)
_BRIEF: Final = 2  # words of a part that says no of what stands before it
_PARTS: Final = re.compile(r"[.,;:!?…。，！？]+")


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A user's turn after a decision; `features` are what the evidence reads of it."""

    at: datetime
    text: str
    features: Features


@dataclass(frozen=True, slots=True)
class Outcome:
    """CORRECT, INCORRECT or None for nothing learnt; how strongly (1 words, .5 behaviour); and why."""

    label: str | None
    strength: float
    why: str


NOTHING: Final = Outcome(None, 0.0, "nothing was said about it")


def outcome_of(
    turns: Sequence[UserTurn],
    context: ThreadFeatures,
    *,
    linked: bool,
    decided_at: datetime,
) -> Outcome:
    """Return what the user's turns after a decision say about it.

    Only the first two turns within ten minutes of `decided_at` count. `context` is what the turns would go
    on with: the linked thread (where one was) with the message and the reply.

    >>> from episodic_agent.core.links.features import features_of, thread_of
    >>> from datetime import UTC
    >>> at = datetime(2026, 3, 2, 18, tzinfo=UTC)
    >>> said = "That's not what I meant"
    >>> turn = UserTurn(at + timedelta(minutes=1), said, features_of(said))
    >>> outcome_of([turn], thread_of("a", [(at, features_of("rain"))]), linked=True, decided_at=at).label
    'INCORRECT'
    """
    spoken_turns = [turn for turn in turns[:MOST_TURNS] if timedelta(0) <= turn.at - decided_at <= WINDOW]
    for turn in spoken_turns:  # words, wherever they stand, weigh more than what the first turn is about
        outcome = _in_words(turn.text, linked=linked)
        if outcome is not None:
            return outcome
    telling = [turn for turn in spoken_turns if not cues(turn.text).nothing]
    return _in_behaviour(telling[0], context, linked=linked) if telling else NOTHING


def _in_words(text: str, *, linked: bool) -> Outcome | None:
    if not linked:
        if reminds(text):
            return Outcome(INCORRECT, EXPLICIT, "the user says that it was talked about before")
        return None
    if denies(text):
        return Outcome(INCORRECT, EXPLICIT, "the user says that something else was meant")
    if _says("confirmation", text):
        return Outcome(CORRECT, EXPLICIT, "the user confirms what was recalled")
    return None


def reminds(text: str) -> bool:
    """Say whether a user speaks of an earlier conversation as one that both know of.

    >>> reminds("didn't we talk about the clutch last week?"), reminds("what does a clutch cost?")
    (True, False)
    """
    line = f" {' '.join(words(text))} "
    return _says("reminder", text, line) or recalls(text, line)


def denies(text: str) -> bool:
    """Say whether a user objects to what was recalled: something else was meant.

    >>> denies("No, that's not what I meant"), denies("That's the one, thanks")
    (True, False)
    """
    return denies_in_words(text) or _opens(text) or bool(_DOUBTS.search(text))


def objects(text: str) -> bool:
    """Say whether a user objects to an answer: something else was meant, or what it said is not so.

    >>> objects("No, that's wrong."), objects("Wrong, it was Bo!"), objects("Wrong numbers annoy.")
    (True, True, False)
    """
    return denies(text) or any(map(_says_wrong, _PARTS.split(text)))


def _says_wrong(part: str) -> bool:
    """Say whether a part of a sentence says, as a whole or with its first words, that something is not so."""
    line = f" {' '.join(words(part))} "
    alone = phrase_pattern("links/outcomes.objected").match(line)
    return (
        phrase_pattern("links/outcomes.objection").match(line) is not None
        or unspaced_pattern("links/outcomes.han.objection").match(part.strip()) is not None
        or (alone is not None and alone.end() == len(line) - 1)
    )


def denies_in_words(text: str) -> bool:
    """Say whether a user objects in words that mean nothing else, wherever they stand.

    >>> denies_in_words("that's not what I meant"), denies_in_words("I wanted the blue one")
    (True, False)
    """
    return _says("denial", text)


def only_denies(text: str) -> bool:
    """Say whether a user objects and says nothing else that could go on with anything.

    >>> only_denies("No, that's not what I meant!"), only_denies("No, not that, the pottery class")
    (True, False)
    """
    if not denies(text):
        return False
    line = f" {' '.join(words(unspaced_pattern('links/outcomes.han.denial').sub(' ', text)))} "
    for address in ("links/outcomes.denial", "links/outcomes.denial_opening"):
        line = phrase_pattern(address).sub(" ", line)
    return not tokens(own_words(line))


def meant(text: str) -> str:
    """Return what a user who objects says to be meant, without the words that object and what they object to.

    >>> meant("No, not that, I mean the fence by the garage"), meant("that's not what I meant")
    ('the fence by the garage', '')
    >>> meant("不是书架，我说的是窗帘"), meant("Nein, nicht das Regal. Der Zaun!")
    ('窗帘', 'Der Zaun')
    """
    return " ".join(filter(None, map(_meant_in, _PARTS.split(text)))).strip()


def _meant_in(part: str) -> str:
    """Return what is meant of a part between two signs; "" where it is a denial."""
    unspaced = unspaced_pattern("links/outcomes.han.meaning").search(part)
    if unspaced is not None:
        return part[unspaced.end() :].strip()
    line, no = f" {' '.join(words(part))} ", phrase_pattern("links/outcomes.no")
    named = phrase_pattern("links/outcomes.meaning").search(line)
    if named is not None:
        denied, after = phrase_pattern("links/outcomes.denial").search(line), line[named.end() :]
        negated = denied is not None and denied.start() < named.start() < denied.end()  # "no me refiero a"
        return "" if negated or no.match(after) else after.strip()
    says_no = no.match(line) or unspaced_pattern("links/outcomes.han.no").match(part.strip())
    brief = len(line.split()) <= _BRIEF and no.search(line)  # "eso no", "das nicht"
    return "" if says_no or brief or denies_in_words(part) or _opens(part) else part.strip()


def _in_behaviour(turn: UserTurn, context: ThreadFeatures, *, linked: bool) -> Outcome:
    if not linked:
        return Outcome(CORRECT, BEHAVIOUR, "the user goes on without missing anything")
    probability = score(turn.features, context, turn.at, link_policy(PAIRWISE)).score
    if probability >= GOES_ON:
        return Outcome(CORRECT, BEHAVIOUR, "the user goes on with it")
    if probability <= SWITCHES or cues(turn.text).new_subject:
        return Outcome(INCORRECT, BEHAVIOUR, "the user turns to something else")
    return NOTHING


def _says(name: str, text: str, line: str | None = None) -> bool:
    line = f" {' '.join(words(text))} " if line is None else line
    if phrase_pattern(f"links/outcomes.{name}").search(line):
        return True
    return unspaced_pattern(f"links/outcomes.han.{name}").search(text) is not None


def _opens(text: str) -> bool:
    """Say whether a sentence of the text, or a part after a comma, opens with a denial."""
    opening = phrase_pattern("links/outcomes.denial_opening")
    return any(opening.match(f" {' '.join(words(part))} ") for part in _PARTS.split(text))
