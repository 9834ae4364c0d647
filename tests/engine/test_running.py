"""Running an agent: real sensors fill a real memory; however a run ends, what was read is kept and closed."""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar
from uuid import uuid4

import pytest
from builders.chats import Clock, mine
from conftest import OpenMemory
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from episodic_agent import Memory
from episodic_agent.agents.profiles import UNITY_FULL_PROFILE, ProfileConfig
from episodic_agent.agents.run import AgentRun, RunReport, Seen, Verbs
from episodic_agent.agents.sensors.lines import LinesSensor
from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.boundary.steps.custom import adapt
from episodic_agent.core.ingest import Item, read_item
from episodic_agent.engine.boundary.orphans import Orphans
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.faces.cli.running import step_line
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame, Decision, Entity, Reading, Receipt, Scope
from episodic_agent.wiring import resolve_policy
from episodic_agent.wiring.agents import find_profile, make_sensor, recorded

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
        for item in self._readings:
            if isinstance(item, BaseException):
                raise item
            yield item

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
    episodes = [
        mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list(thread=thread)
    ]
    answers = ("location", "location_path", "step_count", "entities", "salient_events")
    return [
        (e.first_seq, e.last_seq, e.reason, e.surprise, e.title, e.summary, *(e.metadata[k] for k in answers))
        for e in episodes
    ]


def decisions(memory: Memory) -> list[Decision]:
    decisions = [
        mine(memory).boundaries.explain(card.episode_id).ends.decision
        for card in mine(memory).episodes.list()
    ]
    return [one for one in decisions if one is not None]


def sound(memory: Memory) -> bool:
    return not [finding for finding in memory.doctor() if finding.severity == "error"]


ROUND = (("living room", 20), ("kitchen", 15), ("bath", 15), ("living room", 12))


def test_a_robot_walking_through_the_house_makes_an_episode_of_every_room(memory: Memory) -> None:
    report = mine(memory).run(Readings(walk(*ROUND)), thread="robot", policy="default")
    assert (report.steps, report.episodes, report.ended) == (62, 4, "end_of_stream")
    episodes = [mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list()]
    assert [e.metadata["location"] for e in episodes] == ["living room", "kitchen", "bath", "living room"]
    assert [e.metadata["step_count"] for e in episodes] == [20, 15, 15, 12]
    assert [e.reason for e in episodes] == ["location_change"] * 3 + ["end_of_stream"]
    assert episodes[1].title.startswith("Kitchen: ")
    assert "In the kitchen: " in episodes[1].summary
    assert episodes[1].metadata["entities"] == ["door", "mug"]
    assert mine(memory).search("kitchen mug", limit=1).hits[0].title == episodes[1].title
    assert sound(memory)


def test_what_cut_off_a_place_is_no_runner_up_of_the_next_episode(memory: Memory) -> None:
    mine(memory).run(Readings(walk(*ROUND)), thread="robot", policy="steps")
    kitchen = mine(memory).boundaries.explain(mine(memory).episodes.list()[1].episode_id)
    assert kitchen.begins.reason == "location_change"
    assert [one for one in kitchen.runners_up if one.probability >= one.threshold] == []
    assert len(kitchen.runners_up) == 3


def test_a_run_without_a_policy_follows_the_default_for_steps(open_memory: OpenMemory) -> None:
    memory = open_memory(policy="default")
    report = mine(memory).run(Readings(walk(*ROUND)))
    assert report.episodes == 4
    assert report.thread.startswith("run:2")


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["stub?freeze_interval=8", "seed-000", "steps", "test"])
def test_a_recording_replays_to_identical_episodes(
    open_memory: OpenMemory, tmp_path: Path, policy: str
) -> None:
    chosen: Any = adapt(MyBoundaryDetector, "test") if policy == "test" else policy
    first, second = open_memory(), open_memory(tmp_path / "other.db")
    file = tmp_path / "walk.jsonl.gz"
    live = recorded(Readings(walk(*ROUND, ("hall", 30), restart_at=20)), file)
    seen: list[Seen] = []
    assert mine(first).run(live, thread="r", policy=chosen, watch=seen.append).steps == 92
    again = mine(second).run(make_sensor(f"replay:{file}"), thread="r", policy=chosen)
    assert (again.steps, again.episodes) == (92, mine(first).run(Readings([]), thread="r").episodes)
    assert episodes(second, "r") == episodes(first, "r")
    assert [one.number for one in seen] == list(range(92))
    closed = [e for e in episodes(first, "r") if e[2] not in ("world_end", "end_of_stream")]
    assert sum(one.freezes for one in seen) == len(closed)
    assert sound(first)
    assert sound(second)


