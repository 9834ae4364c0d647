"""Killed at every named point and anywhere else, hundreds of times: nothing acknowledged is lost or doubled.

Each life of a child process adds the same conversation from its beginning until something ends it; the next
life finds the file as it was left. What a life finds is checked before it goes on, and when one reaches the
end, the episodes must be those of a run that nobody disturbed.
"""

import json
import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import apsw
import pytest
from builders.chats import mine
from engine.crash_child import episodes_of
from engine.crash_server import (
    DEMO,
    EACH,
    ORIGIN,
    POLICIES,
    Story,
    acknowledged,
    batches_of,
    serving,
    torment,
    undisturbed,
    walk,
    write_chat,
)

from benchmarks.lives import KILLED, REFUSED, KillServer, Life
from episodic_agent.core.boundary.policies import policy as named_policy
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.memory import Memory
from episodic_agent.errors import StoreUnavailable
from episodic_agent.providers.embedders.hashing import HashingEmbedder
from episodic_agent.schemas import Scope
from episodic_agent.stores import faults
from episodic_agent.stores.sqlite import SqliteStore
from episodic_agent.wiring import utc_now

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")

GIVEN = os.environ.get("EPISODIC_TEST_DATA")  # read now: the tests see no such variables
SHORT = 18  # messages of the quick tests
QUICK = timedelta(milliseconds=50)
# A store breaks at the same points whoever decides: what takes minutes is tried with one policy on a file, with
# the other on a server (`test_crash_postgres`).
ON_FILE = "default"


@pytest.fixture(scope="module")
def server() -> Iterator[KillServer]:
    with serving() as started:
        yield started


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_chat(tmp_path_factory.mktemp("chat"), SHORT)


@pytest.fixture(scope="module")
def half(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_chat(tmp_path_factory.mktemp("chat"), 42)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write_chat(tmp_path_factory.mktemp("chat"))


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Several conversations in one file, more than one group of one import."""
    path = tmp_path_factory.mktemp("chat") / "all.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for copy in range(2):
            for chat in sorted(DEMO.glob("*.jsonl")):
                for line in chat.read_text(encoding="utf-8").splitlines():
                    message = json.loads(line)
                    message["conversation_id"] += f" {copy}"
                    print(json.dumps(message, ensure_ascii=False), file=file)
    return str(path)


# --- the kill server ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_what_ended_a_life_is_told(server: KillServer, tmp_path: Path, short: str) -> None:
    order = {"plan": "add", "db": str(tmp_path / "memory.db"), "file": short, "batches": [SHORT]}
    ends = [
        server.live(**order, die=death)
        for death in ({"point": "mid-append", "count": 1}, {"events": 10}, {"seconds": 0.0}, {})
    ]
    assert [life.ended for life in ends] == [KILLED, KILLED, KILLED, 0]
    assert [life.overdue for life in ends] == [False, False, True, False]
    assert [life.word("done") for life in ends] == [None, None, None, True]


# --- killed at named points -----------------------------------------------------------------------------


def test_killed_at_two_named_points_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, short: str
) -> None:
    """Every reach of every point, below, has the others in it; the seed's policy is tried on a server."""
    policy, points = ON_FILE, ("mid-append", "after-claim")
    targets = undisturbed(server, tmp_path, short, policy)
    kills = {}
    for point in points:
        story = Story(server, str(tmp_path / f"{point}.db"), short, policy, batches=[SHORT // 2] * 2)
        walk(story, point)
        assert story.end() == targets
        kills[point] = story.kills
    assert all(kills.values())


@pytest.mark.slow
def test_killed_at_every_reach_of_every_point_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, half: str
) -> None:
    policy = ON_FILE
    targets = undisturbed(server, tmp_path, half, policy)
    kills = 0
    batches = batches_of(half, random.Random(policy), 12)
    for place, point in enumerate(faults.POINTS):
        count = -(place % EACH)
        while True:
            count += EACH
            story = Story(server, str(tmp_path / f"{point}{count}.db"), half, policy, batches=batches)
            if story.live(point=point, count=count).word("done"):
                break
            assert story.live().word("done")
            assert story.end() == targets
            kills += story.kills
    assert kills >= 50 // EACH


# --- killed anywhere ------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [ON_FILE, pytest.param("seed-001", marks=pytest.mark.slow)])
def test_killed_anywhere_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, short: str, policy: str
) -> None:
    targets = undisturbed(server, tmp_path, short, policy)
    rng = random.Random(policy)
    story = Story(server, str(tmp_path / "memory.db"), short, policy, batches=batches_of(short, rng))
    torment(story, rng, lives=12, events=60_000)
    assert story.end() == targets
    assert story.kills >= 5


@pytest.mark.slow
def test_killed_while_a_model_is_asked_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, short: str
) -> None:
    """Questions are asked, answered and settled over many lives: each verdict counts once."""
    policy = "default?threshold=0.05&band=10 asked"
    targets = undisturbed(server, tmp_path, short, policy)
    unasked = tmp_path / "unasked"
    unasked.mkdir()
    assert undisturbed(server, unasked, short, policy.partition(" ")[0]) != targets
    rng = random.Random(policy)
    story = Story(server, str(tmp_path / "memory.db"), short, policy, batches=batches_of(short, rng))
    torment(story, rng, lives=12, events=60_000)
    assert story.end() == targets
    assert story.kills >= 5


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "seed"), list(zip(POLICIES, range(2), strict=True)))
def test_killed_anywhere_again_and_again_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, whole: str, policy: str, seed: int
) -> None:
    targets = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(f"{policy} {seed}")
    story = Story(
        server,
        str(tmp_path / "memory.db"),
        whole,
        policy,
        batches=batches_of(whole, rng),
        options={"wait": bool(seed % 2)},
    )
    torment(story, rng, lives=25, events=150_000)
    assert story.end() == targets
    assert story.kills >= 20


