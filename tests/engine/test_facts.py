"""Facts end to end: what people say of themselves is learned, found, put right by hand, forgotten, exported."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID

import apsw
import pytest
from builders.chats import Clock, mine
from builders.embedders import TopicEmbedder
from builders.facts import (
    NOW_TRUE,
    RENT,
    RENT_NOW,
    SISTER,
    START,
    Opened,
    decisions,
    episode,
    kept,
    memories,
    quoted,
    three,
    told,
    waiting,
)
from builders.injections import INJECTIONS
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.facts import job as consolidating
from episodic_agent.engine.jobs.kinds import COMPACT, ENCODE
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.providers.models.staged import StagedModel
from episodic_agent.schemas import Json, Scope, Vector
from episodic_agent.schemas.facts import FactEvidence, StoredFact
from episodic_agent.testing.models import ScriptedModel


@pytest.fixture
def clock() -> Clock:
    return Clock(START + timedelta(days=60))


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    """Open memories on one database of each of the two stores."""
    with memories(url, clock) as opened:
        yield opened


def forget_what_was_read(database: Path, created: datetime | None = None) -> None:
    """Make episodes of a memory those from before there were facts."""
    db = apsw.Connection(str(database))
    at = None if created is None else int(created.timestamp() * 1_000_000)
    db.execute("UPDATE episode SET consolidated_at = NULL, created_at = ifnull(?, created_at)", (at,))
    db.close()


# --- quoted -----------------------------------------------------------------------------------------------


class Counting(HashingEmbedder):
    """Remembers what it was asked to embed."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Sequence[Vector]:
        self.asked += texts
        return super().embed(texts)


def test_a_fact_that_quotes_a_message_is_found_by_the_vector_of_that_message(opened: Opened) -> None:
    embedder = Counting()
    memory = opened(embedder=embedder)
    mine(memory).add(SISTER, role="Maya", thread="one", timestamp=START)
    memory.jobs.run()
    assert told(memory) == {quoted(SISTER)}
    assert embedder.asked.count(SISTER) == 1
    assert not any("Maya" in text for text in embedder.asked)
    (card,) = mine(memory).facts.list("does Hannah nurse anybody?")
    assert card.fact.fact == quoted(SISTER)


def test_what_is_said_is_a_fact_at_once(opened: Opened) -> None:
    memory = opened()
    mine(memory).add(SISTER, role="Maya", thread="one", timestamp=START)
    memory.jobs.run()
    assert told(memory) == {quoted(SISTER)}
    (card,) = mine(memory).facts.list()
    assert card.record["source_episodic_ids"] == []  # the episode is still open
    mine(memory).flush()
    mine(memory).facts.consolidate()
    (card,) = mine(memory).facts.list()
    assert card.record["source_episodic_ids"] == [str(mine(memory).episodes.list()[0].episode_id)]
    assert memory.doctor() == []


def test_denials_questions_and_stories_are_never_turned_round(opened: Opened) -> None:
    memory = opened()
    texts = ("I have never been married.", "Do I have a dog?", "If I lived in Rome I'd eat pizza every day.")
    for number, text in enumerate(texts):
        episode(memory, text, number)
    mine(memory).facts.consolidate()
    assert told(memory) <= {quoted(texts[0])}


def test_three_episodes_are_consolidated_and_two_wait(opened: Opened) -> None:
    memory = opened()
    episode(memory, RENT, 0)
    episode(memory, SISTER, 10)
    assert (told(memory), waiting(memory)) == ({quoted(RENT), quoted(SISTER)}, 2)
    episode(memory, RENT_NOW, 20)
    assert told(memory) == NOW_TRUE
    assert (waiting(memory), mine(memory).stats().facts, memory.jobs.list()) == (0, 2, [])
    assert memory.doctor() == []
    assert all(mine(memory).episodes.get(e.episode_id).consolidated_at for e in mine(memory).episodes.list())
    records = decisions(memory)
    assert [d.verdict for d in records] == ["told"] * 3
    assert {d.subject for d in records} == {e.episode_id for e in mine(memory).episodes.list()}
    assert {d.policy_version for d in records} == {"facts-13"}
    named = {str(identity) for d in records for identity in d.detail["facts"]}  # type: ignore[union-attr]
    assert named == {str(one.id) for one in kept(memory)}


