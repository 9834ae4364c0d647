"""What a verb is given of the wrong kind is refused as what it is: an error of ours, which names the remedy."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import Clock
from builders.facts import START, three

from episodic_agent import Memory
from episodic_agent.errors import EpisodicError, InvalidInput

EPISODE, FACT, JOB = {"episode_id": UUID(int=1)}, {"fact_id": UUID(int=1)}, {"job_id": "x"}
HERE = {"thread": "t"}
# What each verb cannot do without. Those that run until they are stopped are not here, nor those that take but
# a user and what is true or false; an id here stands for that of an episode or a fact that is there.
VERBS: Mapping[str, Mapping[str, Any]] = {
    "add": {"items": "hi"},
    "apply_retention": {},
    "cancel_job": JOB,
    "card": EPISODE,
    "close_thread": {"name": "none"},
    "compact": {},
    "confirm_fact": FACT,
    "context": {"message": "hi"},
    "decision_outcome": {"decision": "x", "outcome": "right"},
    "delete_fact": {"fact_id": "none"},
    "edit_fact": {**FACT, "text": "Maya likes tea"},
    "episodes": {},
    "explain": EPISODE,
    "fact": FACT,
    "fact_history": FACT,
    "facts": {},
    "flush": {},
    "foresee_links": {"text": "hi"},
    "forget": {"thread": "none"},
    "forget_skill": {"name": "none"},
    "get": EPISODE,
    "get_episode_arc": {"episode": UUID(int=1)},
    "arc": {"episode": UUID(int=1)},
    "end_episode": {"episode": UUID(int=1)},
    "get_episode_chain": {"episode": UUID(int=1)},
    "get_episode_heads": {},
    "get_episode_sequence": {},
    "replay_topic": {"topic": "tap"},
    "session": {"episode": UUID(int=1)},
    "sessions": {},
    "start_episode": {"topic": "the tap"},
    "history": EPISODE,
    "import_file": {"path": "/none"},
    "jobs": {},
    "link": {**HERE, "other": "none"},
    "link_explain": HERE,
    "link_outcome": {"link": "x", "outcome": "right"},
    "links": {},
    "messages": EPISODE,
    "pin": EPISODE,
    "pin_fact": FACT,
    "places": {},
    "preview_retention": {},
    "receipts": {},
    "recent": {},
    "reencode": {},
    "rename_thread": {"name": "t", "title": "other"},
    "resegment": HERE,
    "residue": {"texts": ["x"]},
    "retrieve": {"query": "tap"},
    "retry_job": JOB,
    "reviews": EPISODE,
    "route": HERE,
    "search": {"query": "tap"},
    "select_thread": {"name": "t"},
    "set_retention": {"policy": None},
    "set_timeout": {"minutes": 5},
    "skill": {"name": "none"},
    "skill_used": {"name": "none", "success": True},
    "skills": {},
    "successor": EPISODE,
    "summaries": {},
    "suppress": {"words": "zebra"},
    "thread": {"name": "t"},
    "trace": HERE,
    "trace_turn": {"turn": "x"},
    "undo_resegment": HERE,
    "unlink": {**HERE, "other": "none"},
    "unpin": EPISODE,
    "unsuppress": {"words": "zebra"},
    "upkeep": {},
    "usage": {},
    "visits": {"place": "none"},
    "whatif": {**HERE, "policy": "seed-001"},
    "wholes": {"cards": []},
}  # fmt: skip
WRONG = (None, "x", "", -1, 1.5, float("nan"), True, b"x", object(), [5], {}, datetime(2026, 1, 1))


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    path: Path = tmp_path_factory.mktemp("given") / "memory.db"
    clock = Clock(START + timedelta(days=60))
    with Memory.open(path, embedder="hashing", policy="seed-001", clock=clock) as opened:
        three(opened).add("the tap drips", thread="t", timestamp=START)
        yield opened


def there(memory: Memory, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a verb is given, with an episode and a fact that are there."""
    episode = memory.episodes()[0].episode_id
    found = {"fact_id": memory.facts()[0].id, "episode_id": episode, "episode": episode}
    return {name: found.get(name, value) if value == UUID(int=1) else value for name, value in given.items()}


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_of_a_wrong_kind_ends_in_an_error_of_python(memory: Memory, verb: str) -> None:
    call, needed = getattr(memory, verb), there(memory, VERBS[verb])
    for name, parameter in inspect.signature(call).parameters.items():
        if isinstance(parameter.default, bool) or name == "user_id":
            continue
        for wrong in WRONG:
            given = {**needed, name: wrong}
            with suppress(EpisodicError):
                call(**given)


def test_a_time_may_be_a_text_wherever_one_is_asked_for(memory: Memory) -> None:
    day, text = START + timedelta(days=5), f"{START + timedelta(days=5):%Y-%m-%d}"
    midnight = datetime(day.year, day.month, day.day, tzinfo=UTC)
    assert memory.facts(at=text, history=False) == memory.facts(at=midnight)  # type: ignore[arg-type]
    assert memory.facts(known_by=text) == memory.facts(known_by=midnight)  # type: ignore[arg-type]
    asked = memory.search("Lisbon", until=text)  # type: ignore[arg-type]
    assert asked.hits == memory.search("Lisbon", until=midnight).hits
    assert memory.usage("2026-03-01", date(2026, 4, 1)) == []  # type: ignore[arg-type]
    for wrong in ("2020", "yesterday", True):
        with pytest.raises(InvalidInput, match="accepted: ISO 8601"):
            memory.facts(at=wrong)  # type: ignore[arg-type]


def test_what_only_looks_like_yes_does_not_erase_everything(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="`everything` is True or False, not 'no'"):
        memory.forget(everything="no", dry_run=True)  # type: ignore[arg-type]
