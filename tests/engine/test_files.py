"""Chat files: every accepted form reads, what is broken is reported by line, nothing crashes."""

import gzip
import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from builders.examples import share
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from episodic_agent.core.identity import assign_ids
from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.dates import DateOrder
from episodic_agent.engine.files.opening import Unreadable
from episodic_agent.engine.files.own import (
    TYPES,
    CheckRecord,
    FactLine,
    Joined,
    Moved,
    Noun,
    SkillLine,
    export_lines,
    from_json,
    header_line,
    read_export,
    read_header,
    to_json,
)
from episodic_agent.engine.files.read import Format, detect, read_file
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import (
    Decision,
    Encoding,
    Episode,
    Frame,
    Kind,
    Link,
    Observation,
    PendingReview,
    Scope,
    Section,
    Thread,
    TimeSource,
)  # fmt: skip
from episodic_agent.schemas.erasures import Tombstone
from episodic_agent.schemas.facts import Category, Fact, FactEvidence, FactTombstone, Version
from episodic_agent.schemas.skills import SkillState

SAMPLES = Path(__file__).parent.parent / "data" / "transcripts"
ANA = Scope("ana")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def to_file(content: str | bytes, name: str = "chat.txt") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to_file


def items(path: Path, **options: object) -> list[Item]:
    return [r for r in read_file(path, **options) if isinstance(r, Item)]  # type: ignore[arg-type]


def complaints(path: Path, **options: object) -> list[tuple[int, str]]:
    return [(r.line, r.reason) for r in read_file(path, **options) if isinstance(r, Unreadable)]  # type: ignore[arg-type]


def said(path: Path, **options: object) -> list[tuple[str, str]]:
    return [(item.actor, item.text) for item in items(path, **options)]


HELLO = [("user", "hello"), ("assistant", "hi there")]
MESSAGES = [{"role": role, "content": text} for role, text in HELLO]


@pytest.mark.parametrize(
    ("content", "format"),
    [
        ("\n".join(map(json.dumps, MESSAGES)), Format.JSON_LINES),
        (json.dumps(MESSAGES), Format.JSON),
        (json.dumps(MESSAGES, indent=2), Format.JSON),
        (json.dumps({"messages": MESSAGES}, indent=1), Format.JSON),
        (json.dumps({"messages": MESSAGES}), Format.JSON_LINES),
        (json.dumps({"conversations": [{"messages": MESSAGES}]}, indent=1), Format.JSON),
        (json.dumps([MESSAGES]), Format.JSON),
        ("user: hello\nassistant: hi there\n", Format.TRANSCRIPT),
        ("User: hello\r\nASSISTANT: hi there", Format.TRANSCRIPT),
        ("[2024-03-01 09:15] user: hello\n[2024-03-01 09:16] assistant: hi there", Format.TRANSCRIPT),
    ],
)  # fmt: skip
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("packed", [False, True])
def test_one_chat_in_every_format_and_encoding(
    write: Write, content: str, format: Format, encoding: str, packed: bool
) -> None:
    data = content.encode(encoding)
    path = write(gzip.compress(data) if packed else data)
    assert detect(path) is format
    assert said(path) == HELLO
    assert complaints(path) == []


@pytest.mark.parametrize("name", ["chat.json", "chat.jsonl", "openai.json", "plain.txt"])
def test_the_samples_read_without_complaint(name: str) -> None:
    assert complaints(SAMPLES / name) == []
    assert len(items(SAMPLES / name)) >= 5


def test_a_tool_call_and_its_result_are_read_from_an_openai_log() -> None:
    tools = [item for item in items(SAMPLES / "openai.json") if item.kind is Kind.TOOL]
    assert tools[0].text == 'called get_forecast(place="Lymington", date="2024-03-09")'
    assert tools[1].extras["tool_call_id"] == "call_wind_1"


def test_broken_lines_are_listed_and_the_rest_is_read() -> None:
    assert [line for line, _ in complaints(SAMPLES / "broken.jsonl")] == [3, 4, 5, 6]
    reasons = " | ".join(reason for _, reason in complaints(SAMPLES / "broken.jsonl"))
    for words in ("breaks off", "the text is empty", "cannot read the time", "not valid UTF-8"):
        assert words in reasons
    assert len(items(SAMPLES / "broken.jsonl")) == 4


