"""A built-in sense of what to expect: which things are where, in which state, learnt while going.

Each place keeps what was seen there. A thing seen at every recent visit is *expected*, and surprising when
it is missing; a thing never seen there is *unexpected*, the more so the longer nothing new turned up; a
thing that was always closed and now stands open has *changed*. Each such thing i gives a mismatch m_i in
[0, 1], and the prediction error of the step is 1 - prod(1 - m_i).

An agent sees only part of a room, so nothing is expected that came and went: presence is a rate that
forgets, and only nearly certain presence counts. Turning round surprises once, not for ever.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, NamedTuple
from zlib import crc32

from episodic_agent.schemas import Json

RATE: Final = 0.2  # how fast presence, steadiness and novelty follow: the newest five looks count most
SURE: Final = 0.8  # presence over this is an expectation
NEW, CHANGED = 0.5, 0.6  # the mismatch of a thing that is new, or in another state, where nothing ever was
_PLACES, _THINGS = 12, 16  # with more, the longest unvisited place and the least present things are forgotten
_NAMES: Final = ("guid", "id", "label", "name", "category", "type")
_STATES: Final = ("state", "interactable_state")
_VISIBLE: Final = ("visible", "is_visible")


class Thing(NamedTuple):
    """One known thing of a place: its presence in recent looks, its last state and how steady that is."""

    presence: float
    state: int
    steady: float


@dataclass(frozen=True, slots=True)
class Room:
    """What is known of one place; `novelty` is the recent share of looks that showed something new."""

    novelty: float = 1.0
    things: Mapping[int, Thing] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Expectations:
    """What is known of all places, the one visited last at the end."""

    rooms: Mapping[str, Room] = field(default_factory=dict)


def look(extras: Mapping[str, Json]) -> dict[int, int] | None:
    """Return the visible things of a step as hashes, each with the hash of its state; None if it has none.

    Only `entities` are what an agent sees; `objects` are what it acts on, and say nothing of the rest.

    >>> look({"entities": ["mug", {"label": "door", "state": "open"}, {"label": "cat", "visible": False}]})
    {1053882409: 0, 2330285101: 33700}
    >>> look({"objects": ["mug"]}) is None
    True
    """
    arguments = extras.get("entities")
    if not isinstance(arguments, Sequence) or isinstance(arguments, str):
        return None
    seen: dict[int, int] = {}
    for entity in arguments:
        own: Mapping[str, Json] = entity if isinstance(entity, Mapping) else {"label": entity}
        name = next((own[key] for key in _NAMES if own.get(key) not in (None, "")), None)
        if name is None or any(own.get(key) is False for key in _VISIBLE):
            continue
        state = next((own[key] for key in _STATES if own.get(key) is not None), None)
        seen[crc32(str(name).casefold().encode())] = (
            0 if state is None else crc32(str(state).encode()) & 0xFFFF
        )
    return seen


def predict(known: Expectations, place: str | None, seen: Mapping[int, int] | None) -> float:
    """Return the prediction error of a look at a place, in [0, 1]; 0 where nothing was ever learnt.

    >>> known = Expectations()
    >>> for _ in range(12):
    ...     known = learn(known, "kitchen", {1: 10, 2: 20})
    >>> predict(known, "kitchen", {1: 10, 2: 20}), predict(known, "hall", {7: 0})
    (0.0, 0.0)
    >>> predict(known, "kitchen", {1: 10}) > 0.6, predict(known, "kitchen", {1: 11, 2: 20}) > 0.4
    (True, True)
    """
    room = known.rooms.get(_key(place))
    if room is None or seen is None:
        return 0.0
    return round(1.0 - _foreseen(room, seen), 4)


def learn(known: Expectations, place: str | None, seen: Mapping[int, int] | None) -> Expectations:
    """Return the expectations after one more look at a place."""
    if seen is None:
        return known
    rooms = dict(known.rooms)
    room = rooms.pop(_key(place), Room())
    new = any(thing not in room.things for thing in seen)
    things = {key: _followed(thing, seen.get(key)) for key, thing in room.things.items()}
    # the first look at a thing counts as presence 1, or a place would be learnt only after many
    things |= {key: Thing(1.0, state, 0.5) for key, state in seen.items() if key not in things}
    if len(things) > _THINGS:
        limits = sorted(things, key=lambda key: (-things[key].presence, key))[:_THINGS]
        things = {key: things[key] for key in things if key in set(limits)}
    rooms[_key(place)] = Room(_toward(room.novelty, float(new)), things)
    if len(rooms) > _PLACES:
        rooms = dict(list(rooms.items())[-_PLACES:])
    return Expectations(rooms)


def _foreseen(room: Room, seen: Mapping[int, int]) -> float:
    """Return how far a look was foreseen: the product of what each mismatch leaves, in [0, 1]."""
    settled = 1.0 - room.novelty  # while a place is being explored, little of it can surprise
    left = 1.0
    for key, thing in room.things.items():
        state = seen.get(key)
        if state is None:
            if thing.presence > SURE:
                left *= 1.0 - settled * ((thing.presence - SURE) / (1.0 - SURE))
        elif state != thing.state:
            left *= 1.0 - CHANGED * thing.steady
    for key in seen:
        if key not in room.things:
            left *= 1.0 - NEW * settled
    return left


def _followed(thing: Thing, state: int | None) -> Thing:
    if state is None:
        return Thing(_toward(thing.presence, 0.0), thing.state, thing.steady)
    same = state == thing.state
    if same and thing.presence == thing.steady == 1.0:
        return thing  # most things of a known place, at most steps
    return Thing(_toward(thing.presence, 1.0), state, _toward(thing.steady, float(same)))


@lru_cache(maxsize=4096)  # every value is a whole number of thousandths
def _toward(value: float, goal: float) -> float:
    return round(value + RATE * (goal - value), 3)


def _key(place: str | None) -> str:
    return (place or "").strip().casefold()


def pack_expectations(known: Expectations) -> Json:
    """Return the expectations as plain JSON."""
    return [
        [place, room.novelty, [[key, *thing] for key, thing in room.things.items()]]
        for place, room in known.rooms.items()
    ]


def unpack_expectations(packed: Any) -> Expectations:
    """Undo `pack_expectations`."""
    rooms: dict[str, Room] = {}
    for place, novelty, things in packed:
        known = {int(key): Thing(presence, int(state), steady) for key, presence, state, steady in things}
        rooms[place] = Room(novelty, known)
    return Expectations(rooms)
