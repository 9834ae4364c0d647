"""A Unity scene: frames as its plugin sends them, over a real WebSocket server that misbehaves."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import ServerConnection, serve

from episodic_agent.agents.sensors.counting import PATIENCE
from episodic_agent.agents.sensors.unity import UnitySensor
from episodic_agent.agents.sensors.unity_frames import read_frame
from episodic_agent.errors import InvalidInput, SensorError

FRAME = {
    "protocol_version": "1.2",
    "frame_id": 12,
    "timestamp": "2026-03-01T09:00:00Z",
    "camera": {"position": [0, 1, 2]},
    "current_room_guid": "room-1",
    "current_room_label": "Kitchen",
    "entities": [
        {"guid": "e1", "label": "Mug", "position": [1, 2, 3], "distance": 1.5, "is_visible": True},
        {"guid": "e2", "category": "door", "interactable_type": "door", "interactable_state": "open", "visible": False},
        {"label": "nameless"},
    ],
    "state_changes": [
        {"entity_guid": "e2", "change_type": "opened", "old_value": "closed", "new_value": "open", "timestamp": 1.7e9}
    ],
}  # fmt: skip

Play = Callable[[ServerConnection], None]


def frame(number: int, **fields: object) -> str:
    return json.dumps({"protocol_version": "1.0", "frame_id": number, "timestamp": 1.7e9 + number, **fields})


@contextmanager
def scene(*plays: Play) -> Iterator[str]:
    """A scene that plays one act for each connection; the last act is repeated."""
    acts = list(plays)

    def handle(connection: ServerConnection) -> None:
        act = acts.pop(0) if len(acts) > 1 else acts[0]
        try:
            act(connection)
        except ConnectionClosed:
            return

    with serve(handle, "127.0.0.1", 0) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()


def say(*messages: str) -> Play:
    def play(connection: ServerConnection) -> None:
        for message in messages:
            connection.send(message)

    return play


def break_off(*messages: str) -> Play:
    def play(connection: ServerConnection) -> None:
        say(*messages)(connection)
        connection.socket.close()  # no closing handshake: the scene crashed

    return play


def test_a_frame_is_read_with_everything_it_says() -> None:
    reading = read_frame(FRAME)
    assert (reading.number, reading.place, reading.confidence) == (12, "Kitchen", 1.0)
    assert reading.at is not None
    assert reading.at.isoformat() == "2026-03-01T09:00:00+00:00"
    assert [(e.id, e.label, e.state, e.visible, e.distance) for e in reading.entities] == [
        ("e1", "Mug", "", True, 1.5),
        ("e2", "door", "open", False, None),
    ]
    (change,) = reading.changes
    assert (change["type"], change["entity"], change["change"], change["old"], change["new"]) == (
        "state_change", "door", "opened", "closed", "open",
    )  # fmt: skip
    assert reading.extras["room_guid"] == "room-1"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"protocol_version": None}, "the frame has no protocol_version"),
        ({"frame_id": None, "timestamp": None}, "the frame has no frame_id, timestamp"),
        ({"frame_id": "x"}, "frame_id must be a whole number"),
        ({"frame_id": 1.5}, "frame_id must be a whole number"),
        ({"timestamp": "soon"}, "cannot read the time"),
        ({"timestamp": float("nan")}, "cannot read the time"),
        ({"entities": "none"}, "entities must be a list"),
        ({"protocol_version": "2.0"}, "the scene speaks protocol 2.0, understood is 1.x"),
    ],
)
def test_a_frame_that_cannot_be_read_says_why(changed: dict[str, object], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_frame({**FRAME, **changed})


def test_a_frame_without_a_room_has_no_place_and_nothing_sure() -> None:
    reading = read_frame(
        {"protocol_version": 1, "frame_id": 1, "timestamp": 1.7e9, "current_room_guid": None}
    )
    assert (reading.place, reading.confidence, reading.entities) == (None, 0.0, ())


def test_distances_that_are_no_numbers_are_left_out() -> None:
    odd = [
        {"guid": "a", "distance": float("nan")},
        {"guid": "b", "distance": "far"},
        {"guid": "c", "distance": True},
    ]
    assert [e.distance for e in read_frame({**FRAME, "entities": odd}).entities] == [None, None, None]


def test_a_scene_is_read_until_it_ends() -> None:
    with scene(say(*[frame(n) for n in range(5)])) as url:
        sensor = UnitySensor(url)
        assert [r.number for r in sensor] == [0, 1, 2, 3, 4]
        assert sensor.counts == {}
        sensor.close()


def test_a_scene_that_breaks_off_is_joined_again_and_the_gap_counted() -> None:
    with scene(break_off(frame(0), frame(1)), say(frame(5), frame(6))) as url:
        texts: list[str] = []
        sensor = UnitySensor(url, texts.append, first_wait=0.01)
        assert [r.number for r in sensor] == [0, 1, 5, 6]
        assert sensor.counts == {"disconnected": 1, "reconnected": 1, "gaps": 1, "missing": 3}
        assert "3 readings are missing before 5" in texts


def test_a_scene_that_stays_away_is_an_error_after_what_it_told() -> None:
    with scene(break_off(frame(0))) as url:
        readings = iter(UnitySensor(url, first_wait=0.001))
        assert next(readings).number == 0
    with pytest.raises(SensorError, match="went away, and in 8 attempts"):  # the server is gone now
        next(readings)


@pytest.mark.parametrize("ending", [break_off(), say()], ids=["broken", "closed in order"])
def test_a_scene_that_accepts_and_drops_is_given_up_after_growing_waits(ending: Play) -> None:
    with scene(ending) as url:
        sensor = UnitySensor(url, first_wait=0.001)
        with pytest.raises(SensorError, match="in 8 attempts nothing was heard of it; see whether it runs"):
            list(sensor)
        assert sensor.counts["disconnected"] == 9
        sensor.close()


def test_a_scene_that_closes_before_its_first_frame_is_joined_again() -> None:
    with scene(say(), say(frame(0))) as url:
        sensor = UnitySensor(url, first_wait=0.001)
        assert [r.number for r in sensor] == [0]
        assert sensor.counts == {"disconnected": 1, "reconnected": 1}


def test_frames_that_cannot_be_read_are_skipped_and_counted() -> None:
    with scene(say(frame(0), "no json", frame(1, entities=3), "[]", frame(2), frame(2))) as url:
        sensor = UnitySensor(url)
        assert [r.number for r in sensor] == [0, 2]
        assert sensor.counts == {"malformed": 3, "gaps": 1, "missing": 1, "repeated": 1}


def test_a_scene_of_another_protocol_is_named_as_the_reason() -> None:
    strange = say(*[frame(n, protocol_version="2.0") for n in range(PATIENCE + 1)])
    with scene(strange) as url, pytest.raises(SensorError, match=r"the scene speaks protocol 2\.0"):
        list(UnitySensor(url))


def test_where_no_scene_is_the_remedy_is_named() -> None:
    with pytest.raises(SensorError, match=r"no scene answers at ws://127\.0\.0\.1:9 .*--sensor unity:URL"):
        UnitySensor("ws://127.0.0.1:9")


def test_hanging_up_stops_a_reader_that_waits() -> None:
    def wait_for_ever(connection: ServerConnection) -> None:
        connection.send(frame(0))
        connection.recv()

    with scene(wait_for_ever) as url:
        sensor = UnitySensor(url)
        seen: list[int] = []
        reader = Thread(target=lambda: seen.extend(r.number for r in sensor))
        reader.start()
        sensor.close()
        reader.join(10)
        assert not reader.is_alive()
