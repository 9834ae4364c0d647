"""Switch off one family of a boundary model's inputs: what its network reads there is its usual value.

A network standardises every cue by its mean in the training material. A cue that is switched off, and its
running mean in the thread, are set to that mean, which is 0 after standardising; this is done exactly by
zeroing their columns of the first layer. Nothing is trained anew: a figure says how much the model leans on
a family, not what a model made without it could do. Rules beside the network (an acknowledgement opens
nothing, six hours of silence always cut, the longest episode) stay in force, but for "clock and idle rule".
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from benchmarks.baselines import Floats
from episodic_agent.core.boundary.conversation.gap import ALL
from episodic_agent.core.boundary.conversation.model import KNOTS, BoundaryModel, Network
from episodic_agent.errors import InvalidInput

_ASKING: Final = {"asks", "asks_last", "turns_to_ask", "wh", "yes_no", "requests"}
_MARKERS: Final = {"shifts", "continues", "anaphora", "agrees", "ack"}
_MANNERS: Final = {"greets", "closes", "thanks"}
_ADDRESS: Final = {"you", "own"}
_SIZES: Final = {"length", "content"}
_SPEECH: Final = {
    **dict.fromkeys(_ASKING, "questions and answers"),
    **dict.fromkeys(_MARKERS, "discourse markers"),
    **dict.fromkeys(_MANNERS, "greetings, thanks, closings"),
    **dict.fromkeys(_ADDRESS, "you and I"),
    **dict.fromkeys(_SIZES, "length of messages"),
}
_HABITS: Final = {
    "same": "speakers", "opener": "speakers", "user": "speakers", "assistant": "speakers",
    "speakers": "speakers", "frame": "length of the episode", "one": "length of the episode",
    "two": "length of the episode", "three": "length of the episode", "length": "length of messages",
    "again": "returning words", "never": "returning words", "unseen": "novelty", "words": "shared words",
    "depth": "depth of the valley",
}  # fmt: skip
_WHOLE: Final = {
    "z L1~R0": "vector similarity", "z frame~R0": "vector similarity", "z unseen": "novelty",
    "best": "vector similarity", "mean length": "means of the thread", "mean acks": "means of the thread",
    "mean unseen": "means of the thread",
}  # fmt: skip

ALL_VECTORS: Final = "all of vectors"
HABITS: Final = "cues against their running mean"
THREAD_LENGTH: Final = "length of the thread"
CLOCK: Final = "clock"
CLOCK_AND_IDLE: Final = "clock and idle rule"
_SILENT_CLOCK: Final = (0.0,) * len(KNOTS)  # the log-odds of the content as they stand


def family_of(cue: str) -> str:
    """Return the family of a cue by its name; a cue nobody has placed is "other".

    >>> family_of("words A2~R0"), family_of("L1~R0"), family_of("greets R1"), family_of("of tomorrow")
    ('shared words', 'vector similarity', 'greetings, thanks, closings', 'other')
    """
    first = cue.split(maxsplit=1)[0]
    if cue in _WHOLE:
        return _WHOLE[cue]
    if first in _HABITS:
        return _HABITS[first]
    if "~" in cue:
        return "vector similarity"
    return _SPEECH.get(first, "other")


def families() -> dict[str, list[int]]:
    """Return the places of each family's cues among `ALL`; every cue is in one."""
    indexes: dict[str, list[int]] = {}
    for place, cue in enumerate(ALL):
        indexes.setdefault(family_of(cue), []).append(place)
    return indexes


def ablations(usual_length: float) -> dict[str, Callable[[BoundaryModel], BoundaryModel]]:
    """Return what is switched off, by name: each family of cues, then what every cue is read against.

    `usual_length` is the mean over the training material of the log of how long a thread is at a gap.
    """
    by_family = families()
    vectors = [place for name in ("vector similarity", "depth of the valley") for place in by_family[name]]
    return {
        **{name: _without_cues(places) for name, places in by_family.items()},
        ALL_VECTORS: _without_cues(vectors),
        HABITS: _without_habits,
        THREAD_LENGTH: lambda model: _without_length(model, usual_length),
        CLOCK: lambda model: replace(model, time=_SILENT_CLOCK),
        CLOCK_AND_IDLE: lambda model: replace(model, time=_SILENT_CLOCK),  # whoever judges drops the rule
    }


def _without_cues(places: list[int]) -> Callable[[BoundaryModel], BoundaryModel]:
    """Switch off cues both as they stand and as what is usual for them in the thread."""

    def change(network: Network) -> Network:
        cues = _cues_of(network)
        mine = [place for place in places if place < cues]
        return _silenced(network, [*mine, *(cues + place for place in mine)])

    return lambda model: replace(model, networks=_changed(model.networks, change))


def _without_habits(model: BoundaryModel) -> BoundaryModel:
    """Read every cue as in a thread whose habits are those of the training material."""
    return replace(
        model,
        networks=_changed(model.networks, lambda n: _silenced(n, range(_cues_of(n), 2 * _cues_of(n)))),
    )


def _without_length(model: BoundaryModel, baseline: float) -> BoundaryModel:
    """Read every thread as one of the usual length.

    This input is not centred as the others are: what its usual value adds goes into the bias.
    """

    def change(network: Network) -> Network:
        last = 2 * _cues_of(network)
        reads = (baseline - network.shift[last]) * network.factor[last]
        return _silenced(network, [last])._replace(bias=network.bias + network.hidden[:, last] * reads)

    return replace(model, networks=_changed(model.networks, change))


def _changed(networks: Mapping[str, Network], change: Callable[[Network], Network]) -> dict[str, Network]:
    return {name: change(network) for name, network in networks.items()}


def _cues_of(network: Network) -> int:
    """Return how many cues a network reads; InvalidInput for a network of another build."""
    cues, rest = divmod(network.hidden.shape[1] - 1, 2)
    if rest or cues > len(ALL):
        raise InvalidInput("a network reads cues, their means and the thread's length; update cue_families")
    return cues


def _silenced(network: Network, columns: "range | list[int]") -> Network:
    hidden: Floats = network.hidden.copy()
    hidden[:, list(columns)] = 0.0
    return network._replace(hidden=hidden)