def test_a_message_may_run_over_several_lines_and_contain_colons() -> None:
    read = items(SAMPLES / "plain.txt")
    assert (
        read[1].text
        == "Yes, on Wednesday. I've marked three beans:\n- the climbing one with purple pods\n- the Spanish white\n- a dwarf for the balcony"
    )
    assert read[5].text == "Ordered. €14.80 with postage.\n\nThey'll be here on Monday."
    assert read[4].text.startswith("Shall we order before ten: they")


def test_an_untimed_line_takes_the_time_above_it_as_assumed() -> None:
    untimed = items(SAMPLES / "plain.txt")[3]
    assert (untimed.text, untimed.at, untimed.at_source) == (
        "Obviously.",
        datetime(2024, 3, 1, 9, 18, tzinfo=UTC),
        TimeSource.ASSUMED,
    )


NINE_FIFTEEN = datetime(2024, 3, 1, 9, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        "[2024-03-01 09:15] Ana: hi", "[2024-03-01T09:15:00Z] Ana: hi", "[2024-03-01 10:15+01:00] Ana: hi",
        "[2024-03-01, 09:15] Ana: hi", "[2024/3/1 09:15] Ana: hi", "[03/01/2024, 9:15 AM] Ana: hi",
        "[3/1/24, 9:15\u202fAM] Ana: hi", "\u200e[1.3.2024, 09:15] Ana: hi", "3/1/24, 9:15 AM - Ana: hi",
        "2024-03-01 09:15 Ana: hi", "2024-03-01T09:15:00Z Ana: hi", "(2024-03-01 09:15) Ana: hi",
        "[2024-03-01 09:15] <Ana> hi", "Ana [2024-03-01 09:15]: hi", "Ana (1 March 2024 9:15 am): hi",
        "[9:15 am on 1 March, 2024] Ana: hi",
    ],
)  # fmt: skip
def test_one_line_in_every_time_style(write: Write, line: str) -> None:
    (item,) = items(write(line))
    assert (item.actor, item.text, item.at, item.at_source) == ("Ana", "hi", NINE_FIFTEEN, TimeSource.GIVEN)


@pytest.mark.parametrize("line", ["[09:14] Ana: hi", "09:14 <Ana> hi"])
def test_a_clock_without_a_date_gives_no_time(write: Write, line: str) -> None:
    (item,) = items(write(line))
    assert (item.actor, item.text, item.at, item.at_source) == ("Ana", "hi", None, TimeSource.ASSUMED)


@pytest.mark.parametrize(
    ("second", "dates", "month"),
    [
        ("04/02/2024", None, 3),
        ("14/02/2024", None, 1),
        ("02/14/2024", None, 3),
        ("04/02/2024", DateOrder.DMY, 1),
    ],
)
def test_a_number_over_twelve_tells_day_from_month_for_the_whole_file(
    write: Write, second: str, dates: DateOrder | None, month: int
) -> None:
    path = write(f"[03/01/2024, 9:15] Ana: hi\n[{second}, 9:15] Ana: hi")
    assert items(path, dates=dates)[0].at == datetime(2024, month, 1 if month == 3 else 3, 9, 15, tzinfo=UTC)


def test_an_impossible_time_loses_its_message_only(write: Write) -> None:
    path = write(
        "[2024-03-01 09:15] Ana: one\n[2024-13-01 09:15] Ana: two\nstill two\n[2024-03-01 09:17] Ana: three"
    )
    assert said(path) == [("Ana", "one"), ("Ana", "three")]
    assert [line for line, _ in complaints(path)] == [2]


def test_notices_have_no_speaker_and_strangers_words_continue(write: Write) -> None:
    path = write("[2024-03-01 09:15] Ana joined\n[2024-03-01 09:16] Ana: list\nNote: bring tea\nAna: done")
    assert said(path) == [("system", "Ana joined"), ("Ana", "list\nNote: bring tea"), ("Ana", "done")]


