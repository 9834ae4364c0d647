"""A paced sensor gives its readings when their time has come: never sooner, and none is lost."""

from collections.abc import Iterator

import pytest

from episodic_agent.agents.sensors.counting import NAP, PacedSensor
from episodic_agent.agents.sensors.lines import LinesSensor
from episodic_agent.errors import SensorError
from episodic_agent.schemas import Reading
from episodic_agent.wiring.agents import make_sensor, paced


class Watch:
    """A clock that only sleeping moves on, and work where it is told to."""

    def __init__(self) -> None:
        self.now = 100.0
        self.naps: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.naps.append(seconds)
        self.now += seconds


def lines(count: int) -> LinesSensor:
    return LinesSensor("lines", [f'{{"number": {n}}}' for n in range(count)])


def times(sensor: PacedSensor, watch: Watch, work: tuple[float, ...] = ()) -> Iterator[float]:
    for number, _ in enumerate(sensor):
        yield round(watch.now - 100.0, 6)
        watch.now += work[number] if number < len(work) else 0.0


def test_readings_come_no_faster_than_the_frames_a_second() -> None:
    watch = Watch()
    sensor = PacedSensor(lines(5), 2.0, clock=watch, sleep=watch.sleep)
    assert list(times(sensor, watch)) == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert max(watch.naps) <= NAP


def test_who_is_slower_than_the_pace_is_not_slowed_and_never_hurried() -> None:
    watch = Watch()
    sensor = PacedSensor(lines(5), 2.0, clock=watch, sleep=watch.sleep)
    assert list(times(sensor, watch, (0.1, 3.0, 0.0, 0.0))) == [0.0, 0.5, 3.5, 4.0, 4.5]


def test_name_and_counts_are_the_inner_sensors_and_its_failure_passes() -> None:
    watch = Watch()
    sensor = PacedSensor(LinesSensor("lines", ["x"] * 200), 5.0, clock=watch, sleep=watch.sleep)
    with pytest.raises(SensorError, match="could not be read"):
        list(sensor)
    assert (sensor.name, sensor.counts) == ("lines", {"malformed": 100})


def test_closing_wakes_who_sleeps() -> None:
    watch = Watch()
    sensor = PacedSensor(lines(9), 0.001, clock=watch, sleep=lambda _seconds: sensor.close())
    assert [reading.number for reading in sensor] == [0]


def test_only_an_explicit_pace_slows_what_is_simulated_or_recorded(tmp_path: object) -> None:
    pytest.importorskip("minigrid")
    assert isinstance(make_sensor("minigrid", fps=5.0), PacedSensor)
    assert isinstance(make_sensor("gymnasium:CartPole-v1", fps=5.0), PacedSensor)
    assert not isinstance(make_sensor("minigrid"), PacedSensor)
    assert not isinstance(make_sensor("stdin:", fps=5.0), PacedSensor)


def test_a_paced_world_plays_the_same_run() -> None:
    pytest.importorskip("minigrid")
    watch = Watch()
    quick, slow = make_sensor("minigrid", seed=4), make_sensor("minigrid", seed=4)
    held: list[Reading] = []
    for reading in paced(slow, 4.0, clock=watch, sleep=watch.sleep):
        held.append(reading)
        if len(held) == 40:
            break
    assert [reading for reading, _ in zip(quick, range(40), strict=False)] == held
    assert watch.now - 100.0 == pytest.approx(39 / 4.0)
