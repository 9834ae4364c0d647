"""What sensors notice on the way: numbers that jump, repeat or start again, readings that make no sense.

And a sensor that takes its time: a simulated world or a recording at so many steps a second.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput, SensorError
from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Reading

Say = Callable[[str], None]
REPORTED: Final = 5  # malformed readings told one by one; after that they are only counted
PATIENCE: Final = 100  # malformed readings in a row after which nothing good is expected any more


class Notes:
    """Counts by name, and the last number seen."""

    def __init__(self, say: Say | None = None) -> None:
        self._counts: Counter[str] = Counter()
        self._say = say or (lambda _line: None)
        self._last: int | None = None
        self._bad_in_a_row = 0

    @property
    def counts(self) -> Mapping[str, int]:
        """Return what was noticed so far."""
        return dict(self._counts)

    def count(self, name: str, line: str = "") -> None:
        """Count something, and tell it while it is new."""
        self._counts[name] += 1
        if line and self._counts[name] <= REPORTED:
            self._say(line)

    def malformed(self, where: str, error: InvalidInput) -> None:
        """Count a reading that was skipped; SensorError when there is nothing but such readings."""
        self.count("malformed", f"{where}: {error}; skipped")
        self._bad_in_a_row += 1
        if self._bad_in_a_row >= PATIENCE:
            raise SensorError(
                f"{PATIENCE} readings in a row could not be read, the last one because: {error}"
            ) from error

    def fresh(self, reading: Reading) -> bool:
        """Look at a reading's number; False for one that was delivered already.

        A number further back than the last is a sensor that counts anew (or lies): the reading is taken.
        """
        self._bad_in_a_row = 0
        last, self._last = self._last, reading.number
        if last is None or reading.restarts:
            return True
        if reading.number == last:
            self.count("repeated", f"reading {reading.number} came twice; the second is skipped")
            return False
        if reading.number < last:
            self.count("restarted", f"reading {reading.number} after {last}: the sensor counts anew")
        elif reading.number > last + 1:
            self._counts["missing"] += reading.number - last - 1
            self.count(
                "gaps",
                f"{plural(reading.number - last - 1, 'reading is', 'readings are')} missing before "
                f"{reading.number}",
            )
        return True


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