def test_what_waits_is_consolidated_when_it_is_asked_for(opened: Opened) -> None:
    memory = opened()
    episode(memory, RENT, 0)
    assert waiting(memory) == 1
    assert mine(memory).facts.consolidate() == 1
    assert told(memory) == {quoted(RENT)}
    assert mine(memory).facts.consolidate() == 0


def test_without_its_job_nothing_is_learned(opened: Opened) -> None:
    """What this file shows comes from the job: where no worker takes it nothing appears."""
    memory = three(opened(jobs="workers"))
    memory.jobs.worker(kinds=[ENCODE, COMPACT]).run(once=True)
    assert (told(memory), mine(memory).facts.consolidate()) == (set(), 0)
    memory.jobs.worker().run(once=True)
    assert told(memory) == NOW_TRUE


def test_a_very_surprising_episode_is_consolidated_at_once(opened: Opened) -> None:
    def respond(_prompt: str, _stage: str) -> Mapping[str, Json]:
        signals: Mapping[str, Json] = {"topic_shift": 0.0, "intent_shift": 0.0, "temporal_marker": 0.0}
        model = "the tap drips"
        return {"is_boundary": False, "confidence": 0.9, "signals": signals, "updated_event_model": model}

    model = StagedModel(None, {"topic_shift": ScriptedModel(respond=respond)})
    memory = opened(embedder=TopicEmbedder("tap", "cello", "rain"), language_model=model)
    texts = ["the tap drips, and the tap must be repaired"] * 3
    texts += [
        "it rains, let us wait for the rain to end",
        "the cello sounds nasal and wants new strings soon",
    ]
    for n, text in enumerate(texts):
        mine(memory).add(text, role="Maya", thread="day", timestamp=START + timedelta(minutes=n))
    (closed, *_) = mine(memory).episodes.list()
    assert closed.surprise >= 0.85
    assert mine(memory).episodes.get(closed.episode_id).consolidated_at is not None


def test_a_change_is_dated_and_the_past_can_be_asked_for(opened: Opened) -> None:
    memory = opened()
    episode(memory, RENT, -400)
    episode(memory, RENT_NOW, 0)
    old, new = mine(memory).facts.history(mine(memory).facts.list("rent")[0].id)
    assert (old.fact.value, old.fact.superseded_by) == (RENT, new.id)
    assert old.fact.invalid_at == new.fact.valid_at == START
    assert told(memory) == {quoted(RENT_NOW)}
    assert told(memory, at=START - timedelta(days=1)) == {quoted(RENT)}
    assert told(memory, at=datetime(2026, 3, 3)) == {quoted(RENT_NOW)}  # naive: UTC
    assert told(memory, history=True) == {quoted(RENT), quoted(RENT_NOW)}


def test_what_may_tell_of_a_change_is_told_with_what_it_changes_and_first(opened: Opened) -> None:
    memory = opened(embedder="none")
    texts = ("I live in Cologne.", "I live in Giesing now.", "I drive a red Polo to work.")
    for day, text in enumerate(texts):
        mine(memory).add(text, timestamp=START + timedelta(days=3 * day))
    now, before = mine(memory).facts.list("where do I live?")
    assert (now.fact.value, before.fact.value) == (texts[1], texts[0])
    assert before.fact.invalid_at is None  # that it is over is likely, not sure
    assert now.score == before.score


def test_what_was_believed_is_told_by_what_had_been_taken_in(opened: Opened, clock: Clock) -> None:
    memory = opened()
    episode(memory, RENT, 0)
    before = clock.now
    clock.forward(days=30)
    episode(memory, RENT_NOW, 20)
    assert told(memory, at=START + timedelta(days=40)) == {quoted(RENT_NOW)}
    assert told(memory, at=START + timedelta(days=40), known_by=before) == {quoted(RENT)}
    assert told(memory, known_by=before - timedelta(days=300)) == set()
    assert told(memory, query="rent", known_by=before) == {quoted(RENT)}


