"""The server crashes again and again under writers and workers that go on by themselves.

`benchmarks.siege` is the machinery: writers repeat a call whose store is away, with the same ids, as the
documentation asks of them; workers are told nothing. Nothing acknowledged is lost, nothing is doubled, all
work is done in the end, and the episodes are those one process makes in a file.
"""

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import pytest
from stores.postgres_server import Server, open_postgres, own_server, programs

from episodic_agent.errors import StoreUnavailable

siege = pytest.importorskip("benchmarks.siege")  # it kills by means that come with the server's wheel
pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork") or programs() is None, reason="kills need a server of their own and fork"
)

SESSION_OPEN = b"R\x00\x00\x00\x08\x00\x00\x00\x00Z\x00\x00\x00\x05I"  # let in, and ready for a query


@pytest.fixture
def server() -> Iterator[Server]:
    """Make a server that syncs every commit; a start after a crash does not also sync file by file."""
    made = own_server(fsync="on", full_page_writes="on", recovery_init_sync_method="syncfs")
    yield made
    made.remove()


def assert_sound(values: Mapping[str, Any]) -> None:
    wrong = ("messages_lost", "messages_doubled", "dead_jobs", "jobs_left", "left", "sick")
    assert {name: values[name] for name in wrong if values[name]} == {}
    assert values["episodes_equal"]
    assert values["messages_acknowledged"] > 0
    assert values["episodes"] > 0


@pytest.mark.slow
def test_what_a_crashing_server_leaves_is_what_a_file_holds_undisturbed(server: Server) -> None:
    def enough(blows: Mapping[str, int]) -> bool:
        return all(blows.get(name) for name in siege.WHOLE)

    crew = siege.Crew(writers=2, workers=1, users=2, lines=24)
    result = siege.besiege(server, "postgres", enough, mortal=False, crew=crew, pace=(0.02, 0.2))
    assert_sound(result)
    assert result["outages_waited_out"] > 0
    assert result["workers_lives"] == 1  # it survived all of them


@pytest.mark.slow
def test_a_server_that_crashes_again_and_again_loses_and_doubles_nothing(server: Server) -> None:
    def enough(blows: Mapping[str, int]) -> bool:
        return sum(blows.values()) >= 16 and all(blows.get(name, 0) >= 2 for name in siege.BLOWS)

    result = siege.besiege(server, "postgres", enough, mortal=False, pace=(0.1, 1.5), seed=1)
    assert_sound(result)
    assert result["kills"] >= 16
    # How many calls a blow interrupts is luck; that most blows interrupted one is what makes this a trial.
    assert result["calls_repeated"] >= 8
    assert result["outages_waited_out"] > 0
    assert result["workers_lives"] == 2


@pytest.mark.slow
def test_writers_workers_and_server_killed_by_turns_lose_and_double_nothing(server: Server) -> None:
    def enough(kills: Mapping[str, int]) -> bool:
        return sum(kills.values()) >= 36 and sum(kills.get(name, 0) for name in siege.WHOLE) >= 3

    result = siege.besiege(server, "postgres", enough, mortal=True, seed=3)
    assert_sound(result)
    assert result["kills"] >= 36


def test_a_server_that_goes_away_while_a_store_is_opened_is_unavailable_and_not_wrong() -> None:
    """Whoever waits for a server that restarts must not give up because it went once more."""
    with TemporaryDirectory(prefix="episodic-") as folder, socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(Path(folder) / ".s.PGSQL.5432"))
        listening.listen()

        def let_in_and_leave() -> None:
            with suppress(OSError):
                while True:
                    session, _ = listening.accept()
                    with session:
                        session.recv(1 << 16)
                        session.sendall(SESSION_OPEN)
                        session.recv(1 << 16)

        threading.Thread(target=let_in_and_leave, daemon=True).start()
        with pytest.raises(StoreUnavailable, match="was lost"):
            open_postgres(f"postgresql://postgres@/memory?host={folder}&sslmode=disable&gssencmode=disable")
        listening.shutdown(socket.SHUT_RDWR)


def test_what_no_worker_did_any_more_is_done_before_anybody_counts(tmp_path: Path) -> None:
    """The clock of a siege is in a hurry: it makes work due after the last worker has gone."""
    chats = siege.write_chats(tmp_path, lines=6)
    place = SimpleNamespace(url=lambda name: str(tmp_path / name))  # a file does as well
    ended = siege.Siege(place, "memory.db", chats, bool, siege.CREW, False, siege.PACE, 1)
    ended.acknowledged["ana"] = set()
    with siege.open_memory(ended.url, siege.SPACE, ended.begun) as memory:
        for messages in siege.read_chats(chats).values():
            memory.user("ana").add(messages)
    with siege.make_patient_store(ended.url) as store:
        assert any(map(siege.is_left, siege.jobs_of(ended, store)))
        siege.do_the_rest(ended, store)
        assert not any(map(siege.is_left, siege.jobs_of(ended, store)))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::platformdirs.RuntimeDirWarning")
def test_the_benchmark_of_kills_counts_them_on_a_server_that_syncs() -> None:
    kills = pytest.importorskip("benchmarks.kills")
    result = kills.measure(15)
    assert_sound(result)
    assert result["kills"] >= 15
    assert result["server_kills"] >= 1
    assert (result["fsync"], result["full_page_writes"]) == ("on", "on")
    assert sum(result["kills_by_kind"].values()) == result["kills"]
