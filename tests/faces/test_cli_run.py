"""The commands that run an agent, as somebody at a terminal meets them."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from builders.commands import Run

import episodic_agent
from episodic_agent.core.language import plural

LINE = re.compile(r"\[\d{4}\] loc=\S.*\(\d\.\d\d\) ent=\d+ evt=\d+ ep=\d+( \[FREEZE\])?")
DEBUG = re.compile(r"\[DEBUG\] Boundary score: \d\.\d\d \(loc=.+, evt=.+, pred=.+, time=.+\)( -> TRIGGER)?")
ROOT = Path(episodic_agent.__file__).parents[1]


def recording(folder: Path, *stays: tuple[str, int]) -> Path:
    path = folder / "walk.jsonl"
    places = [place for place, count in stays for _ in range(count)]
    path.write_text(
        "".join(json.dumps({"number": n, "place": place}) + "\n" for n, place in enumerate(places))
    )
    return path


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    return recording(tmp_path, ("Living room", 20), ("Kitchen", 15), ("Hall", 12))


def test_the_seeds_command_runs_over_a_recording(run: Run, walk: Path) -> None:
    done = run(
        "run", "--freeze-interval", 100, "--profile", "unity_full", "--policy", "default",
        "--sensor", f"replay:{walk}", "--thread", "r",
    )  # fmt: skip
    assert done.code == 0, done.err
    *lines, last = done.out.splitlines()
    assert len(lines) == 47
    assert all(LINE.fullmatch(line) for line in lines)
    assert lines[0] == "[0000] loc=Living room(1.00) ent=0 evt=0 ep=0"
    assert [n for n, line in enumerate(lines) if line.endswith("[FREEZE]")] == [21, 36]
    assert last == "47 steps, 3 episodes in thread r; ended: end_of_stream"
    episodes = run("episodes", "--json").json["episodes"]
    assert [one["reason"] for one in episodes] == ["location_change", "location_change", "end_of_stream"]
    assert run("doctor", "--json").json["sound"]


def test_verbose_prints_the_boundary_score_of_every_step_and_quiet_only_the_end(run: Run, walk: Path) -> None:
    for policy in ("seed-000", "steps"):
        lines = run("run", "--policy", policy, "--sensor", f"replay:{walk}", "--verbose").out.splitlines()
        assert len(lines) == 2 * 47 + 1
        assert all(DEBUG.fullmatch(line) for line in lines[:-1:2])
        for text, step in zip(lines[:-1:2], lines[1::2], strict=True):
            assert text.endswith("-> TRIGGER") == step.endswith("[FREEZE]")
    quiet = run("run", "--policy", "seed-000", "--sensor", f"replay:{walk}", "--quiet").out
    assert quiet.count("\n") == 1
    assert "exclude each other" in run("run", "--quiet", "--verbose").error


def test_the_interval_is_the_stubs_period(run: Run, walk: Path) -> None:
    done = run(
        "run", "--profile", "stub", "--policy", "stub", "--freeze-interval", 10, "--json",
        "--sensor", f"replay:{walk}", "--steps", 30,
    )  # fmt: skip
    assert (done.json["steps"], done.json["episodes"], done.json["ended"]) == (30, 3, "steps")


def test_the_output_holds_every_episode_and_the_plot(run: Run, walk: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    assert run("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--output", folder).code == 0
    episodes = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    assert [one["metadata"]["location"] for one in episodes] == ["Living room", "Kitchen", "Hall"]
    pages = sorted(path.name for path in folder.glob("*.md"))
    assert [name[:4] for name in pages] == ["0001", "0002", "0003"]
    assert (folder / "boundaries.svg").read_text().lstrip().startswith("<?xml")
    assert "Living room" in (folder / "map.svg").read_text()


@pytest.mark.usefixtures("no_file_yet")
def test_an_output_that_cannot_be_written_is_refused_before_the_first_step(
    run: Run, walk: Path, tmp_path: Path, database: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    for folder in (tmp_path / "file", tmp_path / "file" / "inside"):
        done = run("run", "--policy", "steps", "--sensor", f"replay:{walk}", "--output", folder)
        if folder.name == "inside":
            assert "name another folder by --output" in done.error
        assert done.code == 2
        assert not database.exists()


def test_a_run_without_any_place_has_no_map_and_says_nothing_of_it(run: Run, tmp_path: Path) -> None:
    walk = tmp_path / "blind.jsonl"
    walk.write_text("".join(json.dumps({"number": n, "action": "push"}) + "\n" for n in range(5)))
    done = run(
        "run", "--policy", "steps", "--sensor", f"replay:{walk}", "--output", tmp_path / "out", "--quiet"
    )
    assert (done.code, done.err) == (0, "")
    assert not (tmp_path / "out" / "map.svg").exists()
    assert (tmp_path / "out" / "boundaries.svg").exists()


@pytest.mark.slow
def test_a_recorded_run_is_replayed_to_the_same_lines(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("minigrid")
    path = tmp_path / "kept.jsonl"
    first = run(
        "run",
        "--policy",
        "steps",
        "--steps",
        120,
        "--seed",
        5,
        "--record",
        path,
        "--thread",
        "a",
        "--verbose",
    )
    again = run("run", "--policy", "steps", "--sensor", f"replay:{path}", "--thread", "b", "--verbose")
    assert first.code == again.code == 0, first.err + again.err
    assert first.out.splitlines()[:-1] == again.out.splitlines()[:-1]
    assert "FREEZE" in first.out
    spans = [
        [(e["observations"], e["reason"], e["title"]) for e in run("episodes", "--thread", t, "--json").json["episodes"]]
        for t in "ab"
    ]  # fmt: skip
    assert spans[0] == spans[1]


def test_a_world_that_nobody_named_is_not_walked_in_the_memory_of_a_person(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("minigrid")
    monkeypatch.delenv("EPISODIC_USER", raising=False)
    run("add", "The kitchen tap drips", "--user", "ana")  # the only user there is
    done = run("run", "--policy", "steps", "--steps", 3, "--quiet")
    assert (done.code, "'agent' walks through a simulated world" in done.err) == (0, True)
    assert run("stats", "--user", "ana", "--json").json["observations"] == 1
    assert run("stats", "--user", "agent", "--json").json["observations"] == 3


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (("--profile", "unity_ful"), "did you mean 'unity_full'"),
        (("--profile", "conversation"), "episodic import FILE"),
        (("--policy", "steps", "--fps", "0"), "fps must lie between 0.001 and 1,000,000 steps a second, not 0"),
        (("--policy", "steps", "--fps", "-5"), "fps must lie between"),
        (("--policy", "steps", "--fps", "nan"), "fps must lie between"),
        (("--policy", "steps", "--fps", "inf"), "fps must lie between"),
        (("--policy", "stepps"), "no policy 'stepps'"),
        (("--policy", "seed-001"), "policy 'seed-001' is for messages, not for steps; for steps there are default,"),
        (("--policy", "seed-001?max_messages=30"), "is for messages"),
        (("--policy", "steps?high=1"), "no parameter 'high'"),
        (("--policy", "nowhere:Detector"), "no nowhere:Detector"),
        (("--policy", "nowhere:Detector", "--freeze-interval", "9"), "has no interval"),
        (("--policy", "steps", "--sensor", "cam"), "no sensor 'cam'"),
        (("--policy", "steps", "--sensor", "replay:none.jsonl"), "there is no recording"),
        (("--policy", "steps", "--profile", "unity_full", "--sensor", "unity:ws://127.0.0.1:9"), "no scene answers"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("no_file_yet")
def test_what_cannot_run_is_one_line_and_code_two(
    run: Run, database: Path, given: Sequence[str], problem: str
) -> None:
    done = run("run", *given)
    assert problem in done.error
    assert done.code == 2
    assert not database.exists()


def test_a_sensor_that_breaks_keeps_what_came_and_leaves_with_two(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text('{"number": 0, "place": "hall"}\n{"number": 1, "place": "hall"}\n' + "no reading\n" * 100)
    done = run("run", "--policy", "steps", "--sensor", f"replay:{path}", "--quiet")
    assert done.code == 2
    assert "error: 100 readings in a row could not be read" in done.err
    (episode,) = run("episodes", "--json").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (2, "end_of_stream")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lines", "steps", "noticed"),
    [
        (['{"number": 0, "place": "hall"}', '{"number": 0, "place": "hall"}'], 1, "repeated 1"),
        (['{"number": 9, "place": "hall"}', '{"number": 2, "place": "hall"}'], 2, "restarted 1"),
        (['{"number": 0, "place": "hall"}', '{"number": 7, "place": "hall"}'], 2, "missing 6, gaps 1"),
        (['{"number": 0, "place": "hall", "confidence": NaN, "prediction_error": NaN}'], 1, ""),
        (['{"number": 0, "place": "hall"}', '{"number": NaN, "place": "hall"}'], 1, "malformed 1"),
        (['{"number": 0, "place": "hall"}', '{"number": 1, "at": NaN, "place": "hall"}'], 2, ""),
        (['{"number": 0, "place": "hall", "speed": NaN, "extras": {"x": Infinity}}'], 1, ""),
        (['{"number": 0, "place": "hall"}', '{"number": 1, "pla'], 1, "malformed 1"),
    ],
)
def test_a_sensor_that_lies_or_breaks_off_never_ends_a_run_without_a_flush(
    run: Run, tmp_path: Path, lines: Sequence[str], steps: int, noticed: str
) -> None:
    path = tmp_path / "lies.jsonl"
    path.write_text("\n".join(lines))
    done = run(
        "run", "--policy", "steps", "--sensor", f"replay:{path}", "--quiet", "--output", tmp_path / "out"
    )
    assert done.code == 0, done.err
    text = f" ({noticed})" if noticed else ""
    assert done.out.splitlines()[-1].startswith(f"{plural(steps, 'step')}, 1 episode")
    assert done.out.splitlines()[-1].endswith(f"ended: end_of_stream{text}")
    (episode,) = run("episodes", "--json").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (steps, "end_of_stream")
    assert run("doctor", "--json").json["sound"]


def test_an_explicit_pace_places_readings_and_slows_a_recording(run: Run, tmp_path: Path) -> None:
    path = recording(tmp_path, ("hall", 6))
    begun = time.monotonic()
    assert run("run", "--policy", "steps", "--sensor", f"replay:{path}", "--fps", 50, "--quiet").code == 0
    assert time.monotonic() - begun >= 5 / 50
    (episode,) = run("episodes", "--json").json["episodes"]
    lasted = datetime.fromisoformat(episode["end_at"]) - datetime.fromisoformat(episode["start_at"])
    assert lasted == timedelta(seconds=5 / 50)


def test_profiles_and_sensors_are_listed(run: Run) -> None:
    assert [p["name"] for p in run("profiles", "--json").json["profiles"]] == [
        "stub", "unity_cheat", "unity_full", "minigrid", "conversation",
    ]  # fmt: skip
    assert "unity_full" in run("profiles").out
    assert run("sensors", "--json").json["sensors"] == ["replay", "minigrid", "gymnasium", "unity", "stdin"]
    assert "replay:FILE" in run("sensors").out


# --- as a process ---------------------------------------------------------------------------------------


# A shell's background jobs ignore interrupts, and so would what they start.
INTERRUPTIBLE = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("episodic_agent", run_name="__main__", alter_sys=True)
"""


