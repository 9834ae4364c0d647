"""`episodic worker` and `episodic jobs` as scripts, people and service managers meet them."""

import json
import os
import signal
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import BREAD, TAP, diary, talk
from builders.commands import Run
from builders.places import open_store
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.errors import NotFound
from episodic_agent.schemas import Scope
from episodic_agent.wiring import utc_now

pytestmark = pytest.mark.usefixtures("unending_parts", "nothing_quoted")


@pytest.fixture
def leaving(open_memory: OpenMemory) -> Memory:
    """A memory of two users that left four jobs and one to workers."""
    memory = open_memory(jobs="workers")
    memory.user("ana").add(diary())
    memory.user("bo").add(talk(TAP, 0))
    memory.user("ana").flush()
    memory.user("bo").flush()
    return memory


def bury(database: Path, user: str) -> None:
    """Make a dead letter of a user's oldest job."""
    store = open_store(str(database))
    claimed = store.claim("x:1:1", now=utc_now(), lease=timedelta(1), scope=Scope(user))
    assert claimed is not None
    with store.begin(claimed[0]) as tx:
        tx.upkeep.put_back(claimed[1][0], error="attempt 5: ValueError: no words", retry_at=None)
    store.close()


# --- a worker -------------------------------------------------------------------------------------------


def test_a_worker_once_does_what_is_due_and_says_so(run: Run, leaving: Memory) -> None:
    done = run("worker", "--once", "--json")
    assert done.json == {"jobs": 6}
    texts = [line.split(" in ")[0] for line in done.err.splitlines()]
    assert sorted(texts) == ["encode of ana", "encode of bo", "facts of ana"]
    assert leaving.jobs.list() == []
    later = run("worker", "--once")  # what ended long ago is learnt from, once it has its words
    assert (later.code, later.out, later.err.split(" in ")[0]) == (0, "1 job ran\n", "facts of bo")
    again = run("worker", "--once")
    assert (again.code, again.out, again.err) == (0, "0 jobs ran\n", "")


def test_a_worker_takes_space_user_and_kinds(run: Run, leaving: Memory) -> None:
    assert run("worker", "--once", "--space", "elsewhere", "--json").json == {"jobs": 0}
    assert run("worker", "--once", "--kinds", "ask,embed", "--json").json == {"jobs": 0}
    assert run("worker", "--once", "--user", "bo", "--json").json == {"jobs": 1}
    assert run("worker", "--once", "--all-spaces", "--kinds", "encode", "--json").json == {"jobs": 4}


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (
            ["--kinds", "sing"],
            "no such kind of jobs: 'sing'; there are encode, ask, embed, pieces, reembed, review, link",
        ),
        (["--kinds", ","], "no such kind of jobs: none"),
        (["--poll", "0"], "a worker looks every 0 to 3600 seconds, not 0"),
        (["--poll", "nan"], "not nan"),
        (["--user", "cy"], "no user 'cy'"),
    ],
)
def test_a_worker_refuses_what_it_cannot_do(
    run: Run,
    leaving: Memory,
    arguments: list[str],
    problem: str,
) -> None:
    refused = run("worker", "--once", *arguments)
    assert problem in refused.error
    assert refused.code in {2, 3}
    assert len(leaving.jobs.list()) == 5


def test_a_worker_serves_one_space_or_all_of_them(run: Run, leaving: Memory) -> None:
    assert run("worker", "--once", "--space", "x", "--all-spaces").code == 2
    assert len(leaving.jobs.list()) == 5


@pytest.mark.skipif(os.name != "posix", reason="signals are POSIX's")
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_worker_told_to_stop_leaves_nothing_half_done(
    leaving: Memory, database: Path, number: signal.Signals
) -> None:
    plain = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    command = ["--db", str(database), "--embedder", "hashing", "worker", "--poll", "30"]
    with subprocess.Popen(
        [sys.executable, "-m", "episodic_agent", *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=plain,
    ) as process:
        assert process.stderr is not None
        texts = [process.stderr.readline() for _ in range(5)]
        process.send_signal(number)  # it waits half a minute for work; the signal wakes it
        rest, err = process.communicate(timeout=20)
    assert (process.returncode, rest) == (0, "")
    kinds = ["encode of ana", "encode of bo", "compact of ana", "compact of bo", "facts of ana"]
    assert sorted(line.split(" in ")[0] for line in texts) == sorted(kinds)  # by its clock all is old
    assert err == "stopped after 8 jobs; what is left waits\n"
    assert leaving.jobs.list() == []


def test_a_worker_on_a_thread_asks_for_no_signals(run: Run, leaving: Memory) -> None:
    codes: list[int] = []
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=lambda: codes.append(run("worker", "--once").code))
    thread.start()
    thread.join(30)
    assert codes == [0]
    assert signal.getsignal(signal.SIGINT) is before
    assert leaving.jobs.list() == []


