"""What a key may ask of a service of several processes: as much as of one, whoever answers and whoever dies."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import pytest
from builders.web import LocalClient

from episodic_agent import Memory
from episodic_agent.faces.http import allowances as module
from episodic_agent.faces.http.allowances import Allowances, OwnAllowances, SharedAllowances
from episodic_agent.faces.http.app import make_app
from episodic_agent.wiring import utc_now

HOLDS = """
import sys, fcntl
from pathlib import Path
from episodic_agent.faces.http.allowances import SharedAllowances
shared = SharedAllowances(Path(sys.argv[1]))
print([shared.wait("ek_1", float(sys.argv[2]), 1.0) for _ in range(2)], flush=True)
with shared._held():
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["own", "shared"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Allowances]:
    if request.param == "own":
        yield OwnAllowances()
        return
    shared = SharedAllowances(tmp_path / "allowances")
    yield shared
    shared.close()


def test_a_key_has_two_seconds_worth_at_once_and_then_its_rate(made: Allowances) -> None:
    assert [made.wait("ek_1", 100.0, 2.0) for _ in range(4)] == [0.0] * 4
    assert made.wait("ek_1", 100.0, 2.0) == 0.5
    assert made.wait("ek_2", 100.0, 2.0) == 0.0  # another key has its own
    assert made.wait("ek_1", 100.5, 2.0) == 0.0
    assert made.wait("ek_1", 100.25, 2.0) == 0.5  # a clock that was read earlier and counted later
    assert [made.wait("ek_1", 900.0, 2.0) for _ in range(5)] == [0.0] * 4 + [0.5]
    assert [made.wait("slow", 0.0, 0.1) for _ in range(2)] == [0.0, pytest.approx(10.0)]


def test_more_keys_than_have_a_place_are_counted_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SLOTS", 32)
    shared = SharedAllowances(tmp_path / "allowances")
    for n in range(500):
        assert [shared.wait(f"ek_{n}", float(n), 1.0) for _ in range(3)] == [0.0, 0.0, 1.0]
    shared.close()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="one process serves")
def test_a_process_that_dies_with_the_file_in_its_hand_holds_up_nobody(tmp_path: Path) -> None:
    path, now = tmp_path / "allowances", monotonic()
    command = [sys.executable, "-c", HOLDS, str(path), str(now)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "[0.0, 0.0]\n"
        assert other.stdout.readline() == "held\n"
        other.kill()
    shared = SharedAllowances(path)
    assert shared.wait("ek_1", now, 1.0) == 1.0  # what the other took is taken
    shared.close()


def test_two_processes_answer_a_key_as_often_as_one(url: str, tmp_path: Path) -> None:
    def opened() -> Memory:
        return Memory.open(url, embedder="none", resume=False)

    with opened() as memory:
        memory.user("ana").add("The tap drips")
        token = memory.keys.create(role="read").token
    apps = [
        make_app(opened, utc_now, rate=0.01, allowances=SharedAllowances(tmp_path / "allowances"))
        for _ in range(2)
    ]
    headers = {"Authorization": f"Bearer {token}"}
    with LocalClient(apps[0]) as one, LocalClient(apps[1]) as other:

        def ask(client: LocalClient) -> int:
            return int(client.get("/v1/users", headers=headers).status_code)

        assert [ask(one), ask(other), ask(one)] == [200, 429, 429]
        refused = other.get("/v1/users", headers=headers)
        assert 1 <= int(refused.headers["Retry-After"]) <= 100
