"""How often a thread should be cut: what was expected so far against what is usual for its length.

Networks rank gaps well and miss how often to cut: on a kind of talk they never saw all probabilities of a
thread are too low or too high together. But how many topics a thread has depends far less on its kind than on
its length, and grows slower than it. So the sum of the probabilities so far is held against that.

Talk that carries its times is somebody's own, not a dialogue collected to be labelled: its sittings are
short, and what opens one is seldom over after a message or two. There a brief frame speaks against an end.
"""

import math
from typing import Final

_SCALE: Final = 0.7  # boundaries that n messages have so far, about _SCALE * n ** _GROWTH, in every set
_GROWTH: Final = 0.55
_WINDOW: Final = 100  # messages; beyond, a thread is judged by its newest
_LIKE: Final = 0.3  # boundaries added on both sides, so that little can be said of little
_STRENGTH: Final = 1.6
_LATE: Final = 10  # messages after which this is believed by half: a short talk may well have one topic
_MOST: Final = 0.8  # log-odds; a gap of probability .2 is never cut
_LEAST: Final = -2.0
_WELL: Final = 8  # messages; a frame of so many may end as well as a longer one
_EVEN: Final = 7  # messages after which a frame's length says nothing either way


def smoothed(position: int) -> float:
    """Return how many boundaries the first `position` messages of a thread usually have.

    >>> round(smoothed(12), 1), round(smoothed(26), 1), smoothed(100) == smoothed(9000)
    (2.7, 4.2, True)
    """
    return _SCALE * math.pow(min(position, _WINDOW), _GROWTH)


def counted(expected: float, probability: float, position: int) -> float:
    """Return the sum of probabilities with one more gap, faded as the window asks.

    >>> counted(2.0, 0.5, 10), counted(30.0, 0.5, 700)
    (2.5, 30.2)
    """
    value = expected if position < _WINDOW else expected * (1.0 - 1.0 / _WINDOW)
    return round(value + probability, 4)


def leaning(expected: float, position: int) -> float:
    """Return the log-odds to add to a gap's: above 0 where less was expected so far than is usual.

    >>> leaning(smoothed(20), 20), leaning(0.2, 20)
    (0.0, 0.8)
    """
    ratio = (smoothed(position) + _LIKE) / (expected + _LIKE)
    return min(_MOST, max(_LEAST, _STRENGTH * belief(position, _LATE) * math.log(ratio)))


def ripeness(size: int) -> float:
    """Return the log-odds that a frame of so many messages adds to its end: these odds grow as it does.

    >>> round(ripeness(1), 1), round(ripeness(4), 1), round(ripeness(8), 1), ripeness(500) == ripeness(8)
    (-1.9, -0.6, 0.1, True)
    """
    return math.log(min(max(size, 1), _WELL) / _EVEN)


def belief(messages: int, half: float) -> float:
    """Return how far a thread of so many messages is held to the usual number of boundaries.

    >>> belief(10, 10), belief(5, 10), round(belief(100, 10), 2)
    (0.5, 0.2, 0.99)
    """
    return messages * messages / (messages * messages + half * half)
