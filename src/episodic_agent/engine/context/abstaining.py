"""Whether a message asks for what nothing here tells: then little is told of earlier talk.

A search abstains from such a question. A context would be filled with what is nearest all the same, as the
bar sinks with the budget, and whoever answers took the nearest for an answer. An elliptical message is no
such question, nor is one that goes on with what stands above it or with another talk.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core import recall as ranking
from episodic_agent.core.context.relevance import EarlierWords
from episodic_agent.core.episodes.languages import guess_language
from episodic_agent.core.language import words
from episodic_agent.core.language.scripts import BIGRAM_SCRIPTS
from episodic_agent.core.links.lexicon import cues
from episodic_agent.core.recall.alone import QUESTION_MARKS, asks
from episodic_agent.data import phrase_set
from episodic_agent.engine.deps import Deps

Floats = NDArray[np.float64]

_SURELY: Final = -4.0  # log-odds from which a line may bear on the message, be it abstained from
_NEVER: Final = 100.0  # log-odds that what may not be told loses
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
