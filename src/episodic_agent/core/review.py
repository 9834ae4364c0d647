"""Judge how recalled episodes served in the turns after, and what that does to their strength.

Grades need no language model; a grade becomes stability, difficulty and a clock (FSRS-6, in `core.strength`).

**Rules of the room.**
1. Used is what an episode *brought*: words and runs of words that stood neither in the query nor in the talk
   before. Much of it is Good, some Hard.
2. Nothing taken up is no grade: silence proves nothing. Again needs an objection, of what was taken up or
   passed over for something else.
3. One grade an episode and day.
4. Again lowers the stability and leaves the clock, so that noise never ranks above its unreviewed twin;
   `seed-003` sets the clock, as its document says.
5. Days come in, state goes out; the tests compare with the `fsrs` package.

**To add** a sign of use, give `grade` a number for it and examples both of use and of mere repetition.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.episodes.languages import ASSISTANTS
from episodic_agent.core.language import tokens, words
from episodic_agent.core.links.outcomes import objects
from episodic_agent.core.strength import next_state
from episodic_agent.schemas.strength import Rating, Strength

MOST_TURNS: Final = 6  # observations after the answer that can still be about it
STRONG: Final = 0.35  # of what the episode brought, weighed by how few of the shown bring it
SOME: Final = 0.12
ENOUGH: Final = 8.0  # words' weight: of a long episode nobody repeats a third
RUN: Final = 4  # words in a row that nobody says by chance


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode as it was shown: its title, summary and the observations that made it a hit."""

    episode_id: UUID
    text: str


@dataclass(frozen=True, slots=True)
class FollowingTurn:
    """An observation of the asking thread after the answer."""

    actor: str
    text: str


@dataclass(frozen=True, slots=True)
class Grade:
    """How an episode served: the share of what it brought that was taken up, in [0, 1], and why."""

    episode_id: UUID
    rating: Rating
    uptake: float
    why: str


def grades(
    query: str, shown: Sequence[Shown], turns: Sequence[FollowingTurn], *, before: Sequence[str] = ()
) -> list[Grade]:
    """Return the grades of what was shown, in its order; an episode nobody took up has none.

    `turns` follow the answer in order, `before` is what the asking thread had said until then.

    >>> tap = Shown(UUID(int=1), "The kitchen tap drips; plumber Rossi came on Friday and charged 80 euros")
    >>> cello = Shown(UUID(int=2), "Clara plays the cello on Thursdays")
    >>> said = [FollowingTurn("assistant", "Plumber Rossi repaired it on Friday for 80 euros.")]
    >>> [(g.episode_id.int, g.rating.name) for g in grades("who fixed the tap?", [tap, cello], said)]
    [(1, 'GOOD')]
    """
    spoken_turns = list(turns[:MOST_TURNS])
    denied = next((n for n, turn in enumerate(spoken_turns) if _is_user(turn) and objects(turn.text)), None)
    known = set(tokens(query)).union(*map(tokens, before))
    brought = [set(tokens(one.text)) - known for one in shown]
    holders = Counter(term for terms in brought for term in terms)
    runs = [_runs(one.text) - _runs(" ".join((query, *before))) for one in shown]

    def uptake(place: int, turns: Sequence[FollowingTurn]) -> float:
        return _uptake(brought[place], runs[place], holders, " ".join(turn.text for turn in turns))

    if denied is None:
        marks = [uptake(place, spoken_turns) for place in range(len(shown))]
        return [_taken(one, mark) for one, mark in zip(shown, marks, strict=True) if mark >= SOME]
    until, after = spoken_turns[:denied], spoken_turns[denied:]
    instead = [uptake(place, after) for place in range(len(shown))]
    grades: list[Grade] = []
    for place, this_shown in enumerate(shown):
        contradicted = uptake(place, until)
        if instead[place] >= SOME:
            grades.append(_taken(this_shown, instead[place]))
        elif contradicted >= SOME:
            grades.append(Grade(this_shown.episode_id, Rating.AGAIN, contradicted, "the user objected to it"))
        elif max(instead) >= STRONG:
            grades.append(Grade(this_shown.episode_id, Rating.AGAIN, 0.0, "passed over for another"))
    return grades


def _taken(shown: Shown, uptake: float) -> Grade:
    rating = Rating.GOOD if uptake >= STRONG else Rating.HARD
    return Grade(shown.episode_id, rating, uptake, f"{uptake:.0%} of what it brought was taken up")


def _uptake(brought: set[str], runs: set[tuple[str, ...]], holders: Counter[str], text: str) -> float:
    """Return how much of what an episode brought is said; a run of its words is as much as can be."""
    if runs & _runs(text):
        return 1.0
    weights = {term: 1.0 / holders[term] for term in brought}
    total = min(math.fsum(weights.values()), ENOUGH)
    if total == 0.0:
        return 0.0
    taken = math.fsum(weights[term] for term in brought & set(tokens(text)))
    return min(1.0, taken / total)


def _runs(text: str) -> set[tuple[str, ...]]:
    """Return every run of words; one that holds no content is not worth finding."""
    line = words(text)
    texts = (tuple(line[n : n + RUN]) for n in range(len(line) - RUN + 1))
    return {run for run in texts if len(set(tokens(" ".join(run)))) >= RUN // 2}


def _is_user(turn: FollowingTurn) -> bool:
    return turn.actor.casefold() not in ASSISTANTS


SEED: Final = "seed-003"
_DAY: Final = 86_400.0


@dataclass(frozen=True, slots=True)
class Reviewed:
    """An episode's strength and its two clocks.

    `last_reviewed_at` is what retrievability counts from; `last_rated_at` when it was last rated at all.
    """

    strength: Strength
    last_reviewed_at: datetime
    last_rated_at: datetime | None = None


def reviewed(before: Reviewed, rating: Rating, at: datetime, *, policy: str = "default") -> Reviewed | None:
    """Return what an episode becomes by a rating at a record time; None where it was rated that day already.

    Days are those of UTC; a clock that was set back counts as the same day.

    >>> from datetime import UTC, timedelta
    >>> born = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> fresh = Reviewed(Strength(2.3065, 2.1181), born)
    >>> after = reviewed(fresh, Rating.GOOD, born + timedelta(days=1))
    >>> round(after.strength.stability, 4), after.last_reviewed_at.day
    (7.3153, 2)
    >>> reviewed(after, Rating.GOOD, born + timedelta(days=1, hours=3)) is None
    True
    """
    if before.last_rated_at is not None and at.date() <= before.last_rated_at.date():
        return None
    days = int(max(0.0, (at - before.last_reviewed_at).total_seconds()) // _DAY)
    after = next_state(before.strength.stability, before.strength.difficulty, days, rating)
    if rating is Rating.AGAIN and policy != SEED:
        return Reviewed(after, before.last_reviewed_at, at)
    return Reviewed(after, max(at, before.last_reviewed_at), at)