def test_naive_times_are_in_the_zone_given(write: Write) -> None:
    path = write("[2024-07-01 09:15] Ana: hi")
    assert items(path, timezone=ZoneInfo("Europe/Lisbon"))[0].at == datetime(2024, 7, 1, 8, 15, tzinfo=UTC)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"id,role,content\n1,user,hi\n", r"is a table \('id,role,content'\); give each row as a line of JSON"),
        (b"just some prose without any speaker.\n", r"begins 'just some prose without any speaker\.', .*accepted"),
        (b"name,text", "begins 'name,text', .*accepted"),
        (bytes(range(1, 256)) * 4, "not text .*--encoding"),
        (b"PK\x03\x04" + bytes(300), "is a damaged zip archive"),
        (b"PK\x03\x04" + bytes(range(256)) * 4, "is a damaged zip archive"),
        (b"\x89PNG\r\n\x1a\n" + bytes(200), "not text"),
        (b"SQLite format 3\x00" + bytes(300), "not text"),
        ("hello".encode("utf-16-le"), "not text"),
        (b"<html><body>hi</body></html>", "accepted"),
        (b"[1, 2", "accepted"),
    ],
)  # fmt: skip
def test_what_is_no_chat_is_refused_in_one_line_with_what_was_seen_and_the_remedy(
    write: Write, content: bytes, words: str
) -> None:
    with pytest.raises(InvalidInput, match=words) as refused:
        list(read_file(write(content)))
    assert "\n" not in str(refused.value)


def test_files_that_cannot_be_opened_are_refused(tmp_path: Path, write: Write) -> None:
    for path in (tmp_path / "missing.jsonl", tmp_path):
        with pytest.raises(InvalidInput, match="cannot read"):
            read_file(path)
    with pytest.raises(InvalidInput, match="unknown encoding"):
        read_file(write("Ana: hi"), encoding="klingon")


@pytest.mark.parametrize("content", ["", " \n\n", "\ufeff"])
def test_an_empty_file_holds_nothing(write: Write, content: str) -> None:
    assert list(read_file(write(content))) == []


def test_another_encoding_is_read_when_named_and_reported_by_line_when_not(write: Write) -> None:
    path = write("Zoë: naïve\nBo: plain\nZoë: again".encode("latin-1"))
    assert said(path, encoding="latin-1") == [("Zoë", "naïve"), ("Bo", "plain"), ("Zoë", "again")]
    assert said(path) == [("Bo", "plain")]
    assert complaints(path) == [
        (n, "not valid UTF-8; convert the file to UTF-8 or pass --encoding") for n in (1, 3)
    ]


def test_one_undecodable_line_of_a_message_leaves_the_others(write: Write) -> None:
    path = write(b"Ana: one\ntw\xe9\nthree\nBo: four")
    assert said(path) == [("Ana", "one\nthree"), ("Bo", "four")]
    assert [line for line, _ in complaints(path)] == [2]


@pytest.mark.parametrize("cut", [40, 75, 110])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", [False, True])
def test_half_a_json_document_gives_its_whole_messages(
    write: Write, cut: int, indent: int | None, wrap: bool
) -> None:
    messages = [{"role": "user", "content": f"message {n}"} for n in range(9)]
    text = json.dumps({"id": "c", "messages": messages} if wrap else messages, indent=indent)
    path = write(text[:-cut])
    pairs = said(path)
    assert pairs == [("user", f"message {n}") for n in range(len(pairs))]
    assert 5 <= len(pairs) < 9
    assert len(complaints(path)) == 1
    assert "breaks off" in complaints(path)[0][1]


def test_a_broken_element_of_a_pretty_list_costs_only_itself(write: Write) -> None:
    lines = json.dumps([{"role": "user", "content": f"m{n}"} for n in range(4)], indent=2).splitlines()
    lines[7] = '    "content": "m1'
    path = write("\n".join(lines))
    assert [text for _, text in said(path)] == ["m0", "m2", "m3"]
    assert [line for line, _ in complaints(path)] == [6]


