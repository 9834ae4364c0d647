"""The door: what callers give becomes one clean Item, and what cannot be is refused by name."""

import json
import math
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.identity import content_id
from episodic_agent.core.ingest import Item, check_ahead, check_names, read_item, read_time
from episodic_agent.core.ingest.item import FIELDS
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Kind, Scope, TimeSource

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
KEYS = st.sampled_from(
    [
        "role",
        "content",
        "timestamp",
        "id",
        "name",
        "tool_calls",
        "location",
        "events",
        "kind",
        "extras",
        "text",
        "message",
    ]
)


def test_a_plain_string_is_a_message_of_the_default_actor() -> None:
    item = read_item("I'm moving to Lisbon", default_actor="ana")
    assert (item.actor, item.text, item.kind) == ("ana", "I'm moving to Lisbon", Kind.MESSAGE)
    assert item.at is None
    assert item.at_source is TimeSource.ASSUMED


@pytest.mark.parametrize("key", ["name", "speaker", "author", "from", "actor", "sender"])
def test_the_speaker_may_be_called_by_any_synonym(key: str) -> None:
    assert read_item({key: "Ana", "text": "hi"}).actor == "Ana"


def test_a_user_is_who_speaks_unless_somebody_else_does() -> None:
    assert read_item({"user": "Ana", "text": "hi"}).actor == "Ana"
    item = read_item({"role": "user", "user": "Ana", "content": "hi"})
    assert (item.actor, item.extras) == ("Ana", {"role": "user"})
    for spoken in ({"role": "assistant"}, {"name": "Bo"}, {"sender": "Bo", "role": "user"}):
        item = read_item({"user": "Ana", "content": "hi", **spoken})
        assert (item.actor in ("assistant", "Bo"), item.extras["user"]) == (True, "Ana")


@pytest.mark.parametrize("key", ["content", "text", "message", "body"])
def test_the_text_may_be_called_by_any_synonym(key: str) -> None:
    assert read_item({"role": "user", key: "hi"}).text == "hi"


@pytest.mark.parametrize("key", ["timestamp", "time", "at", "date", "created_at", "ts"])
def test_the_time_may_be_called_by_any_synonym(key: str) -> None:
    assert read_item({"role": "user", "content": "hi", key: 1709284500}).at == datetime(
        2024, 3, 1, 9, 15, tzinfo=UTC
    )


@pytest.mark.parametrize("key", ["conversation_id", "thread_id", "thread", "session", "chat", "sessionId"])
def test_the_conversation_may_be_called_by_any_synonym(key: str) -> None:
    assert read_item({"role": "user", "content": "hi", key: 12}).conversation == "12"


def test_a_name_beats_the_role_and_the_role_is_kept() -> None:
    item = read_item({"role": "user", "name": "Ana", "content": "hi"})
    assert (item.actor, item.extras) == ("Ana", {"role": "user"})


@pytest.mark.parametrize(
    ("given_id", "kept"), [(7, "7"), ("a", "a"), (1.5, "1.5"), (None, None), ("", None), (0, "0")]
)
def test_ids_become_strings(given_id: object, kept: str | None) -> None:
    assert read_item({"role": "user", "content": "hi", "id": given_id}).external_id == kept


def test_unknown_fields_are_kept_in_extras() -> None:
    item = read_item({"role": "user", "content": "hi", "mood": "good", "extras": {"lang": "en"}})
    assert item.extras == {"mood": "good", "lang": "en"}


@pytest.mark.parametrize(
    ("key", "meant"),
    [("timestmap", "timestamp"), ("createdAt", "created_at"), ("Role", "role"), ("threadId", "thread_id")],
)
def test_a_misspelt_key_is_refused_with_the_one_that_was_meant(key: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=f'unknown key "{key}"; did you mean "{meant}"'):
        check_names({"content": "My GP is Dr Amara.", key: "2026-03-02T10:00:00Z"})


@pytest.mark.parametrize(
    "key", ["channel_id", "author_id", "created_by", "updated_at", "reactions", "event", "uid", "lat", "mood"]
)
def test_a_key_of_the_callers_own_is_none_misspelt(key: str) -> None:
    check_names({"content": "My GP is Dr Amara.", key: 7})


