"""`add`: what is taken in, exactly once, whatever it looks like and however it comes."""

import json
import threading
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from builders.chats import NOW, START, Clock, diary, mine, say
from builders.embedders import TopicEmbedder, Unreliable
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.facts import stating
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Kind, Observation, TimeSource
from episodic_agent.stores.sqlite import SqliteStore


def stored(memory: Memory) -> list[Observation]:
    """Read every observation back, thread by thread, in order."""
    cards = mine(memory).episodes.list()
    observations = [o for c in cards for o in mine(memory).episodes.messages(c.episode_id)]
    return sorted(observations, key=lambda o: (str(o.thread_id), o.seq))


def texts(memory: Memory) -> list[str]:
    return [o.text for o in stored(memory)]


# --- what may be given ----------------------------------------------------------------------------------


def test_a_string_is_kept_as_the_users_words_at_the_present_moment(memory: Memory) -> None:
    (receipt,) = mine(memory).add("I'm moving to Lisbon in May")
    (observation,) = stored(memory)
    assert (observation.id, observation.text, observation.actor, observation.kind) == (
        receipt.id, "I'm moving to Lisbon in May", "user", Kind.MESSAGE,
    )  # fmt: skip
    assert (receipt.added, receipt.seq, receipt.state) == (True, 0, "open")
    assert (observation.at, observation.at_source, observation.received_at) == (NOW, TimeSource.RECEIVED, NOW)


def test_a_message_keeps_its_role_name_time_and_extras(memory: Memory) -> None:
    mine(memory).add(
        {
            "role": "user",
            "name": "Ana",
            "content": "hello",
            "timestamp": "2024-03-01T09:15:00+02:00",
            "mood": "calm",
        },
        channel="sms",
    )
    (observation,) = stored(memory)
    assert (observation.actor, observation.extras["role"], observation.extras["mood"]) == (
        "Ana",
        "user",
        "calm",
    )
    assert (observation.at, observation.utc_offset) == (datetime(2024, 3, 1, 7, 15, tzinfo=UTC), 7200)
    assert observation.channel == "sms"
    assert [t.origin for t in mine(memory).threads.list()] == ["sms 2024-03-01T07:15:00Z"]


def test_a_list_keeps_its_order_and_gives_one_receipt_for_each(memory: Memory) -> None:
    receipts = mine(memory).add(["one", {"role": "user", "content": "two"}, "three"])
    assert [r.seq for r in receipts] == [0, 1, 2]
    assert texts(memory) == ["one", "two", "three"]


def test_a_generator_is_taken_like_a_list(memory: Memory) -> None:
    assert len(mine(memory).add(f"line {n}" for n in range(3))) == 3


def test_a_step_is_kept_with_what_boundaries_need(memory: Memory) -> None:
    mine(memory).add(
        {
            "kind": "step",
            "location": "kitchen",
            "location_confidence": 0.9,
            "action": "open fridge",
            "events": [{"type": "door_opened"}],
            "prediction_error": 0.4,
            "timestamp": "2024-05-01T09:00:00Z",
        },
        thread="run-1",
    )
    (observation,) = stored(memory)
    assert (observation.kind, observation.location, observation.location_confidence) == (
        Kind.STEP,
        "kitchen",
        0.9,
    )
    assert (observation.events[0]["type"], observation.prediction_error) == ("door_opened", 0.4)
    assert mine(memory).threads.list()[0].modality == "step"


@pytest.mark.parametrize(
    ("message", "name", "told"),
    [
        (
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "weather", "arguments": '{"city": "Faro"}'},
                    }
                ],
            },
            "weather",
            "Faro",
        ),
        (
            {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "18 degrees and windy"},
            "weather",
            "18 degrees",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "Let me look."},
                    {"type": "tool_use", "id": "t1", "name": "weather", "input": {"city": "Faro"}},
                ],
            },
            "weather",
            "Let me look.",
        ),
        (
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "no such city", "is_error": True}
                ],
            },
            "",
            "no such city",
        ),
    ],
    ids=["openai call", "openai result", "anthropic call", "anthropic error"],
)
def test_tool_messages_are_searchable_tool_observations(
    memory: Memory, message: dict[str, Any], name: str, told: str
) -> None:
    mine(memory).add(message)
    (observation,) = stored(memory)
    assert observation.kind is Kind.TOOL
    assert told in observation.text
    assert observation.extras.get("name", "") in (name, None)
    assert mine(memory).search(told).hits[0].evidence[0].observation.id == observation.id


