"""The exact prompts that are sent, and the schema of each answer, as files.

A change of a prompt is a change of behaviour: it shows here, and the prompt's version must change with it.
`EPISODIC_TEST_REWRITE=1 pytest -n0 tests/core/prompts` writes the files anew.
"""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from core.facts.saying import claim

from episodic_agent.core.facts import learn
from episodic_agent.core.prompts import (
    compact,
    digest,
    episode,
    facts,
    review,
    skills,
    thread_link,
    topic_shift,
)
from episodic_agent.core.prompts.lenient import strict
from episodic_agent.core.review import FollowingTurn, Shown
from episodic_agent.schemas import Json, Observation
from episodic_agent.schemas.skills import Skill, SkillKind

FOLDER = Path(__file__).parent / "golden"
REWRITE = bool(os.environ.get("EPISODIC_TEST_REWRITE"))
START = datetime(2024, 5, 1, 9, tzinfo=UTC)
TALK = [
    Observation(
        UUID(int=n + 1),
        UUID(int=99),
        n,
        START + timedelta(minutes=7 * n),
        START,
        actor,
        text,
        utc_offset=7200,
    )
    for n, (actor, text) in enumerate(
        [
            ("Ana", "The kitchen tap dripped all night. I bought a washer for 12 euros yesterday."),
            ("Ben", "Shall I come by on Saturday? Marta did ours last month.\n```\nwrench: 14 mm\n```"),
            ("Ana", "Yes please! By the way, are there still tickets for <b>the cello concert</b>?"),
            ("assistant", "Two seats are left in row 9."),
        ]
    )
]
SKILL = Skill(
    "book a table",
    "Book a table for two",
    next(iter(SkillKind)),
    steps=("ask for the day", "search", "book"),
    parameters=("day",),
    examples=("Book us a table on Friday",),
    frequency=17,
)
KNOWN = learn((), [claim("Porto", 0), claim("Welsh", 1, attribute="speaks")]).applied(())
EARLIER = [thread_link.Earlier("t", "They plan to repair the kitchen tap.", TALK[:2])]
OPTIONS = [
    thread_link.Option("t", "The dripping tap", "Rossi comes on Friday.", timedelta(hours=3)),
    thread_link.Option("u", "Cello", "New strings.", timedelta(days=9), near="Two seats are left."),
]
SHOWN = [Shown(UUID(int=7), "The tap: Rossi came on Friday."), Shown(UUID(int=8), "The cello: new strings.")]
TURNS = [FollowingTurn("user", "Rossi it was, thanks."), FollowingTurn("assistant", "You are welcome.")]

PROMPTS: Mapping[str, tuple[str, str, Mapping[str, Json]]] = {
    "topic_shift": (
        topic_shift.VERSION,
        topic_shift.prompt("They repair the tap.", TALK[:3]),
        topic_shift.SCHEMA,
    ),
    "topic_shift_looking_back": (
        topic_shift.VERSION,
        topic_shift.prompt("", TALK, 2),
        topic_shift.LOOKING_BACK,
    ),
    "episode": (episode.VERSION, episode.prompt(TALK[1:], earlier=TALK[:1]), episode.SCHEMA),
    "thread_link": (
        thread_link.version(["mind the weekday"]),
        thread_link.prompt(TALK[2], EARLIER, ["mind the weekday"]),
        thread_link.SCHEMA,
    ),
    "thread_link_choice": (
        thread_link.version(["mind the weekday"], chooses=True),
        thread_link.choice(TALK[2:3], OPTIONS, ["mind the weekday"]),
        thread_link.CHOICE_SCHEMA,
    ),
    "compact": (compact.VERSION, compact.prompt(TALK, 64), compact.SCHEMA),
    "skills": (skills.VERSION, skills.prompt(SKILL), skills.SCHEMA),
    "review": (review.VERSION, review.prompt("Who repaired the tap?", SHOWN, TURNS)[0], review.SCHEMA),
    "facts_expected": (facts.SEED_VERSION, facts.predict("Tea", KNOWN), facts.EXPECTED_SCHEMA),
    "facts_beyond": (
        facts.SEED_VERSION,
        facts.reconcile("Maya will talk of Porto.", KNOWN, TALK),
        facts.SCHEMA,
    ),
    "facts": (
        facts.VERSION,
        facts.gather(
            facts.Owner("Ana", ("Annie",)),
            KNOWN,
            [facts.Conversation("The dripping tap", TALK[:2]), facts.Conversation("", TALK[2:])],
        ),
        facts.GATHERED_SCHEMA,
    ),
    "digest": (
        digest.VERSION,
        digest.prompt(
            facts.Owner("Ana", ("Annie",)),
            KNOWN,
            [digest.Finished(TALK[:2], TALK[3:]), digest.Finished(TALK[2:])],
        ),
        digest.SCHEMA,
    ),
}


def sent(version: str, prompt: str, schema: Mapping[str, Any]) -> str:
    text = json.dumps(strict(schema), indent=1, ensure_ascii=False)
    return f"version: {version}\n--- prompt\n{prompt}\n--- schema of the answer\n{text}\n"


@pytest.mark.parametrize("name", PROMPTS)
def test_the_prompt_that_is_sent_is_the_one_on_file(name: str) -> None:
    file, text = FOLDER / f"{name}.txt", sent(*PROMPTS[name])
    if REWRITE:
        FOLDER.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == text


ALLOWED = {"type", "description", "enum", "properties", "required", "additionalProperties", "items"}


@pytest.mark.parametrize("name", PROMPTS)
def test_a_schema_that_is_sent_holds_only_what_strict_servers_take(name: str) -> None:
    def check(schema: Mapping[str, Any]) -> None:
        assert set(schema) <= ALLOWED
        if "properties" in schema:
            assert schema["additionalProperties"] is False
            assert schema["required"] == list(schema["properties"])
            for one in schema["properties"].values():
                check(one)
        if "items" in schema:
            check(schema["items"])

    check(strict(PROMPTS[name][2]))


@pytest.mark.parametrize(
    ("name", "reasons", "verdict"),
    [("topic_shift_looking_back", "signals", "is_boundary"), ("facts", "quote", "fact")],
)
def test_what_leads_to_a_verdict_stands_before_it(name: str, reasons: str, verdict: str) -> None:
    schema: Any = strict(PROMPTS[name][2])
    items = schema["properties"]["facts"]["items"] if name == "facts" else schema
    assert items["required"].index(reasons) < items["required"].index(verdict)


def test_every_file_is_of_a_prompt_that_is_sent() -> None:
    assert {file.stem for file in FOLDER.glob("*.txt")} == set(PROMPTS)
