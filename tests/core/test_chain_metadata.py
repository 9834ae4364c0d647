"""Metadata from records first, a model's reply read with care, and filters that return exactly the set."""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.chains.metadata import (
    OUTCOMES,
    Guess,
    Metadata,
    SuppliedMetadata,
    matches,
    metadata_of,
    metadata_terms,
    outcome_of,
    parse_filter,
    read_guess,
    read_metadata,
)
from episodic_agent.core.episodes.extractive import encode_extractive
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Json, Kind, Observation

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)


def said(seq: int, actor: str, text: str, **extras: Json) -> Observation:
    kind = Kind.TOOL if extras else Kind.MESSAGE
    return Observation(UUID(int=seq + 1), UUID(int=99), seq, AT, AT, actor, text, kind, extras=extras)


TALK = (
    said(0, "Tim", "The CSTP server leaks memory in Lisbon."),
    said(1, "tool", "called bash(cmd)", name="bash", arguments={"cmd": "top"}),
    said(2, "tool", "two calls", calls=[{"name": "web_search"}, {"name": "bash"}], name="web_search"),
    said(3, "Emerson", "Restart the memory profiler first."),
    said(4, "Tim", "Patched it, it works now."),
)


def test_participants_tools_and_decisions_come_from_the_records_and_never_from_a_model() -> None:
    guess = read_guess(
        {
            "participants": ["Eve"],
            "tools_used": ["rm"],
            "key_decisions": ["dec-9"],
            "entities": ["CSTP server"],
        }
    )
    metadata = metadata_of(
        TALK, metadata=SuppliedMetadata(key_decisions=("dec-1",), tools_used=("curl",)), guess=guess
    )
    assert metadata.participants == ("Tim", "Emerson")
    assert metadata.tools_used == ("curl", "bash", "web_search")
    assert metadata.key_decisions == ("dec-1",)
    assert metadata.entities == ("CSTP server",)


def test_without_a_model_entities_tags_and_outcome_are_extracted() -> None:
    encoded = encode_extractive(TALK, [None] * len(TALK)).metadata
    metadata = metadata_of(TALK, encoded)
    assert any("Lisbon" in one for one in metadata.entities)
    assert 1 <= len(metadata.tags) <= 5
    assert metadata.outcome == "success"


def test_missing_detail_is_nothing_at_all() -> None:
    assert metadata_of([]).as_json() == {}
    assert metadata_of([], guess=read_guess("nonsense")).as_json() == {}


def test_what_the_caller_says_of_the_outcome_overrules_everything() -> None:
    assert (
        metadata_of(
            TALK, metadata=SuppliedMetadata(outcome="Partial"), guess=Guess(outcome="failure")
        ).outcome
        == "partial"
    )
    assert metadata_of(TALK, metadata=SuppliedMetadata(outcome="splendid")).outcome == "success"


def test_only_the_user_abandons_an_episode() -> None:
    assert metadata_of(TALK, guess=Guess(outcome="abandoned")).outcome == "success"
    given_up = [said(0, "Tim", "It leaks."), said(1, "Tim", "Forget it, I give up.")]
    assert metadata_of(given_up, guess=Guess(outcome="abandoned")).outcome == "abandoned"
    by_agent = replace(given_up[1], actor="Pedal", extras={"role": "assistant"})  # its name makes it no user
    assert metadata_of([given_up[0], by_agent], guess=Guess(outcome="abandoned")).outcome == "unknown"


@pytest.mark.parametrize(
    ("last", "outcome"),
    [
        ("Patched, deployed, it works now.", "success"), ("It still fails.", "failure"), ("Does it work now?", "unknown"),
        ("It doesn't work yet.", "failure"), ("Only half of it works.", "partial"), ("More tomorrow.", "ongoing"),
        ("Never mind, I give up.", "abandoned"), ("Pretty weather today.", "unknown"),
        ("Es funktioniert wieder.", "success"), ("Das geht nicht.", "failure"), ("Warte auf die Bank.", "ongoing"),
        ("Ya funciona.", "success"), ("No funciona.", "failure"), ("Todavía no.", "ongoing"), ("Lo dejo.", "abandoned"),
        ("Ça marche !", "success"), ("Ça ne marche pas.", "failure"), ("Non funziona.", "failure"),
        ("搞定了", "success"), ("还是不行", "failure"), ("算了", "abandoned"), ("Работает.", "success"),
    ],
)  # fmt: skip
def test_outcomes_are_read_from_the_last_words_in_several_languages(last: str, outcome: str) -> None:
    assert outcome_of(["Something about a leak.", last]) == outcome


def test_the_last_word_counts_and_old_ones_do_not() -> None:
    assert outcome_of(["It works.", "It doesn't work after all."]) == "failure"
    assert outcome_of(["I give up."] + ["Nice weather."] * 3) == "unknown"


@pytest.mark.parametrize("reply", ["", "{", "[1, 2]", "null", 7, None, [], "{" * 3000, '{"tags": }'])
def test_a_reply_that_is_no_object_is_none_and_nothing_is_raised(reply: object) -> None:
    assert read_guess(reply) is None