@pytest.mark.parametrize(
    "items",
    [5, None, b"bytes", object(), [1], [None], [b"x"], [["nested"]], [{}], "", "  \n", {"role": "user"}],
)
def test_what_is_no_message_is_refused_in_words(memory: Memory, items: Any) -> None:
    with pytest.raises(InvalidInput, match=r"give|a message is"):
        mine(memory).add(items)
    assert mine(memory).stats().observations == 0


def test_one_bad_item_refuses_the_whole_call_and_says_which(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="item 3: the text is empty"):
        mine(memory).add(["one", "two", "   ", "four"])
    with pytest.raises(InvalidInput, match=r"item 2: cannot read the time '2024-13-45'"):
        mine(memory).add([say("fine"), {"role": "user", "content": "late", "timestamp": "2024-13-45"}])
    assert mine(memory).stats().observations == 0
    assert memory.users() == []


def test_no_items_are_no_error(memory: Memory) -> None:
    assert mine(memory).add([]) == []
    assert mine(memory).stats().observations == 0


def test_an_id_for_many_items_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="names one item"):
        mine(memory).add(["a", "b"], id="7")


# --- ids and duplicates ---------------------------------------------------------------------------------


def test_the_same_id_adds_nothing_and_gives_the_first_receipt(memory: Memory) -> None:
    (first,) = mine(memory).add("hello", id="7")
    (again,) = mine(memory).add("hello", id="7")
    (number,) = mine(memory).add({"role": "user", "content": "hello", "id": 7})
    assert first.added
    for later in (again, number):
        assert (later.id, later.thread_id, later.seq, later.added) == (
            first.id,
            first.thread_id,
            first.seq,
            False,
        )
    assert texts(memory) == ["hello"]


def test_an_id_twice_in_one_call_is_added_once(memory: Memory) -> None:
    first, second, third = mine(memory).add([say("a", id="1"), say("b", id="2"), say("a", id="1")])
    assert (first.added, second.added, third.added) == (True, True, False)
    assert third.id == first.id
    assert texts(memory) == ["a", "b"]


@pytest.mark.slow
def test_an_id_that_returns_far_behind_in_one_call_is_added_once(memory: Memory) -> None:
    batch = [say(f"line {n}", n, id=str(n)) for n in range(1500)]
    receipts = mine(memory).add([*batch, say("line 0", 0, id="0")])
    assert Counter(r.added for r in receipts) == {True: 1500, False: 1}
    assert receipts[-1].id == receipts[0].id
    assert mine(memory).stats().observations == 1500


def test_ids_belong_to_their_source(memory: Memory) -> None:
    receipts = mine(memory).add("hello", id="1", thread="first chat")
    two = mine(memory).add("hello", id="1", thread="second chat")
    three = mine(memory).add("hello", id="1", source="export", thread="third chat")
    assert len({r.id for r in (*receipts, *two, *three)}) == 3
    (again,) = mine(memory).add("hello", id="1", source="export", thread="fourth chat")
    assert (again.added, again.id) == (False, three[0].id)


def test_without_a_thread_ids_belong_to_their_channel(memory: Memory) -> None:
    first = {"content": "hello", "timestamp": "2025-05-01T09:00:00Z", "id": "1"}
    days_later = {**first, "timestamp": "2025-05-07T09:00:00Z"}  # by then another thread
    assert mine(memory).add(first, channel="sms")[0].added
    assert not mine(memory).add(days_later, channel="sms")[0].added
    assert mine(memory).add(days_later, channel="web")[0].added