def test_an_assumed_time_dates_nothing(opened: Opened, clock: Clock) -> None:
    memory = opened()
    text = "I have lived in Halle with my sister since 2019."
    old = {"role": "Maya", "content": "Hello.", "timestamp": clock.now - timedelta(days=900)}
    mine(memory).add([old, {"role": "Maya", "content": text}], thread="undated")  # old talk, partly timed
    mine(memory).add(text, role="Bo", thread="dated", timestamp=START)
    mine(memory).flush()
    mine(memory).facts.consolidate()
    since = {card.fact.subject: card.fact.valid_at for card in mine(memory).facts.list()}
    assert since == {"Maya": clock.now, "Bo": datetime(2019, 1, 1, tzinfo=UTC)}


def test_facts_are_found_by_words_and_by_meaning_and_narrowed(opened: Opened) -> None:
    memory = three(opened())
    episode(memory, SISTER, 30, role="Bo")
    assert mine(memory).facts.list("how much is the rent?")[0].fact.fact == quoted(RENT_NOW)
    assert mine(memory).facts.list("how much is the rent?")[0].score > 0
    assert told(memory, query="700 euros") == {quoted(RENT_NOW)}
    assert quoted(RENT) in told(memory, query="700 euros", history=True)
    assert told(memory, query="zebra crossing") == set()
    assert told(memory, category="relationship", subject="Maya") == {quoted(SISTER)}
    assert told(memory, subject="bo") == {quoted(SISTER, "Bo")}
    memory.user("nell", new=True).add("I live in Lewes.", thread="nell")
    for name in ("Nell", "The user", "user"):
        assert [card.fact.subject for card in memory.user("nell").facts.list(subject=name)] == ["The user"]
    assert [card.fact.fact for card in mine(memory).facts.list(limit=1)] == [quoted(SISTER, "Bo")]
    with pytest.raises(InvalidInput, match="query is empty"):
        mine(memory).facts.list(" ")
    with pytest.raises(InvalidInput, match="there are identity"):
        mine(memory).facts.list(category="moods")
    with pytest.raises(InvalidInput, match="1 or more"):
        mine(memory).facts.list(limit=0)


def test_who_asks_of_themselves_is_told_first_what_they_said(opened: Opened) -> None:
    memory = opened()
    said = (("Mara", "I live in Leeds, in a small flat."), ("user", "I live at 14 Harbour Lane in Whitby."))
    for actor, text in said:
        mine(memory).add({"role": actor, "content": text}, channel="sms")
    mine(memory).flush()
    orders = {}
    for question in ("Where do I live?", "Where does Mara live?"):
        orders[question] = [hit.fact.value for hit in mine(memory).search(question).facts]
    assert orders["Where do I live?"][0] == said[1][1]
    assert said[0][1] in orders["Where does Mara live?"]


def test_a_fact_is_shown_with_the_words_that_prove_it(opened: Opened) -> None:
    memory = three(opened())
    card = mine(memory).facts.get(mine(memory).facts.list("rent")[0].id)
    (quote,) = card.quotes
    assert (quote.text, quote.actor, quote.said_at) == (RENT_NOW, "Maya", START + timedelta(days=20))
    assert quote.episode_id == mine(memory).episodes.list()[-1].episode_id
    assert mine(memory).facts.get(str(card.id)[:13]) == card
    assert card.record["source_episodic_ids"] == [str(quote.episode_id)]
    with pytest.raises(NotFound, match="no fact begins with 'ffff-'"):
        mine(memory).facts.get("ffff-")
    with pytest.raises(NotFound, match="no fact begins with ''"):
        mine(memory).facts.get("")
    duplicates = sorted(str(UUID(int=card.id.int ^ 1)) for card in mine(memory).facts.list())
    for value in (str(card.id)[:9].upper(), str(card.id).replace("-", ""), f" {card.id} "):
        assert mine(memory).facts.get(value) == card
    for value in (str(card.id)[:9] + "-", str(card.id).replace("-", "")[:12], "zz", duplicates[0]):
        with pytest.raises(NotFound, match="no fact begins with"):
            mine(memory).facts.get(value)