@pytest.mark.slow
def test_the_episodes_of_a_run_are_those_of_its_stored_inputs(memory: Memory) -> None:
    for policy in ("stub?freeze_interval=8", "seed-000?high_threshold=0.5", "steps?min_steps=3"):
        mine(memory).run(Readings(walk(*ROUND, restart_at=30)), thread=policy, policy=policy)
        compared = mine(memory).boundaries.whatif(policy, policy)
        assert compared.proposed == compared.stored
        assert len(compared.stored) > 3
    assert sound(memory)


def test_the_seeds_custom_detector_runs_unchanged_by_its_import_path(open_memory: OpenMemory) -> None:
    memory = open_memory()
    report = mine(memory).run(Readings(BUSY), thread="lab", policy=f"{OWN}?custom_threshold=0.9")
    reasons = [mine(memory).episodes.get(card.episode_id).reason for card in mine(memory).episodes.list()]
    assert report.episodes == len(reasons) > 3
    assert set(reasons[:-1]) == {"event_accumulation"}
    assert {d.policy_version for d in decisions(memory)} == {f"{OWN}?custom_threshold=0.9"}
    assert sound(memory)


@pytest.mark.slow
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
                mine(memory).add(steps[start : start + size], thread="t")
                indexes = [c.observations for c in mine(memory).episodes.list()]
            start += size
        spans.append(indexes)
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
        report = mine(memory).run(sensor, thread=str(problem))
        assert (report.ended, report.steps, report.episodes) == ("failed", 5, 1)
        assert str(problem) in report.error
        assert sensor.closed
    assert sound(memory)


def test_an_interrupt_keeps_and_closes_what_was_read(memory: Memory) -> None:
    def stop(seen: Seen) -> None:
        if seen.number == 7:
            raise KeyboardInterrupt

    report = mine(memory).run(Readings(walk(("lab", 50))), thread="lab", watch=stop)
    assert report.ended == "interrupted"
    assert mine(memory).stats().observations == report.steps >= 8
    assert [mine(memory).episodes.get(c.episode_id).reason for c in mine(memory).episodes.list()] == [
        "end_of_stream"
    ]
    assert sound(memory)


def test_storing_that_is_interrupted_is_repeated_and_stores_once(memory: Memory) -> None:
    """The steps have ids of their own, so that the last commit may come twice."""
    stored = memory._works.ingest.__class__.run
    interrupted = []

    def once(self: Any, *values: Any, **named: Any) -> Any:
        done = stored(self, *values, **named)
        if not interrupted:
            interrupted.append(True)
            raise KeyboardInterrupt
        return done

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory._works.ingest.__class__, "run", once)
        report = mine(memory).run(Readings(walk(("lab", 30))), thread="lab")
    assert report.ended == "interrupted"
    assert mine(memory).stats().observations == report.steps > 0
    assert sound(memory)


def test_a_run_that_reads_nothing_makes_no_thread(memory: Memory) -> None:
    report = mine(memory).run(Readings([]), thread="nobody")
    assert (report.steps, report.episodes, report.ended) == (0, 0, "end_of_stream")
    assert mine(memory).stats().threads == 0


def test_a_new_world_ends_the_episode_of_the_one_before(memory: Memory) -> None:
    mine(memory).run(Readings(walk(("lab", 20), restart_at=8)), thread="lab", policy="steps")
    episodes = [mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list()]
    assert [(e.first_seq, e.last_seq, e.reason) for e in episodes] == [
        (0, 7, "world_end"),
        (8, 19, "end_of_stream"),
    ]