@pytest.mark.parametrize(
    ("role", "meant"),
    [
        ("usr", "user"),
        ("uesr", "user"),
        ("asistant", "assistant"),
        ("asssistant", "assistant"),
        ("tol", "tool"),
    ],
)
def test_a_misspelt_role_is_refused_with_the_one_that_was_meant(role: str, meant: str) -> None:
    with pytest.raises(
        InvalidInput, match=f'unknown role "{role}"; did you mean "{meant}".*stands under "name"'
    ):
        check_names({"role": role, "content": "My GP is Dr Amara."})
    assert read_item({"role": role, "content": "My GP is Dr Amara."}).actor == role  # in a file it stays


@pytest.mark.parametrize(
    "role",
    ["assistent", "asistente", "sistem", "Usr", "user2", "users", "developer", "ai", "Ana", "ser", "pool"],
)
def test_a_role_may_be_any_speakers_name(role: str) -> None:
    check_names({"role": role, "content": "My GP is Dr Amara."})
    check_names({"role": "user", "name": "usr", "content": "My GP is Dr Amara."})


def test_a_time_of_decades_ahead_is_refused_and_one_of_a_world_played_ahead_is_not() -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    for at in (None, now, now - timedelta(days=9999), now + timedelta(days=3600)):
        check_ahead(at, now)
    with pytest.raises(
        InvalidInput, match=r"2062-03-01T00:00:00\+00:00 is 36 years ahead of now, 2026-03-01; give"
    ):
        check_ahead(now.replace(year=2062), now)


def test_an_agent_log_envelope_is_unwrapped_and_keeps_the_lines_own_id() -> None:
    line = {
        "uuid": "u1",
        "timestamp": "2024-03-01T09:15:00Z",
        "message": {"id": "m", "role": "assistant", "content": "ok"},
    }
    item = read_item(line)
    assert (item.external_id, item.actor, item.text) == ("u1", "assistant", "ok")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (
            [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}],
            "look\n[image]",
        ),
        ([{"type": "input_text", "text": "a"}, {"type": "input_audio", "data": "x"}], "a\n[audio]"),
        ({"content_type": "text", "parts": ["one", "two"]}, "one\ntwo"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "yes"}], "yes"),
        (["a", "b"], "a\nb"),
        (42, "42"),
    ],
)
def test_content_parts_become_text(content: object, text: str) -> None:
    assert read_item({"role": "user", "content": content}).text == text


TOOLS: list[tuple[Mapping[str, object], str, str, Mapping[str, object]]] = [
    (
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "weather", "arguments": '{"city": "Lisbon"}'},
                }
            ],
        },
        "assistant",
        'called weather(city="Lisbon")',
        {
            "name": "weather",
            "arguments": {"city": "Lisbon"},
            "result": None,
            "error": None,
            "tool_call_id": "c1",
        },
    ),
    (
        {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "18 °C"},
        "tool",
        "weather: 18 °C",
        {"name": "weather", "arguments": None, "result": "18 °C", "error": None, "tool_call_id": "c1"},
    ),
    (
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "t1", "name": "read", "input": {"path": "a.py"}},
            ],
        },
        "assistant",
        'Let me look.\ncalled read(path="a.py")',
        {"name": "read", "arguments": {"path": "a.py"}, "result": None, "error": None, "tool_call_id": "t1"},
    ),
    (
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [{"type": "text", "text": "no such file"}],
                }
            ],
        },
        "tool",
        "tool result: error: no such file",
        {"name": None, "arguments": None, "result": None, "error": "no such file", "tool_call_id": "t1"},
    ),
    (
        {"kind": "tool", "name": "add", "arguments": {"a": 1, "b": 2}, "result": 3},
        "tool",
        "called add(a=1, b=2): 3",
        {"name": "add", "arguments": {"a": 1, "b": 2}, "result": 3, "error": None},
    ),
    (
        {"type": "function_call", "call_id": "c", "name": "now", "arguments": "{broken"},
        "assistant",
        "called now({broken)",
        {"name": "now", "arguments": "{broken", "result": None, "error": None, "tool_call_id": "c"},
    ),
]


@pytest.mark.parametrize(("raw", "actor", "text", "extras"), TOOLS)
def test_tool_messages_of_both_houses_become_tool_items(
    raw: Mapping[str, object], actor: str, text: str, extras: Mapping[str, object]
) -> None:
    item = read_item(raw)
    assert (item.kind, item.actor, item.text) == (Kind.TOOL, actor, text)
    assert {key: item.extras.get(key) for key in extras} == extras