def test_an_id_that_several_facts_begin_with_is_refused_and_looked_up_among_few(opened: Opened) -> None:
    memory = opened()
    texts = [f"My cousin {first}{second}rin is a nurse." for first in "BDFGKM" for second in "aeiou"]
    mine(memory).add([{"role": "Maya", "content": text} for text in texts], thread="cousins")
    mine(memory).flush()
    mine(memory).facts.consolidate()
    assert mine(memory).stats().facts > 16  # more than there are digits to begin with
    beginnings = [str(card.id)[:1] for card in mine(memory).facts.list(limit=100)]
    with pytest.raises(NotFound, match="more than one fact begins with"):
        mine(memory).facts.get(max(beginnings, key=beginnings.count))


def test_what_was_believed_answers_a_query_though_it_goes_by_another_id_now(
    opened: Opened, clock: Clock
) -> None:
    memory = opened()
    episode(memory, RENT, 20)
    (then,) = mine(memory).facts.list("rent")
    before = clock.now
    clock.forward(days=30)
    episode(memory, RENT, 10)  # said earlier, heard later: the fact is another one
    episode(memory, SISTER, 30)
    assert mine(memory).facts.get(then.id).id != then.id
    (card,) = mine(memory).facts.list("rent", known_by=before)
    assert (card.id, card.fact.fact) == (then.id, quoted(RENT))
    assert card.score > 0
    assert mine(memory).facts.list("Hannah", known_by=before) == []


@pytest.mark.slow
def test_what_assistants_and_tools_say_teaches_nothing_and_injections_stay_quoted(opened: Opened) -> None:
    memory = opened()
    for n, injection in enumerate(INJECTIONS):
        attack = injection.replace("{fence}", "```")
        mine(memory).add(f"{SISTER} {attack}", role="Maya", thread=f"t{n}", timestamp=START)
    mine(memory).add(RENT, role="assistant", thread="x", timestamp=START)
    mine(memory).add({"role": "tool", "name": "page", "content": RENT}, thread="x", timestamp=START)
    mine(memory).flush()
    mine(memory).facts.consolidate()
    assert waiting(memory) == 0
    for card in mine(memory).facts.list(limit=99):
        assert card.fact.fact.startswith('Maya: "')
        assert RENT not in card.fact.fact


def test_an_agents_steps_teach_nothing_and_are_done_with(opened: Opened) -> None:
    memory = opened()
    steps = [
        {"kind": "step", "text": f"I live in room {n // 9}", "location": f"room {n // 9}", "timestamp": START.timestamp() + n}
        for n in range(60)
    ]  # fmt: skip
    mine(memory).add(steps, thread="robot")
    mine(memory).flush()
    assert len(mine(memory).episodes.list()) >= 1
    assert (waiting(memory), told(memory), decisions(memory), memory.jobs.list()) == (0, set(), [], [])


def test_consolidating_twice_adds_nothing(open_memory: Opened, database: Path) -> None:
    memory = three(open_memory())
    before = kept(memory)
    forget_what_was_read(database)
    assert (waiting(memory), mine(memory).facts.consolidate()) == (3, 3)
    assert kept(memory) == before


def test_segmenting_again_asks_nobody_again(open_memory: Opened) -> None:
    memory = open_memory(policy="stub?freeze_interval=2")
    for n, text in enumerate([RENT, SISTER, "Well well", "Good night", "Oh dear", "So long"]):
        mine(memory).add(text, role="Maya", thread="one", timestamp=START + timedelta(minutes=n))
    mine(memory).flush()
    mine(memory).facts.consolidate()
    before = kept(memory)
    mine(memory).boundaries.resegment("one", "stub?freeze_interval=6")
    mine(memory).flush()
    assert len(mine(memory).episodes.list()) == 1
    assert (waiting(memory), kept(memory)) == (0, before)
    (quote,) = mine(memory).facts.get(mine(memory).facts.list("Hannah")[0].id).quotes
    assert quote.episode_id == mine(memory).episodes.list()[0].episode_id