@pytest.mark.slow
def test_killed_from_outside_at_random_times_it_ends_as_if_undisturbed(
    server: KillServer, tmp_path: Path, whole: str
) -> None:
    policy = ON_FILE
    targets = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(policy)
    kills = 0
    for number in range(6):
        story = Story(server, str(tmp_path / f"{number}.db"), whole, policy, batches=batches_of(whole, rng))
        while story.lives < 6 and not story.live(seconds=rng.uniform(0.0, 0.15)).word("done"):
            pass
        assert story.live().word("done")
        assert story.end() == targets
        kills += story.kills
    assert kills > 0


@pytest.mark.slow
def test_killed_while_the_file_is_made_it_is_made_again(
    server: KillServer, tmp_path: Path, short: str
) -> None:
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


@pytest.mark.parametrize(
    "point",
    [
        "before-commit",
        *(pytest.param(p, marks=pytest.mark.slow) for p in ("mid-append", "after-claim", "after-commit")),
    ],
)
def test_an_import_killed_at_a_point_is_finished_by_the_next(
    server: KillServer, tmp_path: Path, short: str, point: str
) -> None:
    targets = undisturbed(server, tmp_path, short, "default", plan="import")
    story = Story(server, str(tmp_path / "memory.db"), short, plan="import")
    walk(story, point)
    assert story.end() == targets
    assert story.kills >= 1


@pytest.mark.slow
def test_an_import_of_many_conversations_killed_anywhere_is_finished_by_the_next(
    server: KillServer, tmp_path: Path, many: str
) -> None:
    policy = ON_FILE
    targets = undisturbed(server, tmp_path, many, policy, plan="import")
    rng = random.Random(policy)
    story = Story(server, str(tmp_path / "memory.db"), many, policy, plan="import")
    for point in faults.POINTS:
        for count in (1, 3, 8):
            story.live(point=point, count=count)
    torment(story, rng, lives=20, events=1_500_000)
    assert story.end() == targets
    assert story.kills >= 8


