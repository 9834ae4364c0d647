"""Filters over metadata in every verb that takes them: exactly the set, found by the index, before any cut."""

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import pytest
from builders.chats import Clock, mine
from builders.embedders import TopicEmbedder
from builders.erasing import values
from conftest import After

from episodic_agent import Memory
from episodic_agent.core.chains.metadata import matches, metadata_terms, parse_filter
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Encoding, Json, Scope

OpenMemory = Callable[..., Memory]
NINE: Final = datetime(2026, 3, 4, 9, tzinfo=UTC)
DAYS: Final = 24
HOME: Final = Scope("default", "default")
TAGS: Final = ("Memory", "leak", "bread", "Café", "100%", "deploy worker")
TOOLS: Final = ("bash", "Browser", "sql")
OUTCOMES: Final = ("success", "failure", "ongoing", "unknown")


def day(number: float) -> datetime:
    return NINE + timedelta(days=number)


def say(memory: Memory, thread: str, number: float, *texts: str, role: str = "user") -> None:
    items = [
        {"role": role, "content": text, "timestamp": day(number) + timedelta(minutes=minute)}
        for minute, text in enumerate(texts)
    ]
    mine(memory).add(items, thread=thread)


def describe(memory: Memory, about: dict[str, dict[str, Json]]) -> None:
    """Let the episodes of threads be about something, as a model or a caller might have said."""
    with memory._deps.store.begin(HOME) as tx:
        for thread, metadata in about.items():
            known = tx.threads.get(thread)
            assert known is not None
            for e in tx.episodes.list(threads=[known.id]):
                version = e.encoding_version + 1
                tx.episodes.put(Encoding(e.id, version, e.title, e.summary, metadata, "test", NINE))


def drawn(random_: random.Random) -> dict[str, Json]:
    return {
        "participants": random_.sample(["Tim", "Ana", "user"], random_.randint(1, 2)),
        "tools_used": random_.sample(TOOLS, random_.randint(0, 2)),
        "entities": random_.sample(["CSTP server", "Lisbon"], random_.randint(0, 2)),
        "tags": random_.sample(TAGS, random_.randint(0, 3)),
        "outcome": random_.choice(OUTCOMES),
    }


def asked(random_: random.Random) -> list[str]:
    """Return a filter of one to three pieces, of which some are on the same field."""
    pieces = [
        f"tag={random_.choice(TAGS)}",
        f"tag~{random_.choice(['EA', 'caf', '0%', 'zz'])}",
        f"tool={random_.choice(TOOLS).upper()},{random_.choice(TOOLS)}",
        f"participant={random_.choice(['tim', 'ANA', 'nobody'])}",
        f"entity~{random_.choice(['server', 'lis'])}",
        f"outcome={random_.choice(OUTCOMES)},{random_.choice(OUTCOMES)}",
    ]
    chosen = random_.sample(pieces, random_.randint(1, 3))
    times = [f"since={day(random_.randint(0, 9)):%Y-%m-%d}", f"until={day(random_.randint(12, 24)):%Y-%m-%d}"]
    return [*chosen, *random_.sample(times, random_.randint(0, 2))]


REPORTS = TopicEmbedder("report", "bread")


@pytest.fixture
def opened(url: str, clock: Clock) -> Iterator[OpenMemory]:
    with ExitStack() as stack:

        def item(**more: Any) -> Memory:
            chosen = {"embedder": "none", "policy": "seed-001", "clock": clock, **more}
            return stack.enter_context(closing(Memory.open(url, **chosen)))

        yield item


def reports(memory: Memory, _clock: Clock) -> None:
    """A report a day, each in a thread of its own and about whatever was drawn."""
    random_ = random.Random(8)
    for number in range(DAYS):
        say(memory, f"day {number}", number, f"The report of day {number} is in", f"Report {number} is filed")
    mine(memory).flush()
    describe(memory, {f"day {number}": drawn(random_) for number in range(DAYS)})
    say(memory, "open", DAYS - 0.5, "The report of tonight goes on")


@pytest.fixture
def month(opened: OpenMemory, after: After, url: str) -> Memory:
    after(reports, url=url, embedder=REPORTS, chain_policy="none")
    return opened(embedder=REPORTS, chain_policy="none")


def everything(memory: Memory) -> dict[UUID, tuple[dict[str, Json], datetime]]:
    shown = [
        mine(memory).episodes.get(card.episode_id)
        for card in mine(memory).episodes.list()
        if card.state != "open"
    ]
    return {one.id: (dict(one.metadata), one.start_at) for one in shown}


# --- acceptance 10: exactly the set ----------------------------------------------------------------------


