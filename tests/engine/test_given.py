"""What a verb is given of the wrong kind is refused as what it is: an error of ours, which names the remedy."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from functools import cached_property, reduce
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.facts import START, three

from episodic_agent import Memory
from episodic_agent.engine.filters import ALL
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import EpisodicError, InvalidInput

EPISODE, FACT, JOB = {"episode_id": UUID(int=1)}, {"fact_id": UUID(int=1)}, {"job_id": "x"}
HERE = {"thread": "t"}
ONLY_BY_PLACE = {"places.visits": ["place"], "places.route": ["thread"]}
# What each verb cannot do without. Those that run until they are stopped are not here, nor those that take but
# a user and what is true or false; an id here stands for that of an episode or a fact that is there.
VERBS: Mapping[str, Mapping[str, Any]] = {
    "add": {"items": "hi"},
    "boundaries.explain": EPISODE,
    "boundaries.resegment": HERE,
    "boundaries.trace": HERE,
    "boundaries.undo": HERE,
    "boundaries.whatif": {**HERE, "policy": "seed-001"},
    "chains.arc": {"episode": UUID(int=1)},
    "chains.get": {"episode": UUID(int=1)},
    "chains.heads": {},
    "chains.replay": {"topic": "tap"},
    "chains.sequence": {},
    "chains.tree": {"episode": UUID(int=1)},
    "context": {"message": "hi"},
    "episodes.card": EPISODE,
    "episodes.contents": {"cards": []},
    "episodes.get": EPISODE,
    "episodes.history": EPISODE,
    "episodes.list": {},
    "episodes.messages": EPISODE,
    "episodes.pin": EPISODE,
    "episodes.recent": {},
    "episodes.reencode": {},
    "episodes.reviews": EPISODE,
    "episodes.successor": EPISODE,
    "episodes.suppress": {"words": "zebra"},
    "episodes.unpin": EPISODE,
    "episodes.unsuppress": {"words": "zebra"},
    "erase": {"thread": "none"},
    "erasures.list": {},
    "erasures.residue": {"texts": ["x"]},
    "facts.confirm": FACT,
    "facts.delete": {"fact_id": "none"},
    "facts.edit": {**FACT, "text": "Maya likes tea"},
    "facts.get": FACT,
    "facts.history": FACT,
    "facts.list": {},
    "facts.pin": FACT,
    "flush": {},
    "import_file": {"path": "/none"},
    "jobs.cancel": JOB,
    "jobs.list": {},
    "jobs.retry": JOB,
    "links.add": {**HERE, "other": "none"},
    "links.explain": HERE,
    "links.foresee": {"text": "hi"},
    "links.list": {},
    "links.outcome": {"link": "x", "outcome": "right"},
    "links.remove": {**HERE, "other": "none"},
    "people.apart": {"name": "none"},
    "people.list": {},
    "people.same": {"name": "none", "other": "user"},
    "places.list": {},
    "places.route": HERE,
    "places.visits": {"place": "none"},
    "retention.apply": {},
    "retention.preview": {},
    "retention.set": {"policy": None},
    "retrieve": {"query": "tap"},
    "search": {"query": "tap"},
    "sections.compact": {},
    "sections.list": {},
    "sessions.end": {"episode": UUID(int=1)},
    "sessions.get": {"episode": UUID(int=1)},
    "sessions.list": {},
    "sessions.start": {"topic": "the tap"},
    "skills.delete": {"name": "none"},
    "skills.get": {"name": "none"},
    "skills.list": {},
    "skills.used": {"name": "none", "success": True},
    "threads.close": {"name": "none"},
    "threads.get": {"name": "t"},
    "threads.rename": {"name": "t", "title": "other"},
    "threads.select": {"name": "t"},
    "threads.set_timeout": {"minutes": 5},
    "trace.turn": {"turn": "x"},
    "tuning.outcome": {"decision": "x", "outcome": "right"},
    "upkeep": {},
}  # fmt: skip
WRONG = (None, "x", "", -1, 1.5, float("nan"), True, b"x", object(), [5], {}, datetime(2026, 1, 1))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("given") / "memory.db"
    clock = Clock(START + timedelta(days=60))
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=clock) as opened:
        mine(three(opened)).add("the tap drips", thread="t", timestamp=START)
        yield opened


def there(memory: Memory, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb is given, with an episode and a fact that are there."""
    episode = mine(memory).episodes.list()[0].episode_id
    identifiers = {"fact_id": mine(memory).facts.list()[0].id, "episode_id": episode, "episode": episode}
    return {
        name: identifiers.get(name, value) if value == UUID(int=1) else value
        for name, value in arguments.items()
    }


def of(user: UserMemory, verb: str) -> Callable[..., Any]:
    return reduce(getattr, verb.split("."), user)  # type: ignore[arg-type, return-value]


def test_every_room_is_tried(memory: Memory) -> None:
    rooms = {verb.partition(".")[0] for verb in VERBS if "." in verb}
    lazy = [name for name, one in vars(type(mine(memory))).items() if isinstance(one, cached_property)]
    assert rooms == {name for name in lazy if type(getattr(mine(memory), name)).__name__.endswith("Room")}


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_of_a_wrong_kind_ends_in_an_error_of_python(memory: Memory, verb: str) -> None:
    call, needed = of(mine(memory), verb), there(memory, VERBS[verb])
    names: list[str] = []
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            names += ALL
        elif not isinstance(parameter.default, bool):
            names.append(name)
    for name in names:
        for wrong in WRONG:
            arguments = {**needed, name: wrong}
            first = [arguments.pop(one) for one in ONLY_BY_PLACE.get(verb, ())]
            with suppress(EpisodicError):
                call(*first, **arguments)


@pytest.mark.parametrize("wrong", WRONG[1:])
def test_a_user_or_a_day_of_a_wrong_kind_is_refused_or_read(memory: Memory, wrong: Any) -> None:
    for name in ("since", "until", "user"):
        with suppress(EpisodicError):
            memory.usage(**{name: wrong})
    with suppress(EpisodicError):
        memory.user(wrong).stats()
    with pytest.raises(InvalidInput):
        memory.user(None)  # type: ignore[arg-type]


def test_a_time_may_be_a_text_wherever_one_is_asked_for(memory: Memory) -> None:
    day, text = START + timedelta(days=5), f"{START + timedelta(days=5):%Y-%m-%d}"
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert mine(memory).facts.list(at=text, history=False) == mine(memory).facts.list(at=midnight)  # type: ignore[arg-type]
    assert mine(memory).facts.list(known_by=text) == mine(memory).facts.list(known_by=midnight)  # type: ignore[arg-type]
    asked = mine(memory).search("Lisbon", until=text)  # type: ignore[arg-type]
    assert asked.hits == mine(memory).search("Lisbon", until=midnight).hits
    assert memory.usage("2026-03-01", date(2026, 4, 1)) == []  # type: ignore[arg-type]
    for wrong in ("2020", "yesterday", True):
        with pytest.raises(InvalidInput, match="accepted: ISO 8601"):
            mine(memory).facts.list(at=wrong)  # type: ignore[arg-type]


def test_what_only_looks_like_yes_does_not_erase_everything(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="`everything` is True or False, not 'no'"):
        mine(memory).erase(everything="no", dry_run=True)  # type: ignore[arg-type]