def test_an_impossible_reading_is_counted_and_left_out(memory: Memory) -> None:
    broken: Any = Reading(3, place="lab", changes=({"type": "noise"},), extras={"prediction_error": "high"})
    early = Reading(4, place="lab", at=datetime(1, 1, 1))
    report = mine(memory).run(
        Readings([*walk(("lab", 3)), broken, early, Reading(5, place="lab")]), thread="lab"
    )
    assert (report.ended, report.steps + report.counts.get("refused", 0)) == ("end_of_stream", 6)
    assert mine(memory).stats().observations == report.steps
    assert sound(memory)


def test_two_runs_into_one_thread_lose_and_repeat_nothing(memory: Memory) -> None:
    for _ in range(2):
        mine(memory).run(Readings(walk(("lab", 12))), thread="lab")
    assert mine(memory).stats().observations == 24
    assert sound(memory)


def test_a_run_into_a_thread_follows_its_own_policy_from_the_first_step(memory: Memory) -> None:
    mine(memory).run(Readings(walk(("lab", 12))), thread="lab", policy="steps")
    mine(memory).run(Readings(walk(("lab", 12))), thread="lab", policy="stub?freeze_interval=6")
    episodes = [mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list()]
    assert sorted((e.first_seq, e.reason) for e in episodes) == [
        (0, "end_of_stream"), (12, "time_interval"), (18, "time_interval"),
    ]  # fmt: skip
    assert sound(memory)


@pytest.mark.slow
def test_a_run_is_the_same_on_every_store(open_memory: OpenMemory, url: str, tmp_path: Path) -> None:
    here, there = open_memory(tmp_path / "plain.db"), open_memory(url)
    for memory in (here, there):
        mine(memory).run(Readings(walk(*ROUND)), thread="r", policy="steps?min_steps=3")
        mine(memory).run(Readings(BUSY), thread="b", policy=OWN)
        assert sound(memory)
    assert episodes(there, "r") == episodes(here, "r")
    assert episodes(there, "b") == episodes(here, "b")


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf"), 1e-9])
def test_an_impossible_pace_is_refused(memory: Memory, fps: float) -> None:
    with pytest.raises(InvalidInput, match=r"fps must lie between 0.001 and 1,000,000 steps a second"):
        mine(memory).run(Readings([]), fps=fps)


def test_a_run_of_no_steps_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="`steps` must be 1 or more"):
        mine(memory).run(Readings([]), steps=0)


def test_readings_without_a_time_are_placed_by_the_frames_a_second(memory: Memory) -> None:
    mine(memory).run(Readings(walk(("lab", 11))), thread="lab", fps=2.0)
    (card,) = mine(memory).episodes.list()
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
    report = mine(memory).run(sensor, thread="lab", watch=lambda seen: lines.append(step_line(seen)))
    assert (report.ended, report.steps + report.counts.get("refused", 0)) == ("end_of_stream", 5)
    assert len(lines) == report.steps == mine(memory).stats().observations >= 4
    assert [mine(memory).episodes.get(card.episode_id).reason for card in mine(memory).episodes.list()] == [
        "end_of_stream"
    ]
    assert sound(memory)


def test_what_is_no_reading_ends_the_run_in_order(memory: Memory) -> None:
    nonsense: Any = "hello"
    report = mine(memory).run(Readings([*walk(("lab", 3)), nonsense]), thread="lab")
    assert (report.ended, report.error) == ("failed", "readings gave str where a Reading belongs")
    assert (report.steps, report.episodes) == (3, 1)


