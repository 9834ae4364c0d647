"""What sensors notice on the way: numbers that jump, repeat or start again, readings that make no sense."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from episodic_agent.core.language import plural
from episodic_agent.errors import InvalidInput, SensorError
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