@pytest.mark.slow
@pytest.mark.skipif(GIVEN is None, reason="EPISODIC_TEST_DATA names no chat file")
def test_an_import_of_a_given_file_killed_anywhere_is_finished_by_the_next(
    server: KillServer, tmp_path: Path
) -> None:
    file = str(GIVEN)
    targets = undisturbed(server, tmp_path, file, "default", plan="import")
    story = Story(server, str(tmp_path / "memory.db"), file, plan="import")
    torment(story, random.Random(1), lives=30, events=3_000_000)
    assert story.end() == targets


# --- killed while a thread is segmented again -----------------------------------------------------------

PASS = "seed-001?max_messages=4"


def change(server: KillServer, db: str, file: str, plan: str) -> Story:
    return Story(server, db, file, "default", plan, options={"pass": PASS})


def to_the_byte(story: Story) -> dict[str, Any]:
    """Return what is there in the end, sound and without anything waiting, to the last byte."""
    return dict(story.end()) | story.order("export", {}).said[0]


def assert_all_or_nothing(story: Story, before: Any, after: Any, **death: Any) -> None:
    """Live once; what the next life finds is the state before or the one after, and sound."""
    story.live(**death)
    results = story.order("inspect", {}).said[0]
    assert results["sick"] == []
    answer = results["episodes"]
    covers = [
        [[e[:3] for e in episodes] for episodes in state["episodes"].values()] for state in (before, after)
    ]
    cover = [[e[:3] for e in episodes] for episodes in answer.values()]
    assert cover in covers


ENDS = ("after-begin", *faults.RESEGMENTING, "before-commit", "after-commit")


@pytest.mark.parametrize(
    ("store", "points"),
    [
        ("sqlite", faults.RESEGMENTING),
        pytest.param("postgres", ENDS, marks=pytest.mark.slow, id="postgres"),
        pytest.param(
            "sqlite", (*faults.POINTS, *faults.RESEGMENTING), marks=pytest.mark.slow, id="every point"
        ),
    ],
)
def test_killed_at_a_named_point_a_resegment_and_its_undo_are_whole_or_not_there(
    server: KillServer,
    tmp_path: Path,
    short: str,
    store: str,
    points: Sequence[str],
    request: pytest.FixtureRequest,
) -> None:
    db = str(tmp_path / "memory.db") if store == "sqlite" else request.getfixturevalue("postgres_url")
    story = Story(server, db, short, "default", batches=[SHORT])
    assert story.live().word("done")
    first = to_the_byte(story)
    there, back = change(server, db, short, "resegment"), change(server, db, short, "undo")
    assert there.live().word("done")
    second = to_the_byte(there)
    assert second["exported"] != first["exported"]
    kills = dict.fromkeys(points, 0)
    for point in points:
        for count in (1, 2) if point in ENDS[:1] + ENDS[3:] else (1,):
            for this_story, begun, after in ((back, second, first), (there, first, second)):
                this_story.kills = 0
                assert_all_or_nothing(this_story, begun, after, point=point, count=count)
                kills[point] += this_story.kills
                assert this_story.live().word("done")
                assert to_the_byte(this_story)["exported"] == after["exported"]
    assert {p for p, n in kills.items() if not n} <= {"mid-append", "after-append"}  # nothing is appended


@pytest.mark.parametrize(
    ("events", "chat"),
    [
        pytest.param(12, "whole", marks=pytest.mark.slow, id="12"),
        pytest.param(4, "half", marks=pytest.mark.slow, id="4"),
    ],
)
def test_killed_anywhere_a_resegment_and_its_undo_are_whole_or_not_there(
    server: KillServer, tmp_path: Path, events: int, chat: str, request: pytest.FixtureRequest
) -> None:
    db, file = str(tmp_path / "memory.db"), request.getfixturevalue(chat)
    story = Story(server, db, file, "default", batches=[len(batches_of(file, None))])
    assert story.live().word("done")
    first = to_the_byte(story)
    there, back = change(server, db, file, "resegment"), change(server, db, file, "undo")
    assert there.live().word("done")
    second = to_the_byte(there)
    rng = random.Random(events)
    for _ in range(events):
        for this_story, begun, after in ((back, second, first), (there, first, second)):
            assert_all_or_nothing(this_story, begun, after, events=rng.randrange(1, 300_000))
            assert this_story.live().word("done")
            assert to_the_byte(this_story)["exported"] == after["exported"]
    assert there.kills + back.kills >= events // 2


