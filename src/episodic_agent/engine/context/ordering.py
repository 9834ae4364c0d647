"""Let the newest of what answers stand first where a message asks for it: "When did I last", "Where is".

What is done every day stands in a memory in the same words a hundred times, and as good as each other; asked
for is one of them. Behind a question that was asked before stands its answer: that comes along.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.relevance import EarlierWords
from episodic_agent.core.context.telling import BAR, QuotedText, Spot
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
_COMPARED: Final = 80  # outputs of tools, the likeliest to be told, of which one may say what another says
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


def newest_rounds(
    quotes: Sequence[QuotedText], texts: Sequence[Observation], *, talk: bool
) -> list[QuotedText]:
    """Let the newest of the same steps stand for all, with the worth of the best, and of what asked for them.

    A robot does its rounds every day in the same words: told are those of the last time, not of the first.
    `talk`: so with all talk, where the last time is asked for.
    """
    steps = {(item.thread_id, item.seq) for item in texts if item.kind is Kind.STEP}
    newest: dict[tuple[str, str], QuotedText] = {}
    result: list[QuotedText] = []
    for quote in quotes:
        here, behind = ((quote.thread_id, quote.first_seq + n) in steps for n in (0, 1))
        if not (here or behind or talk):
            result.append(quote)
            continue
        key = (quote.speaker, quote.text.casefold())
        other = newest.get(key, quote)
        worth = max(quote.worth, other.worth)
        newest[key] = replace(max(other, quote, key=lambda one: (one.at, one.first_seq)), worth=worth)
    return [*result, *newest.values()]


def newest_outputs(quotes: Sequence[QuotedText], texts: Sequence[Observation]) -> list[QuotedText]:
    """Let the newest of a tool's outputs that say the same stand for all, with the worth of the best."""
    tools = {(item.thread_id, item.seq) for item in texts if item.kind is Kind.TOOL}
    best = sorted((one for one in quotes if one.spot in tools), key=lambda one: -one.worth)[:_COMPARED]
    outputs = sorted(best, key=lambda one: (one.at, one.thread_id, one.first_seq))
    worths: dict[Spot, float] = {}
    for output, place in zip(outputs, ranking.newest_outputs([one.text for one in outputs]), strict=True):
        spot = outputs[place].spot
        worths[spot] = max(worths.get(spot, output.worth), output.worth)
    repeats = {one.spot for one in outputs} - set(worths)
    return [replace(q, worth=worths.get(q.spot, q.worth)) for q in quotes if q.spot not in repeats]


def _relevance(seen: EarlierWords) -> Floats:
    """Return how well texts answer a message by its own words and meaning, whatever else is told of them."""
    total = np.zeros(len(seen.words))
    for values in (seen.words, seen.cosine):
        positive = np.maximum(values, 0.0)
        total += positive / (float(positive.max(initial=0.0)) or 1.0)
    return total
