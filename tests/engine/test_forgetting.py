"""Forgetting end to end: after an erasure no text, vector, word or sentence made of it is left anywhere (I12)."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from builders.assistants import TEN
from builders.chats import Clock, mine
from builders.dumping import dumped
from builders.erasing import AFTER, SAID, SECRET, everywhere, indexed, learn, live
from builders.steps import step_fields
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Scope
from episodic_agent.schemas.erasures import What
from episodic_agent.stores.postgres.server.session import PostgresSession
from episodic_agent.stores.sqlite import erasing
from episodic_agent.wiring import is_server


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(
            Memory.open(url, **{"embedder": "hashing", "policy": "seed-001", "clock": clock, **more})
        )


def shown(memory: Memory) -> str:
    """Everything a memory tells."""
    user = mine(memory)
    texts = [dumped(user.search(f"what about {SECRET}?")), dumped(user.episodes.list())]
    texts += [dumped(user.context(f"what about {SECRET}?")), *user.export()]
    texts += [dumped(user.skills.list()), dumped(user.sections.list())]
    texts += [dumped(user.episodes.messages(c.episode_id)) for c in user.episodes.list()]
    return "\n".join(texts)


def sound(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


@pytest.mark.slow
def test_the_life_of_these_tests_keeps_the_secret_where_it_should(
    opened: OpenMemory, clock: Clock, url: str
) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    places = {where.partition(".")[0] for where in everywhere(url, SECRET)}
    assert places >= {"observation", "encoding", "decision", "skill", "metadata_term"}
    assert [card.origin for card in mine(memory).episodes.list(where=f"tag={SECRET}")] != []
    assert indexed(memory, SECRET) > 0
    assert sound(memory) == []


@pytest.mark.slow
@pytest.mark.parametrize("whole", [True, False], ids=["a thread", "what expires of it"])
def test_erasing_costs_a_server_as_many_statements_however_much_it_erases(
    postgres_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch, whole: bool
) -> None:
    texts: list[str] = []
    run = PostgresSession._run

    def counted(session: PostgresSession, sql: str, bindings: Sequence[Any]) -> Any:
        texts.append(sql)
        return run(session, sql, bindings)

    monkeypatch.setattr(PostgresSession, "_run", counted)
    costs = []
    with Memory.open(postgres_url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        for many in (10, 80):
            for n in range(many):
                at = clock.now + timedelta(seconds=n)
                text = f"I love the {'abcdefghij'[n % 10]}{'klmnopqr'[n // 10]}ist trees."
                mine(memory).add(text, role=f"Maya{n % 3}", thread=str(many), timestamp=at, ttl="1d")
            mine(memory).flush()
            mine(memory).facts.consolidate()
            clock.forward(days=2)
            texts.clear()
            if whole:
                mine(memory).erase(thread=str(many), sweep=False)
            else:
                mine(memory).retention.apply()
            costs.append(len(texts))
    assert costs[1] <= costs[0] + 20, costs  # a statement for each would be 70 more


def test_an_erased_observation_leaves_no_word_of_it(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    spoken = [
        o
        for c in mine(memory).episodes.list()
        for o in mine(memory).episodes.messages(c.episode_id)
        if SECRET in o.text
    ]
    for observation in spoken:
        receipt = mine(memory).erase(observation=observation.id)
        assert (receipt.what, receipt.state, receipt.residue) == (What.OBSERVATION, "done", 0)
    assert secret.id in [o.id for o in spoken]
    assert everywhere(url, SECRET) == []
    assert indexed(memory, SECRET) == 0
    assert mine(memory).erasures.residue([SECRET, SAID[5:30]]) == []
    assert SECRET not in shown(memory).replace(f"what about {SECRET}?", "")
    assert AFTER in shown(memory)
    assert sound(memory) == []


def test_nothing_of_an_erased_observation_comes_back(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    mine(memory).add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")
    mine(memory).add([{"role": "user", "content": AFTER, "id": "8"}], thread="safe", source="phone")
    receipt = mine(memory).erase(
        observation=mine(memory)
        .add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")[0]
        .id
    )
    assert receipt.counts["observations"] == 1
    again = mine(memory).add([{"role": "user", "content": SAID, "id": "7"}], thread="safe", source="phone")
    assert [r.added for r in again] == [False]
    assert everywhere(url, SECRET) == []
    with pytest.raises(NotFound, match="erased already"):
        mine(memory).erase(observation=again[0].id)


@pytest.mark.slow
def test_an_erased_episode_goes_with_its_row(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    live(memory, clock)
    for card in [c for c in mine(memory).episodes.list() if c.origin == "safe" and c.state != "open"]:
        receipt = mine(memory).erase(episode=card.episode_id)
        assert receipt.counts["episodes"] >= 1
        assert card.episode_id not in [c.episode_id for c in mine(memory).episodes.list()]
    assert everywhere(url, SECRET) == []
    assert sound(memory) == []
    mine(memory).boundaries.resegment("safe", "default")
    mine(memory).boundaries.whatif("safe", "seed-001")
    assert sound(memory) == []


@pytest.mark.slow
def test_an_erased_thread_goes_with_every_row(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    preview = mine(memory).erase(thread="safe", dry_run=True)
    assert everywhere(url, SECRET) != []
    receipt = mine(memory).erase(thread="safe")
    assert receipt.counts["observations"] == preview.counts["observations"] == 8
    assert [t.origin for t in mine(memory).threads.list()] == ["desk", "cello"]
    mine(memory).erase(thread="desk")
    assert everywhere(url, SECRET) == []
    assert indexed(memory, SECRET) == 0
    assert sound(memory) == []
    assert mine(memory).skills.list() == []
    mine(memory).add("A new beginning", thread="safe")
    assert sound(memory) == []


@pytest.mark.slow
def test_an_erased_user_leaves_only_a_receipt(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    ana = memory.user("ana", new=True)
    live(ana, clock)
    learn(ana, clock)
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as other:
        other.user("bo").add("My boat is called Marina", thread="boat")
        receipt = ana.erase(everything=True)
        assert (receipt.what, receipt.state, receipt.residue) == (What.USER, "done", 0)
        assert other.users() == ["bo"]
        assert other.user("bo").search("Marina").hits
    for word in (SECRET, "odile", "cellar", "ana"):
        assert everywhere(url, word) == [], word
    assert [r.id for r in memory.user("ana").erasures.list()] == [receipt.id]
    assert sound(memory) == []
    assert ana.search("the safe").hits == ()
    ana.add("Hello again", thread="safe")
    assert ana.stats().observations == 1


@pytest.mark.slow
def test_a_skill_is_learned_again_without_the_erased_turn(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = learn(memory, clock)
    (before,) = mine(memory).skills.list()
    receipt = mine(memory).erase(observation=secret.id)
    assert receipt.counts["skills"] >= 1
    assert everywhere(url, SECRET) == []
    (after,) = mine(memory).skills.list()  # the calls of that turn are left, and show it still
    assert (after.skill.name, after.skill.frequency) == (before.skill.name, before.skill.frequency)
    mine(memory).erase(episode=min(mine(memory).episodes.list(), key=lambda card: card.start_at).episode_id)
    (after,) = mine(memory).skills.list()
    assert (after.skill.name, after.skill.frequency) == (before.skill.name, before.skill.frequency - 1)
    assert sound(memory) == []


@pytest.mark.parametrize("flushed", [True, False])
def test_places_and_things_of_an_agent_go_with_its_steps(opened: OpenMemory, url: str, flushed: bool) -> None:
    memory = opened(policy="default")
    steps = [
        {"timestamp": TEN + timedelta(seconds=n), **step_fields(n), "location": "hall"} for n in range(12)
    ]
    for n in (4, 5):
        steps[n] |= {
            "location": SECRET,
            "entities": [{"id": "x", "label": SECRET}],
            "action": f"open {SECRET}",
        }
        steps[n] |= {"events": [{"type": "appearance", "entity": SECRET, "id": "x"}]}
    receipts = mine(memory).add(
        [{"content": f"step {n}", **one} for n, one in enumerate(steps)], thread="robot"
    )
    if flushed:
        mine(memory).flush()
    before = {where.partition(".")[0] for where in everywhere(url, SECRET)}
    assert before >= (
        {"observation", "stay", "decision", "encoding"} if flushed else {"observation", "frame"}
    )
    for n in (4, 5):
        mine(memory).erase(observation=receipts[n].id)
    assert everywhere(url, SECRET) == []
    assert [(visit.place, visit.steps) for visit in mine(memory).places.route("robot")] == [("hall", 10)]
    mine(memory).flush()
    assert sound(memory) == []


@pytest.mark.slow
def test_a_thread_from_before_there_were_parts_is_forgotten_all_the_same(
    open_memory: OpenMemory, clock: Clock, database: Path
) -> None:
    memory = open_memory()
    secret = live(memory, clock)
    with closing(apsw.Connection(str(database))) as file:
        file.execute("DELETE FROM part")
    mine(memory).erase(observation=secret.id)
    assert secret.id not in [
        o.id for c in mine(memory).episodes.list() for o in mine(memory).episodes.messages(c.episode_id)
    ]


def test_linked_threads_are_told_without_it(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    mine(memory).add(f"Where is {SECRET} kept?", thread="safe", timestamp=TEN)
    secret = mine(memory).add(
        f"{SECRET} is in the cellar", thread="cellar", timestamp=TEN + timedelta(hours=1)
    )[0]
    mine(memory).links.add("cellar", "safe")
    mine(memory).erase(observation=secret.id)
    (first,) = [
        o
        for o in mine(memory).episodes.messages(mine(memory).episodes.list()[-1].episode_id)
        if SECRET in o.text
    ]
    mine(memory).erase(observation=first.id)
    assert everywhere(url, SECRET) == []
    (card,) = [c for c in mine(memory).episodes.list() if c.kind == "cross_thread"] or [None]
    assert card is None or card.title
    assert sound(memory) == []
    mine(memory).erase(thread="cellar")
    assert sound(memory) == []


def test_a_preview_counts_and_writes_nothing(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    before = list(mine(memory).export())[1:]
    seen = mine(memory).erase(observation=secret.id, dry_run=True)
    assert seen.state == "preview"
    assert list(mine(memory).export())[1:] == before
    assert memory.erasures() == []
    done = mine(memory).erase(observation=secret.id)
    assert done.counts == seen.counts
    assert [r.id for r in memory.erasures()] == [done.id]
    assert [r.id for r in mine(memory).erasures.list(observation=secret.id)] == [done.id]


def test_copies_that_stay_are_told_before_and_after(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    receipt = mine(memory).add(_a("user", SAID), thread="safe")[0]
    mine(memory).search(f"the safe {SECRET}")
    echo, copy = mine(memory).add([_a("assistant", SAID), _a("user", f"As I wrote: {SAID}.")], thread="desk")
    mine(memory).add(_a("user", "The cellar is damp"), thread="desk")
    for named in ({"observation": receipt.id}, {"thread": "safe"}):
        assert set(mine(memory).erase(**named, dry_run=True).repeated_by) == {echo.id, copy.id}
    assert set(mine(memory).erase(observation=receipt.id).repeated_by) == {echo.id, copy.id}
    assert mine(memory).erase(observation=echo.id).repeated_by == (copy.id,)
    assert mine(memory).erase(observation=copy.id).repeated_by == ()
    assert everywhere(url, SECRET) == []


def test_a_reply_that_says_it_in_its_own_words_is_told_and_kept(memory: Memory) -> None:
    told, reply, _, plain, aside = mine(memory).add(
        [
            _a("user", "papa nimmt ramipril 5 mg und seit juli donepezil. penicillin verträgt er nicht"),
            _a("assistant", "Notiert: Ramipril 5 mg, Donepezil, kein Penicillin."),
            _a("user", "und was koche ich heute?"),
            _a("assistant", "Kürbissuppe. Soll ich die Zutaten notieren?"),
            _a("user", "ist ramipril ein betablocker?"),  # another turn: `forget check` finds it
        ],
        channel="web",
    )
    mine(memory).flush()
    for preview in (True, False):
        assert mine(memory).erase(observation=told.id, dry_run=preview).repeated_by == (reply.id,)
    kept = {reply.id, plain.id, aside.id}
    messages = [o for e in mine(memory).episodes.list() for o in mine(memory).episodes.messages(e.episode_id)]
    assert kept <= {o.id for o in messages}
    assert mine(memory).erase(observation=reply.id).repeated_by == ()


def test_a_reply_that_shares_only_what_is_often_said_repeats_nothing(memory: Memory) -> None:
    for _ in range(8):
        mine(memory).add([_a("user", "Lotte had a long day at school"), _a("assistant", "Poor Lotte!")])
    said, _ = mine(memory).add([_a("user", "Lotte likes fish again"), _a("assistant", "Good for Lotte!")])
    assert mine(memory).erase(observation=said.id).repeated_by == ()


def test_a_check_takes_small_letters_and_capitals_for_the_same(memory: Memory) -> None:
    room = mine(memory).erasures
    said, note = mine(memory).add(
        [_a("user", "ich esse kein Öl und Penicillin"), _a("assistant", "Ramipril!")]
    )
    for word in ("ramipril", "Ramipril", "RAMIPRIL"):  # the index of words holds the first
        assert room.residue([word]) == []
        assert [one.id for one in room.repeats([word])] == [note.id]
    for word in ("öl", "ÖL", "penicillin"):
        assert room.residue([word]) == []
        assert [one.id for one in room.repeats([word])] == [said.id]
    mine(memory).threads.rename(mine(memory).threads.list()[0].id, "Quokka")
    assert room.residue(["quokka"]) == ["quokka"]
    assert room.repeats(["quokka"]) == []


def test_what_was_erased_is_no_recall_that_comes_back(opened: OpenMemory, clock: Clock) -> None:
    memory = opened()
    receipt = mine(memory).add(_a("user", SAID), thread="safe")[0]
    mine(memory).search(SAID)
    mine(memory).erase(observation=receipt.id)
    again = mine(memory).add(_a("assistant", SAID), thread="desk")[0]
    assert [o.observation.id for o in mine(memory).search(SAID).observations] == [again.id]


def _a(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


def test_exactly_one_thing_is_named(memory: Memory) -> None:
    for arguments in ({}, {"thread": "a", "everything": True}, {"thread": "a", "episode": "b"}):
        with pytest.raises(InvalidInput, match="one thing"):
            mine(memory).erase(**arguments)
    with pytest.raises(NotFound):
        mine(memory).erase(thread="nowhere")
    with pytest.raises(NotFound):
        mine(memory).erase(observation="nonsense")
    with pytest.raises(NotFound):
        memory.user("nobody").erase(everything=True)


@pytest.mark.slow
def test_another_process_shows_nothing_of_it_either(opened: OpenMemory, clock: Clock) -> None:
    memory, other = opened(), opened()
    secret = live(memory, clock)
    assert any(SECRET in dumped(hit) for hit in mine(other).search(SECRET).hits)
    mine(memory).erase(observation=secret.id)
    assert SAID not in dumped(mine(other).search(SECRET))
    mine(memory).erase(thread="safe")
    assert "safe" not in dumped(mine(other).search("the safe in the cellar").hits)
    mine(memory).erase(everything=True)
    assert mine(other).search("Odile").hits == ()
    mine(other).add("Back again", thread="safe")
    assert mine(other).search("Back again").hits
    assert sound(other) == []


@pytest.mark.slow
def test_an_export_of_before_brings_nothing_back(
    opened: OpenMemory, clock: Clock, url: str, tmp_path: Path
) -> None:
    memory = opened()
    live(memory, clock)
    learn(memory, clock)
    old = tmp_path / "old.jsonl"
    old.write_text("\n".join(mine(memory).export()), encoding="utf-8")
    clock.forward(minutes=1)
    for card in mine(memory).episodes.list():
        for observation in mine(memory).episodes.messages(card.episode_id):
            if SECRET in observation.text:
                mine(memory).erase(observation=observation.id, sweep=False)
    memory.upkeep()
    mine(memory).import_file(old)
    assert everywhere(url, SECRET) == []
    new = tmp_path / "new.jsonl"
    new.write_text("\n".join(mine(memory).export()), encoding="utf-8")
    with Memory.open(tmp_path / "copy.db", embedder="hashing", policy="seed-001", clock=clock) as copy:
        mine(copy).import_file(new)
        assert list(mine(copy).export())[1:] == list(mine(memory).export())[1:]
        assert sound(copy) == []
        assert mine(copy).import_file(new).added == 0


@pytest.mark.slow
def test_a_reader_that_holds_the_log_leaves_the_receipt_pending(
    open_memory: OpenMemory, clock: Clock, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(erasing, "_PATIENCE", timedelta(seconds=0.1))
    memory = open_memory()
    secret = live(memory, clock)
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert tx.count("observations")
        receipt = mine(memory).erase(observation=secret.id)
        assert (receipt.state, receipt.waits_for) == ("pending", "a reader holds the log of the file")
        assert any("pending" in f.message for f in memory.doctor())
    memory.upkeep()
    assert [r.state for r in memory.erasures()] == ["done"]
    assert SAID.encode() not in database.read_bytes()


@pytest.mark.slow
def test_without_a_sweep_the_receipt_waits_for_upkeep(opened: OpenMemory, clock: Clock, url: str) -> None:
    memory = opened()
    secret = live(memory, clock)
    assert mine(memory).erase(observation=secret.id, sweep=False).state == "pending"
    assert not any(SAID in str(value) for value in everywhere(url, SAID.lower()))
    memory.doctor(repair=True)
    assert [r.state for r in memory.erasures()] == ["done"]
    if not is_server(url):
        assert mine(memory).erasures.residue([SAID]) == []


def _words(memory: Memory) -> dict[str, str]:
    """The words, by the message, that one message alone says: nothing but what is made of it holds them."""
    said: dict[str, set[str]] = {}
    for line in mine(memory).export():
        value = json.loads(line)
        if value.get("type") == "observation":
            for word in re.findall(r"[a-z]{7,}", value["text"].lower()):
                said.setdefault(word, set()).add(value["id"])
    return {min(ids): word for word, ids in said.items() if len(ids) == 1}


def test_no_table_holds_a_word_that_an_erased_message_alone_said(
    opened: OpenMemory, clock: Clock, url: str, tmp_path: Path
) -> None:
    memory = opened()
    root = {"ts": "1712304000.000200", "thread_ts": "1712304000.000200", "user": "U1", "type": "message"}
    root |= {"text": "Morning.\nThe partition upgrade on quagmire broke the migration of our warehouse table"}
    reply = {**root, "ts": "1712304060.000300", "user": "U2", "text": "The same happened: rename the config"}
    day = tmp_path / "slack" / "eng" / "2024-04-05.json"
    day.parent.mkdir(parents=True)
    day.write_text(json.dumps([root, reply]))
    mine(memory).import_file(tmp_path / "slack")
    session = mine(memory).sessions.start("Why the zeppelin leaks", timestamp=TEN)
    mine(memory).add("Odile wonders why it leaks", thread=session.thread, timestamp=TEN)
    mine(memory).add(
        "The zeppelin leaks at the seam", thread=session.thread, timestamp=TEN + timedelta(minutes=1)
    )
    mine(memory).sessions.end(session.id, "success", ["patch the zeppelin", "call Odile"])
    said = [_a("user", "Does saffron stain?"), _a("assistant", "It does, wash it cold")]
    chat = {"title": "Saffron for the paella", "messages": said}
    (tmp_path / "chat.json").write_text(json.dumps(chat))
    mine(memory).import_file(tmp_path / "chat.json")
    mine(memory).flush()
    titles = {one.title for one in mine(memory).threads.list()}
    assert any("partition" in str(title) for title in titles)
    assert "Saffron for the paella" in titles
    alone = _words(memory)
    assert len(alone) >= 4
    for identity, word in alone.items():
        assert everywhere(url, word) != []
        assert mine(memory).erase(observation=identity).residue == 0
        assert everywhere(url, word) == [], word
    assert everywhere(url, "zeppelin") == everywhere(url, "saffron") == []
    assert sound(memory) == []


def test_a_title_stays_that_says_what_is_kept_or_who_speaks(opened: OpenMemory, clock: Clock) -> None:
    memory = opened()
    hello, _ = mine(memory).add(
        [_a("Maya", "Tom, the boat is here"), _a("Tom", "Which boat?")], thread="chat-1"
    )
    mine(memory).threads.rename("chat-1", "Maya & Tom: the boat")
    mine(memory).erase(observation=hello.id)
    assert mine(memory).threads.get("chat-1").thread.title == "Maya & Tom: the boat"


def test_words_of_a_session_stay_where_others_say_them_too(opened: OpenMemory, clock: Clock) -> None:
    memory = opened()
    session = mine(memory).sessions.start("The garden hose", timestamp=TEN)
    rossi, _ = mine(memory).add(
        [_said_at("Rossi sells them, phone him", 1), _said_at("Buy a garden hose then", 2)],
        thread=session.thread,
    )
    mine(memory).sessions.end(session.id, "success", ["buy a garden hose", "phone Rossi"])
    mine(memory).erase(observation=rossi.id)
    told = mine(memory).sessions.get(session.id)
    assert (told.topic, told.title, told.key_decisions) == (
        "The garden hose",
        "The garden hose",
        ("buy a garden hose",),
    )
    assert sound(memory) == []


def _said_at(text: str, minute: int) -> dict[str, str]:
    return {**_a("user", text), "timestamp": (TEN + timedelta(minutes=minute)).isoformat()}


def test_residue_finds_what_only_begins_like_the_erased_text(memory: Memory) -> None:
    said = "The partition upgrade on the staging server broke the migration of our large table last night"
    receipt = mine(memory).add(said, thread="eng")[0]
    mine(memory).add("Good morning", thread="ops")
    mine(memory).threads.rename("ops", f"{said[:59]}…")  # another thread's: it is no part of what goes
    assert mine(memory).erase(observation=receipt.id).residue == 1


def test_facts_and_pins_are_counted_before_and_after(opened: OpenMemory, clock: Clock) -> None:
    memory = opened()
    first = mine(memory).add("My cello teacher is Odile.", thread="music")[0]
    mine(memory).add("My sister is Clara.", thread="family")
    assert len(mine(memory).facts.list()) == 2
    mine(memory).episodes.pin(thread="music", reason="her lessons")
    for named in ({"observation": first.id}, {"thread": "music"}):
        seen = mine(memory).erase(**named, dry_run=True)
        assert (seen.counts["facts"], seen.counts["pins"]) == (1, 1)
    assert len(mine(memory).facts.list()) == 2
    done = mine(memory).erase(thread="music")
    assert done.counts == seen.counts
    plain = mine(memory).erase(thread="family")
    assert (plain.counts["facts"], "pins" in plain.counts) == (1, False)


def test_messages_that_are_kept_are_told_apart_from_residue(memory: Memory) -> None:
    ids = [mine(memory).add(text, thread="a")[0].id for text in ("Okafor calls", "Call Okafor", "okay")]
    assert mine(memory).erasures.residue(["Okafor"]) == []
    assert [one.id for one in mine(memory).erasures.repeats(["Okafor"])] == ids[:2]
    mine(memory).erase(observation=ids[0])
    assert [one.id for one in mine(memory).erasures.repeats(["Okafor"])] == [ids[1]]
    with pytest.raises(InvalidInput, match="empty string"):
        mine(memory).erasures.repeats([""])