@pytest.mark.slow
def test_a_memory_from_before_there_were_facts_is_read_by_and_by(
    open_memory: Opened, clock: Clock, database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consolidating, "PAGE", 3)
    memory = open_memory()
    for n in range(9):
        episode(memory, f"My friend number {n}", n)
    forget_what_was_read(database, clock.now - timedelta(days=3))
    episode_of_today = START + timedelta(days=20)
    mine(memory).add(SISTER, role="Maya", thread="new", timestamp=episode_of_today)
    mine(memory).threads.close("new")
    assert waiting(memory) == 7  # of one that came to nine, a run took three
    memory._works.later.run()
    assert waiting(memory) == 7
    clock.forward(seconds=61)
    memory._works.later.run()
    assert waiting(memory) == 4
    memory.jobs.run()
    assert waiting(memory) <= 2
    assert mine(memory).facts.consolidate() == waiting(memory) or waiting(memory) == 0
    assert quoted(SISTER) in told(memory)


@pytest.mark.slow
def test_users_know_nothing_of_each_other(opened: Opened) -> None:
    memory = three(opened())
    three(memory, user="bo")
    assert told(memory, user="bo") == NOW_TRUE
    known = {one.id for one in kept(memory)}
    assert known.isdisjoint(one.id for one in kept(memory, "bo"))
    with pytest.raises(NotFound):
        memory.user("bo").facts.get(mine(memory).facts.list()[0].id)
    mine(memory).facts.delete(mine(memory).facts.list("Hannah")[0].id)
    assert told(memory, user="bo") == NOW_TRUE
    assert told(memory, query="Hannah", user="bo") == {quoted(SISTER)}
    assert told(memory, query="Hannah") == set()


# --- by hand --------------------------------------------------------------------------------------------


def test_a_fact_is_put_right_by_hand_and_stays_so(open_memory: Opened, database: Path) -> None:
    memory = three(open_memory())
    fact = mine(memory).facts.list("rent")[0]
    right = mine(memory).facts.edit(fact.id, text="Maya pays 725 euros", value="725")
    assert (right.id, right.fact.edited) == (fact.id, True)
    assert [one["fact"] for one in right.record["versions"]] == [quoted(RENT_NOW)]  # type: ignore[union-attr, index, call-overload]
    assert told(memory, query="725") == {"Maya pays 725 euros"}
    forget_what_was_read(database)
    mine(memory).facts.consolidate()
    assert [card.fact.value for card in mine(memory).facts.history(fact.id)] == [RENT, "725"]
    assert memory.doctor() == []
    with pytest.raises(InvalidInput, match="give a text"):
        mine(memory).facts.edit(fact.id)
    with pytest.raises(InvalidInput, match="needs a text"):
        mine(memory).facts.edit(fact.id, text=" ")


def test_a_pinned_fact_is_ended_by_no_words(opened: Opened) -> None:
    memory = opened()
    episode(memory, RENT, 0)
    pinned = mine(memory).facts.pin(mine(memory).facts.list("rent")[0].id)
    assert pinned.fact.pinned
    episode(memory, RENT_NOW, 5)
    assert told(memory) == {quoted(RENT), quoted(RENT_NOW)}  # both stand: a person may see to it
    assert memory.doctor() == []
    assert not mine(memory).facts.pin(pinned.id, False).fact.pinned
    assert memory.doctor() == []


def test_a_confirmed_fact_is_certain_and_stays_it(opened: Opened) -> None:
    memory = three(opened())
    fact = mine(memory).facts.confirm(mine(memory).facts.list("Hannah")[0].id).fact
    assert (fact.confirmed, fact.confidence) == (True, 1.0)
    episode(memory, SISTER.lower(), 30)
    mine(memory).facts.consolidate()
    again = mine(memory).facts.get(fact.id).fact
    assert (len(again.evidence), again.confidence) == (2, 1.0)
    assert memory.doctor() == []


