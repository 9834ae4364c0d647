"""Recordings and standard input: every line that can be read is, every other is told and skipped."""

import json
from pathlib import Path

import pytest

from episodic_agent.agents.perception.records import reading_as_json
from episodic_agent.agents.sensors.counting import PATIENCE
from episodic_agent.agents.sensors.lines import LinesSensor, RecordedSensor, ReplaySensor
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.schemas import Entity, Reading

READINGS = [Reading(n, place="hall", entities=(Entity("m", "mug", state=f"s{n}"),)) for n in range(5)]


def line(number: int) -> str:
    return json.dumps({"number": number, "place": "hall"})


@pytest.mark.parametrize("name", ["run.jsonl", "run.jsonl.gz"])
def test_what_is_recorded_is_replayed_as_it_was(tmp_path: Path, name: str) -> None:
    recorded = RecordedSensor(
        LinesSensor("live", [json.dumps(reading_as_json(r)) for r in READINGS]), tmp_path / name
    )
    assert list(recorded) == READINGS
    recorded.close()
    assert list(ReplaySensor(tmp_path / name)) == READINGS


def test_lines_that_cannot_be_read_are_told_and_the_rest_is_read() -> None:
    texts: list[str] = []
    sensor = LinesSensor("input", [line(0), "{", "", "[]", '{"place": 1}', line(1)], texts.append)
    assert [r.number for r in sensor] == [0, 1]
    assert sensor.counts == {"malformed": 3}
    assert [t.split(":")[0] for t in texts] == ["input line 2", "input line 4", "input line 5"]


def test_a_stream_of_nothing_but_rubbish_ends_with_an_error_that_says_why() -> None:
    with pytest.raises(SensorError, match=f"{PATIENCE} readings in a row could not be read.*no JSON"):
        list(LinesSensor("input", ["nonsense"] * (PATIENCE + 1)))


def test_numbers_that_jump_repeat_or_start_again_are_noticed() -> None:
    sensor = LinesSensor("input", [line(n) for n in (0, 1, 1, 5, 6, 2, 3)])
    assert [r.number for r in sensor] == [0, 1, 5, 6, 2, 3]
    assert sensor.counts == {"repeated": 1, "gaps": 1, "missing": 3, "restarted": 1}


def test_frames_of_a_scene_may_stand_in_a_recording_too() -> None:
    frame = {"protocol_version": "1.0", "frame_id": 4, "timestamp": 1.7e9, "current_room_label": "Kitchen"}
    assert [r.place for r in LinesSensor("input", [json.dumps(frame)])] == ["Kitchen"]


def test_a_recording_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SensorError, match=r"there is no recording .*nowhere\.jsonl"):
        ReplaySensor(tmp_path / "nowhere.jsonl")


def test_a_recording_that_is_cut_off_gives_what_it_has(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl.gz"
    recorder = RecordedSensor(
        LinesSensor("live", [json.dumps({"number": n, "text": str(n) * 2000}) for n in range(50)]), path
    )
    list(recorder)
    recorder.close()
    cut = tmp_path / "cut.jsonl.gz"
    cut.write_bytes(path.read_bytes()[:-20])
    seen: list[Reading] = []
    with pytest.raises(SensorError, match="cannot be read any further"):
        seen.extend(ReplaySensor(cut))
    assert [reading.number for reading in seen] == list(range(len(seen)))


def test_a_recording_where_none_can_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot record to"):
        RecordedSensor(LinesSensor("live", []), tmp_path / "nowhere" / "run.jsonl")
