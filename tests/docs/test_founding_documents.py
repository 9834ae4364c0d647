"""The founding documents' Python runs as it is printed there, by the import paths that they print.

What stands between triple quotes here is the document's text to the letter (docs/internals/seeds.md tells what each
asks for). Everything runs in processes of its own, as a reader of the documents would try it. Only seed 000 prints
code that imports something of this project; seed 002 prints none, and the code of 003 and 004 imports only the
standard library.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# seed 000, "Custom Boundary Detector", whole
CUSTOM = """\
from episodic_agent.protocols import BoundaryDetector
from episodic_agent.schemas import ActiveContextFrame

class MyBoundaryDetector(BoundaryDetector):
    def __init__(self, custom_threshold: float = 0.7):
        self._threshold = custom_threshold
        self._event_count = 0
    
    def check(
        self,
        acf: ActiveContextFrame,
    ) -> tuple[bool, str | None]:
        # Custom logic
        self._event_count += len(acf.events)
        
        if self._event_count >= 10:
            self._event_count = 0
            return True, "event_accumulation"
        
        return False, None
"""  # noqa: W293

# seed 000, "Implementations": the stub; the document imports its names where it shows how to extend it
STUB = """
class StubBoundaryDetector(BoundaryDetector):
    def __init__(self, freeze_interval: int = 50):
        self._interval = freeze_interval
    
    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        if acf.step_count >= self._interval:
            return True, "time_interval"
        return False, None
"""  # noqa: W293

# seed 000, "Implementations" and the details of its factors: the four methods of HysteresisBoundaryDetector
METHODS = """
    def _compute_score(self, acf: ActiveContextFrame) -> float:
        score = 0.0
        
        # Location change (binary, highest impact)
        if self._location_changed(acf):
            score += self.location_weight
        
        # Salient events (weighted by count)
        salient_count = self._count_salient_events(acf)
        score += min(salient_count * 0.2, 1.0) * self.event_weight
        
        # Prediction error (continuous)
        pred_error = self._get_prediction_error(acf)
        score += pred_error * self.prediction_weight
        
        # Time factor (gradual increase)
        time_factor = min(acf.step_count / self.time_interval, 1.0)
        score += time_factor * 0.2
        
        return min(score, 1.0)

    def _location_changed(self, acf: ActiveContextFrame) -> bool:
        current = acf.location_label
        previous = self._previous_location
        self._previous_location = current
        
        if previous is None:
            return False
        
        return current != previous

    def _count_salient_events(self, acf: ActiveContextFrame) -> int:
        salient_types = {"state_change", "appearance", "disappearance"}
        return sum(1 for e in acf.events if e.get("type") in salient_types)

    def _get_prediction_error(self, acf: ActiveContextFrame) -> float:
        return acf.extras.get("prediction_error", 0.0)
"""  # noqa: W293

# what the document leaves to "...": the constructor's body, and the rule of its two thresholds in words
WHOLE = (
    """
class Hysteresis(BoundaryDetector):
    def __init__(
        self,
        high_threshold: float = 0.8,
        low_threshold: float = 0.3,
        time_interval: int = 100,
        location_weight: float = 1.0,
        event_weight: float = 0.5,
        prediction_weight: float = 0.3,
    ):
        self.high_threshold, self.low_threshold, self.time_interval = high_threshold, low_threshold, time_interval
        self.location_weight, self.event_weight = location_weight, event_weight
        self.prediction_weight = prediction_weight
        self._previous_location, self._armed = None, True

    def check(self, acf: ActiveContextFrame) -> tuple[bool, str | None]:
        score = self._compute_score(acf)
        if self._armed and score > self.high_threshold:
            self._armed = False
            return True, "score"
        self._armed = self._armed or score < self.low_threshold
        return False, None
