"""How likely an episode tells of a matter that is asked for by a few words.

The curve that says whether a question is answered asks for all of it: of "job at Lumeo" it knows one
evening, the one that says both words. What came of the matter holds one of them, and means it. So beside that
curve stands this one, which reads the share of the words together with how far the meaning stands out.
"""

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from math import exp
from statistics import median
from typing import Final

LEAST_HELD: Final = 0.2  # of the topic's words: under it one that everybody says is all there is
# Most that messages about anything are near a topic: in a memory of one matter alone all of them are near.
MOST_BACKGROUND: Final = 0.15
# Share of the words, how far the cosine stands out, and the bar. Set on a labelled life of 41 episodes and 38
# topics, and tried on the stories of tests/scenarios/arcs: the numbers stand in docs/internals/chains.md.
_HELD, _OUTSTANDING, _BAR = 8.0, 6.0, 4.75
LEAST_NAMED: Final = 2  # episodes of a matter that hold a name before it is one of the matter's


def background(cosines: Iterable[float]) -> float:
    """Return how near messages about anything else are to a topic, by all that were looked through.

    >>> background([0.5, 0.1, 0.08]), background([0.6, 0.5]), background([])
    (0.1, 0.15, 0.0)
    """
    known = list(cosines)
    return min(max(median(known), 0.0), MOST_BACKGROUND) if known else 0.0


def told_of(held: float, cosine: float, elsewhere: float = 0.0) -> float:
    """Return the probability that a matter is told of where a share of its words and its meaning stand.

    >>> round(told_of(0.45, 0.45, 0.1), 2), round(told_of(0.5, 0.1, 0.1), 2), told_of(0.1, 0.9)
    (0.72, 0.32, 0.0)
    """
    if held < LEAST_HELD:
        return 0.0
    return 1 / (1 + exp(_BAR - _HELD * held - _OUTSTANDING * (cosine - elsewhere)))


def names_of_matter(
    holding: Mapping[str, Sequence[Hashable]], frequencies: Mapping[str, int], besides: Collection[str] = ()
) -> dict[str, float]:
    """Return the names that most often stand where a matter is told of, each with the share that does.

    `holding` has for each name the episode of every message about the matter that holds it, `frequencies`
    count all messages that do. Where a flat was looked at in Plagwitz, "the Plagwitz thing is dead" tells of
    it without the word. A name of one talk alone may be anything's.

    >>> names_of_matter({"plagwitz": "ab", "leon": "aa", "jona": "ab"}, {"plagwitz": 3, "leon": 2, "jona": 9})
    {'plagwitz': 0.6666666666666666}
    """
    shares = {
        name: len(episodes) / max(frequencies.get(name, 0), len(episodes))
        for name, episodes in holding.items()
        if len(set(episodes)) >= LEAST_NAMED and name not in besides
    }
    return {name: share for name, share in shares.items() if share > 0.5}
