"""Running an agent: real sensors fill a real memory; however a run ends, what was read is kept and closed."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any
from uuid import uuid4

import pytest
from conftest import OpenMemory
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from episodic_agent import Memory
from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.steps import adapt
from episodic_agent.core.intake import Item, read_item
from episodic_agent.core.interfaces import BoundaryDetector
from episodic_agent.engine.running import AgentRun, RunReport, Seen, Verbs
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.faces.cli.running import step_line
from episodic_agent.profiles import UNITY_FULL_PROFILE, ProfileConfig
from episodic_agent.schemas import ActiveContextFrame, Decision, Entity, Reading, Receipt
from episodic_agent.sensors.lines import LinesSensor
from episodic_agent.wiring import resolve_policy
from episodic_agent.wiring_agents import find_profile, make_sensor, recorded

OWN = "engine.test_running:MyBoundaryDetector"
MINE = ProfileConfig("mine", "of a user's own", "stub", {"freeze_interval": 7}, sensor="stdin:")


class MyBoundaryDetector(BoundaryDetector):
    """Seed 000's example of a detector of one's own, as it stands there."""

    def __init__(self, custom_threshold: float = 0.7):
        self._threshold = custom_threshold
        self._event_count = 0

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        # Custom logic
        self._event_count += len(acf.events)

        if self._event_count >= 10:
            self._event_count = 0
            return True, "event_accumulation"

        return False, None


class Readings:
    """A sensor of given readings; raises what stands among them."""

    def __init__(self, readings: Sequence[Reading | BaseException]) -> None:
        self._readings = readings
        self.closed = False

    name = "readings"
    counts: Mapping[str, int] = {}

    def __iter__(self) -> Iterator[Reading]:
        for one in self._readings:
            if isinstance(one, BaseException):
                raise one
            yield one

    def close(self) -> None:
        self.closed = True


BUSY = [
    Reading(n, place="lab", changes=({"type": "state_change", "entity": "lamp", "id": f"{n}"},) * (n % 3))
    for n in range(60)
]
MUG, DOOR = Entity("m", "mug"), Entity("d", "door", state="closed")


def walk(*stays: tuple[str, int], restart_at: int | None = None) -> list[Reading]:
    """Return readings of stays (place, steps), with a mug that comes and goes."""
    places = [place for place, count in stays for _ in range(count)]
    return [
        Reading(n, place=place, entities=(DOOR, MUG) if n % 5 == 3 else (DOOR,), restarts=n == restart_at)
        for n, place in enumerate(places)
    ]


def episodes(memory: Memory, thread: str) -> list[tuple[Any, ...]]:
    """Return what two runs over the same readings must agree on."""
    found = [memory.get(card.episode_id) for card in memory.episodes(thread=thread)]
    told = ("location", "location_path", "step_count", "entities", "salient_events")
    return [
        (e.first_seq, e.last_seq, e.reason, e.surprise, e.title, e.summary, *(e.metadata[k] for k in told))
        for e in found
    ]


def decisions(memory: Memory) -> list[Decision]:
    found = [memory.explain(card.episode_id).ends.decision for card in memory.episodes()]
    return [one for one in found if one is not None]


def sound(memory: Memory) -> bool:
    return not [finding for finding in memory.doctor() if finding.severity == "error"]


ROUND = (("living room", 20), ("kitchen", 15), ("bath", 15), ("living room", 12))


def test_a_robot_walking_through_the_house_makes_an_episode_of_every_room(memory: Memory) -> None:
    report = memory.run(Readings(walk(*ROUND)), thread="robot", policy="default")
    assert (report.steps, report.episodes, report.ended) == (62, 4, "end_of_stream")
    found = [memory.get(card.episode_id) for card in memory.episodes()]
    assert [e.metadata["location"] for e in found] == ["living room", "kitchen", "bath", "living room"]
    assert [e.metadata["step_count"] for e in found] == [20, 15, 15, 12]
    assert [e.reason for e in found] == ["location_change"] * 3 + ["end_of_stream"]
    assert found[1].title.startswith("Kitchen: ")
    assert "In the kitchen: " in found[1].summary
    assert found[1].metadata["entities"] == ["door", "mug"]
    assert memory.search("kitchen mug", limit=1).hits[0].title == found[1].title
    assert sound(memory)


def test_what_cut_off_a_place_is_no_runner_up_of_the_next_episode(memory: Memory) -> None:
    memory.run(Readings(walk(*ROUND)), thread="robot", policy="steps")
    kitchen = memory.explain(memory.episodes()[1].episode_id)
    assert kitchen.begins.reason == "location_change"
    assert [one for one in kitchen.runners_up if one.probability >= one.threshold] == []
    assert len(kitchen.runners_up) == 3


def test_a_run_without_a_policy_follows_the_default_for_steps(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default")
    report = memory.run(Readings(walk(*ROUND)))
    assert report.episodes == 4
    assert report.thread.startswith("run:2")


@pytest.mark.parametrize("policy", ["stub?freeze_interval=8", "seed-000", "steps", "test"])
def test_a_recording_replays_to_identical_episodes(
    open_memory: OpenMemory, tmp_path: Path, policy: str
) -> None:
    chosen: Any = adapt(MyBoundaryDetector, "test") if policy == "test" else policy
    first, second = open_memory(), open_memory(tmp_path / "other.db")
    file = tmp_path / "walk.jsonl.gz"
    live = recorded(Readings(walk(*ROUND, ("hall", 30), restart_at=20)), file)
    seen: list[Seen] = []
    assert first.run(live, thread="r", policy=chosen, watch=seen.append).steps == 92
    again = second.run(make_sensor(f"replay:{file}"), thread="r", policy=chosen)
    assert (again.steps, again.episodes) == (92, first.run(Readings([]), thread="r").episodes)
    assert episodes(second, "r") == episodes(first, "r")
    assert [one.number for one in seen] == list(range(92))
    closed = [e for e in episodes(first, "r") if e[2] not in ("manual", "end_of_stream")]
    assert sum(one.freezes for one in seen) == len(closed)
    assert sound(first)
    assert sound(second)


def test_the_episodes_of_a_run_are_those_of_its_stored_inputs(memory: Memory) -> None:
    for policy in ("stub?freeze_interval=8", "seed-000?high_threshold=0.5", "steps?min_steps=3"):
        memory.run(Readings(walk(*ROUND, restart_at=30)), thread=policy, policy=policy)
        compared = memory.whatif(policy, policy)
        assert compared.proposed == compared.stored
        assert len(compared.stored) > 3
    assert sound(memory)


def test_the_seeds_custom_detector_runs_unchanged_by_its_import_path(open_memory: OpenMemory) -> None:
    memory = open_memory()
    report = memory.run(Readings(BUSY), thread="lab", policy=f"{OWN}?custom_threshold=0.9")
    reasons = [memory.get(card.episode_id).reason for card in memory.episodes()]
    assert report.episodes == len(reasons) > 3
    assert set(reasons[:-1]) == {"event_accumulation"}
    assert {d.policy_version for d in decisions(memory)} == {f"{OWN}?custom_threshold=0.9"}
    assert sound(memory)


def test_a_custom_detectors_frame_goes_on_in_the_next_process(tmp_path: Path) -> None:
    steps = [
        {"kind": "step", "text": f"step {n}", "id": str(n), "events": [{"type": "noise"}] * (n % 4)}
        for n in range(40)
    ]
    spans = []
    for sizes in ([40], [7, 1, 11, 21]):
        start = 0
        for size in sizes:
            with Memory.open(tmp_path / f"{len(sizes)}.db", embedder="hashing", policy=OWN) as memory:
                memory.add(steps[start : start + size], thread="t")
                found = [c.observations for c in memory.episodes()]
            start += size
        spans.append(found)
    assert spans[0] == spans[1]
    assert len(spans[0]) > 2


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("nowhere.at_all:Detector", "no nowhere.at_all:Detector"),
        ("engine.test_running:Nobody", "no engine.test_running:Nobody"),
        ("engine.test_running:Readings", "must be a class that extends BoundaryDetector"),
    ],
)
def test_what_is_no_detector_is_refused_before_anything_is_opened(
    tmp_path: Path, name: str, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        Memory.open(tmp_path / "new.db", embedder="hashing", policy=name)
    assert not (tmp_path / "new.db").exists()


# --- how runs end ---------------------------------------------------------------------------------------


def test_a_sensor_that_fails_ends_the_run_with_everything_kept_and_closed(memory: Memory) -> None:
    for problem in (SensorError("the plug was pulled"), ValueError("a bug of the world")):
        sensor = Readings([*walk(("lab", 5)), problem])
        report = memory.run(sensor, thread=str(problem))
        assert (report.ended, report.steps, report.episodes) == ("failed", 5, 1)
        assert str(problem) in report.error
        assert sensor.closed
    assert sound(memory)


def test_an_interrupt_keeps_and_closes_what_was_read(memory: Memory) -> None:
    def stop(seen: Seen) -> None:
        if seen.number == 7:
            raise KeyboardInterrupt

    report = memory.run(Readings(walk(("lab", 50))), thread="lab", watch=stop)
    assert report.ended == "interrupted"
    assert memory.stats().observations == report.steps >= 8
    assert [memory.get(c.episode_id).reason for c in memory.episodes()] == ["end_of_stream"]
    assert sound(memory)


def test_storing_that_is_interrupted_is_repeated_and_stores_once(memory: Memory) -> None:
    """The steps have ids of their own, so that the last commit may come twice."""
    stored = memory._ingest.__class__.run
    interrupted = []

    def once(self: Any, *given: Any, **named: Any) -> Any:
        done = stored(self, *given, **named)
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory._ingest.__class__, "run", once)
        report = memory.run(Readings(walk(("lab", 30))), thread="lab")
    assert report.ended == "interrupted"
    assert memory.stats().observations == report.steps > 0
    assert sound(memory)


def test_a_run_that_reads_nothing_makes_no_thread(memory: Memory) -> None:
    report = memory.run(Readings([]), thread="nobody")
    assert (report.steps, report.episodes, report.ended) == (0, 0, "end_of_stream")
    assert memory.stats().threads == 0


def test_a_new_world_ends_the_episode_of_the_one_before(memory: Memory) -> None:
    memory.run(Readings(walk(("lab", 20), restart_at=8)), thread="lab", policy="steps")
    found = [memory.get(card.episode_id) for card in memory.episodes()]
    assert [(e.first_seq, e.last_seq, e.reason) for e in found] == [
        (0, 7, "manual"),
        (8, 19, "end_of_stream"),
    ]


def test_an_impossible_reading_is_counted_and_left_out(memory: Memory) -> None:
    broken: Any = Reading(3, place="lab", changes=({"type": "noise"},), extras={"prediction_error": "high"})
    early = Reading(4, place="lab", at=datetime(1, 1, 1))
    report = memory.run(Readings([*walk(("lab", 3)), broken, early, Reading(5, place="lab")]), thread="lab")
    assert (report.ended, report.steps + report.counts.get("refused", 0)) == ("end_of_stream", 6)
    assert memory.stats().observations == report.steps
    assert sound(memory)


def test_two_runs_into_one_thread_lose_and_repeat_nothing(memory: Memory) -> None:
    for _ in range(2):
        memory.run(Readings(walk(("lab", 12))), thread="lab")
    assert memory.stats().observations == 24
    assert sound(memory)


def test_a_run_into_a_thread_follows_its_own_policy_from_the_first_step(memory: Memory) -> None:
    memory.run(Readings(walk(("lab", 12))), thread="lab", policy="steps")
    memory.run(Readings(walk(("lab", 12))), thread="lab", policy="stub?freeze_interval=6")
    found = [memory.get(card.episode_id) for card in memory.episodes()]
    assert sorted((e.first_seq, e.reason) for e in found) == [
        (0, "end_of_stream"), (12, "time_interval"), (18, "time_interval"),
    ]  # fmt: skip
    assert sound(memory)


def test_a_run_is_the_same_on_every_store(open_memory: OpenMemory, url: str, tmp_path: Path) -> None:
    here, there = open_memory(tmp_path / "plain.db"), open_memory(url)
    for memory in (here, there):
        memory.run(Readings(walk(*ROUND)), thread="r", policy="steps?min_steps=3")
        memory.run(Readings(BUSY), thread="b", policy=OWN)
        assert sound(memory)
    assert episodes(there, "r") == episodes(here, "r")
    assert episodes(there, "b") == episodes(here, "b")


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf"), 1e-9])
def test_an_impossible_pace_is_refused(memory: Memory, fps: float) -> None:
    with pytest.raises(InvalidInput, match=r"fps must lie between 0.001 and 1,000,000 steps a second"):
        memory.run(Readings([]), fps=fps)


def test_a_run_of_no_steps_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="`steps` must be 1 or more"):
        memory.run(Readings([]), steps=0)


def test_readings_without_a_time_are_placed_by_the_frames_a_second(memory: Memory) -> None:
    memory.run(Readings(walk(("lab", 11))), thread="lab", fps=2.0)
    (card,) = memory.episodes()
    assert (card.end_at - card.start_at).total_seconds() == 5.0


def test_no_commit_of_a_run_counts_the_episodes_there_are() -> None:
    """Counting takes the longer the more there are, so a run may do it at its ends only."""
    stored: list[Item] = []
    counted: list[int] = []

    def keep(items: Sequence[Item]) -> list[Receipt]:
        first = len(stored)
        stored.extend(items)
        return [Receipt(uuid4(), uuid4(), first + n, True) for n in range(len(items))]

    def judged(first: int, last: int) -> dict[int, Record]:
        return {
            seq: Record(seq, "cut" if seq % 10 == 9 else "keep", 1.0, 1.0) for seq in range(first, last + 1)
        }

    verbs = Verbs(read_item, keep, judged, lambda: counted.append(1) or 3, lambda _end: 0, lambda: None)
    seen: list[Seen] = []
    readings = walk(("lab", 1000), restart_at=500)
    report = RunReport("r", datetime(2026, 3, 1, tzinfo=UTC))
    AgentRun(Readings(readings), verbs, report, name="x", watch=seen.append).go(
        steps=None, interval=timedelta(1)
    )
    assert len(seen) == len(stored) == 1000
    assert [one.episode for one in seen] == [3 + n // 10 for n in range(1000)]
    assert len(counted) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        Reading(3, place=5),  # type: ignore[arg-type]
        Reading(3, place="lab", at="now"),  # type: ignore[arg-type]
        Reading(3, place="lab", entities=("mug",)),  # type: ignore[arg-type]
        Reading(3, place="lab", entities=None),  # type: ignore[arg-type]
        Reading(3, place="lab", confidence="high"),  # type: ignore[arg-type]
        Reading(3, place="lab", confidence=float("nan"), prediction_error=float("nan")),
        Reading(3, place="lab", confidence=None),  # type: ignore[arg-type]
        Reading(3, place="lab", extras={"speed": float("nan")}),
        Reading(2, place="lab"),
        Reading(-7, place="lab"),
    ],
)
def test_a_reading_that_lies_costs_at_most_itself(memory: Memory, wrong: Reading) -> None:
    lines: list[str] = []
    sensor = Readings([*walk(("lab", 3)), wrong, Reading(4, place="lab")])
    report = memory.run(sensor, thread="lab", watch=lambda seen: lines.append(step_line(seen)))
    assert (report.ended, report.steps + report.counts.get("refused", 0)) == ("end_of_stream", 5)
    assert len(lines) == report.steps == memory.stats().observations >= 4
    assert [memory.get(card.episode_id).reason for card in memory.episodes()] == ["end_of_stream"]
    assert sound(memory)


def test_what_is_no_reading_ends_the_run_in_order(memory: Memory) -> None:
    nonsense: Any = "hello"
    report = memory.run(Readings([*walk(("lab", 3)), nonsense]), thread="lab")
    assert (report.ended, report.error) == ("failed", "readings gave str where a Reading belongs")
    assert (report.steps, report.episodes) == (3, 1)


# --- sensors --------------------------------------------------------------------------------------------


def test_in_minigrid_every_confirmed_change_of_room_is_cut_within_the_hindsight(memory: Memory) -> None:
    pytest.importorskip("minigrid")
    seen: list[Seen] = []
    policy = resolve_policy("steps?min_steps=2")
    report = memory.run(
        make_sensor("minigrid", seed=3), thread="m", steps=300, policy="steps?min_steps=2", watch=seen.append
    )
    assert (report.steps, report.ended, len(seen)) == (300, "steps", 300)
    found = [memory.get(card.episode_id) for card in memory.episodes()]
    starts = {e.first_seq for e in found}
    sure = [(one.number, one.place) for one in seen if one.confidence >= 0.5]
    here = sure[0][1]
    for (_, place), (confirmed, following) in pairwise(sure):
        if place == following != here:
            within = set(range(confirmed - policy.hindsight, confirmed + 1))
            assert starts & within, f"no cut though step {confirmed} confirmed the {place}"
            here = place
    assert len(found) > 5
    assert sound(memory)


Play = Callable[[ServerConnection], None]


@contextmanager
def scene(*plays: Play) -> Iterator[str]:
    """A scene that plays one act for each connection; after the last act nobody answers any more."""
    acts = list(plays)

    def handle(connection: ServerConnection) -> None:
        try:
            acts.pop(0)(connection)
        except (ConnectionClosed, IndexError):
            connection.socket.close()

    with serve(handle, "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()


def frames(first: int, last: int, room: str) -> list[str]:
    return [
        json.dumps(
            {"protocol_version": "1.0", "frame_id": n, "timestamp": 1.7e9 + n, "current_room_label": room}
        )
        for n in range(first, last)
    ]


def test_a_unity_scene_that_breaks_off_and_comes_back_is_one_run(memory: Memory) -> None:
    def breaks_off(connection: ServerConnection) -> None:
        for message in [*frames(0, 15, "Kitchen"), "no frame", *frames(15, 20, "Kitchen")]:
            connection.send(message)
        connection.socket.close()  # no closing handshake: the scene crashed

    def goes_on(connection: ServerConnection) -> None:
        for message in frames(18, 40, "Hall"):
            connection.send(message)

    told: list[str] = []
    with scene(breaks_off, goes_on) as url:
        report = memory.run(
            make_sensor(f"unity:{url}", say=told.append),
            thread="unity",
            policy=UNITY_FULL_PROFILE.policy(100),
        )
    assert (report.ended, report.counts["disconnected"], report.counts["malformed"]) == (
        "end_of_stream",
        1,
        1,
    )
    found = [memory.get(card.episode_id) for card in memory.episodes()]
    assert [e.metadata["location"] for e in found] == ["Kitchen", "Hall"]
    assert [e.reason for e in found] == ["location_change", "end_of_stream"]
    assert any("went away" in line for line in told)
    assert sound(memory)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("minigird", "did you mean 'minigrid'"),
        ("replay:", "needs to know which: replay:FILE"),
        ("gymnasium", "needs to know which: gymnasium:ENV"),
        ("replay:nothing.jsonl", "there is no recording nothing.jsonl"),
        ("unity:ws://127.0.0.1:9", "no scene answers at ws://127.0.0.1:9"),
    ],
)
def test_a_sensor_that_cannot_be_had_is_refused_in_words(name: str, problem: str) -> None:
    with pytest.raises((InvalidInput, SensorError), match=problem):
        make_sensor(name)


def test_a_profile_is_found_by_name_and_by_import_path() -> None:
    assert find_profile("engine.test_running:MINE").policy() == "stub?freeze_interval=7"
    with pytest.raises(InvalidInput, match="did you mean 'unity_full'"):
        find_profile("unity_ful")
    with pytest.raises(InvalidInput, match="is no ProfileConfig"):
        find_profile("engine.test_running:OWN")


def test_lines_are_a_sensor_like_any_other(memory: Memory) -> None:
    lines = [json.dumps({"number": n, "place": "hall", "text": f"the hall is quiet {n}"}) for n in range(4)]
    assert memory.run(LinesSensor("lines", lines), thread="lines").steps == 4
    (card,) = memory.episodes()
    assert "the hall is quiet 0" in memory.get(card.episode_id).summary


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("unity", "websockets", "unity"),
        ("minigrid", "minigrid", "minigrid"),
        ("gymnasium:X-v0", "gymnasium", "minigrid"),
    ],
)
def test_a_sensor_whose_package_is_missing_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, name: str, package: str, extra: str
) -> None:
    for module in [m for m in sys.modules if m.startswith(("episodic_agent.sensors.", f"{package}."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidInput, match=rf"run pip install 'episodic-agent\[{extra}\]'"):
        make_sensor(name)


def test_what_a_sensor_calls_its_own_things_does_not_pass_for_a_steps_fields(memory: Memory) -> None:
    odd = {"id": "x", "kind": "message", "message": {"role": "user"}, "text": "no", "prediction_error": 0.9}
    memory.run(Readings([Reading(n, place="lab", action="wait", extras=odd) for n in range(3)]), thread="t")
    (card,) = memory.episodes()
    stored = memory.messages(card.episode_id)
    assert [(str(o.kind), o.text) for o in stored] == [("step", "In the lab: wait")] * 3
    assert len({o.external_id for o in stored}) == 3
    assert stored[0].extras["message"] == {"role": "user"}
