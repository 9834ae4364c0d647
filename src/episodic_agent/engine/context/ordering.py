"""Let the newest of what answers stand first where a message asks for it: "When did I last", "Where is".

What is done every day stands in a memory in the same words a hundred times, and as good as each other; asked
for is one of them. Behind a question that was asked before stands its answer: that comes along.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from episodic_agent.core.context.relevance import EarlierWords
from episodic_agent.core.context.telling import BAR
from episodic_agent.core.episodes.tries import is_task
from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.steps import FAILURE, SUCCESS
from episodic_agent.core.recall.alone import QUESTION_MARKS
from episodic_agent.core.recall.order import Order, order_match
from episodic_agent.core.recall.places import SoughtThing, sightings, tells_where
from episodic_agent.schemas import Kind, Observation

_FIRST_BY: Final = 1e-3  # log-odds: what is asked for stands first, and no further above the rest
_ABOVE: Final = 0.5  # log-odds above the bar for what holds the question's words, and is the newest that does
_HOLDS: Final = 0.5  # share of the question's words by rarity
_BEHIND: Final = 0.5  # log-odds that an answer stands behind its question
_LEAST: Final = 0.1  # of a match: the third and fourth time are worth a look, not all there were
Floats = npt.NDArray[np.float64]


def in_order(
    worths: Floats,
    order: Order | None,
    texts: Sequence[Observation],
    seen: EarlierWords,
    thing: SoughtThing | None,
    message: str,
) -> Floats:
    """Return worths with the newest (oldest) of what answers first, as far as it is shown.

    What was said or done in one sitting is one occasion. `thing` is what a message asks the place of.
    """
    if order is None:
        return _with_what_worked(worths, message, texts)
    moments, relevance = np.array([item.at.timestamp() for item in texts]), _relevance(seen)
    row_of = {(item.thread_id, item.seq): row for row, item in enumerate(texts)}
    sighted = np.zeros(len(texts), np.bool_)
    if order.of_places:
        beside = {spot: texts[row] for spot, row in row_of.items()}
        sighted |= np.array(sightings(thing, texts, beside) if thing else False)
        telling = sighted if sighted.any() else np.array([tells_where(item.text) for item in texts])
        moments = np.where(telling, moments, np.nan)
        relevance = np.where(sighted, relevance.max(initial=0.0), relevance)
    match = order_match(order, relevance, moments, seen.sitting)
    match /= float(match.max(initial=0.0)) or 1.0
    lifted = worths.copy()
    rows = np.flatnonzero(match >= _LEAST)
    top = float(worths.max()) + _FIRST_BY
    firsts = np.where((seen.held[rows] >= _HOLDS) | sighted[rows], max(top, BAR + _ABOVE), top)
    lifted[rows] = np.maximum(lifted[rows], firsts + np.log(match[rows]))
    for row in rows.tolist():
        item = texts[row]
        behind = row_of.get((item.thread_id, item.seq + 1))
        if behind is not None and any(mark in item.text for mark in QUESTION_MARKS):
            lifted[behind] = max(lifted[behind], lifted[row] - _BEHIND)
    return lifted


def _with_what_worked(worths: Floats, message: str, texts: Sequence[Observation]) -> Floats:
    """Let what worked last stand first where a message asks to do what steps tried, and some failed."""
    tried = [
        (item.at, row, outcome)
        for row, item in enumerate(texts)
        if item.kind is Kind.STEP and (outcome := outcome_of_step(item)) and is_task(message, item)
    ]
    worked = [(at, row) for at, row, outcome in tried if outcome == SUCCESS]
    if not worked or all(outcome != FAILURE for *_, outcome in tried):
        return worths
    lifted = worths.copy()
    _, row = max(worked)
    lifted[row] = max(float(worths.max()), BAR) + _ABOVE
    return lifted


def _relevance(seen: EarlierWords) -> Floats:
    """Return how well texts answer a message by its own words and meaning, whatever else is told of them."""
    total = np.zeros(len(seen.words))
    for values in (seen.words, seen.cosine):
        positive = np.maximum(values, 0.0)
        total += positive / (float(positive.max(initial=0.0)) or 1.0)
    return total
