"""A sensor that takes its time: a simulated world or a recording at so many steps a second."""

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Reading

NAP: Final = 0.2  # seconds asleep before looking whether to stop


class PacedSensor:
    """Another sensor, asked for its next reading no sooner than 1/fps seconds after the one before.

    What comes late is not made up for: two readings never lie closer. `clock` (seconds, any zero) and
    `sleep` are given by whoever knows the time.
    """

    def __init__(
        self, inner: Sensor, fps: float, *, clock: Callable[[], float], sleep: Callable[[float], object]
    ) -> None:
        self._inner = inner
        self._apart = 1 / fps
        self._clock = clock
        self._sleep = sleep
        self._closed = False

    @property
    def name(self) -> str:
        """Return the inner sensor's name."""
        return self._inner.name

    @property
    def counts(self) -> Mapping[str, int]:
        """Return what the inner sensor noticed."""
        return self._inner.counts

    def __iter__(self) -> Iterator[Reading]:
        """Yield the inner sensor's readings, each when its time has come."""
        due = self._clock()
        readings = iter(self._inner)
        while self._waited(due):
            due = max(due, self._clock()) + self._apart
            reading = next(readings, None)
            if reading is None:
                return
            yield reading

    def _waited(self, due: float) -> bool:
        """Sleep until a moment; False when somebody closed the sensor meanwhile."""
        while not self._closed and (left := due - self._clock()) > 0:
            self._sleep(min(left, NAP))
        return not self._closed

    def close(self) -> None:
        """Stop before the next reading and close the inner sensor."""
        self._closed = True
        self._inner.close()
