"""Pins, the suppression list, expiry and retention, end to end on both stores."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread
from uuid import UUID

import apsw
import pytest
from builders.chats import BREAD, CELLO, LISBON, TAP, Clock, mine, say
from builders.dumping import dumped
from builders.examples import share
from conftest import OpenMemory
from hypothesis import given, settings
from hypothesis import strategies as st
from stores.postgres_server import connect

from episodic_agent import Memory
from episodic_agent.engine.visibility.retention import EVERY
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import MarkKind
from episodic_agent.schemas import Scope
from episodic_agent.schemas.strength import Strength

QUERIES = {
    "tap": "what was wrong with the kitchen tap?",
    "lisbon": "which flights to Lisbon did we book?",
    "cello": "who teaches the cello?",
    "bread": "how did the sourdough bread turn out?",
}
TALKS = {"tap": TAP, "lisbon": LISBON, "cello": CELLO, "bread": BREAD}
QUERY = QUERIES["lisbon"]


@pytest.fixture
def stores(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(
            Memory.open(url, embedder="hashing", policy="seed-001", clock=clock, **more)
        )


def remember(memory: Memory, clock: Clock, *, apart: float = 10) -> dict[str, UUID]:
    """Four threads of one closed episode each, `apart` days between them, the last ended now; their ids."""
    ended: dict[str, UUID] = {}
    for name, lines in TALKS.items():
        clock.forward(days=apart)
        for role, text in lines:
            mine(memory).add(text, role=role, thread=name, timestamp=clock.now)
            clock.forward(seconds=30)
        mine(memory).flush(thread=name)
        ended[name] = next(c.episode_id for c in mine(memory).episodes.list(thread=name))
    return ended


def found(memory: Memory, name: str, **more: object) -> list[UUID]:
    return [hit.episode_id for hit in mine(memory).search(QUERIES[name], limit=4, **more).hits]  # type: ignore[arg-type]


def said_of(memory: Memory) -> str:
    """Everything that search, recent and context tell."""
    texts = [dumped(mine(memory).search(query, limit=9)) for query in QUERIES.values()]
    texts += [dumped(mine(memory).search(query, policy="seed-003", limit=9)) for query in QUERIES.values()]
    texts += [
        dumped(mine(memory).episodes.recent(limit=99)),
        *(mine(memory).context(q, max_tokens=9000).text for q in QUERIES.values()),
    ]
    return "\n".join(texts)


def sound(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


SPOILT = {
    "UPDATE {span_mark} SET last_ref = first_ref - 1 WHERE kind = 'pinned'": "is in no one thread",
    "UPDATE {span_mark} SET last_ref = last_ref + 4294967296 WHERE kind = 'pinned'": "is in no one thread",
    "UPDATE {span_mark} SET first_ref = first_ref + 429496729600, last_ref = last_ref + 429496729600"
    " WHERE kind = 'pinned'": "which does not exist",
    "UPDATE {span_mark} SET first_ref = first_ref + 1, kind = 'suppressed' WHERE kind = 'pinned'": "meet at",
    "UPDATE {suppressed_words} SET words = ' '": "a row without words",
    "UPDATE {retention} SET policy = 'age=soon'": "the retention policy cannot be read",
    "UPDATE {expiry} SET ref = ref + 100": "1 observation is to expire but not there",
}


@pytest.mark.slow
@pytest.mark.parametrize(("statement", "wrong"), SPOILT.items())
def test_doctor_says_what_is_wrong_with_what_is_pinned_hidden_or_to_expire(
    url: str, clock: Clock, statement: str, wrong: str
) -> None:
    with Memory.open(url, embedder="hashing", policy="seed-001", clock=clock) as memory:
        remember(memory, clock)
        mine(memory).add("It is only for today.", thread="today", timestamp=clock.now, ttl="30d")
        mine(memory).episodes.pin(thread="tap")
        mine(memory).episodes.suppress(thread="tap")
        mine(memory).episodes.suppress(words="zebra")
        mine(memory).retention.set("age=1y")
        assert sound(memory) == []
        server = url.startswith("postgres")
        names = ("span_mark", "suppressed_words", "retention", "expiry")
        tables = {name: f"episodic.{name}" if server else name for name in names}
        with connect(url) if server else closing(apsw.Connection(url.removeprefix("sqlite:///"))) as db:
            db.execute(statement.format(**tables))
        assert [one for one in sound(memory) if wrong in one]


# --- suppression -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_suppressed_episode_is_kept_and_shown_nowhere_until_it_is_asked_for(
    stores: OpenMemory, clock: Clock
) -> None:
    memory = stores()
    ids = remember(memory, clock, apart=0.01)
    assert found(memory, "lisbon")[0] == ids["lisbon"]
    assert "Campo de Ourique" in said_of(memory)
    marked = mine(memory).episodes.suppress(ids["lisbon"], reason="private")
    assert (marked.kind, marked.thread, marked.episodes) == ("suppressed", "lisbon", (ids["lisbon"],))
    assert "Campo de Ourique" not in said_of(memory)
    assert "flight" not in said_of(memory).replace(QUERY, "")
    assert ids["lisbon"] not in found(memory, "lisbon")
    assert ids["lisbon"] not in [c.episode_id for c in mine(memory).episodes.recent()]
    shown = {c.episode_id: c.hidden for c in mine(memory).episodes.recent(suppressed=True)}
    assert shown[ids["lisbon"]] == "suppressed: private"
    left = mine(memory).search(QUERY, suppressed=True).suppressed
    assert [(one.hit.episode_id, one.reason) for one in left] == [(ids["lisbon"], "suppressed: private")]
    assert "Campo de Ourique" in "".join(o.text for o in mine(memory).episodes.messages(ids["lisbon"]))
    [listed] = mine(memory).episodes.suppressed()
    assert (listed.reason, listed.at, listed.episodes) == ("private", clock.now, (ids["lisbon"],))
    assert mine(memory).episodes.unsuppress(ids["lisbon"])
    assert not mine(memory).episodes.unsuppress(ids["lisbon"])
    assert found(memory, "lisbon")[0] == ids["lisbon"]
    assert mine(memory).episodes.suppressed() == []


@pytest.mark.slow
def test_a_suppressed_thread_hides_what_is_still_to_come_and_an_episode_of_it_can_be_shown_alone(
    stores: OpenMemory, clock: Clock
) -> None:
    memory = stores()
    ids = remember(memory, clock, apart=0.01)
    mine(memory).episodes.suppress(thread="lisbon")
    mine(memory).add("The Lisbon flight leaves at dawn from gate forty", thread="lisbon", timestamp=clock.now)
    text = said_of(memory) + mine(memory).context("and Lisbon?", thread="lisbon").text
    assert "gate forty" not in text
    assert "Campo de Ourique" not in text
    assert mine(memory).episodes.unsuppress(ids["lisbon"])
    assert found(memory, "lisbon")[0] == ids["lisbon"]
    assert "gate forty" not in said_of(memory)
    [rest] = mine(memory).episodes.suppressed()
    assert (rest.thread, rest.first_seq, rest.last_seq) == ("lisbon", len(LISBON), None)
    assert mine(memory).episodes.unsuppress(thread="lisbon")
    assert "gate forty" in said_of(memory)


@pytest.mark.slow
def test_much_that_is_suppressed_takes_no_place_from_what_is_not(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory()
    for n in range(150):
        mine(memory).add(f"The kitchen tap drips for the {n}th time", thread=f"t{n}", timestamp=clock.now)
    mine(memory).add("The tap of the neighbour drips as well", thread="neighbour", timestamp=clock.now)
    mine(memory).flush()
    mine(memory).episodes.suppress(words="kitchen tap")
    recall = mine(memory).search("which kitchen tap drips?")
    assert [hit.evidence[0].observation.text for hit in recall.hits] == [
        "The tap of the neighbour drips as well"
    ]
    filtered = mine(memory).search("which kitchen tap drips?", since=clock.now - timedelta(days=1))
    assert [h.episode_id for h in filtered.hits] == [h.episode_id for h in recall.hits]
    mine(memory).episodes.suppress(thread="neighbour")
    assert mine(memory).search("which kitchen tap drips?").hits == ()


def test_a_suppressed_episode_stays_hidden_when_its_thread_is_segmented_again(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory()
    talk = [say(text, n, role) for n, (role, text) in enumerate((*TAP, *LISBON))]
    mine(memory).add(talk, thread="all")
    mine(memory).flush()
    [card] = mine(memory).episodes.list()
    mine(memory).episodes.suppress(card.episode_id)
    mine(memory).add([say("What about the cello strings then?", 500)], thread="all")
    mine(memory).boundaries.resegment("all", "default")
    assert "Ourique" not in said_of(memory)


def test_nothing_is_learnt_from_a_suppressed_episode_until_it_is_shown_again(
    stores: OpenMemory, clock: Clock
) -> None:
    memory = stores()
    ids = remember(memory, clock, apart=0.01)
    store, scope = memory._deps.store, Scope()
    mine(memory).episodes.suppress(ids["lisbon"])
    memory.jobs.run()
    with store.begin(scope, write=False) as tx:
        assert list(tx.knowledge.awaiting(limit=9)) == []
    mine(memory).episodes.unsuppress(ids["lisbon"])
    with store.begin(scope, write=False) as tx:
        assert len(tx.knowledge.awaiting(limit=9)) == 1


def test_what_fading_kept_out_is_listed_with_its_strength(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    lines = ("We met Clara at the station cafe", "We met Clara at the station cafe again")
    for n, line in enumerate(lines):
        mine(memory).add(line, thread=f"c{n}", timestamp=clock.now)
        mine(memory).flush()
        clock.forward(days=0 if n else 600)
    recall = mine(memory).search("when did we meet Clara at the station cafe?", limit=1, suppressed=True)
    assert recall.hits[0].thread_id != recall.suppressed[0].hit.thread_id
    assert recall.suppressed[0].reason.startswith("faded: 0.4")
    assert recall.suppressed[0].hit.retrievability < 0.5
    assert mine(memory).search("when did we meet Clara?", limit=2, suppressed=True).suppressed == []


# --- pins ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_pinned_episode_does_not_fade(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock)
    clock.forward(days=400)
    before = next(h for h in mine(memory).search(QUERY).hits if h.episode_id == ids["lisbon"])
    marked = mine(memory).episodes.pin(ids["lisbon"], reason="our honeymoon")
    assert (marked.reason, marked.episodes) == ("our honeymoon", (ids["lisbon"],))
    after = next(h for h in mine(memory).search(QUERY).hits if h.episode_id == ids["lisbon"])
    assert before.retrievability < 0.6
    assert after.retrievability == 1.0
    assert after.score > before.score
    by_ranks = mine(memory).search(QUERY, policy="seed-003").hits[0]
    assert (by_ranks.episode_id, by_ranks.retrievability) == (ids["lisbon"], 1.0)
    cards = {c.origin: c for c in mine(memory).episodes.list()}
    assert [name for name, card in cards.items() if card.pinned] == ["lisbon"]
    assert cards["lisbon"].retrievability == 1.0
    assert mine(memory).episodes.card(ids["lisbon"]).pinned
    assert [one.reason for one in mine(memory).episodes.pinned()] == ["our honeymoon"]
    assert mine(memory).episodes.get(ids["lisbon"]).stability == pytest.approx(
        2.3065, abs=2
    )  # nothing of it was written
    assert mine(memory).episodes.unpin(ids["lisbon"])
    assert not mine(memory).episodes.unpin(ids["lisbon"])
    assert mine(memory).search(QUERY).hits[0].retrievability < 0.6


# --- expiry ----------------------------------------------------------------------------------------------


def test_what_has_expired_is_never_shown_and_upkeep_erases_it(
    stores: OpenMemory, clock: Clock, url: str
) -> None:
    memory = stores()
    remember(memory, clock, apart=0.01)
    mine(memory).add(
        "The door code of the flat in Lisbon is 84q72", thread="lisbon", ttl="2h", timestamp=clock.now
    )
    mine(memory).add("Lisbon was lovely, the river most of all", thread="lisbon", timestamp=clock.now)
    mine(memory).flush()
    assert "84q72" in said_of(memory)
    clock.forward(hours=2)
    assert "84q72" not in said_of(memory)
    assert "84q72" not in dumped(
        mine(memory).search(QUERY, now=clock.now - timedelta(days=1), suppressed=True)
    )
    assert "84q72" not in dumped(mine(memory).episodes.recent(suppressed=True))
    assert "84q72" not in dumped(mine(memory).episodes.list())
    memory.upkeep()
    assert [r.reason for r in memory.erasures()] == ["ttl"]
    assert mine(memory).erasures.residue(["The door code of the flat"]) == []
    assert "84q72" not in said_of(memory)
    assert "the river most of all" in said_of(memory)
    assert mine(memory).retention.get().expiring == 0
    assert sound(memory) == []
    memory.upkeep()
    assert len(memory.erasures()) == 1


def test_each_message_may_say_how_long_it_lives(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    mine(memory).add(
        [
            {"role": "user", "content": "one", "ttl": 60},
            {"role": "user", "content": "two", "expires_at": (clock.now + timedelta(hours=3)).isoformat()},
            {"role": "user", "content": "three"},
        ],
        thread="t",
        timestamp=clock.now,
        ttl=timedelta(days=1),
    )
    cards = mine(memory).episodes.list()
    ends = {o.text: o.expires_at for o in mine(memory).episodes.messages(cards[0].episode_id)}
    lives = (timedelta(minutes=1), timedelta(hours=3), timedelta(days=1))
    assert ends == dict(zip(("one", "two", "three"), (clock.now + life for life in lives), strict=True))
    for wrong in ({"ttl": 0}, {"ttl": "soon"}, {"ttl": True}, {"ttl": 5, "expires_at": clock.now}):
        with pytest.raises(InvalidInput):
            mine(memory).add("x", **wrong)
    clock.forward(minutes=2)
    memory.upkeep()
    assert [o.text for o in mine(memory).episodes.messages(mine(memory).episodes.list()[0].episode_id)] == [
        "two",
        "three",
    ]


def test_a_time_to_live_counts_from_when_it_was_said(
    stores: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    memory = stores()
    values = [
        {
            "role": "user",
            "content": "The gate code is 1111",
            "timestamp": "2024-01-01T10:00:00Z",
            "ttl": 3600,
        },
        {"role": "user", "content": "The garden is green", "timestamp": "2024-01-01T10:01:00Z"},
    ]
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, values)))
    mine(memory).import_file(path)
    assert "1111" not in dumped(mine(memory).episodes.recent()) + dumped(
        mine(memory).search("gate code garden")
    )
    assert "green" in dumped(mine(memory).search("gate code garden"))
    memory.upkeep()
    assert mine(memory).import_file(path).added == 0, "what was erased does not come back"
    assert "1111" not in "".join(mine(memory).export())


# --- retention -------------------------------------------------------------------------------------------


def test_retention_archives_first_and_erases_after_the_grace_period(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock)
    assert mine(memory).retention.get().policy == "none"
    preview = mine(memory).retention.preview("age=15d,grace=5d")
    assert [(one.episode_id, one.action, one.reason) for one in preview] == [
        (ids["tap"], "archive", "older than 15 days"),
        (ids["lisbon"], "archive", "older than 15 days"),
    ]
    assert found(memory, "tap")[0] == ids["tap"], "a preview does nothing"
    state = mine(memory).retention.set("age=15d, grace=5d")
    assert (state.policy, state.own, state.archived) == ("age=15d,grace=5d", True, 0)
    memory.upkeep()
    assert mine(memory).retention.get().archived == 2
    assert ids["tap"] not in found(memory, "tap")
    left = mine(memory).search(QUERIES["tap"], suppressed=True).suppressed
    assert (ids["tap"], "archived: older than 15 days") in [(one.hit.episode_id, one.reason) for one in left]
    assert len(mine(memory).episodes.messages(ids["tap"])) == len(TAP), "it is kept"
    waits = [one for one in mine(memory).retention.preview() if one.action == "wait"]
    assert {one.at for one in waits} == {clock.now + timedelta(days=5)}
    assert memory.erasures() == []
    clock.forward(days=4.9)
    memory.upkeep()
    assert memory.erasures() == []
    clock.forward(days=0.2)
    assert {one.action for one in mine(memory).retention.preview()} >= {"erase"}
    memory.upkeep()
    assert [(r.reason, r.counts["episodes"], r.state) for r in memory.erasures()] == [
        ("retention: older than 15 days", 2, "done")
    ]
    assert {c.origin for c in mine(memory).episodes.list() if c.state != "open"} == {"cello", "bread"}
    assert mine(memory).erasures.residue([text for _, text in TAP]) == []
    assert mine(memory).retention.get().archived + 2 >= 2
    assert sound(memory) == []


@pytest.mark.slow
def test_an_open_thing_and_a_pinned_one_are_never_let_go(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock)
    mine(memory).add("The tap drips a little again", thread="tap", timestamp=clock.now)
    mine(memory).episodes.pin(ids["tap"])
    mine(memory).episodes.pin(thread="bread")
    mine(memory).retention.set("age=1d,strength=0.99,count=1,grace=0s")
    for _ in range(6):
        clock.forward(days=20)
        memory.upkeep(now=clock.now) if _ % 2 else mine(memory).retention.apply()
    terms = {c.origin for c in mine(memory).episodes.list()}
    assert terms >= {"tap", "bread"}
    assert terms.isdisjoint({"lisbon", "cello"})
    assert found(memory, "tap")[0] == ids["tap"]


@pytest.mark.slow
def test_a_pin_brings_an_archived_episode_back(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock)
    mine(memory).retention.set("age=15d")
    memory.upkeep()
    assert ids["tap"] not in found(memory, "tap")
    mine(memory).episodes.pin(ids["tap"])
    assert found(memory, "tap")[0] == ids["tap"]
    clock.forward(days=400)
    mine(memory).retention.apply()
    clock.forward(days=31)
    mine(memory).retention.apply()
    assert [c.origin for c in mine(memory).episodes.list()] == ["tap"]


@pytest.mark.slow
def test_a_looser_policy_brings_back_what_the_stricter_one_put_away(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock)
    mine(memory).retention.set("age=15d")
    memory.upkeep()
    mine(memory).retention.set("age=25d")
    assert ("return", ids["lisbon"]) in [
        (one.action, one.episode_id) for one in mine(memory).retention.preview()
    ]
    done = mine(memory).retention.apply()
    assert (done.returned, done.archived, done.erased) == (1, 0, 0)
    assert found(memory, "lisbon")[0] == ids["lisbon"]
    mine(memory).retention.set("none")
    memory.upkeep()
    assert found(memory, "tap")[0] == ids["tap"]
    assert mine(memory).retention.get().archived == 0


@pytest.mark.slow
def test_one_call_never_puts_away_and_erases(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    remember(memory, clock)
    mine(memory).retention.set("age=5d,grace=0s")
    first = mine(memory).retention.apply()
    assert (first.archived, first.erased) == (3, 0)
    second = mine(memory).retention.apply()
    assert (second.archived, second.erased) == (0, 3)


@pytest.mark.slow
def test_a_clock_set_back_brings_back_and_erases_nothing(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    remember(memory, clock)
    mine(memory).retention.set("age=15d,grace=5d")
    right = clock.now
    memory.upkeep()
    assert mine(memory).retention.get().archived == 2
    clock.now = right - timedelta(days=300)
    mine(memory).retention.apply()
    assert mine(memory).retention.get().archived == 0
    assert memory.erasures() == []
    clock.now = right + timedelta(days=6)
    mine(memory).retention.apply()
    assert memory.erasures() == [], "the grace period begins anew"
    assert mine(memory).stats().episodes == 4


@pytest.mark.slow
def test_the_strength_rule_spares_what_was_used(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    ids = remember(memory, clock, apart=0.01)
    clock.forward(days=60)
    store = memory._deps.store
    with store.begin(Scope()) as tx:
        episode = tx.episodes.get(ids["cello"])
        assert episode is not None
        tx.episodes.strengthen(episode, Strength(400.0, 5.0), episode.last_reviewed_at)
    mine(memory).retention.set("strength=0.7")
    memory.upkeep()
    hidden = {c.origin for c in mine(memory).episodes.recent(suppressed=True) if c.hidden}
    assert hidden == {"tap", "lisbon", "bread"}


@pytest.mark.slow
def test_the_setting_is_the_policy_of_who_has_none(
    stores: OpenMemory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_RETENTION", "count=2,grace=9d")
    memory = stores()
    remember(memory, clock)
    assert (mine(memory).retention.get().policy, mine(memory).retention.get().own) == (
        "count=2,grace=9d",
        False,
    )
    memory.upkeep()
    assert {c.origin for c in mine(memory).episodes.recent(suppressed=True) if c.hidden} == {"tap", "lisbon"}
    assert mine(memory).retention.set("none").own
    memory.upkeep()
    assert mine(memory).retention.get().archived == 0
    assert mine(memory).retention.set(None).policy == "count=2,grace=9d"
    monkeypatch.setenv("EPISODIC_RETENTION", "sometimes")
    with pytest.raises(InvalidInput, match="retention rule"):
        stores()


@pytest.mark.slow
def test_two_workers_apply_one_policy_once(stores: OpenMemory, clock: Clock) -> None:
    memories = [stores(), stores()]
    remember(memories[0], clock)
    mine(memories[0]).add("burn this", thread="tap", ttl=1, timestamp=clock.now)
    mine(memories[0]).retention.set("age=15d,grace=0s")
    memories[0].upkeep()
    clock.forward(hours=2)
    start, failed = Barrier(2), list[BaseException]()

    def work(memory: Memory) -> None:
        try:
            start.wait()
            for _ in range(3):
                memory.upkeep()
        except BaseException as error:  # noqa: BLE001 (told to the test)
            failed.append(error)

    threads = [Thread(target=work, args=(memory,)) for memory in memories]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    receipts = memories[0].erasures()
    assert sorted(r.reason for r in receipts) == ["retention: older than 15 days", "ttl"]
    assert sound(memories[0]) == []


def test_a_policy_is_looked_at_once_an_hour_and_a_new_one_at_once(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory = open_memory()
    remember(memory, clock)
    mine(memory).retention.set("age=25d")
    memory.upkeep()
    assert mine(memory).retention.get().archived == 1
    clock.forward(days=6)
    with memory._deps.store.begin(Scope()) as tx:
        assert tx.upkeep.take_turn(clock.now, EVERY)
    memory.upkeep()
    assert mine(memory).retention.get().archived == 1
    clock.forward(hours=1)
    memory.upkeep()
    assert mine(memory).retention.get().archived == 2


@pytest.mark.slow
@settings(max_examples=share(30), deadline=None)
@given(
    policies=st.lists(
        st.sampled_from(["none", "age=3d,grace=0s", "count=1,grace=0s", "strength=0.8,grace=2d", "age=8d"]),
        min_size=1,
        max_size=5,
    ),
    days=st.lists(st.integers(-5, 30), min_size=5, max_size=5),
    pinned=st.sets(st.sampled_from(sorted(TALKS))),
)
def test_whatever_is_set_nothing_pinned_or_open_goes_and_nothing_goes_unarchived(
    policies: list[str], days: list[int], pinned: set[str]
) -> None:
    clock = Clock()
    with Memory.open(":memory:", embedder="none", policy="seed-001", clock=clock) as memory:
        ids = remember(memory, clock, apart=2)
        mine(memory).add("Nothing is decided yet", thread="open", timestamp=clock.now)
        for name in pinned:
            mine(memory).episodes.pin(ids[name])
        for policy, forward in zip(policies, days, strict=False):
            mine(memory).retention.set(policy)
            clock.forward(days=forward)
            before = _archived(memory)
            erased = mine(memory).stats().episodes
            mine(memory).retention.apply()
            terms = {c.origin for c in mine(memory).episodes.list()}
            assert terms >= {*pinned, "open"}
            assert erased - mine(memory).stats().episodes <= len(before)
            assert (
                not {c.origin for c in mine(memory).episodes.recent(suppressed=True, limit=99) if c.hidden}
                & pinned
            )
        assert sound(memory) == []


def _archived(memory: Memory) -> list[object]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return list(tx.upkeep.marks(MarkKind.ARCHIVED))


# --- exports ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_care_is_exported_and_imported_twice_without_change(
    stores: OpenMemory, open_memory: OpenMemory, clock: Clock, tmp_path: Path
) -> None:
    memory = stores()
    ids = remember(memory, clock)
    mine(memory).add("for a day", thread="tap", ttl="1d", timestamp=clock.now)
    mine(memory).episodes.pin(ids["cello"], reason="dear")
    mine(memory).episodes.suppress(ids["lisbon"], reason="private")
    mine(memory).episodes.suppress(thread="bread")
    mine(memory).episodes.suppress(words="Odile", reason="asked for")
    mine(memory).retention.set("age=25d,grace=90d")
    memory.upkeep()
    assert mine(memory).retention.get().archived == 1
    lines = list(mine(memory).export())
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(lines))
    other = open_memory(path=tmp_path / "other.db")
    for _ in range(2):
        mine(other).import_file(path)
        assert list(mine(other).export())[1:] == lines[1:]
    assert (mine(other).episodes.pinned(), mine(other).episodes.suppressed()) == (
        mine(memory).episodes.pinned(),
        mine(memory).episodes.suppressed(),
    )
    assert mine(other).retention.get() == mine(memory).retention.get()
    mine(other).episodes.unpin(ids["cello"])
    mine(other).episodes.pin(thread="cello", reason="mine")
    mine(other).retention.set("none")
    mine(other).import_file(path)
    assert [one.reason for one in mine(other).episodes.pinned()] == ["mine"], "what is said here stays"
    assert mine(other).retention.get().policy == "none"
    assert sound(other) == []


def test_erasing_takes_the_marks_of_what_is_gone(stores: OpenMemory, clock: Clock) -> None:
    memory = stores()
    ids = remember(memory, clock, apart=0.01)
    mine(memory).episodes.suppress(ids["lisbon"])
    mine(memory).episodes.pin(ids["tap"])
    mine(memory).episodes.pin(thread="bread")
    for name in ("lisbon", "tap", "bread"):
        mine(memory).erase(episode=ids[name])
    assert mine(memory).episodes.suppressed() == []
    assert [one.thread for one in mine(memory).episodes.pinned()] == ["bread"], (
        "a thread stays pinned for what comes"
    )
    mine(memory).erase(thread="bread")
    assert mine(memory).episodes.pinned() == []
