"""How a message wants earlier talk told: at all or hardly, the newest first, and under whose name.

A search abstains from a question for what nothing here tells. A context would be filled with what is nearest
all the same, as the bar sinks with the budget, and whoever answers took the nearest for an answer: then
little is told. An elliptical message is no such question, nor is one that goes on with what stands above it
or with another talk.

The newest of what answers stands first where a message asks for it: "When did I last", "Where is". What is
done every day stands in a memory in the same words a hundred times, and as good as each other; asked for is
one of them. Behind a question that was asked before stands its answer: that comes along. Under which name a
line is told says whose promise it is, and so what it is worth.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.relevance import EarlierWords
from episodic_agent.core.context.telling import BAR, TOOL, QuotedText, Spot
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.episodes.steps import is_task
from episodic_agent.core.facts.speakers import is_owner
from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.words import FAILURE, SUCCESS
from episodic_agent.core.language import words
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS
from episodic_agent.core.links.features import cues
from episodic_agent.core.recall.alone import QUESTION_MARKS, asks
from episodic_agent.core.recall.order import Order, order_match
from episodic_agent.core.recall.places import SoughtThing, sightings, tells_where
from episodic_agent.core.threads.turns import AGENTS, is_reply
from episodic_agent.data import phrase_set
from episodic_agent.engine.deps import Deps
from episodic_agent.schemas import Kind, Observation, Scope

Floats = NDArray[np.float64]

_SURELY: Final = -4.0  # log-odds from which a line may bear on the message, be it abstained from
_NEVER: Final = 100.0  # log-odds that what may not be told loses
_COMPARED: Final = 80  # outputs of tools, the likeliest to be told, of which one may say what another says
_FEWEST: Final = 2  # terms: "how was it?" presupposes what is meant


def says_nothing(text: str) -> bool:
    """Tell whether a message thanks, agrees or greets, and no more: what stands above it answers it.

    >>> says_nothing("Morning!"), says_nothing("ok, thanks"), says_nothing("The morning shift")
    (True, True, False)
    """
    return cues(text).nothing or " ".join(words(text)) in phrase_set("language/coming.greetings")


def is_unanswered(deps: Deps, text: str, at: datetime, seen: EarlierWords, documents: int) -> bool:
    """Tell whether a message asks, or is a word to look for, and a search of as many texts would abstain."""
    query = ranking.analyse(text, (), at, language=deps.language or guess_language(text))
    is_question = asks(text) and not seen.links.any() and _says_what(text, seen)
    # where words stand without spaces one may be a whole request
    is_word = query.literal and query.script not in BIGRAM_SCRIPTS and len(words(text)) == 1
    known = deps.calibration is not None or deps.embedder_name.startswith(ranking.CALIBRATED_FOR)
    # cosines on no known scale tell what is nearest, and not whether that is near
    if not (is_question or is_word) or (seen.cosine.any() and not known):
        return False
    every = ranking.Candidates(
        [""] * len(seen.words),
        seen.words,
        seen.cosine,
        held=seen.held,
        phrase=(seen.held >= 1.0).astype(np.float64),
    )
    share = ranking.measured_share(query, every, known=known)
    sure = ranking.answerability(query, every, 0.0, known=known, share=share, documents=documents)
    return sure < ranking.RECALL_2027_01.threshold


def _says_what(text: str, seen: EarlierWords) -> bool:
    """Tell whether a question says what it asks for: in two terms, or in one that nobody here said yet.

    With a mark: "what a day" asks nothing.
    """
    read, marked = cues(text), text.rstrip().endswith(QUESTION_MARKS)
    alone = seen.terms == 1 and not seen.held.any() and not (read.continuation or read.anaphora)
    return seen.terms >= _FEWEST or (marked and alone)


def without_unsure(worths: Floats, refs: Sequence[int]) -> Floats:
    """Return worths by which nothing is told but what surely bears on the message, and what follows it.

    The message behind such a line may put it right ("sorry, I meant 120"): it is told with that or not.
    """
    every, sure = np.array(refs), worths >= _SURELY
    return np.where(sure | np.isin(every, every[sure] + 1), worths, worths - _NEVER)


_FIRST_BY: Final = 1e-3  # log-odds: what is asked for stands first, and no further above the rest
_ABOVE: Final = 0.5  # log-odds above the bar for what holds the question's words, and is the newest that does
_HOLDS: Final = 0.5  # share of the question's words by rarity
_BEHIND: Final = 0.5  # log-odds that an answer stands behind its question
_LEAST: Final = 0.1  # of a match: the third and fourth time are worth a look, not all there were


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


ASSISTANT: Final = "assistant"
AGENT: Final = "agent"
SEVERAL: Final = 2  # people, of whom each is named


def are_named(observations: Iterable[Observation]) -> bool:
    """Tell whether each line names who said it: several people write in what may be told.

    So it is where an agent with a name answers one, who could begin a line of their own with that name.
    """
    people = set()
    for observation in observations:
        if is_named_agent(observation):
            return True
        if not is_reply(observation):
            people.add(observation.actor)
    return len(people) >= SEVERAL


def told_by(observation: Observation, *, whose: Scope, here: Sequence[Observation], named: bool) -> str:
    """Return under which name a line of an earlier talk is told.

    It is "" for the memory's own user and for who writes `here`, unless all are `named`.
    """
    own = is_owner(observation, whose.user_id) or any(one.actor == observation.actor for one in here)
    return replier(observation) or (observation.actor if named or not own else "")


def replier(observation: Observation) -> str:
    """Return under which name a reply is told: "tool", "assistant" or the agent's own, "" for none."""
    if not is_reply(observation):
        return ""
    if observation.kind is Kind.STEP:
        return observation.actor or AGENT  # as every other list calls it
    if observation.kind is Kind.TOOL:
        return TOOL
    return observation.actor if is_named_agent(observation) else ASSISTANT


def is_named_agent(observation: Observation) -> bool:
    """Tell whether somebody speaks for the agent under a name of their own, as people at a desk do."""
    is_message = observation.kind is Kind.MESSAGE
    return is_message and is_reply(observation) and observation.actor.casefold() not in AGENTS


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