def test_several_calls_in_one_message_are_all_listed() -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("a", "b")]
    item = read_item({"role": "assistant", "tool_calls": calls})
    assert item.text == "called a()\ncalled b()"
    assert [call["name"] for call in item.extras["calls"]] == ["a", "b"]  # type: ignore[index,union-attr,call-overload]


def test_a_step_without_words_is_told_from_its_parts() -> None:
    item = read_item(
        {
            "location": "kitchen",
            "action": "open fridge",
            "objects": ["fridge"],
            "events": [{"type": "appearance", "label": "mug"}],
        }
    )
    assert (item.kind, item.actor, item.location) == (Kind.STEP, "agent", "kitchen")
    assert item.text == "In the kitchen: open fridge; a mug appeared; with fridge"
    assert item.events == ({"type": "appearance", "label": "mug"},)
    assert item.extras == {"action": "open fridge", "objects": ["fridge"]}


def test_a_message_with_a_place_stays_a_message() -> None:
    assert read_item({"role": "user", "content": "hi", "location": "Lisbon"}).kind is Kind.MESSAGE


@pytest.mark.parametrize(
    ("error", "kept"), [(5.0, 1.0), (-1, 0.0), (math.nan, 0.0), (0.25, 0.25), (math.inf, 1.0)]
)
def test_prediction_errors_are_clamped_and_nan_is_zero(error: float, kept: float) -> None:
    assert read_item({"action": "go", "prediction_error_magnitude": error}).prediction_error == kept


NINE_FIFTEEN = datetime(2024, 3, 1, 9, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2024-03-01T09:15:00Z", "2024-03-01T10:15:00+01:00", "2024-03-01 09:15", "20240301T091500", 1709284500,
        1709284500.0, 1709284500_000, 1709284500_000_000, 1709284500_000_000_000, "1709284500", "1709284500000",
        "1 March 2024, 9:15", "March 1, 2024 9:15 AM", "9:15 am on 1 March, 2024", "Fri, 01 Mar 2024 09:15:00 +0000",
        NINE_FIFTEEN, NINE_FIFTEEN.replace(tzinfo=None), NINE_FIFTEEN.astimezone(timezone(timedelta(hours=5))),
    ],
)  # fmt: skip
def test_one_moment_in_every_accepted_form(value: object) -> None:
    moment = read_time(value)
    assert (moment.at, moment.source) == (NINE_FIFTEEN, TimeSource.GIVEN)
    assert moment.at.tzinfo is UTC


@pytest.mark.parametrize(
    "value", ["2024-03-01", "20240301", date(2024, 3, 1), "1 March 2024", "Mar 1st, 2024"]
)
def test_a_date_alone_is_the_start_of_its_day_and_says_so(value: object) -> None:
    moment = read_time(value)
    assert (moment.at, moment.source) == (datetime(2024, 3, 1, tzinfo=UTC), TimeSource.DATE_ONLY)


def test_a_naive_time_is_in_the_callers_zone_and_an_offset_is_kept() -> None:
    lisbon = ZoneInfo("Europe/Lisbon")
    assert read_time("2024-07-01T09:15:00", lisbon).at.hour == 8
    assert read_time("2024-07-01T09:15:00", lisbon).utc_offset == 3600
    assert read_time("2024-07-01T09:15:00-05:00", lisbon).utc_offset == -5 * 3600
    assert read_time("2024-07-01T09:15:00").utc_offset is None


@pytest.mark.parametrize(
    "instant",
    [1790719800, 1790719800000, "1790719800.0", "2026-09-29T22:10:00Z", "2026-09-29T22:10:00+00:00"],
)
def test_an_instant_keeps_the_offset_of_the_zone_it_is_read_in(instant: object) -> None:
    raw = {"role": "user", "content": "hi", "timestamp": instant}
    bare, zoned = read_item(raw), read_item(raw, timezone=ZoneInfo("Europe/Berlin"))
    assert (bare.at, zoned.at) == (datetime(2026, 9, 29, 22, 10, tzinfo=UTC),) * 2
    assert zoned.utc_offset == 7200
    assert not zoned.local
    assert content_id(Scope("ana"), "x", bare, 0) == content_id(Scope("ana"), "x", zoned, 0)


