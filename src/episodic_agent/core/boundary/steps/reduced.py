"""A step as somebody told it: what was done, with what, where and when; as hashes, for `cues.py`.

Steps come in two grains. A *told* step is one act of seconds or minutes, put into words or naming what it was
done with: "pick up the mug", a sensor's "fridge door". A *sensed* one is a frame of a camera or a simulator,
ten a second, and its words are only what perception renders of it. Perception counts its frames and lists
what is in sight, so a step that carries either and nothing but rendered words is sensed: of these an
activity cannot be read.
"""

from base64 import b64decode, b64encode
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final, NamedTuple, cast
from zlib import crc32

from episodic_agent.core.boundary.steps.trail import label_of, names_in
from episodic_agent.core.ingest.words import content_of, renewed, step_words
from episodic_agent.core.language import tokens, words
from episodic_agent.schemas import Json, Observation

_TERMS, _THINGS, _LONGEST = 16, 6, 200  # of a step; characters of text that are read
_BYTES: Final = 3  # of a hash
_SEEN: Final = frozenset(("frame", "entities"))  # perception's count of its frames, and what it has in sight


class ToldStep(NamedTuple):
    """One told step; `at` in seconds since 1970 (None: not given), `place` and `action` 0 for none."""

    seq: int
    at: float | None
    place: int
    action: int
    things: frozenset[int]
    terms: frozenset[int]


def is_sensed(observation: Observation) -> bool:
    """Say whether a step is a frame of a sensor that nobody put into words."""
    extras = observation.extras
    if not _SEEN & extras.keys() or extras.get("objects"):
        return False
    rendered = step_words(
        {"action": extras.get("action"), "events": observation.events}, observation.location
    )
    text = renewed(observation.text, observation.events)
    return text.strip() in (rendered.strip(), "Nothing happens")


def reduce_step(observation: Observation, *, confident: bool = True) -> ToldStep | None:
    """Reduce a step to what its activity is read from; None where it was sensed.

    What it was done with is what it names, else the words of its text. `confident` False leaves out the
    place.
    """
    if is_sensed(observation):
        return None
    text = content_of(observation)[:_LONGEST]
    terms = [hashed(term) for term in dict.fromkeys(tokens(text))][:_TERMS]
    extras = observation.extras
    named = [hashed(name.casefold()) for name in names_in(extras.get("objects"))] or terms
    action = extras.get("action")
    done = action.strip() if isinstance(action, str) else ""
    label = label_of(observation) if confident else None
    return ToldStep(
        observation.seq,
        round(observation.at.timestamp(), 3) if observation.at_source.has_clock else None,
        hashed(label.casefold()) if label else 0,
        hashed(done.casefold() or next(iter(words(text)), "")),
        frozenset(named[:_THINGS]),
        frozenset(terms),
    )


@lru_cache(maxsize=65_536)
def hashed(word: str) -> int:
    """Return a word as a number of 24 bits: short when packed, and hardly ever that of another.

    >>> hashed("mug"), hashed("")
    (13695017, 0)
    """
    return crc32(word.encode("utf-8", "replace")) & 0xFFFFFF


def pack_hashes(hashes: Iterable[int]) -> str:
    """Return hashes in base64, four characters each.

    >>> pack_hashes([hashed("mug")]), unpack_hashes(pack_hashes([1, 2]))
    ('0Pgp', [1, 2])
    """
    return b64encode(b"".join([one.to_bytes(_BYTES, "big") for one in hashes])).decode()


def unpack_hashes(packed: Json) -> list[int]:
    """Undo `pack_hashes`."""
    raw = b64decode(cast(str, packed))
    return [int.from_bytes(raw[at : at + _BYTES], "big") for at in range(0, len(raw), _BYTES)]


def pack_step(step: ToldStep) -> Json:
    """Return a step as plain JSON."""
    things, terms = pack_hashes(sorted(step.things)), pack_hashes(sorted(step.terms))
    return [step.seq, step.at, step.place, step.action, things, terms]


def unpack_step(packed: Any) -> ToldStep:
    """Undo `pack_step`."""
    seq, at, place, action, things, terms = packed
    return ToldStep(seq, at, place, action, frozenset(unpack_hashes(things)), frozenset(unpack_hashes(terms)))