"""
    + METHODS
)

# seed 000, "Debugging"
INSPECT = """\
print(f"Prediction error: {acf.extras.get('prediction_error', 0)}")
print(f"Recent events: {len(acf.events)}")
"""


@pytest.fixture
def lab(tmp_path: Path) -> Path:
    """Return a folder with the document's code as `lab.py` and a recorded walk to try it on."""
    (tmp_path / "lab.py").write_text(CUSTOM + STUB + WHOLE, encoding="utf-8")
    lines = []
    for number in range(160):
        mug = {"id": "mug", "label": "mug", "state": f"moved {number // 9}"}  # a state changes now and then
        place = ("Hall", "Kitchen", "Office", "Kitchen")[number // 40]
        error = round(number % 23 / 23, 2)
        lines.append({"number": number, "place": place, "entities": [mug], "prediction_error": error})
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "walk.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("EPISODIC_")}
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=120,
        env={**inherited, "EPISODIC_EMBEDDER": "hashing", "HOME": str(folder)},
    )  # fmt: skip


def frozen(folder: Path, policy: str) -> list[int]:
    """Return the numbers of the steps at which an agent under this policy froze."""
    done = python(
        folder, "-m", "episodic_agent", "run", "--sensor", "replay:walk.jsonl", "--policy", policy,
        "--thread", re.sub(r"\W", "-", policy),
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return [int(line[1:5]) for line in done.stdout.splitlines() if line.endswith("[FREEZE]")]


@pytest.mark.slow
def test_the_custom_detector_of_seed_000_runs_as_it_is_printed(lab: Path) -> None:
    cuts = frozen(lab, "lab:MyBoundaryDetector?custom_threshold=0.9")
    assert len(cuts) > 3
    reasons = python(lab, "-m", "episodic_agent", "episodes", "--json")
    listed = json.loads(reasons.stdout)["episodes"]
    assert {one["reason"] for one in listed[:-1]} == {"event_accumulation"}


@pytest.mark.slow
def test_the_stub_of_seed_000_is_ours(lab: Path) -> None:
    printed = frozen(lab, "lab:StubBoundaryDetector?freeze_interval=50")
    assert printed == frozen(lab, "stub?freeze_interval=50") == [49, 99, 149]


@pytest.mark.slow
def test_the_arithmetic_of_seed_000_is_that_of_its_policy(lab: Path) -> None:
    numbers = "high_threshold=0.5&low_threshold=0.3&time_interval=50"
    printed = frozen(lab, f"lab:Hysteresis?{numbers}")
    assert printed == frozen(lab, f"seed-000?{numbers}")
    assert {40, 80, 120} < set(printed)  # new places, and freezes between them


def test_a_frame_can_be_inspected_as_seed_000_does(lab: Path) -> None:
    value = "acf = ActiveContextFrame(extras={'prediction_error': 0.25}, events=[{'type': 'appearance'}])\n"
    done = python(lab, "-c", "from lab import *\nacf = ActiveContextFrame()\n" + INSPECT + value + INSPECT)
    assert done.stdout.splitlines() == [
        "Prediction error: 0",
        "Recent events: 0",
        "Prediction error: 0.25",
        "Recent events: 1",
    ], done.stderr


def test_the_command_of_seed_000_runs_and_prints_its_line(lab: Path) -> None:
    command = "-m episodic_agent run --freeze-interval 100 --profile unity_full --verbose"
    done = python(lab, *command.split(), "--sensor", "replay:walk.jsonl")  # no scene is at hand here
    assert done.returncode == 0, done.stderr
    line = re.compile(
        r"\[DEBUG\] Boundary score: [\d.]+ \(loc=[\d.]+, evt=[\d.]+, pred=[\d.]+, time=[\d.]+\)( -> TRIGGER)?"
    )
    texts = [text for text in done.stdout.splitlines() if text.startswith("[DEBUG]")]
    assert len(texts) == 160
    assert all(line.fullmatch(text) for text in texts)
    assert any(text.endswith(" -> TRIGGER") for text in texts)