# --- sensors --------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_in_minigrid_every_confirmed_change_of_room_is_cut_within_the_hindsight(memory: Memory) -> None:
    pytest.importorskip("minigrid")
    seen: list[Seen] = []
    policy = resolve_policy("steps?min_steps=2")
    report = mine(memory).run(
        make_sensor("minigrid", seed=3), thread="m", steps=300, policy="steps?min_steps=2", watch=seen.append
    )
    assert (report.steps, report.ended, len(seen)) == (300, "steps", 300)
    episodes = [mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list()]
    starts = {e.first_seq for e in episodes}
    sure = [(one.number, one.place) for one in seen if one.confidence >= 0.5]
    here = sure[0][1]
    for (_, place), (confirmed, following) in pairwise(sure):
        if place == following != here:
            within = set(range(confirmed - policy.hindsight, confirmed + 1))
            assert starts & within, f"no cut though step {confirmed} confirmed the {place}"
            here = place
    assert len(episodes) > 5
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

    texts: list[str] = []
    with scene(breaks_off, goes_on) as url:
        report = mine(memory).run(
            make_sensor(f"unity:{url}", say=texts.append),
            thread="unity",
            policy=UNITY_FULL_PROFILE.policy(100),
        )
    assert (report.ended, report.counts["disconnected"], report.counts["malformed"]) == (
        "end_of_stream",
        1,
        1,
    )
    episodes = [mine(memory).episodes.get(card.episode_id) for card in mine(memory).episodes.list()]
    assert [e.metadata["location"] for e in episodes] == ["Kitchen", "Hall"]
    assert [e.reason for e in episodes] == ["location_change", "end_of_stream"]
    assert any("went away" in line for line in texts)
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
    assert mine(memory).run(LinesSensor("lines", lines), thread="lines").steps == 4
    (card,) = mine(memory).episodes.list()
    assert "the hall is quiet 0" in mine(memory).episodes.get(card.episode_id).summary


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
    for module in [m for m in sys.modules if m.startswith(("episodic_agent.agents.sensors.", f"{package}."))]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidInput, match=rf"run pip install '\.\[{extra}\]' in the clone"):
        make_sensor(name)


def test_what_a_sensor_calls_its_own_things_does_not_pass_for_a_steps_fields(memory: Memory) -> None:
    odd = {"id": "x", "kind": "message", "message": {"role": "user"}, "text": "no", "prediction_error": 0.9}
    mine(memory).run(
        Readings([Reading(n, place="lab", action="wait", extras=odd) for n in range(3)]), thread="t"
    )
    (card,) = mine(memory).episodes.list()
    stored = mine(memory).episodes.messages(card.episode_id)
    assert [(str(o.kind), o.text) for o in stored] == [("step", "In the lab: wait")] * 3
    assert len({o.external_id for o in stored}) == 3
    assert stored[0].extras["message"] == {"role": "user"}


# --- what fails around a run -------------------------------------------------------------------------------


class Unclosable(Readings):
    def close(self) -> None:
        raise OSError("the port is busy")


def test_a_sensor_that_cannot_be_closed_loses_no_step(memory: Memory) -> None:
    report = mine(memory).run(Unclosable(walk(("hall", 300))), thread="r", policy="steps")
    assert (report.steps, report.ended) == (300, "end_of_stream")
    assert report.error.endswith("could not be closed: OSError: the port is busy")
    assert sum(size for size, *_ in sizes(memory)) == 300


def test_a_sensor_that_tries_to_leave_ends_the_run_in_order(memory: Memory) -> None:
    report = mine(memory).run(Readings([*walk(("hall", 3)), SystemExit(0)]), thread="r", policy="steps")
    assert (report.steps, report.ended) == (3, "failed")
    assert "SystemExit" in report.error
    assert sizes(memory) == [(3, "end_of_stream")]


def test_who_watches_and_raises_loses_no_step_and_leaves_nothing_open(memory: Memory) -> None:
    def watch(_seen: Seen) -> None:
        raise LookupError("no screen")

    with pytest.raises(LookupError):
        mine(memory).run(Readings(walk(("hall", 300))), thread="r", policy="steps", watch=watch)
    assert sum(size for size, _ in sizes(memory)) >= 256  # one batch at least
    assert {reason for _, reason in sizes(memory)} == {"time_interval", "end_of_stream"}


def test_a_policy_for_messages_is_refused_for_steps_and_the_other_way_round(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="'seed-001' is for messages, not for steps; for steps there are"):
        mine(memory).run(Readings(walk(("hall", 3))), policy="seed-001")
    mine(memory).run(Readings(walk(("hall", 3))), thread="r", policy="steps")
    mine(memory).add("hello", thread="chat")
    for thread, policy in (("r", "dual-channel"), ("chat", "seed-000"), ("chat", "steps")):
        for verb in (mine(memory).boundaries.whatif, mine(memory).boundaries.resegment):
            with pytest.raises(InvalidInput, match=f"policy '{policy}' is for "):
                verb(thread, policy)


