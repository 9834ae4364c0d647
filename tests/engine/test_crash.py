"""Killed at every named point and anywhere else, hundreds of times: nothing acknowledged is lost or doubled.

Each life of a child process adds the same conversation from its beginning until something ends it; the next
life finds the file as it was left. What a life finds is checked before it goes on, and when one reaches the
end, the episodes must be those of a run that nobody disturbed.
"""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from engine.crash_child import REFUSED, episodes_of

import episodic_agent
from episodic_agent.core.boundary import policy as named_policy
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.parts import Parts
from episodic_agent.errors import StoreUnavailable
from episodic_agent.providers.hashing import HashingEmbedder
from episodic_agent.schemas import Scope
from episodic_agent.stores import faults
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.wiring import utc_now

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")

DEMO = Path(episodic_agent.__file__).parent / "demo" / "data"
GIVEN = os.environ.get("EPISODIC_TEST_DATA")  # read now: the tests see no such variables
POLICIES = ("default", "seed-001")
KILLED = -signal.SIGKILL
SHORT = 18  # messages of the quick tests
QUICK = timedelta(milliseconds=50)


# --- the server and its lives ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Life:
    """What one life said before something ended it."""

    ended: int
    said: Sequence[Mapping[str, Any]]

    @property
    def acknowledged(self) -> list[str]:
        return [one for word in self.said for one in word.get("acknowledged", ())]

    def word(self, name: str) -> Any:
        return next((word[name] for word in self.said if name in word), None)


@dataclass(frozen=True, slots=True)
class Server:
    """The other end of `crash_child`."""

    process: "subprocess.Popen[str]"

    def live(self, **order: Any) -> Life:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps({"die": {}, "policy": "default"} | order), file=self.process.stdin, flush=True)
        return Life(**json.loads(self.process.stdout.readline()))


@contextmanager
def serving(prefix: Sequence[str] = ()) -> Iterator[Server]:
    """Start a kill server, `prefix` before its command."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    with subprocess.Popen(
        [*prefix, sys.executable, "-m", "engine.crash_child"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment | {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"},
    ) as process:
        yield Server(process)
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as started:
        yield started


@dataclass
class Story:
    """One file of messages, lived through again and again in one database."""

    server: Server
    db: str
    file: str
    policy: str = "default"
    plan: str = "add"
    batches: Sequence[int] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    kills: int = 0
    lives: int = 0
    promised: dict[str, None] = field(default_factory=dict)  # acknowledged so far, in order

    def live(self, **death: Any) -> Life:
        """Live once; check what this life found of the lives before it."""
        life = self.order(self.plan, death)
        self.lives += 1
        if self.plan == "add" and life.said:
            stored = life.said[0]["stored"].get(ORIGIN, [])
            assert len(set(stored)) == len(stored)
            assert [one for one in stored if one in self.promised] == list(self.promised)
            assert life.said[0]["sick"] == []
        self.promised |= dict.fromkeys(life.acknowledged)
        assert life.ended == KILLED if death and life.ended else life.ended == 0
        self.kills += life.ended == KILLED
        return life

    def end(self) -> "Mapping[str, Any]":
        """Return what is there in the end; it must be sound and everything promised must be in it."""
        found = self.order("inspect", {}).said[0]
        assert found["sick"] == []
        assert found["jobs"] == []
        stored = [one for ids in found["stored"].values() for one in ids]
        assert len(set(stored)) == len(stored)
        assert set(self.promised) <= set(stored)
        return found

    def order(self, plan: str, death: Mapping[str, Any]) -> Life:
        told = dict(self.options) | {"plan": plan, "db": self.db, "file": self.file, "die": death}
        return self.server.live(policy=self.policy, batches=self.batches, **told)


ORIGIN = "maya-family"


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first messages of a conversation the project ships."""
    path = tmp_path_factory.mktemp("chat") / f"{ORIGIN}.jsonl"
    lines = (DEMO / f"{ORIGIN}.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:SHORT]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("chat") / f"{ORIGIN}.jsonl"
    lines = (DEMO / f"{ORIGIN}.jsonl").read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:42]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("chat") / f"{ORIGIN}.jsonl"
    shutil.copy(DEMO / f"{ORIGIN}.jsonl", path)
    return str(path)


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Several conversations in one file, more than one group of one import."""
    path = tmp_path_factory.mktemp("chat") / "all.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for copy in range(5):
            for chat in sorted(DEMO.glob("*.jsonl")):
                for line in chat.read_text(encoding="utf-8").splitlines():
                    message = json.loads(line)
                    message["conversation_id"] += f" {copy}"
                    print(json.dumps(message, ensure_ascii=False), file=file)
    return str(path)


def batches_of(file: str, rng: random.Random | None, largest: int = 8) -> list[int]:
    """Split a file's messages into random batches (without `rng`: one by one)."""
    left = len(Path(file).read_text(encoding="utf-8").splitlines())
    sizes: list[int] = []
    while left:
        sizes.append(min(left, rng.randint(1, largest) if rng else 1))
        left -= sizes[-1]
    return sizes