@pytest.mark.slow
def test_every_verb_finds_exactly_what_the_filter_says(month: Memory) -> None:
    about, random_ = everything(month), random.Random(3)
    sizes = []
    for _ in range(40):
        where = asked(random_)
        conditions = parse_filter(where)
        expected = {identity for identity, (told, at) in about.items() if matches(told, conditions, at)}
        sizes.append(len(expected))
        assert {
            hit.episode_id for hit in mine(month).search("report", limit=99, where=where).hits
        } == expected
        assert {c.episode_id for c in mine(month).episodes.list(where=where)} == expected
        sequence = mine(month).chains.sequence("report", 99, 0.0, where=where)
        assert {one.episode_id for one in sequence} == expected
        assert {one.episode_id for one in mine(month).chains.sequence(limit=99, where=where)} == expected
        assert {one.episode_id for one in mine(month).chains.sequence(
            "report", 99, 0.0, where=where, policy="seed-004")} == expected  # fmt: skip
    assert min(sizes) == 0
    assert max(sizes) > 3
    assert len(set(sizes)) > 4


def test_one_line_and_several_pieces_mean_the_same(month: Memory) -> None:
    line, pieces = "tag=leak,bread outcome=failure", ["tag=leak", "tag=bread", "outcome=failure"]
    assert mine(month).episodes.list(where=line) == mine(month).episodes.list(where=pieces)
    with pytest.raises(InvalidInput, match="no field 'flavour'"):
        mine(month).search("report", where="flavour=sweet")
    with pytest.raises(InvalidInput, match="knows no filters"):
        mine(month).search("report", where="tag=leak", policy="seed-003")
    with pytest.raises(InvalidInput, match="no field"):
        mine(month).export(where="flavour=sweet")


def test_an_open_frame_is_about_nothing_but_has_its_time(month: Memory) -> None:
    late = mine(month).search("report", limit=99, where=f"since={day(DAYS - 1):%Y-%m-%d}")
    assert {hit.state for hit in late.hits} == {"open", "closed"}
    assert [c.state for c in mine(month).episodes.list(where=f"since={day(DAYS - 1):%Y-%m-%d}")] == [
        "closed",
        "open",
    ]
    assert "open" not in {hit.state for hit in mine(month).search("report", limit=99, where="tag~a").hits}


# --- before any cut --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_rare_match_deep_in_the_ranking_is_found(opened: OpenMemory) -> None:
    memory = opened(embedder=TopicEmbedder("memory leak"), chain_policy="none")
    for number in range(150):
        say(memory, f"leak {number}", number / 20, f"The memory leak of worker {number}: memory leak again")
    say(memory, "rare", 0.01, "Long ago somebody in the harbour office said that some pipe there had a leak")
    mine(memory).flush()
    describe(memory, {"rare": {"tags": ["harbour"]}})
    first = mine(memory).search("memory leak", limit=100).hits
    assert "harbour" not in "".join(hit.title for hit in first)
    (hit,) = mine(memory).search("memory leak", limit=1, where="tag=harbour").hits
    assert mine(memory).episodes.messages(hit.episode_id)[0].text.startswith("Long ago")
    (sequenced,) = mine(memory).chains.sequence("memory leak", 5, 0.0, where="tag=harbour")
    (newest,) = mine(memory).chains.sequence(limit=5, where="tag=harbour")
    assert sequenced.episode_id == newest.episode_id == hit.episode_id


def test_a_filter_changes_no_score_and_no_abstention(month: Memory) -> None:
    plain = {hit.episode_id: hit.score for hit in mine(month).search("report of day 7", limit=99).hits}
    some = mine(month).search("report of day 7", limit=99, where="tag=leak,memory,bread")
    assert 1 < len(some.hits) < len(plain)
    assert [hit.score for hit in some.hits] == sorted((hit.score for hit in some.hits), reverse=True)
    identifiers = [identity for identity in plain if identity in {hit.episode_id for hit in some.hits}]
    assert some.hits[0].episode_id == identifiers[0]
    assert mine(month).search("quantum chromodynamics lagrangian", where="tag~a").abstained
    nobody = mine(month).search("report", where="tag=nothing")
    assert (nobody.hits, nobody.abstained) == ((), True)
    assert mine(month).retrieve("report", where="tag=nothing") == ""