def process(database: Path, *arguments: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "EPISODIC_DB": str(database)}
    command = [sys.executable, "-c", INTERRUPTIBLE, "--embedder", "none", "run", "--policy", "steps"]
    return subprocess.Popen(
        [*command, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        cwd=database.parent,
    )


@pytest.mark.slow
def test_readings_come_by_standard_input(database: Path, run: Run, walk: Path) -> None:
    with process(database, "--sensor", "stdin:", "--json") as running:
        out, err = running.communicate(walk.read_text().rstrip("\n"), timeout=60)
    assert running.returncode == 0, err
    assert (json.loads(out)["steps"], json.loads(out)["episodes"]) == (47, 3)


@pytest.mark.slow
def test_an_interrupt_closes_what_came_and_leaves_with_130(database: Path, run: Run) -> None:
    with process(database, "--sensor", "stdin:") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write('{"number": 0, "place": "hall"}\n{"number": 1, "place": "hall"}\n')
        running.stdin.flush()
        assert running.stdout.readline().startswith("[0000] loc=hall(1.00)")
        running.send_signal(signal.SIGINT)
        out, err = running.stdout.read(), running.stderr.read() if running.stderr else ""
        assert running.wait(60) == 130, err
    assert "2 steps, 1 episode" in out
    assert "ended: interrupted" in out
    assert err == ""
    (episode,) = run("episodes", "--json", embedder="none").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (2, "end_of_stream")


@pytest.mark.slow
def test_a_reader_of_the_lines_who_leaves_costs_nothing(database: Path, run: Run, tmp_path: Path) -> None:
    long = recording(tmp_path, ("hall", 3000))
    with process(database, "--sensor", f"replay:{long}") as running:
        assert running.stdout is not None
        running.stdout.readline()
        running.stdout.close()
        running.wait(60)
    episodes = run("episodes", "--json", embedder="none").json["episodes"]
    assert episodes[-1]["reason"] == "end_of_stream"
    assert run("doctor", "--json", embedder="none").json["sound"]


@pytest.mark.slow
def test_a_detector_of_ones_own_lies_in_the_folder_one_works_in(database: Path, run: Run, walk: Path) -> None:
    (database.parent / "mine.py").write_text(
        "from episodic_agent.protocols import BoundaryDetector\n"
        "from episodic_agent.schemas import ActiveContextFrame\n\n\n"
        "class EveryFive(BoundaryDetector):\n"
        "    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:\n"
        "        return acf.step_count >= 5, 'five'\n"
    )
    with process(database, "--sensor", f"replay:{walk}", "--policy", "mine:EveryFive", "--json") as running:
        out, err = running.communicate(timeout=60)
    assert running.returncode == 0, err
    assert json.loads(out)["episodes"] == 10
    assert run("doctor", "--json", embedder="none").json["sound"]


DETECTORS = """
from episodic_agent.core.language import plural
from episodic_agent.protocols import BoundaryDetector


class Unbuildable(BoundaryDetector):
    def __init__(self, path):
        raise OSError(f"no weights at {path}")

    def check(self, acf):
        return False, None


class Failing(BoundaryDetector):
    def check(self, acf):
        if acf.step_count >= 3:
            raise ValueError("too many steps")
        return False, None


class Leaving(BoundaryDetector):
    def check(self, acf):
        raise SystemExit(0)


class ByEvents(BoundaryDetector):
    def check(self, acf):
        return len(acf.events) >= 3, "event_accumulation"
"""


@pytest.fixture
def detectors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A module of one's own with detectors, of a name that no other test has imported."""
    name = f"own_{tmp_path.name}"
    (tmp_path / f"{name}.py").write_text(DETECTORS)
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    sys.modules.pop(name, None)


@pytest.mark.usefixtures("no_file_yet")
def test_a_detector_that_cannot_be_built_is_refused_with_the_cause_before_the_first_step(
    run: Run, walk: Path, detectors: str, database: Path
) -> None:
    own = f"{detectors}:Unbuildable?path=here"
    done = run("run", "--policy", own, "--sensor", f"replay:{walk}")
    assert f"detector {detectors}:Unbuildable cannot be built: OSError: no weights at here" in done.error
    assert done.code == 2
    assert not database.exists()
    assert "must be written parameter=value" in run("run", "--policy", f"{own}&more").error


@pytest.mark.parametrize(
    ("own", "step", "why"), [("Failing", 2, "ValueError: too many steps"), ("Leaving", 0, "SystemExit: 0")]
)
def test_a_detector_that_raises_is_named_once_with_the_cause_and_costs_no_step(
    run: Run, walk: Path, detectors: str, own: str, step: int, why: str
) -> None:
    done = run("run", "--policy", f"{detectors}:{own}", "--sensor", f"replay:{walk}", "--quiet")
    assert done.code == 1
    problem = f"detector {detectors}:{own} failed at step {step}: {why}; where it fails nothing is cut"
    assert done.err.splitlines() == [problem, f"error: {problem}"]  # at once, and at the end
    assert f"(detector_errors {47 - step})" in done.out
    (episode,) = run("episodes", "--json").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (47, "end_of_stream")


@pytest.mark.slow
def test_a_detector_of_ones_own_counts_salient_events_and_says_its_reason(
    run: Run, tmp_path: Path, detectors: str
) -> None:
    path = tmp_path / "events.jsonl"
    change = {"type": "state_change", "entity": "door"}
    lines = [{"number": n, "place": "hall", "changes": [{**change, "id": f"e{n}"}]} for n in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = run("run", "--policy", f"{detectors}:ByEvents", "--sensor", f"replay:{path}", "--verbose")
    assert (done.code, [line for line in done.out.splitlines() if "[DEBUG]" in line]) == (
        0,
        [
            "[DEBUG] Detector: no boundary",
            "[DEBUG] Detector: no boundary",
            "[DEBUG] Detector: event_accumulation -> TRIGGER",
            "[DEBUG] Detector: no boundary",
        ],
    )
    cards = run("episodes", "--json").json["episodes"]
    assert len(cards) == 2
    folder = tmp_path / "out"
    run("run", "--policy", f"{detectors}:ByEvents", "--sensor", f"replay:{path}", "--output", folder)
    remaining = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    assert [one["metadata"]["salient_events"] for one in remaining] == [3, 1]


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGHUP, 129, marks=pytest.mark.slow)]
)
def test_a_terminated_run_closes_what_came_and_says_by_its_code_what_ended_it(
    database: Path, run: Run, number: signal.Signals, code: int
) -> None:
    with process(database, "--sensor", "stdin:") as running:
        begin(running)
        running.send_signal(number)
        out = running.stdout.read() if running.stdout else ""
        assert running.wait(60) == code
    assert "2 steps, 1 episode" in out
    (episode,) = run("episodes", "--json", embedder="none").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (2, "end_of_stream")