def test_a_deleted_fact_does_not_come_back_from_the_same_words(open_memory: Opened, database: Path) -> None:
    memory = three(open_memory())
    gone = mine(memory).facts.delete(mine(memory).facts.list("rent")[0].id)
    assert gone.fact.fact == quoted(RENT_NOW)
    assert told(memory) == {quoted(SISTER), quoted(RENT)}  # it holds again
    with pytest.raises(NotFound):
        mine(memory).facts.get(gone.id)
    forget_what_was_read(database)
    mine(memory).facts.consolidate()
    assert told(memory, history=True) == {quoted(SISTER), quoted(RENT)}
    episode(memory, RENT_NOW, 30)
    assert told(memory) == NOW_TRUE  # who says it anew means it
    assert memory.doctor() == []


def test_an_old_id_leads_to_who_holds_its_evidence(opened: Opened) -> None:
    memory = opened()
    episode(memory, SISTER, 5)
    mine(memory).facts.consolidate()
    (before,) = mine(memory).facts.list()
    episode(memory, SISTER, 0)  # said earlier, heard later: the fact begins there
    mine(memory).facts.consolidate()
    (now,) = mine(memory).facts.list()
    assert (now.id != before.id, len(now.fact.evidence)) == (True, 2)
    assert mine(memory).facts.get(before.id).id == mine(memory).facts.get(str(before.id)[:9]).id == now.id
    assert mine(memory).facts.pin(before.id).id == now.id
    assert memory.doctor() == []
    mine(memory).facts.delete(before.id)
    with pytest.raises(NotFound):
        mine(memory).facts.get(before.id)
    assert mine(memory).facts.list("Hannah", history=True) == []


# --- at once, again, elsewhere ----------------------------------------------------------------------------


def test_what_waits_is_taken_up_after_a_restart(opened: Opened) -> None:
    with three(opened(jobs="workers")) as before:
        before.jobs.worker(kinds=[ENCODE]).run(once=True)
        assert waiting(before) == 3
    after = opened()
    after.jobs.run()
    assert told(after) == NOW_TRUE


@pytest.mark.slow
def test_workers_at_once_double_nothing_and_lose_nothing(opened: Opened) -> None:
    memory = opened(jobs="workers")
    for n in range(12):
        text = f"My cousin number {n} is a nurse in Lisbon."
        mine(memory).add(text, role=f"P{n}", thread=f"t{n}", timestamp=START + timedelta(days=n))
    mine(memory).flush()
    hands = [opened(jobs="workers") for _ in range(3)]
    failed: list[BaseException] = []

    def run(memory: Memory) -> None:
        try:
            memory.jobs.worker().run(once=True)
            mine(memory).facts.consolidate()
            memory.jobs.worker().run(once=True)
        except BaseException as error:
            failed.append(error)
            raise

    threads = [threading.Thread(target=run, args=(one,)) for one in hands]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    memory.jobs.worker().run(once=True)
    assert waiting(memory) == 0
    assert len(told(memory, limit=99)) == 12
    evidence = [one for fact_ in kept(memory) for one in fact_.fact.evidence]
    assert len(evidence) == len({(e.observation_id, e.fact) for e in evidence}) == 12
    assert memory.doctor() == []


