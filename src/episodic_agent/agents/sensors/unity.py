"""A Unity scene over WebSocket: connect, read frames, and come back after a break.

The scene sends one JSON frame a message (`unity_frames`). A break is bridged by reconnecting with
exponential backoff; what the scene sent meanwhile is a gap and counted. A scene that takes connections and
drops or closes them before it sent anything stays away like one that takes none. A scene that sent something
and closes the connection in order has ended.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from threading import Event
from typing import Final

from websockets.exceptions import ConnectionClosed, ConnectionClosedOK, WebSocketException
from websockets.sync.client import ClientConnection, connect

from episodic_agent.agents.sensors.counting import Notes, Say
from episodic_agent.agents.sensors.unity_frames import read_frame
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.schemas import Reading

DEFAULT_URL: Final = "ws://localhost:8765"
FIRST_WAIT, LONGEST_WAIT = 0.2, 10.0  # seconds between attempts, doubled each time
ATTEMPTS: Final = 8  # in a row, about 25 seconds, before the scene counts as gone
OPENING: Final = 5.0  # seconds a connection may take
LARGEST: Final = 16 * 1024 * 1024  # bytes of one frame


class UnitySensor:
    """The client of one scene."""

    def __init__(
        self, url: str = DEFAULT_URL, say: Say | None = None, *, first_wait: float = FIRST_WAIT
    ) -> None:
        self._url = url
        self._say = say or (lambda _line: None)
        self._notes = Notes(say)
        self._first_wait = first_wait
        self._attempts = 0  # in a row, since something was heard
        self._stop = Event()
        self._held = ExitStack()  # the connection, to be hung up in order
        self._connection: ClientConnection | None = self._open()  # a scene that is not there is told at once

    @property
    def name(self) -> str:
        """Return the scene's address."""
        return f"unity {self._url}"

    @property
    def counts(self) -> Mapping[str, int]:
        """Return what was noticed so far."""
        return self._notes.counts

    def __iter__(self) -> Iterator[Reading]:
        """Yield readings until the scene ends, `close` is called, or it stays away."""
        while not self._stop.is_set():
            connection = self._connection or self._reopened()
            if connection is None:
                return
            why, is_known = "it closed the connection before it sent anything", False
            try:
                with suppress(ConnectionClosedOK):
                    for message in connection:
                        self._attempts, is_known = 0, True
                        yield from self._read(message)
                if is_known:
                    return  # closed in order
            except (ConnectionClosed, WebSocketException, OSError) as error:
                why = str(error)
            if self._stop.is_set():
                return
            self._notes.count("disconnected", f"the scene at {self._url} went away: {why}")
            self._hang_up()

    def close(self) -> None:
        """Hang up; a reader that waits for a frame stops."""
        self._stop.set()
        self._hang_up()

    def _hang_up(self) -> None:
        self._connection = None
        with suppress(WebSocketException, OSError):
            self._held.close()

    def _read(self, message: str | bytes) -> Iterator[Reading]:
        try:
            reading = read_frame(_parsed(message))
        except InvalidInput as error:
            self._notes.malformed(f"a frame of {self._url}", error)
            return
        if self._notes.fresh(reading):
            yield reading

    def _open(self) -> ClientConnection:
        try:
            return self._held.enter_context(connect(self._url, open_timeout=OPENING, max_size=LARGEST))
        except (OSError, WebSocketException, ValueError) as error:
            raise SensorError(
                f"no scene answers at {self._url} ({error}); start it, or name another: --sensor unity:URL"
            ) from error

    def _reopened(self) -> ClientConnection | None:
        """Connect again with growing waits; None when asked to stop, SensorError when it stays away."""
        while self._attempts < ATTEMPTS:
            wait = min(self._first_wait * 2**self._attempts, LONGEST_WAIT)
            self._attempts += 1
            if self._stop.wait(wait):
                return None
            with suppress(SensorError):
                self._connection = self._open()
                self._notes.count("reconnected", f"connected again to {self._url}")
                return self._connection
        raise SensorError(
            f"the scene at {self._url} went away, and in {ATTEMPTS} attempts nothing was heard of it; "
            "see whether it runs"
        )


def _parsed(message: str | bytes) -> object:
    try:
        return json.loads(message)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"no JSON ({error})") from error