def undisturbed(server: Server, folder: Path, file: str, policy: str, plan: str = "add") -> Mapping[str, Any]:
    """Return what a run that nobody disturbed leaves, message by message."""
    story = Story(server, str(folder / "undisturbed.db"), file, policy, plan, batches_of(file, None))
    assert story.live().word("done")
    found = story.end()
    assert sum(len(episodes) for episodes in found["episodes"].values()) > len(found["episodes"])
    return found


def walk(story: Story, point: str) -> None:
    """Kill at the next reach of a point; at one further on when a life got no further than the last."""
    count = 1
    while not (life := story.live(point=point, count=count)).word("done"):
        new = len(life.acknowledged) > len(life.said[0]["stored"].get(ORIGIN, [])) if life.said else False
        count = 1 if new else count + 1


# --- killed at named points -----------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_killed_at_every_named_point_it_ends_as_if_undisturbed(
    server: Server, tmp_path: Path, short: str, policy: str
) -> None:
    wanted = undisturbed(server, tmp_path, short, policy)
    kills = {}
    for point in faults.POINTS:
        story = Story(server, str(tmp_path / f"{point}.db"), short, policy, batches=[SHORT // 2] * 2)
        walk(story, point)
        assert story.end() == wanted
        kills[point] = story.kills
    assert all(kills.values())


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_killed_at_every_reach_of_every_point_it_ends_as_if_undisturbed(
    server: Server, tmp_path: Path, half: str, policy: str
) -> None:
    wanted = undisturbed(server, tmp_path, half, policy)
    kills = 0
    batches = batches_of(half, random.Random(policy), 12)
    for point in faults.POINTS:
        count = 0
        while True:
            count += 1
            story = Story(server, str(tmp_path / f"{point}{count}.db"), half, policy, batches=batches)
            if story.live(point=point, count=count).word("done"):
                break
            assert story.live().word("done")
            assert story.end() == wanted
            kills += story.kills
    assert kills >= 50


# --- killed anywhere ------------------------------------------------------------------------------------


def torment(story: Story, rng: random.Random, lives: int, events: int) -> None:
    """End up to `lives` lives after a random number of calls of any function, then let one go on to the end."""
    while story.lives < lives and not story.live(events=rng.randrange(1, events)).word("done"):
        pass
    assert story.live().word("done")


@pytest.mark.parametrize("policy", POLICIES)
def test_killed_anywhere_it_ends_as_if_undisturbed(
    server: Server, tmp_path: Path, short: str, policy: str
) -> None:
    wanted = undisturbed(server, tmp_path, short, policy)
    rng = random.Random(policy)
    story = Story(server, str(tmp_path / "memory.db"), short, policy, batches=batches_of(short, rng))
    torment(story, rng, lives=12, events=60_000)
    assert story.end() == wanted
    assert story.kills >= 5


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(8))
def test_killed_anywhere_again_and_again_it_ends_as_if_undisturbed(
    server: Server, tmp_path: Path, whole: str, policy: str, seed: int
) -> None:
    wanted = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(f"{policy} {seed}")
    story = Story(
        server,
        str(tmp_path / "memory.db"),
        whole,
        policy,
        batches=batches_of(whole, rng),
        options={"wait": bool(seed % 2)},
    )
    torment(story, rng, lives=40, events=150_000)
    assert story.end() == wanted
    assert story.kills >= 20


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_killed_from_outside_at_random_times_it_ends_as_if_undisturbed(
    server: Server, tmp_path: Path, whole: str, policy: str
) -> None:
    wanted = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(policy)
    kills = 0
    for number in range(20):
        story = Story(server, str(tmp_path / f"{number}.db"), whole, policy, batches=batches_of(whole, rng))
        while story.lives < 6 and not story.live(seconds=rng.uniform(0.0, 0.15)).word("done"):
            pass
        assert story.live().word("done")
        assert story.end() == wanted
        kills += story.kills
    assert kills > 0


def test_killed_while_the_file_is_made_it_is_made_again(server: Server, tmp_path: Path, short: str) -> None:
    db = str(tmp_path / "memory.db")
    story = Story(server, db, short, plan="open")
    events, ended = 1, KILLED
    while ended == KILLED:
        for path in tmp_path.glob("memory.db*"):
            path.unlink()
        ended = story.live(events=events).ended
        assert Story(server, db, short, plan="open").live().word("done")
        assert story.end()["stored"] == {}
        events += events // 4 + 100
    assert story.kills >= 5


# --- killed while importing -----------------------------------------------------------------------------


@pytest.mark.parametrize("point", ["mid-append", "after-claim", "before-commit", "after-commit"])
def test_an_import_killed_at_a_point_is_finished_by_the_next(
    server: Server, tmp_path: Path, short: str, point: str
) -> None:
    wanted = undisturbed(server, tmp_path, short, "default", plan="import")
    story = Story(server, str(tmp_path / "memory.db"), short, plan="import")
    walk(story, point)
    assert story.end() == wanted
    assert story.kills >= 1


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES)
def test_an_import_of_many_conversations_killed_anywhere_is_finished_by_the_next(
    server: Server, tmp_path: Path, many: str, policy: str
) -> None:
    wanted = undisturbed(server, tmp_path, many, policy, plan="import")
    rng = random.Random(policy)
    story = Story(server, str(tmp_path / "memory.db"), many, policy, plan="import")
    for point in faults.POINTS:
        for count in (1, 2, 3, 5, 8):
            story.live(point=point, count=count)
    torment(story, rng, lives=60, events=1_500_000)
    assert story.end() == wanted
    assert story.kills >= 12