def test_a_date_and_a_clock_in_two_fields_make_one_time() -> None:
    item = read_item({"role": "user", "content": "hi", "date": "2024-03-01", "time": "9:15 AM"})
    assert (item.at, item.at_source) == (NINE_FIFTEEN, TimeSource.GIVEN)


@pytest.mark.parametrize(
    "value",
    [
        math.nan, math.inf, True, "yesterday", "2024-13-01", "2024-02-30T00:00:00", "1899-12-31", "2201-01-01", "5",
        "2024", 10**30, pytest.param(10**5000, id="long"), [], {}, "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "\ud800",
        "25:99", "x" * 500, "31 February 2024", "5 Foo 2024", "1 March 2024 at 25:00", "around 1 March 2024",
    ],
)  # fmt: skip
def test_times_that_cannot_be_are_refused_in_one_line(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"accepted") as refused:
        read_item({"role": "user", "content": "hi", "timestamp": value})
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 220


@pytest.mark.parametrize(
    "raw",
    ["", "  \n", {"role": "user", "content": ""}, {"role": "user"}, {"role": "user", "content": []}, {}],
)
def test_an_empty_text_is_refused(raw: object) -> None:
    with pytest.raises(InvalidInput, match="the text is empty"):
        read_item(raw)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (7, "an object with role and content"),
        (None, "an object with role and content"),
        ({"role": ["user"], "content": "hi"}, "role must be a name"),
        ({"content": object()}, "content must be text"),
        ({"action": "go", "events": "door"}, "events must be a list"),
        ({"action": "go", "prediction_error": "high"}, "prediction_error must be a number"),
    ],
)
def test_values_of_the_wrong_kind_are_refused_by_name(raw: object, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_item(raw)


def test_deep_nesting_is_refused_instead_of_breaking_the_stack() -> None:
    deep: object = "x"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(InvalidInput, match="nested deeper"):
        read_item({"role": "user", "content": deep})
    with pytest.raises(InvalidInput, match="nested deeper"):
        read_item({"role": "user", "content": "hi", "more": deep})


def test_text_no_database_can_hold_is_repaired_and_flagged() -> None:
    item = read_item({"role": "us\x00er", "content": "a\ud83d", "note": "\udc00"})
    assert (item.actor, item.text, item.extras["note"], item.repaired) == (
        "us\ufffder",
        "a\ufffd",
        "\ufffd",
        True,
    )
    assert not read_item("fine 🙂").repaired


def test_an_item_given_as_its_own_fields_reads_back() -> None:
    item = Item(
        "ana",
        "hi",
        at=NINE_FIFTEEN,
        at_source=TimeSource.DATE_ONLY,
        external_id="4",
        channel="sms",
        conversation="c",
    )
    raw = {
        "actor": "ana",
        "text": "hi",
        "at": item.at,
        "at_source": "date_only",
        "id": "4",
        "channel": "sms",
        "thread": "c",
    }
    assert read_item(raw) == Item(
        **{**{f: getattr(item, f) for f in item.__dataclass_fields__}, "utc_offset": 0}
    )


@pytest.mark.slow
@given(st.dictionaries(KEYS | st.text(max_size=5), JSON, max_size=6) | JSON)
def test_any_json_gives_a_storable_item_or_one_clear_line(raw: object) -> None:
    try:
        item = read_item(raw)
    except InvalidInput:
        return
    assert item.text.strip()
    assert item.at is None or item.at.tzinfo is UTC
    stored = json.dumps(
        [item.actor, item.text, item.extras, item.events, item.external_id, item.location],
        allow_nan=False,
        ensure_ascii=False,
    )
    assert "\x00" not in stored
    stored.encode("utf-8")


@given(st.datetimes(datetime(1900, 1, 2), datetime(2200, 12, 30)))
def test_every_written_form_of_a_moment_reads_back(moment: datetime) -> None:
    aware = moment.replace(tzinfo=UTC)
    microseconds = (aware - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    assert read_time(aware.isoformat()).at == aware
    if abs(microseconds) >= 10**14:  # below, a number of microseconds cannot be told from milliseconds
        assert read_time(microseconds).at == aware


def test_each_name_of_a_field_belongs_to_one_field_only() -> None:
    names = [name for names in FIELDS.values() for name in names]
    assert sorted(names) == sorted(set(names))