def test_a_damaged_archive_gives_what_is_before_the_damage(write: Write) -> None:
    lines = "\n".join(json.dumps({"role": "user", "content": f"{n} {n * 7919}"}) for n in range(3000))
    path = write(gzip.compress(lines.encode())[:-4000], "chat.jsonl.gz")
    assert 500 < len(items(path)) < 3000
    assert any("file ends here" in reason for _, reason in complaints(path))


def test_conversations_name_their_threads_and_channels(write: Write) -> None:
    document = {
        "conversations": [
            {"messages": MESSAGES, "id": 7, "channel": "sms"},
            {"conversation_id": "b", "messages": MESSAGES},
        ]
    }
    read = items(write(json.dumps(document, indent=1)))
    assert [(item.conversation, item.channel) for item in read] == [("7", "sms")] * 2 + [("b", None)] * 2


def test_a_conversation_a_line_is_read_and_its_lines_counted(write: Write) -> None:
    lines = [
        {"id": "a", "messages": MESSAGES},
        {"id": "b", "messages": [{"role": "user", "content": " "}, *MESSAGES]},
    ]
    path = write("\n".join(map(json.dumps, lines)))
    assert [item.conversation for item in items(path)] == ["a", "a", "b", "b"]
    assert [line for line, _ in complaints(path)] == [2]


# --- identity: twice adds nothing, two chats never run together -------------------------------------------


def numbered(texts: Sequence[str], *, timed: bool) -> str:
    start = datetime(2024, 3, 1, tzinfo=UTC)
    times = [
        {"timestamp": (start + timedelta(minutes=n)).isoformat()} if timed else {} for n in range(len(texts))
    ]
    rows = [{"id": n, "role": "user", "content": text, **times[n]} for n, text in enumerate(texts)]
    return "\n".join(map(json.dumps, rows))


@pytest.mark.parametrize("timed", [False, True])
def test_a_renamed_file_gives_the_same_ids_and_another_chat_none_of_them(write: Write, timed: bool) -> None:
    item = numbered([f"cat {n}" for n in range(20)], timed=timed)
    other = numbered([f"dog {n}" for n in range(20)], timed=timed)
    first, renamed, another = (
        assign_ids(items(write(text, name)), ANA)
        for text, name in ((item, "a.jsonl"), (item, "b.jsonl"), (other, "c.jsonl"))
    )
    assert first == renamed
    assert len(set(first) | set(another)) == 40


@pytest.mark.parametrize(("timed", "before"), [(True, 1), (False, 8)])
def test_a_chat_that_has_grown_keeps_the_ids_it_had(write: Write, timed: bool, before: int) -> None:
    texts = [f"cat {n}" for n in range(20)]
    old = assign_ids(items(write(numbered(texts[:before], timed=timed))), ANA)
    assert assign_ids(items(write(numbered(texts, timed=timed))), ANA)[:before] == old


def test_chats_that_greet_alike_without_times_stay_apart(write: Write) -> None:
    this_items = items(write(numbered(["hi", "my cat is ill"], timed=False)))
    two = items(write(numbered(["hi", "my car is sold"], timed=False)))
    assert this_items[0].conversation != two[0].conversation


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(
        [
            b"",
            b"{",
            b"[",
            b"Ana: ",
            b"[2024-03-01 09:15] Ana: ",
            b'{"role":"user","content":"x"}\n',
            b"\x1f\x8b",
            b"\xff\xfe",
        ]
    ),
)
def test_no_bytes_at_all_can_crash_the_reader(write: Write, content: bytes, beginning: bytes) -> None:
    path = write(beginning + content)
    try:
        records = list(read_file(path))
    except InvalidInput:
        return
    for record in records:
        assert isinstance(record, Item | Unreadable)
        if isinstance(record, Item):
            (record.text + record.actor + str(record.conversation)).encode("utf-8")
        else:
            (record.reason + record.excerpt).encode("utf-8")
            assert record.line >= 1


LINES = st.lists(
    st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip),
    min_size=1,
    max_size=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(LINES)