# --- the world refuses ----------------------------------------------------------------------------------


def assert_told_and_recovered(life: Life, values: Mapping[str, Any], targets: Mapping[str, Any]) -> None:
    """One clear error, everything acknowledged there, and the same end as without the trouble."""
    assert life.ended == 0
    assert life.word("error") == "StoreUnavailable"
    assert "\n" not in life.word("message")
    assert "repeat the call to add the rest" in life.word("message")
    assert life.word("sick") == []
    stored = life.word("stored").get(ORIGIN, [])
    assert 0 < len(acknowledged(life)) < len(targets["stored"][ORIGIN])
    assert stored == acknowledged(life)  # and not half of anything else
    assert life.word("done")
    assert values == targets


@pytest.mark.parametrize("kilobytes", [900, pytest.param(2000, marks=pytest.mark.slow)])
def test_a_file_that_may_not_grow_is_reported_and_goes_on_when_it_may(
    server: KillServer, tmp_path: Path, whole: str, kilobytes: int
) -> None:
    targets = undisturbed(server, tmp_path, whole, "default")
    story = Story(server, str(tmp_path / "memory.db"), whole, plan="fill", options={"bytes": kilobytes << 10})
    life = story.live()
    assert_told_and_recovered(life, story.end(), targets)


@pytest.mark.slow  # a server of its own behind a mount: a file that may not grow stays in the fast suite
def test_a_full_disk_is_reported_and_goes_on_when_there_is_room(tmp_path: Path, whole: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["unshare", "-m", "sh", "-c", f'mount -t tmpfs -o size=8m tmpfs "{disk}" && exec "$@"', "sh"]
    if shutil.which("unshare") is None or subprocess.run([*mount, "true"], check=False).returncode:
        pytest.skip("only who may mount a small file system can fill it")
    with serving(mount) as server:
        targets = undisturbed(server, tmp_path, whole, "default")
        ballast = str(disk / "ballast")
        options = {
            "ballast": ballast,
            "ballast_bytes": 6_700_000,
        }  # the whole talk, its log beside it, takes four megabytes
        story = Story(server, str(disk / "memory.db"), whole, plan="fill", options=options)
        life = story.live()
        assert_told_and_recovered(life, story.end(), targets)


def test_a_file_that_may_only_be_read_answers_and_says_so(server: KillServer, short: str) -> None:
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
    deps = Deps(
        store=store,
        embedder=HashingEmbedder(),
        policy="default",
        resolve_policy=named_policy,
        clock=utc_now,
        entropy=random.Random(1).getrandbits,
        owner="here:1:1",
    )
    return Memory(deps), store


def test_a_file_locked_by_another_process_is_reported_and_the_call_can_be_repeated(tmp_path: Path) -> None:
    memory, store = make_memory(tmp_path / "memory.db")
    other = apsw.Connection(str(tmp_path / "memory.db"))
    mine(memory).add({"content": "the first", "id": "1", "thread": "chat"})
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match=r"locked by another process .*\(0 items are stored"):
        mine(memory).add({"content": "the second", "id": "2", "thread": "chat"})
    assert mine(memory).search("first").observations
    other.execute("ROLLBACK")
    mine(memory).add({"content": "the second", "id": "2", "thread": "chat"})
    assert [f for f in memory.doctor() if f.severity == "error"] == []
    assert episodes_of(store, Scope("default"))["chat"] == [[0, 1, 2]]
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
        receipts = mine(memory).add(lines)
    finally:
        faults.disarm()
    assert len(receipts) == len(lines)
    other.execute("ROLLBACK")
    assert memory.jobs.run() > 0
    assert memory.doctor() == []
    memory.close()
