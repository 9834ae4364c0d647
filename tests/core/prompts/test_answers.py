"""A right answer is read as that answer, however a model writes it down: for every stage.

Each mutation is something that servers without schemas, and small models, were seen to do.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

import pytest
from core.facts.saying import claim
from core.prompts.test_golden_prompts import EARLIER, SHOWN, SKILL, TALK, TURNS
from hypothesis import given, settings
from hypothesis import strategies as st

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
from episodic_agent.core.prompts.lenient import fitted, read_answer
from episodic_agent.core.prompts.quoting import Aliases
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json

KNOWN = learn((), [claim("Porto", 0), claim("Welsh", 1, attribute="speaks")]).applied(())
EPISODES: Aliases[UUID] = review.prompt("Who?", SHOWN, TURNS)[1]
Read = Callable[[Mapping[str, Json]], object]
STAGES: Mapping[str, tuple[Mapping[str, Json], Mapping[str, Any], Read]] = {
    "topic_shift": (
        topic_shift.SCHEMA,
        {
            "is_boundary": False,
            "confidence": 0.95,
            "signals": {"topic_shift": 0.25, "intent_shift": 0.5, "temporal_marker": 0.75},
            "updated_event_model": "They repair the tap.",
        },
        topic_shift.read_verdict,
    ),
    "episode": (
        episode.SCHEMA,
        {
            "title": "Ana and Ben plan the repair of the tap",
            "summary": 'Ana tells that the tap dripped; "all night", she says.',
            "entities": ["Ana", "Marta"],
            "tags": ["tap", "repair"],
            "outcome": "ongoing",
        },
        episode.read,
    ),
    "thread_link": (
        thread_link.SCHEMA,
        {
            "threads": [
                {
                    "thread": "t1",
                    "related": True,
                    "confidence": 0.75,
                    "reasoning": "the same tap",
                    "key_signals": ["tap", "washer"],
                }
            ]
        },
        lambda value: thread_link.read_verdict(value, EARLIER),
    ),
    "compact": (
        compact.SCHEMA,
        {
            "micro": "They plan to repair the tap.",
            "meso": "Ana tells that the tap dripped.",
            "macro": "Ana buys the parts.",
            "entities": ["Ana"],
            "tags": ["tap", "repair"],
            "outcome": "ongoing",
        },
        compact.read,
    ),
    "skills": (
        skills.SCHEMA,
        {
            "name": "Book a table",
            "description": "Books a table for any day.",
            "kind": SKILL.kind.value,
            "preconditions": ["a day"],
            "steps": ["ask for the day", "search", "book"],
            "postconditions": ["a table"],
            "parameters": ["day"],
            "returns": "the booking",
        },
        lambda value: skills.read(value, SKILL),
    ),
    "review": (
        review.SCHEMA,
        {"reviews": [{"episode": "E1", "rating": "good"}, {"episode": "E2", "rating": "again"}]},
        lambda value: review.read_ratings(value, EPISODES),
    ),
    "facts": (
        facts.SCHEMA,
        {
            "facts": [
                {
                    "action": "new",
                    "known": None,
                    "subject": "Ana",
                    "category": "experience",
                    "attribute": "other",
                    "value": "a washer for 12 euros",
                    "fact": "Ana bought a washer for 12 euros",
                    "holds": True,
                    "message": "m1",
                    "quote": "I bought a washer for 12 euros yesterday",
                    "valid_from": "2024-04-30",
                },
                {
                    "action": "reinforce",
                    "known": "F1",
                    "subject": "Maya",
                    "category": "identity",
                    "attribute": "lives_in",
                    "value": "Porto",
                    "fact": "Maya lives in Porto",
                    "holds": True,
                    "message": "m2",
                    "quote": "Shall I come by on Saturday?",
                    "valid_from": None,
                },
            ]
        },
        lambda value: facts.read_stated_facts(value, KNOWN, TALK),
    ),
}


# --- what is changed in the values ------------------------------------------------------------------------


def deep(value: Any, change: Callable[[str, Any], tuple[str, Any]]) -> Any:
    """Return a value with each name and value of its objects changed, from the inside out."""
    if isinstance(value, Mapping):
        return dict(change(name, deep(one, change)) for name, one in value.items())
    return [deep(one, change) for one in value] if isinstance(value, list) else value


ENUMERATED = ("outcome", "rating", "action", "category", "attribute", "kind")
ALIASES = ("thread", "episode", "message", "known")


def only(names: tuple[str, ...], change: Callable[[str], Any]) -> Callable[[Any], Any]:
    def changed(name: str, value: Any) -> tuple[str, Any]:
        return name, change(value) if name in names and isinstance(value, str) else value

    return lambda answer: deep(answer, changed)


def numbers(change: Callable[[float], Any]) -> Callable[[Any], Any]:
    return lambda answer: deep(answer, lambda n, v: (n, change(v) if isinstance(v, float) else v))


VALUES: Mapping[str, Callable[[Any], Any]] = {
    "as it is": lambda answer: answer,
    "a key too many": lambda answer: {"note": "hm", **deep(answer, lambda n, v: (n, v)), "length": 7},
    "names in capitals": lambda answer: deep(answer, lambda n, v: (n.upper(), v)),
    "names in camel case": lambda answer: deep(answer, lambda n, v: (n.title().replace("_", ""), v)),
    "names with spaces": lambda answer: deep(answer, lambda n, v: (n.replace("_", " "), v)),
    "per cent": numbers(lambda v: v * 100),
    "per cent, written": numbers(lambda v: f"{v * 100:g}%"),
    "numbers as texts": numbers(str),
    "numbers with a comma": numbers(lambda v: str(v).replace(".", ",")),
    "verdicts as texts": lambda answer: deep(answer, lambda n, v: (n, str(v) if isinstance(v, bool) else v)),
    "verdicts as yes": lambda answer: deep(
        answer, lambda n, v: (n, ("No", "Yes, surely")[v] if isinstance(v, bool) else v)
    ),
    "words in other case": only(ENUMERATED, str.title),
    "words explained": only(ENUMERATED, lambda word: f"{word.upper()} - as far as I can tell"),
    "aliases in other case": only(ALIASES, str.swapcase),
    "aliases in brackets": only(ALIASES, lambda alias: f"[{alias}]"),
    "aliases as numbers": only(ALIASES, lambda alias: int(alias[1:])),
    "null in words": lambda answer: deep(answer, lambda n, v: (n, "null" if v is None else v)),
    "lists as a text": lambda answer: deep(
        answer, lambda n, v: (n, ", ".join(v) if isinstance(v, list) and isinstance(v[0], str) else v)
    ),
    "wrapped": lambda answer: {"answer": answer},
    "wrapped in its schema": lambda answer: {"type": "object", "properties": answer},
    "in a list": lambda answer: [answer],
    "no longer wrapped": lambda answer: next(iter(answer.values())) if len(answer) == 1 else answer,
}

# --- what is changed in the text --------------------------------------------------------------------------

TEXTS: Mapping[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "fenced": lambda text: f"```json\n{text}\n```",
    "fenced, in prose": lambda text: f"Here you are:\n```\n{text}\n```\nShall I go on?",
    "in prose": lambda text: f"Certainly {{as you wish}}, here it is: {text} I hope that helps {{or not}}.",
    "a reason first": lambda text: f"Reason: they speak of {{}} the same.\n\n{text}",
    "thinking aloud": lambda text: f'<think>Is it {{"a": 1}}? {text[: len(text) // 2]}</think>\n{text}',
    "thinking without a beginning": lambda text: f"Well, it may be so.\n</think>\n\n{text}",
    "a comma too many": lambda text: text.replace("}", ",}").replace("]", ",]"),
    "a byte order mark": lambda text: f"\ufeff{text}\r\n",
    "no escapes": lambda text: text.replace("\\n", "\n"),
    "Python's words": lambda text: (
        text.replace(": true", ": True").replace(": null", ": None").replace(": false", ": False")
    ),
}


def as_read(stage: str, text: str) -> object:
    schema, _, read = STAGES[stage]
    return read(fitted(read_answer(text, schema), schema))


@pytest.mark.slow
@settings(deadline=None, max_examples=300)
@given(
    st.sampled_from(sorted(STAGES)),
    st.sampled_from(sorted(VALUES)),
    st.sampled_from(sorted(TEXTS)),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_a_right_answer_is_read_however_it_is_written(
    stage: str, changed: str, written: str, indent: int | None, escaped: bool
) -> None:
    _, right, read = STAGES[stage]
    text = json.dumps(VALUES[changed](right), indent=indent, ensure_ascii=escaped)
    assert as_read(stage, TEXTS[written](text)) == read(right)


@pytest.mark.parametrize("changed", VALUES)
@pytest.mark.parametrize("stage", STAGES)
def test_every_change_of_values_is_read_in_every_stage(stage: str, changed: str) -> None:
    _, right, read = STAGES[stage]
    assert as_read(stage, json.dumps(VALUES[changed](right))) == read(right)


@pytest.mark.parametrize("written", TEXTS)
@pytest.mark.parametrize("stage", STAGES)
def test_every_change_of_the_text_is_read_in_every_stage(stage: str, written: str) -> None:
    _, right, read = STAGES[stage]
    assert as_read(stage, TEXTS[written](json.dumps(right, indent=2))) == read(right)


def test_an_answer_as_python_writes_it_is_read() -> None:
    _, right, read = STAGES["topic_shift"]
    assert as_read("topic_shift", str(right)) == read(right)
    curly = json.dumps(right).replace(' "', " “").replace('"', "”")
    assert as_read("topic_shift", curly) == read(right)


def test_an_empty_object_before_a_list_is_no_item_of_it() -> None:
    _, right, read = STAGES["facts"]
    text = f"Reason: they speak of {{}} the same.\n\n{json.dumps(right['facts'])}"
    assert as_read("facts", text) == read(right)


def test_json_lines_are_a_list() -> None:
    _, right, read = STAGES["review"]
    assert as_read("review", "\n".join(map(json.dumps, right["reviews"]))) == read(right)


NEEDED = {
    "topic_shift": {"is_boundary"},
    "episode": {"summary"},
    "skills": {"name"},
    "compact": set[str](),
}


@pytest.mark.parametrize(("stage", "name"), [(stage, name) for stage in NEEDED for name in STAGES[stage][1]])
def test_a_field_that_is_missing_or_broken_costs_only_itself(stage: str, name: str) -> None:
    right = STAGES[stage][1]
    rest = {key: one for key, one in right.items() if key != name}
    for answer in (rest, {**rest, name: {"x": None}}):
        if name in NEEDED[stage]:
            with pytest.raises(BadReply):
                as_read(stage, json.dumps(answer))
        else:
            as_read(stage, json.dumps(answer))


@pytest.mark.parametrize("name", STAGES["facts"][1]["facts"][0])
def test_a_fact_needs_only_its_sentence_and_its_quotation(name: str) -> None:
    first = STAGES["facts"][1]["facts"][0]
    text = json.dumps({"facts": [{key: one for key, one in first.items() if key != name}]})
    if name in ("fact", "quote"):
        with pytest.raises(BadReply):
            as_read("facts", text)
    else:
        read: Any = as_read("facts", text)
        assert (len(read.candidates), read.refused) == (1, ())
        assert (read.candidates[0].subject, read.candidates[0].evidence.start) == ("Ana", 35)


def test_a_fact_that_cites_the_wrong_message_is_from_the_one_that_has_its_words() -> None:
    first = STAGES["facts"][1]["facts"][0]
    for message in ("m2", "m9", ""):
        read: Any = as_read("facts", json.dumps({"facts": [{**first, "message": message}]}))
        assert read.candidates[0].evidence.observation_id == TALK[0].id


def test_a_skill_whose_words_are_too_long_is_cut_and_kept() -> None:
    right = {**STAGES["skills"][1], "name": "Book a table " * 20, "parameters": ["day " * 99] * 20}
    read: Any = as_read("skills", json.dumps(right))
    assert (len(read.name) <= 80, read.name.startswith("Book a table"), len(read.parameters)) == (
        True,
        True,
        12,
    )
    assert max(map(len, read.parameters)) <= 200


SAID = [digest.Finished(TALK[:2]), digest.Finished(TALK[2:])]


def divided(*parts: Mapping[str, Any]) -> list[tuple[int, ...]]:
    full = [{"title": "A title", "summary": "Somebody said it.", **one} for one in parts]
    read = digest.read({"parts": full, "facts": []}, [], SAID, facts.Owner())
    return [tuple(TALK.index(o) for o in part.observations) for part in read.parts]


@pytest.mark.parametrize(
    ("parts", "read"),
    [
        ([{"begins": "m1", "ends": "m1"}, {"begins": "m2", "ends": "m2"}], [(0,), (1,)]),
        ([{"begins": "m3", "ends": "m4"}, {"begins": "m1", "ends": "m2"}], [(0, 1), (2, 3)]),  # any order
        ([{"begins": "m1", "ends": "m4"}], [(0, 1)]),  # never over its conversation
        ([{"begins": "m1"}], [(0, 1)]),  # no end: to that of its conversation
        ([{"begins": "m1", "ends": "m2"}, {"begins": "m2", "ends": "m2"}], [(0,), (1,)]),  # none over another
        ([{"begins": "M2", "ends": "message 1"}], [(1,)]),
        ([{"begins": "m9", "ends": "m4"}, {"begins": None}, {}], []),
        ([{"begins": "m1", "ends": "m1"}, {"begins": "m1", "ends": "m2"}], [(0,)]),  # the first counts
    ],
)
def test_parts_are_read_as_far_as_they_hold(parts: Any, read: Any) -> None:
    assert divided(*parts) == read


def test_a_part_without_words_is_one_all_the_same() -> None:
    answer = {"parts": [{"begins": "m1", "ends": "m2", "summary": ""}, "m3", 7], "facts": []}
    (part,) = digest.read(answer, [], SAID, facts.Owner()).parts
    assert (len(part.observations), part.words) == (2, None)