def test_any_texts_survive_the_way_through_json_lines(write: Write, texts: list[str]) -> None:
    path = write(
        "\n".join(json.dumps({"role": "user", "content": text}, ensure_ascii=False) for text in texts)
    )
    assert [item.text for item in items(path)] == texts


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=share(40))
@given(st.integers(0, 400), st.binary(min_size=1, max_size=8))
def test_damage_anywhere_in_json_lines_costs_at_most_the_lines_it_touches(
    write: Write, place: int, damage: bytes
) -> None:
    good = "\n".join(
        json.dumps({"role": "user", "content": f"message number {n}"}) for n in range(8)
    ).encode()
    broken = good[:place] + damage.replace(b"\n", b"").replace(b"\r", b"") + good[place + 1 :]
    if broken.count(b"\n") == 7 and broken[:1] == b"{":
        assert len(items(write(broken))) >= 7


# --- the project's own export ---------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=12)
TIMES = st.datetimes(datetime(1900, 1, 2), datetime(2200, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, VALUES, max_size=3)
NUMBERS = st.floats(allow_nan=False)
MAYBE_TIME = st.none() | TIMES
EVIDENCE = st.builds(FactEvidence, st.uuids(), st.integers(0), st.integers(0), TEXT, TEXT, TIMES, TIMES, episode_id=st.none() | st.uuids(), learned_at=MAYBE_TIME, confidence=st.floats(0, 1), corrects=st.booleans(), ended_by=st.none() | st.uuids())  # fmt: skip
VERSIONS = st.lists(st.builds(Version, TEXT, TEXT, TIMES), max_size=2).map(tuple)
FACTS = st.builds(Fact, st.uuids(), TEXT, TEXT, TEXT, st.sampled_from(Category), TEXT, st.lists(EVIDENCE, max_size=2).map(tuple), TIMES, holds=st.booleans(), keywords=st.lists(TEXT, max_size=2).map(tuple), invalid_at=MAYBE_TIME, superseded_by=st.none() | st.uuids(), versions=VERSIONS)  # fmt: skip
NOUNS: st.SearchStrategy[Noun] = st.one_of(
    st.builds(Thread, st.uuids(), TEXT, TIMES, TIMES, title=st.none() | TEXT, channels=st.lists(TEXT, max_size=3).map(tuple), generation=st.integers(0)),
    st.builds(Observation, st.uuids(), st.uuids(), st.integers(0), TIMES, TIMES, TEXT, TEXT, kind=st.sampled_from(Kind), at_source=st.sampled_from(TimeSource), utc_offset=st.none() | st.integers(-50000, 50000), events=st.lists(OBJECTS, max_size=2).map(tuple), prediction_error=st.none() | st.floats(0, 1), extras=OBJECTS),
    st.builds(Frame, st.uuids(), TEXT, TEXT, state=st.binary(max_size=20), question=st.none() | st.binary(max_size=9), last_received_at=MAYBE_TIME),
    st.builds(Episode, st.uuids(), st.uuids(), st.integers(0), st.integers(0), TIMES, TIMES, TIMES, TEXT, NUMBERS, NUMBERS, NUMBERS, TIMES, decision_id=st.none() | st.uuids(), consolidated_at=MAYBE_TIME, metadata=OBJECTS),
    st.builds(Encoding, st.uuids(), st.integers(0), TEXT, TEXT, OBJECTS, TEXT, TIMES),
    st.builds(Decision, st.uuids(), TEXT, TIMES, st.uuids(), st.dictionaries(TEXT, NUMBERS, max_size=3), NUMBERS, NUMBERS, TEXT, TEXT, alternatives=st.lists(OBJECTS, max_size=2).map(tuple), detail=OBJECTS, outcome=st.none() | TEXT),
    st.builds(CheckRecord, st.uuids(), st.integers(0), st.binary(max_size=30)),
    st.builds(Link, st.uuids(), st.uuids(), TIMES, basis=TEXT, decision_id=st.none() | st.uuids(), unlinked_at=MAYBE_TIME),
    st.builds(Joined, st.uuids(), st.lists(st.uuids(), max_size=3).map(tuple)),
    st.builds(Section, st.uuids(), st.integers(0), st.uuids(), TIMES, opened_for=TEXT, ended=st.booleans(), compacted_through=st.none() | st.integers(0), compacted_at=MAYBE_TIME),
    st.builds(Tombstone, st.uuids(), st.integers(0), st.uuids(), TIMES),
    st.builds(PendingReview, st.uuids(), st.uuids(), st.integers(0), TIMES, TEXT, st.lists(st.uuids(), max_size=3).map(tuple)),
    st.builds(SkillLine, st.uuids(), TEXT, st.sampled_from(SkillState), TIMES, OBJECTS, st.lists(TEXT, max_size=3).map(tuple)),
    st.builds(PendingReview, st.uuids(), st.uuids(), st.integers(0), TIMES, TEXT, st.lists(st.uuids(), max_size=3).map(tuple)),
    st.builds(FactLine, FACTS, TIMES),
    st.builds(Moved, st.uuids(), st.uuids()),
    st.builds(FactTombstone, st.uuids(), TEXT, TIMES),
)  # fmt: skip


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=share(60))
@given(st.lists(NOUNS, max_size=3))
def test_every_noun_comes_back_equal_from_an_export(write: Write, nouns: list[Noun]) -> None:
    made = datetime(2024, 3, 1, tzinfo=UTC)
    text = "\n".join([header_line(ANA, made, {"thread": 1}), *export_lines(nouns)]) + "\n"
    path = write(text, "memory.jsonl")
    assert detect(path) is Format.OWN
    header = read_header(path)
    assert (header.scope, header.exported_at, header.counts) == (ANA, made, {"thread": 1})
    assert list(read_export(path)) == nouns


