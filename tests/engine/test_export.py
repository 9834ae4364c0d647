"""`export | import` into an empty memory gives an equal one; what is damaged is refused whole."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from builders.chats import BREAD, Clock, diary, mine, say, talk
from builders.embedders import Meeting, TopicEmbedder
from conftest import After, OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.files.read import Format, detect
from episodic_agent.errors import InvalidInput, ProviderUnavailable
from episodic_agent.testing.models import ScriptedModel

FIRST_VERSION = Path(__file__).parents[1] / "data" / "export_version_1.jsonl"  # as the first release wrote it


def tell(memory: Memory, _clock: Clock) -> None:
    """Tell what is Ana's: two threads, with a flush, a tool message and an open frame."""
    memory.user("ana").add(diary(), thread="home")
    memory.user("ana").flush()
    memory.user("ana").add(talk(BREAD, 9, "later"), thread="home")
    memory.user("ana").add(
        [
            say("what is the weather", 0),
            {"role": "tool", "name": "weather", "tool_call_id": "1", "content": '{"c": 18}'},
            say("שלום 🎉", 3, name="Bo", mood="glad"),
        ],
        channel="sms",
    )


@pytest.fixture
def memory(after: After, open_memory: OpenMemory) -> Memory:
    after(tell)
    return open_memory()


@pytest.fixture
def exported(memory: Memory, tmp_path: Path) -> Path:
    return write(memory, tmp_path / "ana.jsonl", "ana")


def write(memory: Memory, path: Path, user_id: str) -> Path:
    path.write_text("".join(line + "\n" for line in memory.user(user_id).export()), encoding="utf-8")
    return path


def body(memory: Memory, user_id: str) -> list[str]:
    """Return an export without its header (which holds the time of writing)."""
    return list(memory.user(user_id).export())[1:]


def test_the_header_counts_what_follows(exported: Path) -> None:
    header, *lines = [json.loads(line) for line in exported.read_text(encoding="utf-8").splitlines()]
    assert (header["format"], header["version"], header["user_id"]) == ("episodic-agent", 3, "ana")
    types = [line["type"] for line in lines]
    assert header["counts"] == {n: types.count(n) for n in ("thread", "observation", "episode", "part")}
    assert header["counts"] == {"thread": 3, "observation": 23, "episode": 11, "part": 7}
    assert set(types) == {
        "thread",
        "frame",
        "observation",
        "record",
        "decision",
        "episode",
        "encoding",
        "part",
        "fact",
    }


def test_an_import_into_an_empty_memory_gives_an_equal_one(
    memory: Memory, open_memory: OpenMemory, exported: Path, clock: Clock
) -> None:
    clock.forward(days=40)
    other = open_memory(exported.with_name("other.db"))
    report = other.user("ana").import_file(exported)
    assert (report.observations, report.added, report.duplicates) == (23, 23, 0)
    assert (report.episodes, report.threads, list(report.unreadable)) == (4, 3, [])
    assert body(other, "ana") == body(memory, "ana")
    assert other.user("ana").episodes.list() == memory.user("ana").episodes.list()
    assert [f for f in other.doctor() if f.severity == "error"] == []


def test_a_fact_takes_the_words_it_points_to_along(
    open_memory: OpenMemory, tmp_path: Path, clock: Clock
) -> None:
    source, other = (open_memory(tmp_path / f"{name}.db") for name in ("source", "other"))
    for text in ("My neighbour is called Ines.", "His cat is called Momo."):
        clock.forward(minutes=1)
        mine(source).add(text, thread="talk")
        mine(source).flush()
    other.user("default").import_file(write(source, tmp_path / "export.jsonl", "default"))
    assert body(other, "default") == body(source, "default")
    (cat,) = [card for card in mine(other).facts.list() if "Momo" in card.fact.value]
    assert [q.text for q in mine(other).facts.get(cat.id).quotes] == [
        "My neighbour is called Ines.",
        "His cat is called Momo.",
    ]
    assert mine(other).facts.get(cat.id).quotes[0].said_at < cat.fact.telling[0].said_at