@pytest.mark.slow
def test_an_export_keeps_facts_and_what_hands_did_to_them(
    open_memory: Opened, tmp_path: Path, clock: Clock
) -> None:
    memory = three(open_memory())
    mine(memory).facts.edit(mine(memory).facts.list("rent")[0].id, text="Maya pays 725 euros", value="725")
    mine(memory).facts.pin(mine(memory).facts.list("Hannah")[0].id)
    episode(memory, "My flight to Lisbon is on 3 May.", 25)
    mine(memory).facts.delete(mine(memory).facts.list("flight")[0].id)
    episode(memory, RENT, -30)  # before all: an id that leads on
    mine(memory).facts.consolidate()
    file = tmp_path / "all.jsonl"
    lines = list(mine(memory).export())
    file.write_text("\n".join(lines), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    for _ in range(2):
        mine(copy).import_file(file)
        assert list(mine(copy).export())[1:] == lines[1:]
        assert copy.doctor() == []
    assert told(copy) == told(memory)
    assert told(copy, query="725") == {"Maya pays 725 euros"}
    assert (waiting(copy), decisions(copy)) == (0, decisions(memory))


def test_an_import_goes_on_with_the_facts_that_are_there(open_memory: Opened, tmp_path: Path) -> None:
    memory = three(open_memory())
    (tmp_path / "all.jsonl").write_text("\n".join(mine(memory).export()), encoding="utf-8")
    other = open_memory(tmp_path / "other.db")
    episode(other, "My flight to Lisbon is on 3 May.", 40)
    mine(other).import_file(tmp_path / "all.jsonl")
    assert told(other) == NOW_TRUE | {quoted("My flight to Lisbon is on 3 May.")}
    assert other.doctor() == []


def test_an_export_from_before_there_were_facts_is_read(open_memory: Opened, tmp_path: Path) -> None:
    memory = three(open_memory())
    lines = [
        re.sub(r'"consolidated_at": "[^"]*"', '"consolidated_at": null', line)
        for line in mine(memory).export()
    ]
    plain = [line for line in lines if not re.search(r'"type": "(fact|moved|deleted)', line)]
    (tmp_path / "old.jsonl").write_text("\n".join(plain), encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db")
    mine(copy).import_file(tmp_path / "old.jsonl")
    assert told(copy) == NOW_TRUE


def test_doctor_tells_what_is_wrong_with_facts_and_embeds_them_again(open_memory: Opened) -> None:
    memory = three(open_memory(embedder="none"))
    memory = open_memory()
    assert mine(memory).facts.list("Hannah")[0].score < 1
    memory.doctor(repair=True)
    with memory._deps.store.begin(Scope(), write=False) as tx:
        assert tx.index.unindexed("f", "hashing-256", limit=9) == []
    with memory._deps.store.begin(Scope()) as tx:
        _, second, *_ = tx.knowledge.facts()
        bad: FactEvidence = second.fact.evidence[0]
        wrong = type(bad)(**{**{f: getattr(bad, f) for f in bad.__dataclass_fields__}, "end": 999})
        gone = type(bad)(
            **{**{f: getattr(bad, f) for f in bad.__dataclass_fields__}, "observation_id": second.id}
        )
        fields = {f: getattr(second.fact, f) for f in second.fact.__dataclass_fields__}
        tx.knowledge.put_facts(
            [StoredFact(type(second.fact)(**{**fields, "evidence": (wrong, gone)}), second.created_at)]
        )
    messages = [finding.message for finding in memory.doctor()]
    assert any("has no words 0 to 999" in message for message in messages)
    assert any("which proves it, does not exist" in message for message in messages)
    assert any("not what the evidence tells" in message for message in messages)
    memory.doctor(repair=True)
    messages = [finding.message for finding in memory.doctor()]
    assert not any("does not exist" in message or "not what the evidence" in message for message in messages)


def test_a_search_tells_no_fact_that_answers_far_worse_than_the_best(open_memory: OpenMemory) -> None:
    wifi, bathrooms = "The wifi password of our flat is Heron 22.", "Our flat has two bathrooms."
    with open_memory(embedder="hashing") as memory:
        for text in (wifi, bathrooms, "I'm allergic to walnuts."):
            mine(memory).add(text, thread=text[:8])
        mine(memory).flush()
        answers = {
            wifi: mine(memory).search("What is the wifi password of our flat?"),
            bathrooms: mine(memory).search("How many bathrooms does our flat have?"),
        }
        assert {said: [hit.fact.value for hit in answer.facts] for said, answer in answers.items()} == {
            wifi: [wifi],
            bathrooms: [bathrooms],
        }