texts = st.text(max_size=90) | st.sampled_from(["leak", "x" * 99, "success", " Success "])
json_like = texts | st.none() | st.integers() | st.lists(texts | st.none(), max_size=25)
replies = st.dictionaries(st.sampled_from(["entities", "tags", "outcome", "participants", "mood"]), json_like)


@given(replies)
def test_whatever_a_model_says_lists_are_capped_and_the_outcome_is_a_known_one(
    reply: Mapping[str, object],
) -> None:
    for asked in (reply, json.dumps(reply)):
        guess = read_guess(asked)
        assert guess is not None
        metadata = metadata_of(TALK, guess=guess)
        assert metadata.outcome in OUTCOMES
        assert len(metadata.tags) <= 5
        for values in (metadata.entities, metadata.tags):
            assert len(values) <= 20
            assert all(0 < len(one) <= 80 for one in values)
        assert read_metadata(metadata.as_json()) == metadata


MEMORY: Mapping[str, Metadata] = {
    "leak": Metadata(("Tim",), ("bash",), ("CSTP server",), ("dec-1",), ("debugging", "memory"), "success"),
    "logo": Metadata(("Tim", "Zoë"), ("web_search",), ("Invoice PDF",), (), ("design",), "partial"),
    "cache": Metadata(("Ana",), ("bash", "curl"), ("cognition-engines",), (), ("debugging",), "failure"),
}
STARTS = {"leak": 4, "logo": 5, "cache": 6}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "leak logo cache"), ("tool=bash", "leak cache"), ("tool=bash participant=Tim", "leak"),
        ("participant=tim", "leak logo"), ("participant=zoe", "logo"), ("entity~cognition", "cache"),
        ('entity="cstp server"', "leak"), ("entity=cstp", ""), ("entity~CSTP", "leak"),
        ("tag=debugging outcome=failure", "cache"), ("tag=design tag=memory", "leak logo"),
        ("tag=design,memory", "leak logo"), ("tool=curl tool~search", "logo cache"), ("decision=dec-1", "leak"),
        ("since=2026-03-05", "logo cache"), ("until=2026-03-05", "leak"),
        ("since=2026-03-05 until=2026-03-06", "logo"), ("tag=nothing", ""), ("participants=Tim tags=memory", "leak"),
    ],
)  # fmt: skip
def test_filters_return_exactly_the_set(text: str, found: str) -> None:
    conditions = parse_filter(text)
    passed = [
        name
        for name, metadata in MEMORY.items()
        if matches(metadata.as_json(), conditions, datetime(2026, 3, STARTS[name], tzinfo=UTC))
    ]
    assert passed == found.split()


@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        ("bash", "field=value"), ("tol=bash", "tool"), ("tag=", "something"), ("outcome=great", "success"),
        ("outcome~succ", "success"), ("since=soonish", "2026-03-01"), ("since~2026", "since=2026-03-01"),
        ("since=2026-03-01 since=2026-03-02", "once"), ("since=2026-03-02 until=2026-03-01", "turn"),
        ('entity="open', "quote"), ("tag=,", "something"),
    ],
)  # fmt: skip
def test_a_filter_that_cannot_be_read_is_refused_with_a_remedy(text: str, remedy: str) -> None:
    with pytest.raises(InvalidInput, match=remedy):
        parse_filter(text)


def test_values_may_hold_signs_and_apostrophes() -> None:
    conditions = parse_filter(["participant=O'Brien", "entity=a=b"])
    assert matches(Metadata(participants=("o'brien",), entities=("A=B",)), conditions)
    assert matches(Metadata(participants=("O'Brien",)), parse_filter("participant=O'Brien"))


def test_a_filter_is_read_alike_from_one_line_and_from_several() -> None:
    line = "tool=bash participant=Tim Lee tag=memory,leak outcome=failure"
    pieces = ["tool=bash", "participant=Tim Lee", "tag=memory,leak", "outcome=failure"]
    conditions = parse_filter(line)
    assert [c.field for (c,) in conditions.fields] == ["tool", "participant", "tag", "outcome"]
    assert conditions == parse_filter([line]) == parse_filter(pieces)
    assert conditions == parse_filter([" ".join(pieces[:2]), " ".join(pieces[2:])])


def test_without_a_start_nothing_passes_a_filter_of_time() -> None:
    assert not matches(MEMORY["leak"], parse_filter("since=2026-01-01"))


values = st.lists(st.sampled_from(["bash", "Tim", "Zoë", "CSTP server", "x y"]), max_size=3).map(tuple)


@given(st.builds(Metadata, values, values, values, values, values, st.sampled_from(OUTCOMES)), values)
def test_the_inverted_table_gives_the_same_set_as_the_filter(
    metadata: Metadata, asked: tuple[str, ...]
) -> None:
    terms = {(t.field, t.value) for t in metadata_terms(metadata)}
    for value in asked:
        conditions = parse_filter([f"tag={value}"])
        ((condition,),) = conditions.fields
        assert matches(metadata, conditions) == ((condition.field, condition.values[0]) in terms)
    assert len(terms) == len(metadata_terms(metadata))