def test_two_who_import_one_export_at_once_leave_it_there_once(
    open_memory: OpenMemory, url: str, tmp_path: Path
) -> None:
    source = open_memory(tmp_path / "source.db", embedder=TopicEmbedder("bread", "cello"))
    mine(source).add(talk(BREAD, 0), thread="home")
    path = write(source, tmp_path / "export.jsonl", "default")
    barrier = threading.Barrier(2)  # both have found nothing there before one of them writes
    copies = [open_memory(url, embedder=Meeting(TopicEmbedder("bread", "cello"), barrier)) for _ in range(2)]
    with ThreadPoolExecutor(2) as pool:
        reports = list(pool.map(lambda memory: mine(memory).import_file(path), copies))
    assert sorted(r.added for r in reports) == [0, reports[0].observations]
    assert body(copies[0], "default") == body(source, "default")


def test_the_copy_answers_like_the_original(memory: Memory, open_memory: OpenMemory, exported: Path) -> None:
    other = open_memory(exported.with_name("other.db"))
    other.user("ana").import_file(exported)
    for question in ("who is my cello teacher", "what did the plumber find", "sourdough"):
        assert other.user("ana").search(question) == memory.user("ana").search(question)


@pytest.mark.slow
def test_the_copy_goes_on_like_the_original(memory: Memory, open_memory: OpenMemory, exported: Path) -> None:
    other = open_memory(exported.with_name("other.db"))
    other.user("ana").import_file(exported)
    for each in (memory, other):
        each.user("ana").add(say("the bread again, and another loaf", 9 * 1440 + 10), thread="home")
        each.user("ana").add(say("a new day begins here", 10 * 1440), thread="home")
    assert other.user("ana").episodes.list() == memory.user("ana").episodes.list()
    assert body(other, "ana") == body(memory, "ana")


@pytest.mark.slow
def test_a_second_import_adds_nothing(open_memory: OpenMemory, exported: Path) -> None:
    other = open_memory(exported.with_name("other.db"))
    other.user("ana").import_file(exported)
    before = body(other, "ana")
    report = other.user("ana").import_file(exported)
    assert (report.observations, report.added, report.duplicates, report.episodes) == (23, 0, 23, 0)
    assert body(other, "ana") == before


@pytest.mark.slow
def test_a_later_export_adds_only_what_is_new(
    memory: Memory, open_memory: OpenMemory, exported: Path
) -> None:
    other = open_memory(exported.with_name("other.db"))
    other.user("ana").import_file(exported)
    memory.user("ana").add(say("one thing more", 9 * 1440 + 10, id="new"), thread="home")
    report = other.user("ana").import_file(write(memory, exported, "ana"))
    assert (report.observations, report.added) == (24, 1)
    assert other.user("ana").search("one thing more").observations[0].id == "new"
    assert [f for f in other.doctor() if f.severity == "error"] == []