@pytest.mark.slow
@pytest.mark.parametrize("next_command", ["upkeep", "run"])
def test_what_a_killed_run_left_open_is_closed_by_whoever_comes_next(
    database: Path, run: Run, walk: Path, next_command: str
) -> None:
    with process(database, "--sensor", "stdin:", "--thread", "left") as running:
        begin(running)
        running.kill()
        running.wait(60)
    (episode,) = run("episodes", "--json", "--thread", "left", embedder="none").json["episodes"]
    assert episode["state"] == "open"
    more = ("--policy", "steps", "--sensor", f"replay:{walk}", "--quiet") if next_command == "run" else ()
    assert run(next_command, *more, embedder="none").code == 0
    (episode,) = run("episodes", "--json", "--thread", "left", embedder="none").json["episodes"]
    assert (episode["observations"], episode["reason"]) == (2, "end_of_stream")
    assert run("stats", "--json", embedder="none").json["waiting_jobs"] == 0


def begin(running: "subprocess.Popen[str]") -> None:
    """Give a run two readings, and wait until they are stored."""
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write('{"number": 0, "place": "hall"}\n{"number": 1, "place": "hall"}\n')
    running.stdin.flush()
    for _ in range(2):
        running.stdout.readline()


def test_a_recording_is_read_by_the_usual_names_of_its_fields(run: Run, tmp_path: Path) -> None:
    steps = [
        ("2026-11-19", "kitchen", "pull the drawer", False),
        ("2026-11-20", "hall", "dust the lamp", True),
    ]
    lines = [
        {
            "number": number,
            "location": place,
            "action": action,
            "objects": ["cloth"],
            "timestamp": f"{day}T08:00:00+01:00",
            "outcome": outcome,
            "reward": 0.5,
            "clock": 7,
        }
        for number, (day, place, action, outcome) in enumerate(steps)
    ]
    file = tmp_path / "readings.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    replay = ("run", "--policy", "default", "--sensor")
    copy = tmp_path / "copy.jsonl"
    done = run(*replay, f"replay:{file}", "--thread", "week", "--record", copy)
    assert done.code == 0, done.err
    exported = [json.loads(line) for line in run("export").out.splitlines()]
    kept = [line for line in exported if line.get("kind") == "step"]
    assert [line["at"][:10] for line in kept] == ["2026-11-19", "2026-11-20"]
    assert [line["location"] for line in kept] == ["kitchen", "hall"]
    assert kept[0]["text"] == "In the kitchen: pull the drawer; failed; reward 0.5"
    copied = [json.loads(line) for line in copy.read_text().splitlines()[1:]]
    assert [(line["at"][:10], line["outcome"], line["reward"]) for line in copied] == [
        ("2026-11-19", False, 0.5),
        ("2026-11-20", True, 0.5),
    ]
    wrong = tmp_path / "wrong.jsonl"
    wrong.write_text(json.dumps({"number": 0, "place": "hall", "outcome": 3}) + "\n")
    refused = run(*replay, f"replay:{wrong}", "--thread", "wrong")
    assert 'outcome must be a text, as "success" or "failure"' in refused.err + refused.out


def test_a_step_given_to_add_as_json_is_one(run: Run) -> None:
    step = {"kind": "step", "action": "grab the mug", "location": "kitchen", "outcome": False}
    assert run("add", json.dumps(step), "--thread", "log").code == 0
    shown = run("search", "mug", "--json").out
    assert "In the kitchen: grab the mug; failed" in shown
    assert '\\"kind\\"' not in shown
    wrong = run("add", json.dumps({**step, "kind": "stp"}), "--thread", "log")
    assert wrong.code == 2
    assert "did you mean 'step'" in wrong.err
    assert run("add", '{"note": "only a text"}', "--thread", "log").code == 0
    assert run("add", '{"kind": "step"', "--thread", "log").code == 0