def test_real_repetitions_are_kept_and_a_replay_adds_nothing(memory: Memory) -> None:
    chat = [say("yes", 0), say("yes", 0), say("yes", 1)]
    assert [r.added for r in mine(memory).add(chat)] == [True, True, True]
    assert [r.added for r in mine(memory).add(chat)] == [False, False, False]
    assert texts(memory) == ["yes", "yes", "yes"]


def test_a_live_remark_without_id_or_time_is_never_a_duplicate(memory: Memory) -> None:
    ids = {mine(memory).add("ok")[0].id for _ in range(3)}
    assert len(ids) == 3
    assert texts(memory) == ["ok", "ok", "ok"]
    assert all(UUID(str(i)).version == 7 for i in ids)


# --- times ----------------------------------------------------------------------------------------------


def test_times_tell_how_much_of_them_was_given(memory: Memory) -> None:
    mine(memory).add(
        [
            {"role": "user", "content": "with a clock", "timestamp": 1709284500},
            {"role": "user", "content": "a day", "timestamp": "2024-03-01"},
            {"role": "user", "content": "no time at all"},
        ],
        thread="chat",
    )
    assert [o.at_source for o in stored(memory)] == [
        TimeSource.GIVEN,
        TimeSource.DATE_ONLY,
        TimeSource.ASSUMED,
    ]


def test_what_comes_without_a_time_is_said_when_it_comes(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory(policy="default")
    for text in ("I planted tomatoes.", "My sister Lea visits soon.", "The crown costs 240 euros."):
        mine(memory).add([text, {"role": "assistant", "content": "Noted."}], thread="chat")
        clock.forward(days=1)
    mine(memory).flush()
    days = mine(memory).episodes.list()
    assert [episode.start_at for episode in days] == [NOW + timedelta(days=n) for n in range(3)]
    assert [episode.reason for episode in days[:2]] == ["time_gap", "time_gap"]
    said = mine(memory).search("what did I say yesterday?", limit=1).observations
    assert [hit.observation.text for hit in said] == ["The crown costs 240 euros."]


def test_a_reply_without_a_time_beside_a_message_of_now_is_of_now(memory: Memory) -> None:
    asked = {"role": "user", "content": "hello?", "timestamp": NOW - timedelta(minutes=2)}
    mine(memory).add([asked, {"role": "assistant", "content": "Hi!"}], thread="chat")
    assert [o.at_source for o in stored(memory)] == [TimeSource.GIVEN, TimeSource.RECEIVED]


def test_a_message_of_now_does_not_go_on_with_old_talk_of_its_thread(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default")
    old = {"role": "user", "content": "The boiler drips.", "timestamp": NOW - timedelta(days=90)}
    mine(memory).add(old, thread="chat")
    mine(memory).add("What shall we cook tonight?", thread="chat")
    mine(memory).flush()
    starts = [(episode.start_at, episode.reason) for episode in mine(memory).episodes.list()]
    assert starts[0] == (NOW - timedelta(days=90), "time_gap")
    assert starts[1][0] == NOW


def test_who_does_not_know_when_it_was_says_so(memory: Memory) -> None:
    message = {"role": "user", "content": "I ate there yesterday.", "at_source": "assumed"}
    mine(memory).add([message, {"role": "assistant", "content": "Was it good?"}], thread="chat")
    assert [o.at_source for o in stored(memory)] == [TimeSource.ASSUMED, TimeSource.RECEIVED]


def test_assumed_times_make_no_gap(memory: Memory, clock: Clock, tmp_path: Path) -> None:
    told = tmp_path / "chat.jsonl"
    for n in range(8):
        line = {"role": "user", "content": f"remark {n} without any time of its own", "conversation": "chat"}
        with told.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
        mine(memory).import_file(told)
        clock.forward(days=2)
    assert {o.at_source for o in stored(memory)} == {TimeSource.ASSUMED}
    assert [o.text.split()[1] for o in stored(memory)] == [str(n) for n in range(8)]
    assert all(episode.reason != "time_gap" for episode in mine(memory).episodes.list())


def test_messages_out_of_order_keep_their_arrival_and_an_honest_span(memory: Memory) -> None:
    mine(memory).add([say("second", 4), say("third", 8), say("first", 0), say("fourth", 12)])
    mine(memory).flush()
    (episode,) = mine(memory).episodes.list()
    assert texts(memory) == ["second", "third", "first", "fourth"]
    assert (episode.start_at, episode.end_at) == (START, START + timedelta(minutes=12))
    assert mine(memory).threads.list()[0].last_activity_at == START + timedelta(minutes=12)


def test_a_late_arrival_never_moves_a_thread_back(memory: Memory) -> None:
    mine(memory).add(say("now", 60))
    mine(memory).add(say("earlier, remembered late", 0))
    assert mine(memory).threads.list()[0].last_activity_at == START + timedelta(minutes=60)


# --- text of every kind ---------------------------------------------------------------------------------


def test_a_message_of_a_megabyte_is_kept_whole_and_found_by_its_end(memory: Memory) -> None:
    long = "the weather was fine and nothing happened. " * 23_000 + "Then the walrus arrived."
    mine(memory).add(["good morning", long, "good night"])
    assert stored(memory)[1].text == long
    assert mine(memory).search("when did the walrus arrive").hits[0].evidence[0].observation.seq == 1


def test_text_no_database_can_hold_is_repaired(memory: Memory) -> None:
    mine(memory).add({"role": "u\x00ser", "content": "a\x00b \ud83d c", "id": "\udc00x"})
    (observation,) = stored(memory)
    assert observation.text == "a�b � c"
    assert observation.actor == "u�ser"
    assert observation.external_id == "�x"


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("🎉", "🎉"),
        ("שלום, מתי הרכבת לחיפה?", "הרכבת לחיפה"),
        ("我们明天去北京看长城", "长城"),
        ("Où est le café près de la gare ?", "cafe"),
        ("Завтра поезд в Казань", "поезд"),
        ("قطار الغد إلى القاهرة", "القاهرة"),
    ],
)
def test_every_script_is_kept_and_found(memory: Memory, text: str, query: str) -> None:
    mine(memory).add(["nothing of that kind here", text, "and nothing here either"])
    assert stored(memory)[1].text == text
    assert mine(memory).search(query).observations[0].observation.text == text