@pytest.mark.slow
@pytest.mark.skipif(GIVEN is None, reason="EPISODIC_TEST_DATA names no chat file")
def test_an_import_of_a_given_file_killed_anywhere_is_finished_by_the_next(
    server: Server, tmp_path: Path
) -> None:
    file = str(GIVEN)
    wanted = undisturbed(server, tmp_path, file, "default", plan="import")
    story = Story(server, str(tmp_path / "memory.db"), file, plan="import")
    torment(story, random.Random(1), lives=30, events=3_000_000)
    assert story.end() == wanted


# --- the world refuses ----------------------------------------------------------------------------------


def assert_told_and_recovered(life: Life, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """One clear error, everything acknowledged there, and the same end as without the trouble."""
    assert life.ended == 0
    assert life.word("error") == "StoreUnavailable"
    assert "\n" not in life.word("message")
    assert "repeat the call to add the rest" in life.word("message")
    assert life.word("sick") == []
    stored = life.word("stored").get(ORIGIN, [])
    assert 0 < len(life.acknowledged) < len(wanted["stored"][ORIGIN])
    assert stored == life.acknowledged  # and not half of anything else
    assert life.word("done")
    assert found == wanted


@pytest.mark.parametrize("kilobytes", [500, 2000, 3000])
def test_a_file_that_may_not_grow_is_reported_and_goes_on_when_it_may(
    server: Server, tmp_path: Path, whole: str, kilobytes: int
) -> None:
    wanted = undisturbed(server, tmp_path, whole, "default")
    story = Story(server, str(tmp_path / "memory.db"), whole, plan="fill", options={"bytes": kilobytes << 10})
    life = story.live()
    assert_told_and_recovered(life, story.end(), wanted)


def test_a_full_disk_is_reported_and_goes_on_when_there_is_room(tmp_path: Path, whole: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=4m tmpfs "{disk}" && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], check=False).returncode:
        pytest.skip("only who may mount a small file system can fill it")
    with serving(mount) as server:
        wanted = undisturbed(server, tmp_path, whole, "default")
        ballast = str(disk / "ballast")
        options = {"ballast": ballast, "ballast_bytes": 2_500_000}
        story = Story(server, str(disk / "memory.db"), whole, plan="fill", options=options)
        life = story.live()
        assert_told_and_recovered(life, story.end(), wanted)


