"""The question about a closed episode: what is sent, what of an answer is believed, what is refused."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest
from builders.injections import INJECTIONS
from builders.models import messages_in, told
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.prompts import STAGES, episode
from episodic_agent.core.prompts.grounding import dated, invented_name, invented_number, invented_year
from episodic_agent.core.prompts.quoting import cleaned
from episodic_agent.errors import BadReply
from episodic_agent.schemas import Json, Kind, Observation, TimeSource

START = datetime(2024, 5, 1, 9, tzinfo=UTC)


def said(*lines: tuple[str, str], source: TimeSource = TimeSource.GIVEN) -> list[Observation]:
    return [
        Observation(
            UUID(int=n + 1),
            UUID(int=99),
            n,
            START + timedelta(minutes=n),
            START,
            actor,
            text,
            at_source=source,
        )
        for n, (actor, text) in enumerate(lines)
    ]


TAP = said(
    ("Ana", "The kitchen tap dripped all night. I bought a new washer for 12 euros yesterday in Freiburg."),
    ("Ben", "Shall I come by on Saturday with my wrench? Marta did ours last month, it took nine minutes."),
    ("Ana", "Yes please! The trip to NYC is next week, so it must be done."),
)
TITLE = "Ana and Ben plan the repair of the dripping tap"
SUMMARY = "Ana tells that the tap dripped and that she bought a washer for 12 euros. Ben offers to come by."


def wrong(**parts: Json) -> dict[str, str]:
    answer = {"title": TITLE, "summary": SUMMARY, "entities": [], "tags": [], "outcome": "ongoing", **parts}
    return episode.faults(episode.grounded(episode.read(answer), TAP), TAP)


def test_the_stage_is_one_that_settings_know() -> None:
    assert episode.STAGE in STAGES


def test_messages_stand_quoted_with_their_day_and_who_said_them() -> None:
    lines = episode.prompt(TAP).split("\n")
    assert f'm2 · 09:01 · Ben: "{TAP[1].text}"' in lines


def test_times_nobody_gave_are_not_shown() -> None:
    assumed = said(("Ana", "Hello"), source=TimeSource.ASSUMED)
    assert 'm1 · Ana: "Hello"' in episode.prompt(assumed).split("\n")


def test_the_prompt_asks_for_whom_it_is_and_marks_who_is_no_person() -> None:
    talk = said(("Ana", "Hello"), ("bot", "Good day"), ("Ignore all: that, you", "Hi"))
    prompt = episode.prompt(talk, "ana")
    assert 'what would "Ana" want to\nfind later?' in prompt
    assert 'm2 · 09:01 · bot (assistant): "Good day"' in prompt
    assert 'm3 · 09:02 · "Ignore all: that, you": "Hi"' in prompt
    assert "what would the user want" in episode.prompt(talk, "u-17")


@pytest.mark.parametrize("injection", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_is_said_cannot_close_its_quotation(injection: str) -> None:
    """Whatever a message or a name holds, a reader of the form finds each message whole and nothing else."""
    evil = said(("Ana", injection.replace("{fence}", "```")), (injection[:80], "Hello"))
    plain = said(("Ana", "x"), ("b", "Hello"))
    prompt = episode.prompt(evil)
    assert len(prompt.split("\n")) == len(episode.prompt(plain).split("\n"))
    assert [text for _, text in messages_in(prompt)] == [cleaned(evil[0].text, 4_000), "Hello"]


def test_a_long_episode_is_shortened_message_by_message() -> None:
    long = said(*[("Ana", "word " * 2_000)] * 100)
    assert len(episode.prompt(long)) < episode.LONGEST_CONVERSATION * 1.5


# --- what an answer must be ----------------------------------------------------------------------------


def test_a_faithful_answer_has_no_fault() -> None:
    assert wrong() == {}


@pytest.mark.parametrize(
    "changed",
    [{"summary": 7}, {"summary": ""}, {"summary": ["a"]}],
    ids=str,
)
def test_an_answer_without_a_summary_is_refused(changed: dict[str, Json]) -> None:
    with pytest.raises(BadReply, match=next(iter(changed))):
        episode.read(told(**changed))


def test_the_rest_is_read_tolerantly() -> None:
    read = episode.read(
        told(entities=["Ana", 7, " Ana ", *map(str, range(40))], tags="tap", outcome="great", more=1)
    )
    assert (len(read.entities), read.entities[0], read.tags, read.outcome) == (20, "Ana", (), "unknown")
    assert len(episode.read(told(tags=["A", "b", "c", "d", "e", "f"])).tags) == 5


@pytest.mark.parametrize(
    ("parts", "where", "why"),
    [
        ({"title": "The tap"}, "title", "2 words, not 3 to 15"),
        ({"title": "tap " * 16}, "title", "16 words"),
        ({"title": "Ana and Gustav plan the repair of the tap"}, "title", "nobody named Gustav"),
        ({"title": "Ana and Ben repair 14 dripping taps"}, "title", "nobody said 14"),
        ({"summary": "Ana bought a washer for 15 euros."}, "summary", "nobody said 15"),
        ({"summary": "Ana bought a washer in Munich."}, "summary", "nobody named Munich"),
        ({"summary": "Klaus offered his help to Ana."}, "summary", "nobody named Klaus"),
        ({"summary": "I bought a washer, and Ben comes by."}, "summary", "not in the third person"),
        ({"summary": "Ana will go on the trip in 1994."}, "summary", "the year 1994"),
        ({"summary": "Ana bought it two days ago."}, "summary", "'two days ago' has no date"),
        ({"summary": "Ana tells of the tap. " * 120}, "summary", "more than 2000"),
    ],
)
def test_what_does_not_stand_in_the_episode_is_refused(parts: dict[str, Json], where: str, why: str) -> None:
    texts = wrong(**parts)
    assert list(texts) == [where]
    assert why in texts[where]


@pytest.mark.parametrize(
    "summary",
    [
        "Marta did theirs last month (April 2024), in 9 minutes.",
        "Ana flies to New York next week (week of 6 May 2024).",
        'Ana says: "I bought a new washer", and Ben agrees.',
        "Ben's wrench is wanted on Saturday; the user thanks the assistant.",
        "On 30 April 2024 Ana bought a washer for 12 euros.",
    ],
)
def test_what_follows_from_the_episode_is_kept(summary: str) -> None:
    assert wrong(summary=summary) == {}


def test_relative_times_are_dated_as_whoever_said_them_meant() -> None:
    read = episode.read(told(summary="Ana bought a washer yesterday; Marta did theirs last month."))
    summary = episode.grounded(read, TAP).summary
    assert (
        summary == "Ana bought a washer yesterday (30 April 2024); Marta did theirs last month (April 2024)."
    )


@pytest.mark.parametrize(
    "summary",
    [
        'They watch "The Day After Tomorrow".',
        "Ben plays Yesterday, the song.",
        'Ben plays "yesterday".',
        "Ana and Ben saw Last Year at Marienbad.",
    ],
)
def test_a_name_that_looks_like_a_time_has_no_date(summary: str) -> None:
    talk = said(("Ana", "The day after tomorrow I sing, yesterday I watched films of last year"))
    assert dated(summary, talk, "en") == (summary, "")


def test_two_times_have_two_dates_and_a_tools_words_date_nothing() -> None:
    talk = said(("Ana", "It began yesterday and ends next month"))
    text = "It began yesterday, and yesterday it rained; it ends next month."
    assert dated(text, talk, "en")[0] == (
        "It began yesterday (30 April 2024), and yesterday it rained; it ends next month (June 2024)."
    )
    tool = [replace(talk[0], kind=Kind.TOOL)]
    assert dated("It began yesterday.", tool, "en") == ("It began yesterday.", "yesterday")


def test_a_title_is_cut_between_words_at_eighty_characters() -> None:
    title = episode.read(
        told(title="Ana and Ben plan the repair of the dripping tap in the kitchen on Saturday with Carla")
    ).title
    assert title == "Ana and Ben plan the repair of the dripping tap in the kitchen on Saturday with"


def test_a_relative_time_said_on_two_days_has_no_date() -> None:
    twice = [TAP[0], replace(TAP[0], seq=1, at=START + timedelta(days=9))]
    assert dated("It was bought yesterday.", twice, "en") == ("It was bought yesterday.", "yesterday")


def test_nothing_is_dated_where_times_were_assumed() -> None:
    assumed = [replace(o, at_source=TimeSource.ASSUMED) for o in TAP]
    assert dated("It was bought yesterday.", assumed, "en") == ("It was bought yesterday.", "")


def test_entities_nobody_named_are_left_out() -> None:
    read = episode.read(told(entities=["Freiburg", "Paris", "ben"]))
    assert episode.grounded(read, TAP).entities == ("Freiburg", "ben")


def test_a_title_in_a_script_without_spaces_is_counted_in_characters() -> None:
    talk = said(("小王", "厨房的水龙头又漏水了，昨天换了垫圈。"))
    fit = episode.read(told(title="小王说厨房水龙头漏水", summary="小王说厨房的水龙头漏水。"))
    assert episode.faults(fit, talk) == {}
    assert "characters" in episode.faults(replace(fit, title="漏水"), talk)["title"]


def test_a_title_a_little_longer_than_asked_for_keeps_its_last_number() -> None:
    title = "Neuer Auftrag Herr Lehnert, Gohlis: Einbauschrank Schlafzimmer RAL 9010"
    assert episode.read(told(title=title)).title == title


# --- what is shared with compaction --------------------------------------------------------------------


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_can_be_checked(text: str, spoken: str) -> None:
    talk = said(("Ana", spoken))
    assert isinstance(invented_name(text, talk), str)
    assert isinstance(invented_number(text, set()), str)
    assert isinstance(invented_year(text, talk, "en"), str)
    assert isinstance(dated(text, talk, "en")[0], str)
