"""Threads over channels, end to end on both stores: who joins what, what time ends, what a user chooses."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from builders.chats import Clock, mine
from builders.commands import Run
from builders.examples import first
from builders.places import server_when_slow

from episodic_agent import Memory
from episodic_agent.core.identity import section_id
from episodic_agent.core.threads.channels import KINDS
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Decision, Scope, Thread

TEN = datetime(2025, 11, 5, 10, tzinfo=UTC)
SCENARIOS = sorted((Path(__file__).parents[1] / "scenarios" / "threads").glob("*.json"))
Opened = Callable[[], Memory]


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    with ExitStack() as stack:
        yield lambda: stack.enter_context(
            Memory.open(url, embedder="hashing", policy="seed-001", clock=clock)
        )


def at(minute: float) -> datetime:
    return TEN + timedelta(minutes=minute)


def tell(memory: Memory, minute: float, text: str = "What about New York?", **more: Any) -> Thread:
    """Add one message and return the thread it is in."""
    (receipt,) = mine(memory).add(text, timestamp=at(minute), **more)
    return next(t for t in mine(memory).threads.list() if t.id == receipt.thread_id)


def decisions(memory: Memory) -> Sequence[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return list(tx.knowledge.decisions(type="thread"))


@pytest.mark.parametrize(("minutes", "same"), [(15, True), (30, True), (30.0001, False), (45, False)])
def test_silence_longer_than_the_timeout_opens_a_thread(opened: Opened, minutes: float, same: bool) -> None:
    memory = opened()
    first = tell(memory, 0, channel="sms")
    second = tell(memory, minutes, channel="sms")
    assert (second.id == first.id) == same
    states = {t.id: (t.status, t.closed_for, t.turn_count) for t in mine(memory).threads.list()}
    if same:
        assert states == {first.id: ("open", "", 2)}
    else:
        assert states == {first.id: ("closed", "inactivity", 1), second.id: ("open", "", 1)}
        assert second.created_at == at(minutes)
        assert [c.reason for c in mine(memory).episodes.list()] == ["thread_end", ""]


def test_a_thread_goes_on_over_channels(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, channel="sms")
    second = tell(memory, 5, channel="WhatsApp")
    assert second.id == first.id
    assert second.channels == ("sms", "whatsapp")
    assert mine(memory).threads.get(first.origin).record == {
        "thread_id": str(first.id),
        "user_id": "default",
        "created_at": "2025-11-05T10:00:00Z",
        "last_activity_at": "2025-11-05T10:05:00Z",
        "channels": ["sms", "whatsapp"],
        "inactivity_timeout_minutes": 30,
        "explicit_channel": False,
        "primary_episode_id": str(section_id(first.id, 0)),
        "cross_thread_episodes": [],
        "turn_count": 2,
        "summary": "The user asked: What about New York?",
    }


def test_what_a_user_chooses_is_explicit_and_never_timed_out(opened: Opened) -> None:
    memory = opened()
    thread, two = tell(memory, 0, channel="web"), tell(memory, 3, channel="web")
    assert thread.id != two.id
    for minute in (500, 501, 502):
        assert tell(memory, minute, channel="web", thread=thread.origin).id == thread.id
        assert tell(memory, minute, channel="web", thread=two.origin).id == two.id
    cards = {t.id: (t.turn_count, t.status, t.explicit) for t in mine(memory).threads.list()}
    assert cards == {thread.id: (4, "open", True), two.id: (4, "open", True)}


def test_where_the_caller_names_no_thread_the_web_is_one_conversation_over_channels(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, "Draft a letter to the landlord", channel="web")
    assert tell(memory, 0.2, "Here it is.", channel="web", role="assistant").id == first.id
    assert tell(memory, 1, "Make it shorter", channel="web").id == first.id
    assert tell(memory, 9, "I am on my phone now", channel="sms").id == first.id
    assert tell(memory, 9.2, "All right.", channel="sms", role="assistant").id == first.id
    assert tell(memory, 20, "And the date?", channel="web").id == first.id
    later = tell(memory, 51, "A recipe with leeks", channel="web")
    assert later.id != first.id
    assert [d.verdict for d in decisions(memory)] == ["opens", "opens"]


def test_what_others_say_on_a_channel_of_their_own_is_no_part_of_another_talk(opened: Opened) -> None:
    memory = opened()
    note = tell(memory, 0, "Bellevue owes me 1,260, nobody in the shop may know", channel="voice")
    rent = tell(memory, 4, "About the rent of the second shop", channel="whatsapp", role="Whitcombe")
    assert rent.id != note.id
    shop = tell(memory, 6, "Jodie can do the earlies", channel="slack", role="Priya")
    assert shop.id not in {note.id, rent.id}
    # the user's own words go on over channels, but not where others are
    assert tell(memory, 8, "And a thousand on account", channel="sms").id == note.id
    assert tell(memory, 9, "2,150 is too much", channel="whatsapp").id == rent.id
    assert tell(memory, 10, "Fine with me", channel="slack").id == shop.id
    assert tell(memory, 12, "2,100 then?", channel="whatsapp", role="Whitcombe").id == rent.id
    assert tell(memory, 13, "till roll is out", channel="sms", role="Tomasz").id not in {note.id, shop.id}


def test_direct_messages_and_what_the_same_person_says_to_a_group_are_apart(opened: Opened) -> None:
    memory = opened()
    knee = tell(memory, 0, "My knee is bad again, please tell nobody", channel="dm-ana", role="Ana")
    van = tell(memory, 4, "I can't pay the van before April", channel="dm-ben", role="Ben")
    training = tell(memory, 6, "Who comes to training tonight?", channel="telegram", role="Ana")
    assert len({knee.id, van.id, training.id}) == 3
    assert tell(memory, 8, "Me, from six", channel="telegram", role="Ben").id == training.id
    # what the agent says belongs where it says it, whoever wrote last
    assert tell(memory, 9, "I keep it to myself.", channel="dm-ana", role="assistant").id == knee.id
    assert (
        tell(memory, 10, "The hall is open till ten.", channel="telegram", role="assistant").id == training.id
    )
    notes = tell(memory, 11, "I want to order ropes", channel="notes", role="assistant")
    assert notes.id not in {knee.id, van.id, training.id}


def test_who_alone_is_heard_goes_on_over_channels_by_whatever_name(opened: Opened) -> None:
    memory = opened()
    letter = tell(memory, 0, "Draft a letter to the landlord", channel="web", role="Tess")
    assert tell(memory, 0.2, "Here it is.", channel="web", role="assistant").id == letter.id
    assert tell(memory, 9, "I am on my phone now", channel="sms", role="Tess").id == letter.id
    assert tell(memory, 12, "Hi Tess, about the rent", channel="sms", role="Okafor").id != letter.id


def test_a_channel_on_which_others_talk_is_not_joined_from_another_though_it_was_silent(
    opened: Opened,
) -> None:
    memory = opened()
    tell(memory, -300, "Who has the key?", channel="telegram", role="Ana")
    tell(memory, -299, "I have", channel="telegram", role="Ben")
    for minute in range(-90, -84):
        tell(memory, minute, "Tides for Sunday", channel="whatsapp")
    tell(memory, -84, "Theo here, I can come too", channel="whatsapp", role="Theo")
    present = tell(memory, 0, "A headlamp for Clara, secretly", channel="sms")
    training = tell(memory, 3, "Training at six", channel="telegram")
    assert training.id != present.id
    assert tell(memory, 4, "Or a rope?", channel="sms").id == present.id
    # where another only put in a word, it is still the owner's channel
    assert tell(memory, 6, "Red, I think", channel="whatsapp").id == present.id


def test_two_messages_in_a_row_are_one_conversation_before_and_after_the_first_answer(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, "I'm moving in May", channel="app")
    assert tell(memory, 0.5, "sorry, I meant June", channel="app").id == first.id
    assert tell(memory, 8, "A recipe with leeks", channel="app").id != first.id  # nobody has answered yet
    later = tell(memory, 60, "Where is the lease?", channel="app")
    assert tell(memory, 60.2, "In the blue folder.", channel="app", role="assistant").id == later.id
    third = tell(memory, 120, "The van is booked", channel="app")
    assert tell(memory, 128, "And the boxes?", channel="app").id == third.id  # answers find their place here
    named = tell(memory, 130, "Only this", channel="app", thread="mine")
    assert tell(memory, 131, "Something else", channel="app").id not in {named.id, third.id}


def test_a_caller_who_names_the_thread_picks_it_and_gets_a_new_one_without_a_name(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, "Draft a letter to the landlord", channel="web")
    for minute in (0.2, 0.4):
        tell(memory, minute, "Here it is.", channel="web", role="assistant", thread=first.origin)
    assert tell(memory, 1, "A recipe with leeks", channel="web").id != first.id
    assert sorted(d.verdict for d in decisions(memory)) == ["named", "opens", "opens"]


def test_an_elliptical_message_on_the_web_follows_what_was_said_by_sms(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, "What's the weather in New York?", channel="sms")
    tell(memory, 0.2, "Sunny.", channel="sms", role="assistant")
    assert tell(memory, 5, "Oh, and what is it on Thursday?", channel="web").id == first.id
    assert tell(memory, 6, "Book a flight to Tokyo", channel="app").id != first.id


def test_a_named_thread_without_a_channel_is_joined_by_its_name_alone(opened: Opened) -> None:
    memory = opened()
    tell(memory, 0, thread="notes")
    other = tell(memory, 1)
    assert other.origin != "notes"
    assert tell(memory, 9_000, thread="notes").turn_count == 2


@pytest.mark.slow
@pytest.mark.parametrize("channel", ["/home/ana/shop", "sms", "default"])
def test_what_a_program_named_takes_in_nothing_that_names_no_thread(opened: Opened, channel: str) -> None:
    memory = opened()
    named = [tell(memory, n / 10, thread=f"session {n}", channel=channel) for n in range(9)]
    other = tell(memory, 1, "Dentist on Tuesday")
    reply = tell(memory, 1.1, "Noted.", role="assistant")
    assert other.id == reply.id
    assert tell(memory, 2, channel=channel).id == other.id
    late = tell(memory, -100, "The dentist called", channel=channel)
    assert {other.id, late.id}.isdisjoint({one.id for one in named})
    assert mine(memory).context("And?", channel=channel, at=at(3)).thread_id == other.id


def test_what_a_user_picked_on_the_web_goes_on_by_sms(opened: Opened) -> None:
    memory = opened()
    picked = tell(memory, 0, thread="New York", channel="web")
    tell(memory, 1, thread="session 7", channel="/home/ana/shop")
    assert tell(memory, 5, channel="sms").id == picked.id


def test_replies_keep_a_thread_alive_and_open_none(opened: Opened) -> None:
    memory = opened()
    first = tell(memory, 0, channel="sms")
    assert tell(memory, 25, "Sunny.", channel="sms", role="assistant").id == first.id
    assert tell(memory, 50, channel="sms").id == first.id
    assert tell(memory, 500, "Still there?", channel="sms", role="assistant").id == first.id
    assert mine(memory).threads.list()[0].turn_count == 2


@pytest.mark.slow
def test_timeouts_are_a_threads_a_channels_a_users(opened: Opened) -> None:
    memory = opened()
    mine(memory).threads.set_timeout(60, channel="sms")
    first = tell(memory, 0, channel="sms")
    assert tell(memory, 45, channel="sms").id == first.id
    assert tell(memory, 80, channel="whatsapp").id != first.id  # the message's channel decides
    second = tell(memory, 85, channel="email")
    mine(memory).threads.set_timeout(5, thread=second.origin)
    assert mine(memory).threads.get(second.origin).timeout == timedelta(minutes=5)
    assert tell(memory, 91, channel="email").id != second.id
    mine(memory).threads.set_timeout(None, channel="sms")
    mine(memory).threads.set_timeout(1)
    last = tell(memory, 95, channel="sms")
    assert tell(memory, 96.5, channel="sms").id != last.id
    for bad in (-1, float("nan"), 1e30):
        with pytest.raises(InvalidInput):
            mine(memory).threads.set_timeout(bad)
    with pytest.raises(InvalidInput, match="one of the two"):
        mine(memory).threads.set_timeout(5, thread=second.origin, channel="sms")


def test_what_comes_late_goes_where_its_time_leads(opened: Opened) -> None:
    memory = opened()
    old = tell(memory, -2_000, channel="sms")
    now = tell(memory, 0, channel="sms")
    late = tell(memory, -1_990, channel="sms")
    assert (late.id, late.status, late.last_activity_at) == (old.id, "closed", at(-1_990))
    older = tell(memory, -900_000, channel="sms")
    assert older.id not in (old.id, now.id)
    assert tell(memory, 10, channel="sms").id == now.id
    verdicts = [d.verdict for d in decisions(memory)]
    assert sorted(verdicts) == ["late", "opens", "opens", "opens"]


def test_the_clock_ends_silent_threads_and_their_frames(opened: Opened, clock: Clock) -> None:
    memory = opened()
    clock.now = at(0)
    thread = tell(memory, 0, channel="sms")
    named = tell(memory, 0, thread="notes")
    clock.now = at(29)
    assert memory.upkeep() == 0
    clock.now = at(31)
    assert memory.upkeep() == 1
    assert mine(memory).threads.get(thread.origin).thread.status == "closed"
    assert mine(memory).threads.get(named.origin).thread.status == "open"
    assert [(c.reason, c.thread_id) for c in mine(memory).episodes.list() if c.reason] == [
        ("thread_end", thread.id)
    ]
    assert memory.upkeep() == 0
    # said in time, it only came in late
    assert tell(memory, 20, channel="sms").id == thread.id


@pytest.mark.slow
def test_a_thread_is_selected_closed_and_renamed(opened: Opened, clock: Clock) -> None:
    memory = opened()
    weather = tell(memory, 0, channel="sms")
    flights = tell(memory, 100, channel="sms")
    clock.now = at(110)
    mine(memory).threads.select(weather.origin)
    assert tell(memory, 112, channel="whatsapp").id == weather.id
    mine(memory).threads.rename(flights.origin, "Flights to Tokyo")
    mine(memory).threads.rename(weather.origin, "Weather in New York")
    assert (
        mine(memory).threads.get(weather.origin).record["summary"] == "What about New York?"
    )  # it was compacted
    renamed = mine(memory).threads.get(flights.origin)
    assert (renamed.thread.title, renamed.record["summary"]) == (
        "Flights to Tokyo",
        "The user asked: What about New York?",
    )
    closed = mine(memory).threads.close(weather.origin)
    assert (closed.status, closed.closed_for) == ("closed", "manual")
    assert tell(memory, 113, channel="sms").id == flights.id
    mine(memory).threads.close(flights.origin)
    assert tell(memory, 114, channel="sms").id not in (weather.id, flights.id)
    assert tell(memory, 115, thread=weather.origin).status == "open"
    with pytest.raises(NotFound, match="no thread 'nobody' in this memory; threads: "):
        mine(memory).threads.select("nobody")
    with pytest.raises(InvalidInput, match="title is empty"):
        mine(memory).threads.rename(weather.origin, "  ")


@pytest.mark.slow
def test_a_selection_goes_for_every_channel_until_it_was_silent_for_the_timeout(opened: Opened) -> None:
    memory = opened()
    trip = tell(memory, 0, channel="web")
    report = tell(memory, 10, channel="web")
    assert trip.id != report.id
    mine(memory).threads.select(trip.origin, now=at(100))
    for minute, channel in ((101, "web"), (120, "sms"), (149, "mobile"), (170, None)):
        assert mine(memory).context("And now?", channel=channel, at=at(minute)).thread_id == trip.id
        assert tell(memory, minute, channel=channel).id == trip.id
    tell(memory, 180, thread=report.origin)
    assert tell(memory, 200, channel="web").id == trip.id  # naming another for once selects nothing
    unrelated = tell(memory, 231, channel="web")
    assert unrelated.id not in (trip.id, report.id)
    assert tell(memory, 232, channel="sms").id == unrelated.id


USUAL = [pytest.param("sqlite", kind, marks=pytest.mark.slow) for kind in KINDS if kind != "web"]
ON_FILE = [("sqlite", channel) for channel in ("web", "fax", "portal", "kiosk", None)]


# What goes for a channel no store decides: a server is asked about two.
@pytest.mark.slow
@pytest.mark.parametrize(
    ("url", "channel"), [*ON_FILE, *USUAL, ("postgres", "web"), ("postgres", None)], indirect=["url"]
)
def test_a_selection_goes_for_a_channel_of_every_kind(
    url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, channel: str | None
) -> None:
    """Usual ones, one nobody named, and two that a setting names."""
    monkeypatch.setenv("EPISODIC_CHANNELS", "portal=explicit,kiosk=implicit")
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        named, trip = tell(memory, 0, thread="by name"), tell(memory, 10, channel="web")
        for n in range(12):  # more than are looked at as the current one
            tell(memory, 20, thread=f"beside {n}")
        for chosen, minute in ((trip, 100), (named, 110)):
            mine(memory).threads.select(chosen.origin, now=at(minute))
            for n in range(12):
                tell(memory, minute + 1, thread=f"beside {n}", channel=channel)
            assert mine(memory).context("And?", channel=channel, at=at(minute + 2)).thread_id == chosen.id
            assert tell(memory, minute + 2, channel=channel).id == chosen.id
            items = [{"content": text, "timestamp": at(minute + 3), "channel": channel} for text in "ab"]
            receipts = mine(memory).add(items, wait=False)
            assert {one.thread_id for one in receipts} == {chosen.id}
            reply = tell(memory, minute + 4, "I see.", role="assistant", channel=channel)
            assert reply.id == chosen.id
        assert tell(memory, 145.1, channel=channel).id != named.id  # silent for longer than the timeout


def test_another_selection_ends_the_first_and_one_that_lapsed_does_not_come_back(opened: Opened) -> None:
    memory = opened()
    trip, report = tell(memory, 0, channel="web"), tell(memory, 10, channel="web")
    mine(memory).threads.select(trip.origin, now=at(100))
    mine(memory).threads.select(report.origin, now=at(101))
    assert tell(memory, 102, channel="web").id == report.id
    tell(memory, 500, thread=report.origin)  # long after, and by name
    assert tell(memory, 505, channel="web").id not in (trip.id, report.id)
    mine(memory).threads.select(trip.origin, now=at(600))
    mine(memory).threads.close(trip.origin)
    assert tell(memory, 601, channel="web").id not in (trip.id, report.id)


def test_two_first_messages_at_once_open_one_thread(opened: Opened) -> None:
    memories = [opened(), opened()]
    go = threading.Barrier(2)

    def add(memory: Memory, n: int) -> None:
        go.wait()
        mine(memory).add(f"message {n}", timestamp=at(n), channel="sms", id=str(n))

    writers = [threading.Thread(target=add, args=(memory, n)) for n, memory in enumerate(memories)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    (thread,) = mine(memories[0]).threads.list()
    assert thread.turn_count == 2


@pytest.mark.slow
def test_a_batch_is_cut_into_threads_and_told_again_adds_nothing(opened: Opened) -> None:
    memory = opened()
    values = [
        {"role": "user", "content": f"remark {n}", "timestamp": at(n * 20 + 100 * (n > 4)), "id": str(n)}
        for n in range(9)
    ]
    receipts = mine(memory).add(values, channel="sms")
    assert [r.seq for r in receipts] == [0, 1, 2, 3, 4, 0, 1, 2, 3]
    assert len({r.thread_id for r in receipts}) == 2
    again = mine(memory).add(values, channel="sms")
    assert [(r.id, r.thread_id, r.seq, r.added) for r in again] == [
        (r.id, r.thread_id, r.seq, False) for r in receipts
    ]
    assert [f for f in memory.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_one_call_on_an_explicit_channel_is_one_conversation_however_long(opened: Opened) -> None:
    memory = opened()
    for n in range(12):
        tell(memory, 5_000 + 100 * n, channel="sms")  # others are more recent
    values = [
        {"role": "user", "content": f"remark {n}", "timestamp": at(n), "id": str(n)} for n in range(300)
    ]
    receipts = mine(memory).add(values, channel="web")
    assert [r.seq for r in receipts] == list(range(300))
    assert len({r.thread_id for r in receipts}) == 1
    assert tell(memory, 305, channel="web").id != receipts[0].thread_id


def test_threads_are_known_by_their_ids_too(opened: Opened) -> None:
    memory = opened()
    thread = tell(memory, 0, channel="sms")
    assert mine(memory).threads.get(str(thread.id)).thread == thread
    assert len(mine(memory).episodes.list(thread=str(thread.id))) == 1
    assert mine(memory).threads.close(str(thread.id)).status == "closed"


def test_an_export_keeps_what_was_resolved(opened: Opened, tmp_path: Path) -> None:
    memory = opened()
    first = tell(memory, 0, channel="sms")
    mine(memory).threads.set_timeout(7, thread=first.origin)
    mine(memory).threads.set_timeout(45, channel="sms")
    mine(memory).threads.set_timeout(90)
    tell(memory, 100, channel="sms")
    lines = list(mine(memory).export())
    (tmp_path / "all.jsonl").write_text("\n".join(lines), encoding="utf-8")
    with Memory.open(tmp_path / "copy.db", embedder="hashing") as copy:
        mine(copy).import_file(tmp_path / "all.jsonl")
        assert mine(copy).threads.list() == mine(memory).threads.list()
        assert decisions(copy) == decisions(memory)
        cards = [mine(m).threads.get(first.origin) for m in (copy, memory)]
        assert cards[0].record == cards[1].record
        assert [
            mine(m).threads.get(t.origin).timeout for m in (copy, memory) for t in mine(m).threads.list()
        ] == [timedelta(minutes=m) for m in (45, 7, 45, 7)]


@pytest.mark.slow
def test_the_commands_speak_of_threads(run: Run) -> None:
    for minute, channel in ((0, "sms"), (5, "whatsapp"), (45, "sms")):
        run("add", "What about New York?", "--channel", channel, "--timestamp", at(minute).isoformat())
    name = "sms 2025-11-05T10:00:00Z"
    listed = json.loads(run("threads", "--json").out)
    assert [(t["name"], t["turn_count"]) for t in listed] == [("sms 2025-11-05T10:45:00Z", 1), (name, 2)]
    assert json.loads(run("thread", "show", name, "--json").out)["channels"] == ["sms", "whatsapp"]
    assert "closed (inactivity)" in run("threads").out
    assert run("thread", "rename", name, "Weather").code == 0
    assert json.loads(run("thread", "select", name, "--json").out)["explicit_channel"] is True
    assert run("thread", "close", name).code == 0
    assert run("thread", "timeout", 45, "--channel", "sms").code == 0
    refused = run("thread", "show", "nobody")
    assert refused.code != 0
    assert f"threads: sms 2025-11-05T10:45:00Z, {name}" in refused.err


@pytest.mark.parametrize("path", first(4, SCENARIOS), ids=lambda path: path.stem)
@server_when_slow
def test_scenarios_fall_into_the_threads_a_reader_sees(path: Path, opened: Opened) -> None:
    scenario: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    memory = opened()
    mine(memory).threads.set_timeout(scenario["settings"]["timeout_minutes"])
    indexes: dict[Any, list[int]] = {}
    for n, event in enumerate(scenario["events"]):
        (receipt,) = mine(memory).add(
            event["text"],
            role=event["speaker"],
            channel=event["channel"],
            thread=event.get("thread"),
            timestamp=event["at"],
        )
        indexes.setdefault(receipt.thread_id, []).append(n)
    assert sorted(indexes.values()) == sorted(scenario["expect"]["threads"])


def test_a_thread_is_found_by_the_title_it_is_shown_under(opened: Opened) -> None:
    memory = opened()
    mine(memory).add("The gutter of the shed leaks at the corner.", thread="a")
    mine(memory).add("My piano lesson moved to Friday.", thread="b")
    mine(memory).flush()
    shown = {t.origin: t.title for t in mine(memory).threads.list()}
    for origin, title in shown.items():
        assert mine(memory).threads.get(str(title)).thread.origin == origin
    mine(memory).erase(thread=str(shown["a"]))
    assert [t.origin for t in mine(memory).threads.list()] == ["b"]


def test_a_thread_has_a_title_and_a_summary_while_it_runs_and_after(opened: Opened, clock: Clock) -> None:
    memory = opened()
    said = ("Can you help me plan the move to Porto in March?", "First cancel the flat by 31 January.")
    for n, (role, text) in enumerate(zip(("user", "assistant"), said, strict=True)):
        mine(memory).add({"role": role, "content": text, "timestamp": at(n)}, thread="porto")
    for _ in range(2):
        (card,) = mine(memory).episodes.list()
        shown = mine(memory).threads.get("porto")
        assert card.title == shown.thread.title == said[0]
        for text in said:
            assert text in card.summary
            assert text in str(shown.record["summary"])
        mine(memory).threads.close("porto")
    mine(memory).episodes.suppress(card.episode_id)
    assert "Porto" not in str(mine(memory).threads.get("porto").record["summary"])
