"""The words of an episode of steps: titled by its place, told by what happened, in order.

What its steps tried came out somehow: which failed for good, and what made one right. A later step is another
try at the same when it does the same, is done with the thing the first was done with, or does like it to
something both name: "look on the table for the keys" failed, "look under the couch for the keys" came right.
A way round ("put the mugs into the sink instead") makes nothing right.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Final, NamedTuple

from episodic_agent.core.boundary.steps.events import SALIENT, kind_of
from episodic_agent.core.boundary.steps.trail import UNKNOWN, label_of, note_of, walk
from episodic_agent.core.episodes.clauses import tame
from episodic_agent.core.episodes.languages import content_terms
from episodic_agent.core.failing import outcome_of_step
from episodic_agent.core.ingest.words import (
    FAILURE,
    ONGOING,
    PARTIAL,
    SUCCESS,
    content_of,
    event_words,
    renewed,
)
from episodic_agent.core.language import plural, sentences, tokens
from episodic_agent.schemas import Json, Kind, Observation

_FEWEST: Final = 2  # words that a request shares with a step that does it
_REACH: Final = 64  # steps behind one among which another try at it is looked for
_LEAST: Final = 0.5  # share of what a step without objects names that another try at it names too


class Try(NamedTuple):
    """A step that says how it ended: its place among the observations, its outcome, and what made it right.

    `righted` is the place of the first later try that succeeded; None where none did, or nothing failed.
    """

    place: int
    outcome: str
    righted: int | None = None


def tries(observations: Sequence[Observation]) -> list[Try]:
    """Return the steps that say how they ended, in order."""
    ended = [
        (place, one, outcome)
        for place, one in enumerate(observations)
        if one.kind is Kind.STEP and (outcome := outcome_of_step(one))
    ]
    results: list[Try] = []
    for number, (place, step, outcome) in enumerate(ended):
        later = [
            after
            for after, other, ending in ended[number + 1 : number + _REACH]
            if outcome != SUCCESS and ending == SUCCESS and is_another_try(step, other)
        ]
        results.append(Try(place, outcome, later[0] if later else None))
    return results


def outcome_of_steps(observations: Sequence[Observation]) -> str:
    """Return how an episode of steps came out: as the last try of each task did; "" where no step says.

    What failed for good comes before what is to be gone on with, and that before what succeeded.
    """
    left = {one.outcome for one in tries(observations) if one.righted is None}
    righted = any(one.righted is not None for one in tries(observations))
    worst = next((outcome for outcome in (FAILURE, ONGOING, PARTIAL, SUCCESS) if outcome in left), "")
    return worst or (SUCCESS if righted else "")


def is_another_try(step: Observation, later: Observation) -> bool:
    """Tell whether a later step tries what one tried."""
    action, other = _action(step.extras), _action(later.extras)
    if action and action == other:
        return True
    first, *objects = *_objects(step.extras), ""
    if first and first in _objects(later.extras):
        return True
    verb, *named = *_terms(action), ""
    other_verb, *others = *_terms(other), ""
    shared = {*named} & {*others} - {""}
    if not shared:
        return False
    return verb == other_verb or (not objects and len(shared) >= _LEAST * len({*named} - {""}))


def is_task(request: str, step: Observation) -> bool:
    """Tell whether a step tries what a request asks for: most of what its action names stands there.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> at, extras = datetime(2026, 1, 1, tzinfo=UTC), {"action": "cross the rug"}
    >>> step = Observation(UUID(int=1), UUID(int=2), 0, at, at, "agent", "…", extras=extras)
    >>> is_task("Please cross the kitchen rug", step), is_task("Vacuum the rug", step)
    (True, False)
    """
    named = _terms(_action(step.extras))
    shared = {*named} & {*_terms(request.casefold())}
    return len(shared) >= _FEWEST and len(shared) > _LEAST * len({*named})


def _action(extras: Mapping[str, Json]) -> str:
    action = extras.get("action")
    return " ".join(action.casefold().split()) if isinstance(action, str) else ""


def _objects(extras: Mapping[str, Json]) -> list[str]:
    objects = extras.get("objects")
    listed = objects if isinstance(objects, list | tuple) else [objects]
    return [one.strip().casefold() for one in listed if isinstance(one, str) and one.strip()]


@lru_cache(maxsize=1024)
def _terms(action: str) -> tuple[str, ...]:
    return tuple(content_terms(action, None))


KEYS: Final = ("location", "location_path", "step_count", "entities", "salient_events")
_TITLED, _SPOKEN = 3, 16  # things that happened in a title, in a summary
_LONGEST: Final = 120  # characters of a title
_COMMON: Final = 8  # an action of more than every eighth step is how the agent moves, not what happened
_SILENT: Final = "Nothing happens"
_STATE, _DONE, _SEEN, _REST, _MOVE = range(5)  # what tells most of an episode, first
_OUTCOME: Final = re.compile(r"(?i)^outcome\s*:\s*")
_NOTED: Final = 80  # characters of what was said of a step
_WORKED: Final = "worked"
_ENDINGS: Final = {FAILURE: "failed", ONGOING: "interrupted", PARTIAL: "partly done", SUCCESS: ""}
_FEWEST_STEPS: Final = 3  # steps that an episode is of, whatever was said beside them
_MOVING: Final = 2  # words: "turn left" moves the agent, "open the fridge" is something it did


class Happening(NamedTuple):
    """One thing that happened: at which step, where, how telling it is (0 most), and its words.

    `ending` says how what was tried ended, "" where it just succeeded, and `note` what was said of it.
    """

    place: int
    where: str
    rank: int
    words: str
    ending: str = ""
    note: str = ""

    @property
    def titled(self) -> str:
        """Return its words with how it ended."""
        return f"{self.words} ({self.ending})" if self.ending else self.words

    @property
    def spoken(self) -> str:
        """Return its words with how it ended and what was said of it."""
        ending = ": ".join(part for part in (self.ending, self.note) if part)
        return f"{self.words} ({ending})" if ending else self.words


def is_of_steps(observations: Sequence[Observation]) -> bool:
    """Tell whether an episode is of what an agent did: most of it steps, though people spoke beside it."""
    count = sum(one.kind is Kind.STEP for one in observations)
    return count >= _FEWEST_STEPS and 2 * count > len(observations)


def step_metadata(
    observations: Sequence[Observation], detail: Mapping[str, Json] | None = None
) -> dict[str, Json]:
    """Return where the episode was, how long it is, and what was in it.

    `detail` is that of the decision that ended it; what it does not tell is counted again.
    """
    answers = dict(detail or {})
    if not all(key in answers for key in KEYS):
        notes = (note_of(o, error=0.0, salient=_salient(o)) for o in observations)
        answers = walk(notes).detail() | answers
    return {key: answers[key] for key in KEYS}


def step_title(observations: Sequence[Observation], location: str) -> str:
    """Return the place and the most telling things that happened there, each where it did; never empty.

    `location` is that of what knows no place. Of what was done that tells most whose matter half of the
    actions share: "laundry" where it is sorted.
    """
    texts = {(one.words, one.ending): one for one in reversed(happenings(observations))}.values()
    done = [set(tokens(one.words)) for one in texts if one.rank == _DONE]
    counts = Counter(term for terms in done for term in terms)
    matter = {term for term, count in counts.items() if count > 1 and 2 * count >= len(done)}

    def telling_first(happening: Happening) -> tuple[int, bool, int, int]:
        common = len(matter.intersection(tokens(happening.words))) if happening.rank == _DONE else 0
        return happening.rank, not happening.ending, -common, happening.place

    telling = sorted(texts, key=telling_first)[:_TITLED]
    parts = [
        (where, ", ".join(one.titled for one in group))
        for where, group in groupby(sorted(telling, key=lambda one: one.place), key=lambda one: one.where)
    ] or [("", "")]
    is_world = any(event.get("entity") == "episode" for one in observations for event in one.events)
    # a simulated world without places is nowhere on the way: what happened is all there is
    elsewhere = location if location != UNKNOWN else "" if is_world or not parts[0][1] else "on the way"
    named = [(where or elsewhere, words or plural(len(observations), "step")) for where, words in parts]
    title = "; ".join(f"{where}: {words}" if where else words for where, words in named)
    return _cut(title[:1].upper() + title[1:])


def step_summary(observations: Sequence[Observation]) -> str:
    """Return what happened, in order, place by place, with what failed and what worked in the end.

    Where nothing happened, the places and how long.
    """
    matching_happenings = happenings(observations)
    stored_happenings = sorted(
        sorted(matching_happenings, key=lambda one: one.rank)[:_SPOKEN], key=lambda one: one.place
    )
    texts = [
        f"{_in(where)}: {'; '.join(one.spoken for one in group)}."
        for where, group in groupby(stored_happenings, key=lambda one: one.where)
    ]
    if not texts:
        stays = [(w, sum(1 for _ in g)) for w, g in groupby(observations, key=lambda o: label_of(o) or "")]
        parts = [f"{plural(n, 'step')} {_in(where).lower()}" for where, n in stays[:_SPOKEN]]
        texts = [f"{', then '.join(parts)}."]
    text = " ".join(texts)
    return text[:1].upper() + text[1:]


def happenings(observations: Sequence[Observation]) -> list[Happening]:
    """Return what happened, in order, each said once for every stay in a place.

    >>> from datetime import UTC, datetime
    >>> from uuid import UUID
    >>> one = Observation(UUID(int=1), UUID(int=2), 0, datetime(2026, 1, 1, tzinfo=UTC),
    ...     datetime(2026, 1, 1, tzinfo=UTC), "agent", "…", location="kitchen",
    ...     events=({"type": "appearance", "entity": "mug"},), extras={"action": "open the fridge"})
    >>> [(one.where, one.words) for one in happenings([one])]
    [('kitchen', 'open the fridge'), ('kitchen', 'a mug appeared')]
    """
    counts = Counter(map(_action_of, observations))
    many = len(observations) >= _COMMON
    baseline = {action for action, n in counts.items() if many and n * _COMMON > len(observations)}
    endings = _endings(observations)
    happenings: list[Happening] = []
    where, terms = "", set[tuple[str, str, str]]()
    for place, observation in enumerate(observations):
        here = label_of(observation) or where
        if here != where:
            where, terms = here, set()
        for rank, words in _of_step(observation, baseline):
            is_done = words and words == _action_of(observation)
            ending, note = endings.get(place, ("", "")) if is_done else ("", "")
            if words and (words, ending, note) not in terms:
                terms.add((words, ending, note))
                happenings.append(Happening(place, where, rank, words, ending, note))
    telling = [one for one in happenings if one.rank != _MOVE]
    return telling or happenings


def _endings(observations: Sequence[Observation]) -> Mapping[int, tuple[str, str]]:
    """Return of the steps that say how they ended in which word they are told to have, and their notes."""
    results = tries(observations)
    righting = {one.righted for one in results}
    worked = {one.place: _WORKED for one in results if one.place in righting}
    return {
        one.place: (worked.get(one.place) or _ENDINGS[one.outcome], _note(observations[one.place]))
        for one in results
    }


def _note(observation: Observation) -> str:
    """Return what was said of a step beside its action, cut; "" where nothing was."""
    content = content_of(observation)
    if content == renewed(observation.text, observation.events) or not _action_of(observation):
        return ""
    note = " ".join(tame(content).split()).rstrip(".")
    return note if len(note) <= _NOTED else note[: _NOTED - 1].rsplit(" ", 1)[0] + "…"


def _of_step(observation: Observation, baseline: set[str]) -> Iterator[tuple[int, str]]:
    action = _action_of(observation)
    named = [str(event.get("entity") or "").casefold() for event in observation.events]
    # "open the door" and "the door is open": the event says it
    if action and action not in baseline and not any(name and name in action.casefold() for name in named):
        yield _DONE if len(action.split()) > _MOVING else _MOVE, action
    for event in observation.events:
        kind = kind_of(event)
        yield (_STATE if kind == "state_change" else _SEEN if kind in SALIENT else _REST), event_words(event)
    if not action and not observation.events:
        yield _DONE, _own_words(observation)


def _own_words(observation: Observation) -> str:
    """Return the first sentence of a step that was given as text alone."""
    text = " ".join(tame(observation.text).split())
    text = text.removeprefix(f"In the {observation.location}").removeprefix(": ")
    spoken = list(sentences(text)) if text and text != _SILENT else []
    # what came of it names no job: told only where nothing else is, without its label
    first = next((one for one in spoken if not _OUTCOME.match(one)), spoken[0] if spoken else "")
    return _cut(_OUTCOME.sub("", first)).rstrip(".")


def _action_of(observation: Observation) -> str:
    arguments = observation.extras.get("action")
    return _cut(" ".join(arguments.split())) if isinstance(arguments, str) else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rsplit(" ", 1)[0] + "…"


def _salient(observation: Observation) -> int:
    return sum(kind_of(event) in SALIENT for event in observation.events)


def _in(where: str) -> str:
    return f"In the {where}" if where else "On the way"
