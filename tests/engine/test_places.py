"""Recall by place and time: where threads were, visits linked to one another, and questions for a place."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from builders.chats import START, Clock, diary, mine
from builders.places import server_when_slow
from builders.spoiling import spoil
from conftest import After, OpenMemory

from episodic_agent import Memory
from episodic_agent.engine.recall.places import MoveCard, PlaceCard, VisitCard
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.stores.postgres.server.session import PostgresSession

Opened = Callable[..., Memory]
LABELS = ("Kitchen", "kitchen ", "Hall", "Living Room", "Küche", "unknown", None)
DAY = timedelta(days=1)


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[Opened]:
    """Open a memory on each of the two stores; steps are cut where the place changes."""
    with ExitStack() as stack:

        def open_one(**parts: Any) -> Memory:
            arguments = {"embedder": "hashing", "policy": "default", "clock": clock, **parts}
            return stack.enter_context(Memory.open(url, **arguments))

        yield open_one


def step(number: int, place: str | None, action: str = "go forward", **more: Any) -> dict[str, Any]:
    at = START + timedelta(minutes=number)
    return {"kind": "step", "action": action, "location": place, "timestamp": at.isoformat(), **more}


def walk(*runs: tuple[str | None, int], first: int = 0) -> list[dict[str, Any]]:
    places = [place for place, count in runs for _ in range(count)]
    return [step(number, place) for number, place in enumerate(places, first)]


HOUSE = (("Kitchen", 10), ("Hall", 6), ("Kitchen", 8), ("Living Room", 12), (None, 2), ("kitchen", 7))


def walked(memory: Memory, _clock: Clock) -> None:
    mine(memory).add(walk(*HOUSE), thread="robot")


@pytest.fixture
def house(opened: Opened, after: After, url: str) -> Memory:
    after(walked, url=url, policy="default")
    return opened()


# --- a plain model ---------------------------------------------------------------------------------------


@dataclass
class Naive:
    """A stay told step by step, with the ids of what holds its steps."""

    thread: str
    label: str
    first_seq: int
    last_seq: int
    steps: int
    start: datetime
    end: datetime
    episodes: list[UUID]

    @property
    def key(self) -> str:
        return self.label.strip().casefold()


def naive(memory: Memory, user: str, thread: str) -> list[Naive]:
    cards = memory.user(user).episodes.list(thread=thread)
    steps = [(o, c.episode_id) for c in cards for o in memory.user(user).episodes.messages(c.episode_id)]
    naives: list[Naive] = []
    waiting: list[UUID] = []
    for o, episode in sorted(steps, key=lambda pair: pair[0].seq):
        waiting.append(episode)
        key = (o.location or "").strip().casefold()
        if key in ("", "unknown"):
            continue
        if naives and naives[-1].key == key:
            last = naives[-1]
            last.last_seq, last.steps = o.seq, last.steps + 1
            last.start, last.end = min(last.start, o.at), max(last.end, o.at)
            last.episodes += waiting  # what knew no place meanwhile belongs to the stay
        else:
            label = str(o.location).strip()
            naives.append(Naive(thread, label, o.seq, o.seq, 1, o.at, o.at, [episode]))
        waiting = []
    for stay in naives:
        stay.episodes = list(dict.fromkeys(stay.episodes))
    return naives


def compare(memory: Memory, user: str, since: datetime | None, until: datetime | None) -> int:
    """Compare every verb with the model; return how many visits were compared."""
    threads = [t.origin for t in memory.user(user).threads.list()]
    by_thread = {t: naive(memory, user, t) for t in threads}

    def touches(stay: Naive) -> bool:
        return (since is None or stay.end >= since) and (until is None or stay.start < until)

    def shown(stay: Naive) -> tuple[object, ...]:
        full = (stay.thread, stay.first_seq, stay.last_seq, stay.steps, stay.start, stay.end)
        return (*full, stay.episodes)

    def answer(card: VisitCard) -> tuple[object, ...]:
        full = (card.thread, card.first_seq, card.last_seq, card.steps, card.start_at, card.end_at)
        return (*full, list(card.episodes))

    for thread in (None, *threads):
        stays = [s for t in ([thread] if thread else threads) for s in by_thread[t]]
        here: defaultdict[str, list[Naive]] = defaultdict(list)
        for stay in filter(touches, stays):
            here[stay.key].append(stay)
        summary = memory.user(user).places.list(thread=thread, since=since, until=until)
        assert {c.label.casefold().strip(): (c.steps, c.visits, c.episodes) for c in summary.places} == {
            key: (sum(s.steps for s in of), len(of), len({e for s in of for e in s.episodes}))
            for key, of in here.items()
        }
        assert [(-c.steps, c.label) for c in summary.places] == sorted(
            (-c.steps, c.label) for c in summary.places
        )
        moves = Counter(
            (a.key, b.key)
            for t in ([thread] if thread else threads)
            for a, b in zip(by_thread[t], by_thread[t][1:], strict=False)
            if touches(a) and touches(b)
        )
        assert {(m.source.casefold(), m.target.casefold()): m.count for m in summary.moves} == dict(moves)
        for key, of in here.items():
            times = [
                answer(c)
                for c in memory.user(user).places.visits(key, thread=thread, since=since, until=until)
            ]
            assert sorted(times, key=repr) == sorted(map(shown, of), key=repr)
    for thread in threads:
        way = memory.user(user).places.route(thread, since=since, until=until)
        assert [answer(card) for card in way] == [shown(s) for s in by_thread[thread] if touches(s)]
    return sum(map(len, by_thread.values()))


@pytest.mark.slow
@server_when_slow
def test_random_walks_are_told_as_a_plain_model_tells_them(opened: Opened) -> None:
    random = np.random.default_rng(3)
    memory = opened()
    counts: Counter[tuple[str, str]] = Counter()
    for _ in range(60):
        user, thread = str(random.choice(["ana", "bo"])), str(random.choice(["robot", "drone", "chat"]))
        steps = []
        for _ in range(random.integers(1, 5)):
            place = LABELS[random.integers(len(LABELS))]
            for _ in range(random.integers(1, 12)):
                late = int(random.integers(-300, 0)) if random.random() < 0.05 else 0
                steps.append(step(counts[user, thread] + late, place))
                counts[user, thread] += 1
        size = int(random.integers(1, 30))
        for start in range(0, len(steps), size):  # batches and restarts must not matter
            memory.user(user).add(steps[start : start + size], thread=thread)
        if random.random() < 0.2:
            memory.close()
            memory = opened()
    for user in ("ana", "bo"):
        assert compare(memory, user, None, None) > 30
        compare(memory, user, START + timedelta(hours=1), START + timedelta(hours=2))
    assert [f for f in memory.doctor() if f.severity == "error"] == []


# --- places, visits, routes --------------------------------------------------------------------------------


def test_places_are_counted_with_visits_episodes_and_moves(house: Memory) -> None:
    summary = mine(house).places.list()
    minute = timedelta(minutes=1)
    assert summary.places == [
        PlaceCard("Kitchen", 25, 3, 3, START, START + 44 * minute),
        PlaceCard("Living Room", 12, 1, 1, START + 24 * minute, START + 35 * minute),
        PlaceCard("Hall", 6, 1, 1, START + 10 * minute, START + 15 * minute),
    ]
    assert summary.moves == [
        MoveCard("Hall", "Kitchen", 1),
        MoveCard("Kitchen", "Hall", 1),
        MoveCard("Kitchen", "Living Room", 1),
        MoveCard("Living Room", "Kitchen", 1),
    ]
    later = mine(house).places.list(since=START + 30 * minute)
    assert [(c.label, c.visits) for c in later.places] == [("Living Room", 1), ("Kitchen", 1)]
    assert later.moves == [MoveCard("Living Room", "Kitchen", 1)]


def test_a_memory_without_places_has_none(opened: Opened) -> None:
    memory = opened()
    mine(memory).add(diary(), thread="ana")
    assert mine(memory).places.list().places == mine(memory).places.list().moves == []
    with pytest.raises(NotFound, match="nothing here says where it was"):
        mine(memory).places.visits("kitchen")
    with pytest.raises(NotFound, match="nothing here says where it was"):
        mine(memory).search("the tap", place="kitchen")
    assert mine(memory).places.route("ana") == []


def test_visits_are_linked_to_the_one_before_and_the_one_after(house: Memory) -> None:
    newest = mine(house).places.visits("KITCHEN")
    assert [v.place for v in newest] == ["Kitchen"] * 3
    oldest = mine(house).places.visits("kitchen", order="oldest")
    assert oldest == newest[::-1]
    first, second, third = oldest
    assert (first.previous, first.since_previous) == (None, None)
    assert first.following is not None
    assert second.previous is not None
    assert (first.following.first_seq, second.previous.first_seq) == (second.first_seq, first.first_seq)
    assert second.since_previous == second.start_at - first.end_at == timedelta(minutes=7)
    assert third.following is None
    assert mine(house).places.visits("kitchen", limit=1) == [third]
    assert mine(house).places.visits("kitchen", since=third.start_at) == [
        third
    ]  # linked to what lies outside all the same
    assert third.previous is not None


def test_the_open_frame_is_the_episode_of_who_is_there_now(house: Memory) -> None:
    now = mine(house).places.visits("kitchen")[0]
    (identity,) = now.episodes
    card = next(c for c in mine(house).episodes.list() if c.episode_id == identity)
    assert card.state == "open"
    closed = mine(house).places.visits("kitchen")[1].episodes
    assert [mine(house).episodes.get(one).metadata["location"] for one in closed] == ["Kitchen"]
    assert [c.episode_id for c in mine(house).episodes.list(place="kitchen")] == [
        identity
        for visit in mine(house).places.visits("kitchen", order="oldest")
        for identity in visit.episodes
    ]
    assert [c.state for c in mine(house).episodes.list(place="kitchen", limit=1)] == ["open"]


def test_an_unknown_place_is_refused_with_the_nearest_known_one(house: Memory) -> None:
    for ask in (
        mine(house).places.visits,
        lambda place: mine(house).search("mug", place=place),
        lambda p: mine(house).episodes.list(place=p),
    ):
        with pytest.raises(NotFound, match="did you mean 'Living Room'"):
            ask("livingroom")
    mine(house).add(walk(("Cellar", 2)), thread="other")
    assert mine(house).places.visits("cellar", thread="robot") == []  # known, but not there


def test_a_route_goes_through_places_in_order(house: Memory) -> None:
    way = mine(house).places.route("robot")
    assert [v.place for v in way] == ["Kitchen", "Hall", "Kitchen", "Living Room", "Kitchen"]
    assert [v.steps for v in way] == [10, 6, 8, 12, 7]
    assert [v.since_previous for v in way][:3] == [None, None, timedelta(minutes=7)]
    part = mine(house).places.route(
        "robot", since=START + timedelta(minutes=12), until=START + timedelta(minutes=20)
    )
    assert [v.place for v in part] == ["Hall", "Kitchen"]
    with pytest.raises(NotFound, match="no thread"):
        mine(house).places.route("nobody")


@pytest.mark.parametrize(
    "ask",
    [
        lambda m: mine(m).places.visits("kitchen", order="random"),
        lambda m: mine(m).places.visits("kitchen", limit=0),
        lambda m: mine(m).places.list(since=START + DAY, until=START),
        lambda m: mine(m).search("mug", place="kitchen", policy="seed-003"),
    ],
)
def test_what_cannot_be_meant_is_refused(house: Memory, ask: Callable[[Memory], object]) -> None:
    with pytest.raises(InvalidInput):
        ask(house)


def test_users_see_their_own_places_alone(house: Memory) -> None:
    house.user("bo").add(walk(("Attic", 4)), thread="robot")
    assert [c.label for c in house.user("bo").places.list().places] == ["Attic"]
    with pytest.raises(NotFound):
        house.user("bo").places.visits("kitchen")
    assert "Attic" not in [c.label for c in mine(house).places.list().places]


# --- search ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_filter_leaves_what_was_observed_at_the_place(opened: Opened) -> None:
    memory = opened()
    places = ("Kitchen", "Hall", "Kitchen", "Cellar")
    steps = [step(n, places[n // 10], "pick up the mug" if n % 5 == 0 else "look around") for n in range(40)]
    mine(memory).add(steps, thread="robot")
    everywhere = mine(memory).search("pick up the mug", observations=8)
    assert {e.observation.location for e in everywhere.observations} == {*places}
    filtered = mine(memory).search("pick up the mug", place="kitchen", observations=8)
    assert {e.observation.location for e in filtered.observations} == {"Kitchen"}
    assert {e.observation.location for h in filtered.hits for e in h.evidence} == {"Kitchen"}
    assert len(filtered.hits) == 2
    late = mine(memory).search("mug", place="kitchen", since=START + timedelta(minutes=15), thread="robot")
    assert {e.observation.seq for e in late.observations} <= set(range(20, 30))
    none = mine(memory).search("mug", place="hall", since=START + timedelta(minutes=25))
    assert (none.hits, none.abstained) == ((), True)


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("what happened in the kitchen?", 38),
        ("What happened in the KITCHEN the last time?", 38),
        ("what did the robot do the first time in the kitchen", 0),
        ("What was going on in the living room?", 24),
        ("Was ist im Living Room passiert?", 24),
        ("¿Qué pasó en el hall?", 10),
    ],
)
def test_a_question_for_a_place_alone_is_answered_with_what_happened_there(
    house: Memory, question: str, first: int
) -> None:
    recall = mine(house).search(question)
    assert not recall.abstained
    assert recall.confidence > 0.9
    place = {38: "kitchen", 0: "kitchen", 24: "living room", 10: "hall"}[first]
    assert {str(e.observation.location).casefold() for h in recall.hits for e in h.evidence} == {place}
    assert recall.observations[0].observation.seq == first
    assert len(recall.hits) == len(mine(house).places.visits(place))
    starts = [h.start_at for h in recall.hits]
    assert starts == sorted(starts, reverse=first != 0)
    assert [h.score for h in recall.hits] == sorted((h.score for h in recall.hits), reverse=True)


@pytest.mark.slow
def test_a_question_for_a_place_and_a_time_is_answered_with_that_time(opened: Opened, clock: Clock) -> None:
    memory = opened()
    for day in range(4):
        mine(memory).add(walk(("Kitchen", 10), ("Hall", 10), first=day * 1440), thread="robot")
    now = START + 3 * DAY + timedelta(hours=5)
    recall = mine(memory).search("What happened in the kitchen yesterday?", now=now)
    assert not recall.abstained
    assert [h.start_at.date() for h in recall.hits] == [(START + 2 * DAY).date()]
    other = mine(memory).search("What happened in the kitchen last month?", now=now)
    assert other.abstained
    assert (list(other.hits), bool(other.candidates)) == ([], True)
    assert other.notes == ["nobody was there then; the newest visits of other times are shown"]
    none = mine(memory).search("What happened in the kitchen?", since=now)
    assert (none.abstained, list(none.hits), none.notes) == (True, [], ["nobody was there then"])
    filtered = mine(memory).search("what happened in the kitchen", until=START + DAY)
    assert [h.start_at.date() for h in filtered.hits] == [START.date()]


def test_of_a_long_visit_only_the_time_asked_for_is_shown(opened: Opened) -> None:
    memory = opened()
    steps = [step(n * 120, "Kitchen") for n in range(24)]  # two days, an observation every two hours
    mine(memory).add(steps, thread="robot")
    now = START + timedelta(hours=47)
    recall = mine(memory).search("What happened in the kitchen yesterday?", now=now, observations=50)
    days = {e.observation.at.date() for e in recall.observations}
    assert days == {(now - DAY).date()}
    mornings = mine(memory).search("what happens in the kitchen in the mornings?", now=now, observations=50)
    assert {e.observation.at.hour for e in mornings.observations} == {5, 7, 9, 11}


def test_whoever_is_asked_about_is_looked_for_first(opened: Opened) -> None:
    memory = opened()
    texts = [
        {"name": name, "content": f"{name} hums a song", "location": "Garden", "timestamp": START.isoformat()}
        for name in ("Ana", "Bo", "Ana")
    ]
    mine(memory).add(texts, thread="family")
    recall = mine(memory).search("What did Bo do in the garden?", observations=9)
    assert [e.observation.actor for e in recall.observations] == ["Bo"]
    everybody = mine(memory).search("What happened in the garden?", observations=9)
    assert [e.observation.actor for e in everybody.observations] == ["Ana", "Bo", "Ana"]


def test_what_tells_of_events_is_shown_first(opened: Opened) -> None:
    memory = opened()
    steps = [step(n, "Kitchen") for n in range(20)]
    steps[13] |= {"events": [{"type": "state_change", "entity": "fridge", "to": "open"}]}
    mine(memory).add(steps, thread="robot")
    (hit,) = mine(memory).search("what happened in the kitchen").hits
    assert 13 in [e.observation.seq for e in hit.evidence]
    assert len(hit.evidence) == 5


@pytest.mark.slow
def test_a_place_in_a_question_prefers_and_never_hides(opened: Opened) -> None:
    memory = opened()
    places = ["Hall", "Cellar", "Kitchen", "Attic"]
    steps = [
        step(n, places[n // 10], "pick up the blue mug" if n in (5, 15, 25, 35) else f"look at wall {n}")
        for n in range(40)
    ]
    mine(memory).add(steps, thread="robot")
    for place in ("cellar", "Kitchen", "attic"):
        recall = mine(memory).search(
            f"when did I pick up the blue mug in the {place}?", observations=4, explain=True
        )
        texts = [str(e.observation.location).casefold() for e in recall.observations]
        assert texts[0] == place.casefold()
        assert len(set(texts)) > 1  # the others are there still
        assert "place" in recall.observations[0].legs
    assert "place" not in mine(memory).search("blue mug", explain=True).observations[0].legs


@pytest.mark.slow
def test_what_happened_at_a_named_place_is_found_among_much_that_reads_the_same(opened: Opened) -> None:
    memory = opened(embedder="none")
    steps = [step(n, "Hall" if n < 250 else "Cellar", text="picks up the mug") for n in range(255)]
    mine(memory).add(steps, thread="robot")
    recall = mine(memory).search("when did I pick up the mug in the cellar?")
    assert [e.observation.location for e in recall.observations] == ["Cellar"] * 5


def test_names_of_places_are_not_taken_for_strangers(opened: Opened) -> None:
    memory = opened()
    mine(memory).add(
        [step(n, "Great Hall", "sweep the floor" if n == 7 else "wait") for n in range(12)], thread="robot"
    )
    known = mine(memory).search("when was the floor in the Great Hall swept, sweep the floor?")
    assert not known.abstained
    other = mine(memory).search("when was the floor in the Small Barn swept, sweep the floor?")
    assert other.confidence < known.confidence


@pytest.mark.slow
def test_without_places_a_question_is_read_and_answered_as_if_there_were_none(
    open_memory: OpenMemory, tmp_path: Path
) -> None:
    plain, other = open_memory(), open_memory(tmp_path / "other.db")
    mine(plain).add(diary(), thread="ana")
    mine(other).add(diary(), thread="ana")
    other.user("bo").add(walk(("Barn", 3)), thread="robot")
    for question in ("the kitchen tap", "what happened in the kitchen", "what did we do in May"):
        first, second = (mine(m).search(question, explain=True, observations=20) for m in (plain, other))
        assert first == second
        assert all("place" not in e.legs for e in first.observations)


# --- kept through everything -------------------------------------------------------------------------------


def told(memory: Memory) -> tuple[object, ...]:
    return (
        mine(memory).places.list(),
        mine(memory).places.visits("kitchen"),
        mine(memory).places.route("robot"),
    )


def test_places_come_along_with_an_export(house: Memory, open_memory: OpenMemory, tmp_path: Path) -> None:
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join(mine(house).export()) + "\n", encoding="utf-8")
    copy = open_memory(tmp_path / "copy.db", policy="default")
    mine(copy).import_file(path)
    assert told(copy) == told(house)
    mine(house).add(walk(("kitchen", 3), ("Hall", 2), first=45), thread="robot")
    path.write_text("\n".join(mine(house).export()) + "\n", encoding="utf-8")
    mine(copy).import_file(path)  # into what is there
    assert [(v.place, v.steps) for v in mine(copy).places.route("robot")] == [
        (v.place, v.steps) for v in mine(house).places.route("robot")
    ]


def test_visits_keep_their_episodes_right_through_a_resegmentation_and_its_undo(house: Memory) -> None:
    before = told(house)
    mine(house).boundaries.resegment("robot", "stub?freeze_interval=4")
    assert compare(house, "default", None, None) == 5
    assert told(house) != before
    mine(house).boundaries.undo("robot")
    assert told(house) == before


def test_the_doctor_finds_and_mends_stays_that_are_wrong(house: Memory, url: str) -> None:
    before = told(house)
    spoil(url, "UPDATE {stay} SET steps = steps + 1 WHERE steps = 6")
    assert [f.invariant for f in house.doctor()] == ["places"]
    assert house.doctor(repair=True) == []
    assert told(house) == before


def test_a_memory_from_before_places_is_upgraded_and_mended(opened: Opened, url: str) -> None:
    memory = opened()
    mine(memory).add(walk(*HOUSE), thread="robot")
    before = [v.episodes for v in mine(memory).places.route("robot")][:4]
    memory.close()
    spoil(
        url,
        *(f"DROP TABLE {{{name}}}" for name in CHAINS),
        "DROP INDEX {observation_unhashed}",
        "ALTER TABLE {observation} DROP COLUMN content_hash",
        "DROP INDEX {episode_parent}",
        "DROP INDEX {episode_primary}",
        *(f"DROP TABLE {{{name}}}" for name in FORGETTING),
        "DROP TABLE {stay}",
        "DROP TABLE {timeout}",
        "DROP TABLE {usage}",
        "DROP TABLE {api_key}",
        "DROP TABLE {request}",
        "DROP TABLE {audit}",
        "DROP TABLE {part}",
        "DROP TABLE {work}",
        "DROP TABLE {fact_evidence}",
        "DROP TABLE {fact}",
        *([] if not url.startswith("postgres") else ["DROP TABLE {fact_number}"]),
        *([] if not url.startswith("postgres") else ["DROP POLICY naming ON {embedder}"]),
        "DROP TABLE {fact_move}",
        "DROP TABLE {fact_tombstone}",
        "DROP INDEX {episode_pending}",
        "DROP TABLE {skill_turn}",
        "DROP TABLE {skill}",
        "DROP TABLE {unmined}",
        "DROP TABLE {link}",
        "DROP TABLE {joined}",
        "DROP TABLE {pending_review}",
        "DROP INDEX {decision_type}",
        "DROP INDEX {thread_begun}",
        *(f"ALTER TABLE {{thread}} DROP COLUMN {name}" for name in RESOLVED),
        *(ON_A_SERVER if url.startswith("postgres") else IN_A_FILE),
        "DELETE FROM {migration} WHERE version > 1",
        *([] if url.startswith("postgres") else ["PRAGMA user_version = 1"]),
    )
    memory = opened()
    mine(memory).add(walk(("kitchen", 2), first=45), thread="robot")
    assert [c.steps for c in mine(memory).places.list().places] == [2]
    assert [f.invariant for f in memory.doctor()] == ["content", "places", "metadata"]
    assert memory.doctor(repair=True) == []
    assert [v.steps for v in mine(memory).places.route("robot")] == [10, 6, 8, 12, 9]
    assert [v.episodes for v in mine(memory).places.route("robot")][:4] == before


CHAINS = ("chain_refusal", "metadata_term")  # tables of schema 12
ON_A_SERVER = (  # where schemas before had words and vectors
    "CREATE TABLE {embedding} (v bytea)",
    "DROP TABLE {posting_block}",
    "ALTER TABLE {document} DROP COLUMN counts",
    "CREATE TABLE {posting} (space bigint, owner bigint, term bigint, ref bigint, length integer, count integer)",
    "DROP TABLE {coarse_packed}",
    "CREATE INDEX coarse_scan ON {coarse} (space, owner, embedder, kind, ref)",
)
IN_A_FILE = (  # what later schemas of a file call otherwise, and where they put rows
    "ALTER TABLE {vector} RENAME COLUMN half TO v",
    *(f"UPDATE {{{name}}} SET n = (stream << 36) + (n & 0xfffffffff)" for name in ("document", "vector")),
    "ALTER TABLE {stream} DROP COLUMN base",
    "ALTER TABLE {stream} RENAME COLUMN places TO last",
)
FORGETTING = ("erasure", "span_mark", "suppressed_words", "expiry", "retention")  # tables of schema 11
RESOLVED = ("explicit", "timeout", "closed_for", "selected_at", "turns")  # columns of a later schema


def test_a_chunk_without_places_costs_no_statement_and_one_with_them_one(
    postgres_url: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts: list[str] = []
    run = PostgresSession._run

    def counted(session: PostgresSession, sql: str, bindings: Sequence[Any]) -> Any:
        texts.append(sql)
        return run(session, sql, bindings)

    with Memory.open(postgres_url, embedder="hashing", clock=clock) as memory:
        mine(memory).add(walk((None, 5)), thread="robot")
        monkeypatch.setattr(PostgresSession, "_run", counted)
        mine(memory).add(walk((None, 5), first=5), thread="robot")
        assert not any("stay" in sql for sql in texts)
        texts.clear()
        mine(memory).add(walk(("Hall", 1), (None, 2), ("Hall", 1), ("Den", 1), first=10), thread="robot")
        assert len([sql for sql in texts if "stay" in sql]) == 1