def test_other_filters_narrow_it_further(month: Memory) -> None:
    tagged = {c.episode_id: c for c in mine(month).episodes.list(where="tag~a")}
    first = next(iter(tagged.values()))
    assert [h.episode_id for h in mine(month).search("report", thread=first.origin, where="tag~a").hits] == [
        first.episode_id
    ]
    other = next(c for c in mine(month).episodes.list() if c.episode_id not in tagged and c.state != "open")
    assert mine(month).search("report", thread=other.origin, where="tag~a").hits == ()
    assert mine(month).episodes.list(thread=other.origin, where="tag~a") == []
    early = mine(month).search("report", limit=99, until=day(5), where="tag~a")
    assert {h.episode_id for h in early.hits} == {i for i, c in tagged.items() if c.start_at < day(5)}


def test_a_question_for_a_place_and_facts_mind_the_filter(opened: OpenMemory, clock: Clock) -> None:
    clock.now = day(30)
    memory = opened(chain_policy="none")
    for number, room in enumerate(("kitchen", "kitchen", "cellar")):
        mine(memory).add(
            [{"role": "user", "content": "My sister Hannah is a nurse here.", "location": room,
              "timestamp": day(number)}], thread=f"visit {number}",
        )  # fmt: skip
    mine(memory).flush()
    mine(memory).facts.consolidate()
    describe(memory, {f"visit {number}": {"tags": [f"t{number}"]} for number in range(3)})
    assert {h.start_at.day for h in mine(memory).search("what happened in the kitchen?").hits} == {4, 5}
    assert [
        h.start_at.day for h in mine(memory).search("what happened in the kitchen?", where="tag=t1").hits
    ] == [5]
    assert mine(memory).search("what happened in the kitchen?", where="tag=t2").hits == []
    assert [c.origin for c in mine(memory).episodes.list(place="kitchen", where="tag=t1,t2")] == ["visit 1"]
    assert len(mine(memory).search("who is a nurse?").facts) == 1
    assert len(mine(memory).search("who is a nurse?", where="tag=t1").facts) == 1
    assert mine(memory).search("who is a nurse?", where="tag=t9").facts == []


# --- what is hidden --------------------------------------------------------------------------------------


def test_no_filter_finds_an_episode_by_what_is_hidden(opened: OpenMemory, clock: Clock) -> None:
    clock.now = day(3)
    memory = opened(chain_policy="none")
    say(memory, "secret", 0, "The report names Zanzibar", "Rather more was said besides")
    say(memory, "plain", 1, "The report names Lisbon", "Rather more was said besides")
    mine(memory).add("The report fades", thread="brief", timestamp=day(2), ttl="2d")
    mine(memory).add("The report stays", thread="brief", timestamp=day(2))
    mine(memory).flush()
    both = {"tags": ["travel"], "outcome": "success"}
    describe(
        memory,
        {
            "secret": {**both, "entities": ["Zanzibar"]},
            "plain": {**both, "entities": ["Lisbon"]},
            "brief": {**both, "entities": ["Faro"]},
        },
    )
    with memory._deps.store.begin(HOME) as tx:  # its words tell nothing of what its metadata do
        secret = tx.threads.get("secret")
        assert secret is not None
        (e,) = tx.episodes.list(threads=[secret.id])
        tx.episodes.put(Encoding(e.id, e.encoding_version + 1, "A talk", "Talk.", e.metadata, "test", NINE))
    assert len(mine(memory).search("report", where="tag=travel").hits) == 3
    mine(memory).episodes.suppress(words="Zanzibar")
    assert mine(memory).search("more besides", where="entity=zanzibar").hits == ()
    assert mine(memory).chains.sequence(where="entity=zanzibar") == []
    (sequenced,) = [one for one in mine(memory).chains.sequence(where="tag=travel") if one.title == "A talk"]
    assert (sequenced.metadata.entities, sequenced.metadata.tags) == ((), ("travel",))
    clock.now = day(6)
    assert len(mine(memory).search("report", where="entity=Lisbon").hits) == 1
    assert mine(memory).search("report", where="entity=Faro").hits == ()
    assert mine(memory).episodes.list(where="entity=Faro") == []
    assert mine(memory).chains.sequence(where="entity=faro") == []


# --- export ----------------------------------------------------------------------------------------------


