"""What a frame of steps remembers of them: enough to label the episode, little enough to be packed.

A `StepNote` is one step reduced to what boundaries need; a `Trail` is the sum of the notes of an open frame.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from episodic_agent.core.boundary.steps.scoring import clamped, error_in
from episodic_agent.schemas import Json, Observation

UNKNOWN: Final = "unknown"
LONGEST_NAME: Final = 32  # characters of a label; places and things have short names
_PATH, _VOTES, _ENTITIES, _IN_A_STEP = 24, 12, 32, 6


class StepNote(NamedTuple):
    """One step: `at` in seconds since 1970 (None: not given), `label` None where the place is not known."""

    seq: int
    at: float | None
    label: str | None
    confidence: float
    error: float
    salient: int
    entities: tuple[str, ...]


def label_of(observation: Observation) -> str | None:
    """Return the step's place as it is written, trimmed; None for no place and for "unknown"."""
    name = (observation.location or "").strip()[:LONGEST_NAME]
    return None if name.casefold() in ("", UNKNOWN) else name


def entities_of(observation: Observation) -> tuple[str, ...]:
    """Return the names of the things a step has to do with: what it sees, else what it acts on."""
    return names_in(observation.extras.get("entities") or observation.extras.get("objects"))


def names_in(value: Json) -> tuple[str, ...]:
    """Return the names in a list of things, each once, as many as a step may have.

    >>> names_in(["mug", {"label": "cat"}, "mug", None]), names_in("mug")
    (('mug', 'cat'), ())
    """
    if not isinstance(value, Sequence) or isinstance(value, str):
        return ()
    names = dict.fromkeys(filter(None, map(_name_of, value)))
    return tuple(names)[:_IN_A_STEP]


def _name_of(entity: Json) -> str:
    if isinstance(entity, Mapping):
        keys = ("label", "name", "category", "type", "guid", "id")
        entity = next((entity[key] for key in keys if entity.get(key)), "")
    return str(entity).strip()[:LONGEST_NAME] if isinstance(entity, str | int) else ""


def error_of(observation: Observation) -> float | None:
    """Return the prediction error a step brings, in [0, 1]; None where it brings none."""
    if observation.prediction_error is not None:
        return clamped(observation.prediction_error)
    return error_in(observation.extras)


def note_of(observation: Observation, *, error: float, salient: int) -> StepNote:
    """Reduce a step to its note."""
    is_known = observation.at_source.has_clock
    confidence = observation.location_confidence
    return StepNote(
        observation.seq,
        round(observation.at.timestamp(), 3) if is_known else None,
        label_of(observation),
        1.0 if confidence is None else clamped(confidence),
        round(error, 6),
        salient,
        entities_of(observation),
    )


@dataclass(frozen=True, slots=True)
class Trail:
    """The steps of an open frame so far: `votes` by label, the `path` of labels, the `peak` error."""

    first_seq: int = 0
    steps: int = 0
    first_at: float | None = None
    salient: int = 0
    peak: float = 0.0
    votes: Mapping[str, float] = field(default_factory=dict)
    path: tuple[str, ...] = ()
    entities: Mapping[str, int] = field(default_factory=dict)

    def add(self, note: StepNote) -> "Trail":
        """Return the trail with one more step.

        >>> notes = StepNote(7, None, "hall", 0.4, 0.0, 0, ()), StepNote(8, None, "den", 0.9, 0.5, 1, ())
        >>> trail = Trail().add(notes[0]).add(notes[1])
        >>> trail.label, trail.path, trail.steps, trail.first_seq, trail.peak
        ('den', ('hall', 'den'), 2, 7, 0.5)
        """
        votes, path = self.votes, self.path
        if note.label is not None:
            label = _written(note.label, self.votes)
            votes = dict(votes) | {label: round(votes.get(label, 0.0) + note.confidence, 6)}
            votes = _largest(votes, _VOTES)
            if not path or path[-1] != label:
                path = (*path, label)[:_PATH]
        return Trail(
            self.first_seq if self.steps else note.seq,
            self.steps + 1,
            note.at if self.first_at is None else self.first_at,
            self.salient + note.salient,
            max(self.peak, note.error),
            votes,
            path,
            _counted(self.entities, note.entities),
        )

    @property
    def label(self) -> str:
        """Return the confidence-weighted mode of the places, the earlier one of equals; "unknown" if none."""
        return max(self.votes, key=self.votes.__getitem__, default=UNKNOWN)

    def detail(self) -> dict[str, Json]:
        """Return what an episode of these steps keeps as metadata."""
        return {
            "location": self.label,
            "location_path": list(self.path),
            "step_count": self.steps,
            "salient_events": self.salient,
            "entities": list(self.entities),
        }


def walk(notes: Iterable[StepNote], trail: Trail | None = None) -> Trail:
    """Return the trail of notes in order, after those already in `trail`."""
    trail = trail or Trail()
    for note in notes:
        trail = trail.add(note)
    return trail


def _written(label: str, votes: Mapping[str, float]) -> str:
    """Return the label as it was first written in this frame: "Kitchen" and "kitchen " are one place."""
    folded = label.casefold()
    return next((known for known in votes if known.casefold() == folded), label)


def _largest(votes: Mapping[str, float], most: int) -> Mapping[str, float]:
    if len(votes) <= most:
        return votes
    # the least likely of the known ones goes, never the newest: it would not have its chance
    weakest = min(list(votes)[:-1], key=votes.__getitem__)
    return {label: vote for label, vote in votes.items() if label != weakest}


def _counted(known: Mapping[str, int], names: Sequence[str]) -> Mapping[str, int]:
    if not names:
        return known
    counts = dict(known)
    for name in names:
        if name in counts or len(counts) < _ENTITIES:
            counts[name] = counts.get(name, 0) + 1
    return counts


def pack_trail(trail: Trail) -> Json:
    """Return the trail as plain JSON; `unpack_trail` undoes it exactly."""
    return [
        trail.first_seq,
        trail.steps,
        trail.first_at,
        trail.salient,
        trail.peak,
        [[label, vote] for label, vote in trail.votes.items()],
        list(trail.path),
        [[name, count] for name, count in trail.entities.items()],
    ]


def unpack_trail(packed: Any) -> Trail:
    """Rebuild a trail; raises TypeError or ValueError for what `pack_trail` did not make."""
    first, steps, at, salient, peak, votes, path, entities = packed
    return Trail(first, steps, at, salient, peak, dict(votes), tuple(path), dict(entities))


def unpack_note(packed: Any) -> StepNote:
    """Rebuild a note from JSON, where it is a list."""
    seq, at, label, confidence, error, salient, entities = packed
    return StepNote(seq, at, label, confidence, error, salient, tuple(entities))