# --- many and at once -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_batch_of_two_thousand_reports_its_progress(memory: Memory) -> None:
    seen: list[int] = []
    receipts = mine(memory).add((say(f"entry {n} of the log", n) for n in range(2000)), progress=seen.append)
    assert [r.seq for r in receipts] == list(range(2000))
    assert seen == sorted(seen)
    assert seen[-1] == 2000
    assert len(seen) > 2
    assert mine(memory).stats().observations == 2000
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_messages_of_several_threads_in_one_call_go_each_to_their_own(memory: Memory) -> None:
    mine(memory).add(
        [
            say("a1", 0, conversation_id="a"),
            say("b1", 1, conversation_id="b"),
            say("a2", 2, conversation_id="a"),
        ]
    )
    by_thread = {t.origin: t for t in mine(memory).threads.list()}
    assert set(by_thread) == {"a", "b"}
    assert [o.text for o in stored(memory) if o.thread_id == by_thread["a"].id] == ["a1", "a2"]


def test_several_threads_of_execution_lose_and_double_nothing(memory: Memory) -> None:
    failures: list[Exception] = []

    def work(name: int) -> None:
        try:
            for n in range(12):
                mine(memory).add(f"remark {n} of {name}", thread="shared", id=f"{name}-{n}")
        except Exception as error:  # noqa: BLE001 - handed to the test's own thread
            failures.append(error)

    workers = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []
    assert sorted(texts(memory)) == sorted(f"remark {n} of {name}" for name in range(4) for n in range(12))
    assert [o.seq for o in stored(memory)] == list(range(48))


def test_without_waiting_the_background_encodes_later(memory: Memory) -> None:
    receipts = mine(memory).add(diary(), wait=False)
    assert all(r.added for r in receipts)
    assert mine(memory).search("who teaches the cello").observations  # at once, titles or not
    done = threading.Event()
    for _ in range(600):
        if all(e.title for e in mine(memory).episodes.list()) and not mine(memory).stats().waiting_jobs:
            break
        done.wait(0.01)
    closed = [e for e in mine(memory).episodes.list() if e.state != "open"]
    assert len(closed) == 3
    assert all(e.title and e.summary for e in closed)