def test_an_export_of_some_holds_their_threads_whole_and_nothing_else(
    month: Memory, tmp_path: Path, clock: Clock
) -> None:
    mine(month).links.add("day 1", "day 2")
    some = mine(month).episodes.list(where="outcome=failure")
    mine(month).episodes.suppress(some[0].episode_id)
    mine(month).erase(observation=mine(month).episodes.messages(some[-1].episode_id)[-1].id)
    some = mine(month).episodes.list(where="outcome=failure")
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(mine(month).export(where="outcome=failure")) + "\n")
    with closing(
        Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001", clock=clock)
    ) as other:
        report = mine(other).import_file(path)
        assert report.threads == len({card.thread_id for card in some}) < DAYS
        copied = mine(other).episodes.list(where="outcome=failure")
        assert [(c.episode_id, c.hidden) for c in copied] == [(c.episode_id, c.hidden) for c in some]
        assert mine(other).stats().episodes == len(some)
        assert [f.message for f in other.doctor() if f.severity == "error"] == []
        mine(other).import_file(path)
        assert mine(other).stats().episodes == len(some)
    assert len(list(mine(month).export(where="outcome=failure tag=nothing"))) == 1  # the header


def test_an_export_of_some_keeps_the_facts_that_only_they_prove(
    opened: OpenMemory, tmp_path: Path, clock: Clock
) -> None:
    clock.now = day(30)
    memory = opened(chain_policy="none")
    say(memory, "work", 0, "I work as a nurse in Porto.")
    say(memory, "home", 1, "I live in Lisbon.")
    mine(memory).flush()
    mine(memory).facts.consolidate()
    describe(memory, {"work": {"tags": ["job"]}, "home": {"tags": ["flat"]}})
    terms = {kept.fact.fact for kept in mine(memory).facts.list()}
    assert len(terms) > 1
    path = tmp_path / "some.jsonl"
    path.write_text("\n".join(mine(memory).export(where="tag=flat")) + "\n")
    assert "nurse" not in path.read_text()
    with closing(
        Memory.open(tmp_path / "other.db", embedder="none", policy="seed-001", clock=clock)
    ) as other:
        mine(other).import_file(path)
        assert ["Lisbon" in kept.fact.fact for kept in mine(other).facts.list()] == [True]


# --- the rows stay exact ---------------------------------------------------------------------------------


def rows(url: str) -> int:
    return sum(where == "metadata_term.value" for where, _ in values(url))


def exact(memory: Memory, url: str) -> None:
    """Compare the whole table with what the newest words of every episode there is say."""
    with memory._deps.store.begin(HOME, write=False) as tx:
        every = [
            episode
            for thread in tx.threads.list()
            for generation in range(thread.generation + 1)
            for episode in tx.episodes.list(threads=[thread.id], generation=generation)
        ]
        sessions = [
            part.episode_id for thread in tx.threads.list() for part in tx.threads.sections(thread.id)
        ]
        links = tx.threads.links(limit=99, taken_back=True)
        joined = set(
            tx.threads.joined([end for link in links for end in (link.earlier, link.later)]).values()
        )
        there = tx.episodes.get([*{e.id for e in every}, *sessions, *joined])
        expected = [(one.id, term) for one in there.values() for term in metadata_terms(one.metadata)]
        assert sorted(tx.index.described(list(there))) == sorted(expected)
    assert rows(url) == len(expected)
    assert [f.message for f in memory.doctor() if f.severity == "error"] == []


@pytest.mark.slow
def test_whatever_becomes_of_episodes_they_are_found_by_what_they_are_about(
    opened: OpenMemory, url: str
) -> None:
    memory = opened()
    for number in range(4):
        texts = [f"Ana and Rossi look at the boiler {number}, part {n} of the manual" for n in range(6)]
        say(memory, f"talk {number}", number, *texts)
    mine(memory).flush()
    exact(memory, url)
    assert rows(url) > 0
    steps: Sequence[Callable[[], object]] = (
        lambda: mine(memory).boundaries.resegment("talk 0", "stub?freeze_interval=2"),
        lambda: mine(memory).boundaries.resegment("talk 0", "stub?freeze_interval=3"),
        lambda: mine(memory).boundaries.undo("talk 0"),
        lambda: mine(memory).episodes.reencode(every=True),
        lambda: mine(memory).sections.compact(thread="talk 1"),
        lambda: mine(memory).links.add("talk 1", "talk 2"),
        lambda: mine(memory).links.add("talk 2", "talk 3"),
        lambda: mine(memory).links.remove("talk 2", "talk 3"),
        lambda: mine(memory).episodes.suppress(mine(memory).episodes.list()[0].episode_id),
        lambda: mine(memory).threads.close("talk 2"),
        lambda: mine(memory).erase(
            observation=mine(memory).episodes.messages(mine(memory).episodes.list()[1].episode_id)[0].id
        ),
        lambda: mine(memory).erase(episode=mine(memory).episodes.list()[2].episode_id),
        lambda: mine(memory).erase(thread="talk 3"),
    )
    for step in steps:
        step()
        memory.jobs.run()
        exact(memory, url)
    mine(memory).erase(everything=True)
    assert rows(url) == 0