# --- jobs -----------------------------------------------------------------------------------------------


def test_jobs_are_listed_for_scripts_and_people(run: Run, leaving: Memory, database: Path) -> None:
    bury(database, "bo")
    listed = run("jobs", "list", "--json").json["jobs"]
    assert [(j["user_id"], j["state"]) for j in listed] == [("ana", "waiting")] * 4 + [("bo", "dead")]
    assert set(listed[0]) == {"id", "user_id", "kind", "key", "state", "attempts", "due", "last_error"}
    assert run("jobs", "list", "--state", "dead", "--json").json["jobs"] == listed[4:]
    assert run("jobs", "list", "--user", "ana", "--json").json["jobs"] == listed[:4]
    shown = run("jobs", "list")
    assert shown.code == 0
    assert all(j["id"] in shown.out and j["key"] in shown.out for j in listed)
    assert "attempt 5: ValueError: no words" in shown.out
    assert run("jobs", "list", "--state", "leased").out == "no jobs\n"


def test_a_dead_letter_is_found_by_doctor_tried_again_and_done(
    run: Run,
    leaving: Memory,
    database: Path,
) -> None:
    bury(database, "bo")
    sick = run("doctor")
    assert sick.code == 1
    (dead,) = leaving.jobs.list(state="dead")
    assert f"episodic jobs retry {dead.id}" in sick.out.replace("\n", " ")
    retried = run("jobs", "retry", str(dead.id)[-12:], "--user", "bo")
    assert retried.code == 0
    assert "waits again; a worker (`episodic worker --once`)" in retried.out
    bury(database, "bo")
    bury(database, "ana")
    assert run("jobs", "retry", "--dead", "--json").json == {"retried": 2}
    assert run("worker", "--once", "--json").json == {"jobs": 6}
    assert run("doctor").code == 0


def test_a_job_is_cancelled(run: Run, leaving: Memory) -> None:
    (job,) = leaving.user("bo").jobs.list()
    assert run("jobs", "cancel", job.id, "--json").json["cancelled"]["id"] == str(job.id)
    assert leaving.user("bo").jobs.list() == []


def test_jobs_that_are_not_there_or_being_done_have_their_exit_codes(
    run: Run,
    leaving: Memory,
    database: Path,
) -> None:
    (job,) = leaving.user("bo").jobs.list()
    missing = run("jobs", "cancel", "nothing-like-it")
    assert missing.code == NotFound.exit_code
    assert "`episodic jobs list` shows the ids" in missing.error
    store = open_store(str(database))
    store.claim("x:1:1", now=utc_now(), lease=timedelta(1), scope=Scope("bo"))
    store.close()
    for verb in ("retry", "cancel"):
        refused = run("jobs", verb, job.id)
        assert refused.code == 4
        assert "is being done; wait for it to end" in refused.error


@pytest.mark.parametrize(
    "arguments", [["retry"], ["retry", "x", "--dead"], ["cancel"], ["list", "--state", "x"]]
)
def test_wrong_usage_of_jobs_is_code_two(run: Run, leaving: Memory, arguments: list[str]) -> None:
    assert run("jobs", *arguments).code == 2
    assert len(leaving.jobs.list()) == 5


def test_the_setting_makes_commands_leave_their_work(
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EPISODIC_JOBS", "workers")
    chat = tmp_path / "chat.jsonl"
    chat.write_text("".join(json.dumps(m) + "\n" for m in [*diary(), *talk(BREAD, 9)]), encoding="utf-8")
    run("import", chat)
    run("flush")
    assert {j["state"] for j in run("jobs", "list", "--json").json["jobs"]} == {"waiting"}
    assert run("worker", "--once", "--json").json["jobs"] > 0
    assert all(e["summary"] for e in run("episodes", "--json").json["episodes"])