def test_every_exported_type_has_a_noun_in_the_round_trip() -> None:
    assert set(TYPES) == {
        "thread",
        "observation",
        "record",
        "frame",
        "episode",
        "encoding",
        "decision",
        "part",
        "link",
        "joined",
        "skill",
        "refused_chain",
        "recall",
        "fact",
        "moved_fact",
        "deleted_fact",
        "erased",
        "mark",
        "suppressed_words",
        "retention",
    }


def test_numpy_numbers_are_not_smuggled_into_an_export() -> None:
    with pytest.raises(TypeError, match="JSON"):
        list(export_lines([Thread(UUID_ONE, "o", NINE_FIFTEEN, NINE_FIFTEEN, generation=np.int64(3))]))  # type: ignore[arg-type]


UUID_ONE = next(iter(assign_ids([Item("user", "x")], ANA)))


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type": "observation", "id', "breaks off"),
        ('{"type": "planet"}', "unknown type 'planet'"),
        ("[]", "unknown type"),
        ('{"type": "record", "thread_id": "x", "seq": 0, "packed": ""}', "thread_id does not fit"),
        ('{"type": "record", "thread_id": "00000000-0000-0000-0000-000000000001", "seq": "0", "packed": ""}', "seq does not fit"),
        ('{"type": "record", "thread_id": "00000000-0000-0000-0000-000000000001", "seq": 0, "packed": "é"}', "packed does not fit"),
        ('{"type": "record", "seq": 0}', "has no thread_id"),
    ],
)  # fmt: skip
def test_a_damaged_line_of_an_export_is_named_and_the_rest_read(write: Write, line: str, reason: str) -> None:
    record = CheckRecord(UUID_ONE, 1, b"x")
    path = write("\n".join([header_line(ANA, NINE_FIFTEEN, {}), line, *export_lines([record])]))
    broken, full = read_export(path)
    assert isinstance(broken, Unreadable)
    assert (broken.line, reason in broken.reason, full) == (2, True, record)


def test_an_export_of_a_newer_version_is_refused(write: Write) -> None:
    head = json.loads(header_line(ANA, NINE_FIFTEEN, {})) | {"version": 99}
    with pytest.raises(InvalidInput, match="reads up to 3"):
        read_export(write(json.dumps(head)))
    with pytest.raises(InvalidInput, match="is not an export"):
        read_export(write('{"role": "user"}'))


def test_unknown_fields_of_a_line_are_ignored() -> None:
    record = CheckRecord(UUID_ONE, 1, b"x")
    assert from_json(to_json(record) | {"colour": "red"}) == record