def test_an_embedder_that_fails_loses_nothing_and_is_made_up_for_later(
    open_memory: OpenMemory, clock: Clock
) -> None:
    embedder = Unreliable(TopicEmbedder("tap", "lisbon", "cello", "bread"))
    memory = open_memory(embedder=embedder)
    embedder.down = True
    assert all(r.added for r in mine(memory).add(diary()))
    assert mine(memory).stats().episodes == 0  # what cannot be judged yet waits
    assert (
        mine(memory)
        .search("cello teacher")
        .hits[0]
        .evidence[0]
        .observation.text.startswith("My cello teacher")
    )
    embedder.down = False
    clock.forward(hours=1)
    memory.jobs.run()
    assert mine(memory).stats().episodes == 3
    assert [f for f in memory.doctor() if f.severity == "error"] == []


def test_doctor_sees_and_mends_a_frame_that_waits_for_nobody(open_memory: OpenMemory, database: Path) -> None:
    embedder = Unreliable(TopicEmbedder("tap", "lisbon", "cello", "bread"))
    memory = open_memory(embedder=embedder)
    embedder.down = True
    mine(memory).add(diary())
    store = SqliteStore(database)
    for scope in store.scopes():
        with store.begin(scope) as tx:
            for job in tx.upkeep.jobs(state="waiting"):
                tx.upkeep.drop(job.id)
    store.close()
    embedder.down = False
    memory.jobs.run()
    assert any("undecided and no job" in f.message for f in memory.doctor())
    assert memory.doctor(repair=True) == []
    assert mine(memory).stats().episodes == 3


def test_what_one_embedder_left_waiting_another_takes_up(open_memory: OpenMemory, clock: Clock) -> None:
    failing = Unreliable(TopicEmbedder("tap", "lisbon", name="first"))
    failing.down = True
    first = open_memory(embedder=failing)
    mine(first).add(diary())
    first.close()
    clock.forward(hours=1)
    memory = open_memory(embedder=TopicEmbedder("tap", "lisbon", name="second"))
    memory.jobs.run()
    pause = threading.Event()
    for _ in range(600):  # the background of the opening may have taken the work
        if not mine(memory).stats().waiting_jobs:
            break
        pause.wait(0.01)
    assert mine(memory).stats().episodes == 3
    assert memory.doctor() == []


def test_however_the_messages_are_batched_the_episodes_are_the_same(
    open_memory: OpenMemory, database: Any
) -> None:
    spans = []
    for size in (1, 3, 16):
        memory = open_memory(database.with_name(f"by-{size}.db"))
        messages = diary()
        for start in range(0, len(messages), size):
            mine(memory).add(messages[start : start + size])
        spans.append(
            [(e.episode_id, e.observations, e.reason, e.title) for e in mine(memory).episodes.list()]
        )
    assert spans[0] == spans[1] == spans[2]
    assert len(spans[0]) == 4


def test_what_a_message_is_judged_by_is_read_once(memory: Memory) -> None:
    talk = [
        {"role": role, "content": text}
        for role, text in (
            ("assistant", "Where do you live?"),
            ("user", "I live in Lisbon with my sister"),
            ("assistant", "What do you eat?"),
            ("user", "I am vegetarian and allergic to walnuts"),
        )
    ]
    stating._signs_alone.cache_clear()
    mine(memory).add(talk)
    assert len(mine(memory).facts.list()) == 2  # each was judged when it came, when quoted, and beside others
    assert stating._signs_alone.cache_info().misses == 2


def test_one_add_looks_for_later_work_until_there_is_none_and_not_again(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []
    claim = SqliteStore.claim

    def counted(store: SqliteStore, *args: Any, **named: Any) -> Any:
        asked.append((claimed := claim(store, *args, **named)) is not None)
        return claimed

    monkeypatch.setattr(SqliteStore, "claim", counted)
    mine(memory).add("I live in Lisbon with my sister")
    assert asked.count(False) == 1
    assert not asked[-1]