def test_an_export_can_become_another_users_memory(
    open_memory: OpenMemory, memory: Memory, exported: Path
) -> None:
    note = f"{exported.name} is an export of 'ana', not of 'bo': what its user said counts as bo's"
    would = memory.user("bo").import_file(exported, dry_run=True)
    done = memory.user("bo").import_file(exported)
    beside = f"{exported.name} holds 3 facts that hold, too"
    assert would.notes == done.notes == [note, beside]
    assert note in repr(done)
    assert (would.added, would.threads) == (done.added, done.threads)
    assert memory.user("ana").import_file(exported).notes == [beside]
    assert memory.user("bo").stats().observations == memory.user("ana").stats().observations == 23
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_an_import_tells_facts_that_hold_from_those_that_ended_as_the_figures_do(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    with open_memory(tmp_path / "moved.db") as moved:
        ana = moved.user("ana")
        for minute, text in enumerate(
            ("Our rent is 700 euros a month, warm.", "Our rent is 720 euros a month now, warm.")
        ):
            ana.add(say(text, minute), thread=text)
            ana.flush()
        path = write(moved, tmp_path / "moved.jsonl", "ana")
        assert ana.stats().facts == 1
    report = open_memory(tmp_path / "again.db").user("ana").import_file(path)
    assert report.notes == [f"{path.name} holds 1 fact that holds, 1 fact that ended, too"]


def test_an_open_question_survives_the_way(open_memory: OpenMemory, tmp_path: Path) -> None:
    script = ScriptedModel(respond=lambda _prompt, _stage: ProviderUnavailable("gone"))
    asking = open_memory(embedder=TopicEmbedder("tap"), language_model=script)
    asking.user("ana").add(
        [say(f"the tap drips for the {n}th time and that is too much", n) for n in range(6)]
    )
    path = write(asking, tmp_path / "asking.jsonl", "ana")
    answer = {"is_boundary": True, "confidence": 0.9, "signals": {}, "updated_event_model": None}
    other = open_memory(
        tmp_path / "o.db", embedder=TopicEmbedder("tap"), language_model=ScriptedModel([answer])
    )
    other.user("ana").import_file(path)
    assert [(e.observations, e.reason) for e in other.user("ana").episodes.list()] == [
        (3, "topic_shift"),
        (3, ""),
    ]


def test_an_export_is_refused_for_an_unknown_user(memory: Memory) -> None:
    memory.user("ana").add("hello")
    with pytest.raises(Exception, match="known users: ana"):
        memory.user("cleo").export()


@pytest.mark.parametrize(
    "kind", ["observation", "episode", "thread", "frame", "record", "decision", "encoding"]
)
def test_a_damaged_line_refuses_the_whole_export_and_names_the_line(
    open_memory: OpenMemory, exported: Path, kind: str
) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines()
    number = max(n for n, line in enumerate(lines) if json.loads(line).get("type") == kind)
    lines[number] = lines[number][:-20]
    exported.write_text("\n".join(lines), encoding="utf-8")
    other = open_memory(exported.with_name("other.db"))
    with pytest.raises(InvalidInput, match=rf"damaged at line {number + 1}: .*export it again"):
        other.user("ana").import_file(exported)
    assert other.users() == []


@pytest.mark.parametrize("kind", ["observation", "episode", "thread"])
def test_a_missing_line_refuses_the_whole_export(open_memory: OpenMemory, exported: Path, kind: str) -> None:
    lines = exported.read_text(encoding="utf-8").splitlines()
    number = max(n for n, line in enumerate(lines) if json.loads(line).get("type") == kind)
    del lines[number]
    exported.write_text("\n".join(lines), encoding="utf-8")
    other = open_memory(exported.with_name("other.db"))
    with pytest.raises(InvalidInput, match=rf"damaged: it holds \d+ of \d+ {kind}s"):
        other.user("ana").import_file(exported)
    assert other.users() == []


@pytest.mark.slow
def test_an_export_of_the_first_version_is_still_imported(url: str, clock: Clock) -> None:
    targets = [json.loads(line) for line in FIRST_VERSION.read_text(encoding="utf-8").splitlines()]
    assert targets[0]["version"] == 1
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        report = mine(memory).import_file(FIRST_VERSION)
        assert (report.observations, report.added, report.episodes, report.unreadable) == (9, 9, 2, [])
        again = mine(memory).import_file(FIRST_VERSION)
        assert (again.added, again.duplicates) == (0, 9)
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []
        answers = [json.loads(line) for line in mine(memory).export()]
        remaining = ("observation", "encoding", "record", "frame", "decision")
        assert [n for n in targets[1:] if n["type"] in remaining and n not in answers] == []
        ids = {n["id"] for n in answers[1:] if n["type"] == "episode"}
        assert [n for n in targets[1:] if n["type"] == "episode" and n["id"] not in ids] == []
        # it said nothing of turns, nor of which threads somebody named
        assert {t.origin: (t.turn_count, t.explicit) for t in mine(memory).threads.list()} == {
            "home": (4, True),
            "channel:sms": (1, False),  # an assistant with a name answers, and opens no turn
        }
        assert "tap" in mine(memory).search("who repairs the kitchen tap?").observations[0].observation.text
        mine(memory).add("And the tap again", thread="home", timestamp=clock.now)
        assert mine(memory).flush(thread="home") == 1
        assert [f.message for f in memory.doctor() if f.severity == "error"] == []


def test_an_export_of_a_newer_version_is_refused(memory: Memory, exported: Path) -> None:
    text = exported.read_text(encoding="utf-8").replace('"version": 3', '"version": 99', 1)
    exported.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="export version 99"):
        mine(memory).import_file(exported)


def test_no_key_of_an_export_of_ours_is_taken_for_a_speaker(exported: Path, tmp_path: Path) -> None:
    header = exported.read_text(encoding="utf-8").splitlines()[0]
    later = '{"noun": "fact", "evidence": [{"text": "tea", "from_whom": "a later version"}]}'
    written = tmp_path / "later.jsonl"
    written.write_text(f"{header}\n{later}\n", encoding="utf-8")
    assert detect(written) == Format.OWN
