"""`episodic admin` and the ordinary commands on a server's database, as a user types them."""

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from builders.commands import Run

from episodic_agent.data import demo_folder
from episodic_agent.stores.postgres.server.large import index_name
from episodic_agent.stores.postgres.server.session import key_of

DEMO = demo_folder()


@pytest.mark.slow
def test_the_commands_of_a_file_answer_alike_on_a_server(run: Run, postgres_url: str, tmp_path: Path) -> None:
    answer = []
    for db in (tmp_path / "memory.db", postgres_url):
        assert run("import", DEMO / "maya-work.jsonl", "--user", "maya", db=db).code == 0
        result = run("search", "what job was she offered", "--user", "maya", "--json", db=db).json
        listed = run("episodes", "--user", "maya", "--json", db=db).json
        assert "sound" in run("doctor", db=db).out
        remaining = ("origin", "start_at", "end_at", "title", "summary")
        answer.append((result["observations"], [[e[key] for key in remaining] for e in listed["episodes"]]))
    assert answer[0] == answer[1]
    assert answer[0][0]


def test_a_login_of_the_application_searches_a_memory_that_holds_nothing(
    run: Run, postgres_url: str, login: Callable[..., str]
) -> None:
    answer = run("search", "who repairs pianos", db=login("api"))
    assert answer.code == 0
    assert "nothing to search here" in answer.err


def test_a_login_of_one_space_is_told_of_no_other(
    run: Run, monkeypatch: pytest.MonkeyPatch, postgres_url: str, login: Callable[..., str]
) -> None:
    api, worker = login("api"), login("worker", worker=True)
    monkeypatch.setenv("EPISODIC_SPACE", "bici")
    assert run("add", "My boat is green", "--user", "jordi", db=api).code == 0
    monkeypatch.delenv("EPISODIC_SPACE")
    asked = [run("search", "boat", "--user", "jordi", db=db).error for db in (api, worker)]
    assert asked[0] == "error: no user 'jordi' in this memory; the memory is empty\n"
    assert "but in bici; name one with EPISODIC_SPACE" in asked[1]


@pytest.mark.slow
def test_users_with_many_documents_are_given_an_index_of_their_own(run: Run, postgres_url: str) -> None:
    assert run("import", DEMO / "maya-family.jsonl", "--user", "maya", db=postgres_url).code == 0
    made = run("admin", "index", "--above", 50, "--pack", db=postgres_url).out
    name = index_name(key_of("default"), key_of("maya"), 1, "o")
    assert f"maya in default: {name} over" in made
    assert "posting_block_pkey" in made
    with psycopg.connect(postgres_url) as db:
        query = "SELECT indisvalid FROM pg_index WHERE indexrelid = %s::regclass"
        assert db.execute(query, (f"episodic.{name}",)).fetchone() == (True,)
    again = run("admin", "index", "--above", 50, "--json", db=postgres_url).json
    assert [step for step in again["steps"] if f"{name} is there" in step]
    assert name not in run("admin", "index", db=postgres_url).out


def test_what_makes_a_cluster_is_printed_and_refused_where_there_is_none(run: Run, postgres_url: str) -> None:
    printed = run("admin", "distribute", "--print", "--shards", 8, db=postgres_url).out
    assert "SELECT create_distributed_table('episodic.scope', 'owner', shard_count => 8)" in printed
    assert printed.count("create_distributed_table") == printed.count("colocate_with") + 1
    refused = run("admin", "distribute", db=postgres_url)
    assert refused.code == 5
    assert "CREATE EXTENSION citus" in refused.error


@pytest.mark.parametrize(
    ("command", "option", "value", "reason"),
    [
        ("index", "--above", "0", "0 is less than 1"),
        ("index", "--above", "-5", "-5 is less than 1"),
        ("index", "--above", "all", "'all' is no whole number"),
        ("distribute", "--shards", "0", "0 is less than 1"),
        ("distribute", "--shards", "3.5", "'3.5' is no whole number"),
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_in_one_line(
    run: Run, command: str, option: str, value: str, reason: str
) -> None:
    refused = run("admin", command, option, value, db="postgresql://nobody@nowhere.invalid/memory")
    assert (refused.code, refused.out) == (2, "")
    assert f"invalid value for '{option}': {reason};" in refused.error
    assert f"`episodic admin {command} --help`" in refused.error


@pytest.mark.parametrize("command", ["index", "distribute", "init-db"])
def test_a_file_needs_no_administrator(run: Run, command: str) -> None:
    refused = run("admin", command)
    assert refused.code == 2
    assert "is a file and needs no administrator" in refused.error


@pytest.mark.slow
def test_a_login_that_is_no_administrator_is_refused_in_one_line(
    run: Run, postgres_url: str, login: Callable[..., str]
) -> None:
    assert run("import", DEMO / "maya-family.jsonl", "--user", "maya", db=postgres_url).code == 0
    refused = run("admin", "index", "--above", 50, db=login("api"))
    assert refused.code == 5
    assert "only an administrator may do this" in refused.error
