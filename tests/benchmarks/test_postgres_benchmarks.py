"""The benchmarks of a server on a handful of made-up lines: what they measure, not how fast."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import pytest
from builders.chats import mine

from benchmarks import parity, postgres_recall, results, servers, service, tables
from benchmarks.synthetic import Vocabulary
from episodic_agent.engine.memory import Memory
from episodic_agent.providers.embedders.hashing import HashingEmbedder

NOW = datetime(2025, 6, 1, tzinfo=UTC)
SAID = [
    {
        "role": "user",
        "content": f"the {what} needs repair",
        "id": what,
        "timestamp": f"2025-05-0{n}T10:00:00Z",
    }
    for n, what in enumerate(["kettle", "bicycle", "violin"], 1)
]


@pytest.fixture
def twins(postgres_url: str) -> Iterator[parity.Twins]:
    with parity.twins(postgres_url, HashingEmbedder(), parity.Tally(), NOW, None) as both:
        assert isinstance(both, parity.Twins)
        yield both


@pytest.mark.slow
def test_what_both_stores_hold_and_find_is_counted_as_the_same(twins: parity.Twins) -> None:
    mine(twins).add(SAID, thread="home")
    assert mine(twins).search("who repairs the violin").observations
    twins.compare()
    answers = twins.tally.as_json()
    assert (answers["messages"], answers["questions"]) == (3, 1)
    assert answers["exported_records"] > 3
    assert answers["hits"] > 0
    assert {n for name, n in answers.items() if "differ" in name or "another" in name} == {0}


@pytest.mark.slow
def test_what_only_one_store_holds_is_counted_as_a_difference(twins: parity.Twins) -> None:
    mine(twins).add(SAID, thread="home")
    only: Memory = twins.both[1]
    mine(only).add("the violin was sold", thread="home")
    mine(twins).search("the violin")
    twins.compare()
    answers = twins.tally.as_json()
    assert answers["records_that_differ"] > 0
    assert answers["questions_with_another_order"] == answers["questions_with_another_score"] == 1


@pytest.mark.slow
def test_a_server_has_its_own_defaults_but_for_what_is_set_and_leaves_nothing() -> None:
    with servers.server(shared_buffers="16MB") as own:
        with psycopg.connect(own.create("one")) as db:
            shown = "SELECT current_setting('shared_buffers'), current_setting('fsync'), current_database()"
            assert db.execute(shown).fetchone() == ("16MB", "on", "one")
        own.drop("one")
        with pytest.raises(psycopg.OperationalError, match="does not exist"):
            psycopg.connect(own.url("one"))
        own.stop()
        own.stop()  # what does not run is left alone
        with pytest.raises(psycopg.OperationalError):
            psycopg.connect(own.url())
        own.start()
        psycopg.connect(own.url()).close()
    assert not own.data.parent.exists()


@pytest.mark.slow
def test_writers_and_jobs_are_measured_on_a_server_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, small in (("QUICK_ROUNDS", 1), ("QUICK_SINGLES", 3), ("QUICK_CHUNKED", 8), ("QUICK_JOBS", 8)):
        monkeypatch.setattr(service, name, small)
    rows = dict(service.measure(quick=True))
    assert list(rows) == [
        "sync",
        "writers, single commits",
        "writers, chunks",
        "writers, single commits, slow disk",
        "jobs",
    ]
    assert all(row["ratio"]["median"] > 0 for name, row in rows.items() if name.startswith("writers"))
    assert rows["jobs"]["ms_per_job_in_batches_of_64"]["median"] > 0


@pytest.mark.slow
def test_recall_is_measured_in_one_scope_among_others_and_written_as_tables(tmp_path: Path) -> None:
    vocabulary = Vocabulary([f"word{n}" for n in range(400)], list(range(400, 0, -1)), [8, 12])
    with servers.server(shared_buffers="16MB") as own:
        row = postgres_recall.layout(own.create("small"), vocabulary, 3, 40, memory="16MB")
    assert row["scopes"] * row["observations_each"] == 120
    assert row["search_ms"]["median"] > 0
    assert row["bytes_per_observation"]["coarse"] >= 2 * 384
    results.merge(tmp_path, "postgres_space", {"3 scopes of 40": {**row, "quick": False}})
    results.merge(tmp_path, "postgres_recall", {"3 scopes of 40": {**row, "quick": False}})
    made = tables.TABLES["postgres-recall"](tmp_path)
    assert "| 3 scopes of 40 | " in made
    assert "| coarse | " in tables.TABLES["postgres-space"](tmp_path)


def test_counts_of_a_comparison_become_a_table(tmp_path: Path) -> None:
    results.merge(tmp_path, "parity", {"ret_x": {**parity.Tally(messages=1234).as_json(), "date": "today"}})
    made = tables.TABLES["parity"](tmp_path)
    assert "| ret_x | 1,234 | 0 |" in made
    assert "today" not in made