def test_a_memory_under_a_policy_for_messages_judges_steps_by_the_default_for_steps(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(policy="seed-001")
    mine(memory).run(Readings(walk(("hall", 20), ("kitchen", 20))), thread="r")
    assert [reason for _, reason in sizes(memory)] == ["location_change", "end_of_stream"]
    other = open_memory(policy="seed-000")
    mine(other).add("hello", thread="chat")
    with other._deps.store.begin(Scope(), write=False) as tx:
        policies = {t.origin: tx.threads.frame(t.id).policy for t in tx.threads.list()}
    assert policies["chat"] == "default-2027-03"


class Keeping(BoundaryDetector):
    """A detector that shows with what it was built."""

    built: ClassVar[list[Mapping[str, Any]]] = []

    def __init__(self, **options: Any) -> None:
        Keeping.built.append(options)

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        return False, None


@pytest.mark.parametrize(
    "value",
    [1_000_000, 123_456_789, 0.1 + 0.2, 1e-7, 1e22, "high", "20", "a&b=c?", "true", True, [1, 2], None],
)
def test_what_a_profile_says_reaches_a_detector_as_it_is(value: object) -> None:
    name = f"{__name__}:Keeping"
    profile = ProfileConfig("own", boundary_detector=name, parameters={"boundary_limit": value})
    resolve_policy(profile.policy())
    assert Keeping.built[-1] == {"limit": value}
    assert type(Keeping.built[-1]["limit"]) is type(value)


@pytest.mark.parametrize("value", [1_000_000, 1_234_567.0, 2**40])
def test_large_numbers_of_a_profile_are_read_as_they_were_written(value: float) -> None:
    profile = ProfileConfig("own", boundary_detector="steps", parameters={"boundary_time_interval": value})
    assert profile.policy() == f"steps?time_interval={int(value)}"
    resolve_policy(profile.policy())


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("often", "time_interval must be a whole number, not 'often'"),
        (None, "profile own: boundary_time_interval must be a number or a text, not None"),
        (float("nan"), "must be a number or a text, not nan"),
        ([1], r"must be a number or a text, not \[1\]"),
    ],
)
def test_what_no_policy_takes_from_a_profile_is_refused_in_words(value: object, problem: str) -> None:
    profile = ProfileConfig("own", boundary_detector="steps", parameters={"boundary_time_interval": value})
    with pytest.raises(InvalidInput, match=problem):
        resolve_policy(profile.policy())


def test_a_run_elsewhere_is_left_alone_until_it_is_silent(open_memory: OpenMemory, clock: Clock) -> None:
    memory = open_memory()
    mine(memory).run(Readings(walk(("hall", 3))), thread="r", policy="steps")
    mine(memory).add({"kind": "step", "location": "hall", "action": "wait"}, thread="r")
    there = replace(memory._deps, owner="elsewhere:1:1")
    orphans = Orphans(there, memory._works.segmenter)
    run = orphans.under_way(Scope(), "r", "a")
    run.__enter__()  # as far as anybody knows here it is never left
    closed = []
    for silent in (False, True):
        clock.forward(minutes=61)
        if not silent:
            mine(memory).add({"kind": "step", "location": "hall", "action": "go on"}, thread="r")
        memory.jobs.run()
        closed.append([size for size, reason in sizes(memory) if reason == "end_of_stream"])
    assert [sorted(sizes) for sizes in closed] == [[3], [1, 3]]  # after an hour a step begins an episode
    run.__exit__(None, None, None)


def sizes(memory: Memory) -> list[tuple[int, str]]:
    return [(card.observations, card.reason) for card in mine(memory).episodes.list()]


def test_what_a_world_ended_says_so_and_no_runner_up_contradicts_its_threshold(memory: Memory) -> None:
    mine(memory).run(Readings(walk(("lab", 14), ("den", 6), restart_at=18)), thread="lab", policy="steps")
    for card in mine(memory).episodes.list():
        why = mine(memory).boundaries.explain(card.episode_id)
        assert all(one.held for one in why.runners_up if one.probability > one.threshold)
        over = [f"a threshold of {one.probability:.2f}" for one in why.runners_up if one.held]
        assert not [text for text in why.what_would_change if text.startswith(tuple(over))]
    ends = [mine(memory).boundaries.explain(card.episode_id).ends for card in mine(memory).episodes.list()]
    assert "world_end" in [end.reason for end in ends]
    assert any("the world's episode was over" in end.sentence for end in ends)