def test_a_file_that_may_only_be_read_answers_and_says_so(server: Server, short: str) -> None:
    # Not under the test runner's folder: only the user it runs as may enter that.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        db = Path(folder) / "memory.db"
        story = Story(server, str(db), short, batches=batches_of(short, None))
        story.live()
        db.chmod(0o444)
        life = story.order("read", {})
        assert (life.ended, life.word("error")) == (REFUSED, "StoreUnavailable"), life.word("message")
        assert "read-only" in life.word("message")
        assert life.word("found") > 0


def make_memory(path: Path) -> tuple[Memory, SqliteStore]:
    store = SqliteStore(path, busy_timeout=QUICK)
    parts = Parts(
        store=store,
        embedder=HashingEmbedder(),
        policy="default",
        resolve_policy=named_policy,
        clock=utc_now,
        entropy=random.Random(1).getrandbits,
        owner="here:1:1",
    )
    return Memory(parts), store


def test_a_file_locked_by_another_process_is_reported_and_the_call_can_be_repeated(tmp_path: Path) -> None:
    memory, store = make_memory(tmp_path / "memory.db")
    other = apsw.Connection(str(tmp_path / "memory.db"))
    memory.add({"content": "the first", "id": "1"})
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match=r"locked by another process .*\(0 items are stored"):
        memory.add({"content": "the second", "id": "2"})
    assert memory.search("first").observations
    other.execute("ROLLBACK")
    memory.add({"content": "the second", "id": "2"})
    assert [f for f in memory.doctor() if f.severity == "error"] == []
    assert episodes_of(store, Scope("default"))["channel:default"] == [[0, 1, 2]]
    memory.close()


def test_what_is_stored_is_acknowledged_though_the_later_work_cannot_begin(
    tmp_path: Path, whole: str
) -> None:
    """An error after the commit would make the caller repeat an item that nothing can recognise."""
    memory, _ = make_memory(tmp_path / "memory.db")
    other = apsw.Connection(str(tmp_path / "memory.db"))
    lines = [json.loads(line) for line in Path(whole).read_text(encoding="utf-8").splitlines()]
    faults.arm("after-commit", 1, lambda: other.execute("BEGIN IMMEDIATE"))
    try:
        receipts = memory.add(lines)
    finally:
        faults.disarm()
    assert len(receipts) == len(lines)
    other.execute("ROLLBACK")
    assert memory.work() > 0
    assert memory.doctor() == []
    memory.close()
