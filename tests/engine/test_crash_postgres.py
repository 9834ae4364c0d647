"""Writers on PostgreSQL killed at every named point and anywhere else, as those of `test_crash` on a file.

What is other here: a killed writer leaves a session behind, which the server ends when it notices. The next
life may begin before that, and meets its locks.
"""

import os
import random
from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from engine.crash_server import (
    EACH,
    POLICIES,
    Story,
    batches_of,
    serving,
    torment,
    undisturbed,
    walk,
    write_chat,
)
from stores.postgres_server import Databases

from benchmarks.lives import KillServer
from episodic_agent.stores import faults

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform cannot fork")

SHORT = 18  # messages of the quick tests
ON_SERVER = "seed-001"  # `test_crash` tries on a file with the other policy what takes minutes


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


def without_ids(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what two spaces have in common that were told the same."""
    return {**values, "stored": {origin: len(ids) for origin, ids in values["stored"].items()}}


@pytest.mark.slow
def test_killed_at_every_named_point_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres_url: str, tmp_path: Path, short: str
) -> None:
    targets = without_ids(undisturbed(server, tmp_path, short, "seed-001"))
    kills = {}
    for point in faults.POINTS:
        options = {"space": point}
        story = Story(server, postgres_url, short, "seed-001", batches=[SHORT // 2] * 2, options=options)
        for count in (1, 2):
            story.live(point=point, count=count)
        assert story.live().word("done")
        assert without_ids(story.end()) == targets
        kills[point] = story.kills
    assert all(kills.values()), kills
    assert sum(kills.values()) >= 12


@pytest.mark.slow
def test_killed_anywhere_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres_url: str, tmp_path: Path, short: str
) -> None:
    targets = undisturbed(server, tmp_path, short, "default")
    rng = random.Random(1)
    story = Story(server, postgres_url, short, batches=batches_of(short, rng))
    torment(story, rng, lives=12, events=60_000)
    assert story.end() == targets
    assert story.kills >= 5


@pytest.mark.slow
@pytest.mark.parametrize(("point", "policy"), list(zip(faults.POINTS, cycle(POLICIES), strict=False)))
def test_killed_at_a_point_again_and_again_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres_url: str, tmp_path: Path, half: str, policy: str, point: str
) -> None:
    targets = undisturbed(server, tmp_path, half, policy)
    story = Story(server, postgres_url, half, policy, batches=batches_of(half, random.Random(point), 12))
    walk(story, point)
    assert story.end() == targets
    assert story.kills >= 2


@pytest.mark.slow
def test_killed_at_every_reach_of_every_point_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres_url: str, tmp_path: Path
) -> None:
    policy = ON_SERVER
    half = write_chat(tmp_path, 24)
    targets = without_ids(undisturbed(server, tmp_path, half, policy))
    kills = 0
    batches = batches_of(half, random.Random(policy), 9)
    for place, point in enumerate(faults.POINTS):
        done, count = False, -(place % EACH)
        while not done:
            count += EACH
            options = {"space": f"{point} {count}"}
            story = Story(server, postgres_url, half, policy, batches=batches, options=options)
            done = bool(story.live(point=point, count=count).word("done"))
            assert done or story.live().word("done")
            assert without_ids(story.end()) == targets
            kills += story.kills
    assert kills >= 40 // EACH


@pytest.mark.slow
@pytest.mark.parametrize(("policy", "seed"), list(zip(reversed(POLICIES), range(2), strict=True)))
def test_killed_anywhere_again_and_again_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres: Databases, tmp_path: Path, whole: str, policy: str, seed: int
) -> None:
    targets = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(f"{policy} {seed}")
    is_knowns = {"wait": bool(seed % 2)}
    kills = 0
    while kills < 20:  # few in one database: work that thirty processes did not survive is given up
        name = postgres.ready()
        story = Story(
            server, postgres.url(name), whole, policy, batches=batches_of(whole, rng), options=is_knowns
        )
        torment(story, rng, lives=8, events=300_000)
        assert story.end() == targets
        kills += story.kills
        postgres.drop(name)


@pytest.mark.slow
def test_killed_from_outside_at_random_times_it_ends_as_an_undisturbed_file(
    server: KillServer, postgres: Databases, tmp_path: Path, whole: str
) -> None:
    policy = ON_SERVER
    targets = undisturbed(server, tmp_path, whole, policy)
    rng = random.Random(policy)
    kills = 0
    while kills < 20:
        name = postgres.ready()
        story = Story(server, postgres.url(name), whole, policy, batches=batches_of(whole, rng))
        while story.lives < 8 and not story.live(seconds=rng.uniform(0.02, 0.3)).word("done"):
            pass
        assert story.live().word("done")
        assert story.end() == targets
        kills += story.kills
        postgres.drop(name)


@pytest.mark.slow
def test_killed_while_the_database_is_made_ready_it_is_made_ready_again(
    server: KillServer, postgres: Databases, short: str
) -> None:
    kills, events, ended = 0, 1, False
    while not ended:
        name = postgres.bare()
        story = Story(server, postgres.url(name), short, plan="open")
        ended = bool(story.live(events=events).word("done"))
        assert Story(server, story.db, short, plan="open").live().word("done")
        assert story.end()["stored"] == {}
        kills += story.kills
        postgres.drop(name)
        events += events // 4 + 100
    assert kills >= 5


@pytest.mark.slow
@pytest.mark.parametrize("point", ["mid-append", "after-claim", "before-commit", "after-commit"])
def test_an_import_killed_at_a_point_is_finished_by_the_next(
    server: KillServer, postgres_url: str, tmp_path: Path, short: str, point: str
) -> None:
    targets = undisturbed(server, tmp_path, short, "default", plan="import")
    story = Story(server, postgres_url, short, plan="import")
    walk(story, point)
    assert story.end() == targets
    assert story.kills >= 1
