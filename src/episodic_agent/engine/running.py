"""The verb `run`: an agent's sensor fills the memory step by step, and whoever watches is told what froze.

The loop is sensor -> perception -> memory; the detector stands where it does for every thread, in the
transaction that keeps the steps. The sensor is read by a thread of its own, so that a silent one keeps
nobody from committing what came, from being interrupted, or from ending in order. However a run ends, what
was read is stored and the open frame is closed (`end_of_stream`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Final, TypeAlias

from episodic_agent.core.boundary.contract import Record
from episodic_agent.core.intake import Item
from episodic_agent.core.interfaces import Sensor
from episodic_agent.core.perception import World, perceive
from episodic_agent.errors import EpisodicError, InvalidInput, SensorError
from episodic_agent.schemas import Json, Reading, Receipt

BATCH: Final = 256  # steps committed together when they come fast
PATIENCE: Final = 0.25  # seconds between two looks at whether to stop
AHEAD: Final = 1024  # readings a fast sensor may be ahead
SLOWEST, FASTEST = 0.001, 1_000_000.0  # steps a second
KEPT: Final = ("keep", "disarmed", "error", "pending", "open", "skip")  # verdicts of a check that cut nothing
END, STEPS, INTERRUPTED, FAILED = "end_of_stream", "steps", "interrupted", "failed"

# what a reading may cost whose parts are of other kinds than they should be
IMPOSSIBLE: Final = (InvalidInput, AttributeError, TypeError, ValueError, OverflowError)

Step: TypeAlias = Mapping[str, Json]
_Read: TypeAlias = "Reading | SensorError | None"


@dataclass(frozen=True, slots=True)
class Seen:
    """What became of one step: the line a run prints for it. `episode` counts those closed before it."""

    number: int
    place: str | None
    confidence: float
    entities: int
    events: int
    episode: int
    freezes: bool
    record: Record | None


@dataclass(slots=True)
class RunReport:
    """How a run went. `ended` is end_of_stream, steps, interrupted or failed (`error` then says why)."""

    thread: str
    started: datetime
    steps: int = 0
    episodes: int = 0
    ended: str = END
    error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verbs:
    """What a run needs of the memory, for its thread.

    `read` makes an item of a step (InvalidInput where it cannot be), `keep` stores items and returns their
    receipts; `judged` returns the records of a stretch of seqs; `episodes` counts the thread's closed
    episodes, which takes the longer the more there are; `flush` closes the open frame (with what remains
    undecided), as manual or at the end of the stream, and returns how many frames it closed; `tidy` does the
    later work, titles and summaries, that waits.
    """

    read: Callable[[Step], Item]
    keep: Callable[[Sequence[Item]], Sequence[Receipt]]
    judged: Callable[[int, int], Mapping[int, Record]]
    episodes: Callable[[], int]
    flush: Callable[[bool], int]
    tidy: Callable[[], object]


class AgentRun:
    """One run: a sensor, a thread, and the steps between them."""

    def __init__(
        self,
        sensor: Sensor,
        verbs: Verbs,
        report: RunReport,
        *,
        name: str,
        watch: Callable[[Seen], object] | None = None,
    ) -> None:
        """Take a `name` that no other run has: with the step's number it makes storing a step twice once."""
        self._sensor = sensor
        self._verbs = verbs
        self._report = report
        self._name = name
        self._watch = watch
        self._world = World()
        self._waiting: list[tuple[Reading, Item]] = []
        self._refused = 0
        self._untidy = 0  # steps stored since the later work was done
        self._closed = verbs.episodes()  # from here on counted along: no commit costs more than the first

    def go(self, *, steps: int | None, interval: timedelta) -> RunReport:
        """Run until the stream ends, `steps` were taken, the sensor fails or somebody interrupts.

        A reading without a time is placed `interval` after the one before it. Errors of the store are
        raised; what the sensor does wrong ends in the report.
        """
        report = self._report
        with _Reader(self._sensor, steps) as readings:
            try:
                for reading in readings:
                    self._take(reading, interval)
                report.ended = STEPS if steps is not None and report.steps >= steps else END
            except SensorError as error:
                report.ended, report.error = FAILED, str(error)
            except KeyboardInterrupt:
                report.ended = INTERRUPTED
        left = readings.left()
        try:
            self._end(left, interval)
        except KeyboardInterrupt:  # to store and close takes moments; a second one breaks off
            report.ended = INTERRUPTED
            self._end(left, interval)
        report.episodes = self._verbs.episodes()
        report.counts = {**self._sensor.counts, **({"refused": self._refused} if self._refused else {})}
        return report

    def _end(self, left: Iterator[Reading], interval: timedelta) -> None:
        for reading in left:
            self._take(reading, interval)
        self._commit()
        self._verbs.flush(True)

    def _take(self, reading: Reading | None, interval: timedelta) -> None:
        """Take one reading in; None means that nothing came for a while."""
        if reading is None:
            self._commit()
            self._tidy()
            return
        if reading.restarts and self._report.steps:
            self._commit()
            self._closed += self._verbs.flush(False)  # a new world: what came before is over
        try:
            world, step = perceive(self._world, reading)
            if reading.at is None:
                step["at"] = (self._report.started + self._report.steps * interval).isoformat()
            step["id"] = f"{self._name}:{self._report.steps}"
            item = self._verbs.read(step)
        except IMPOSSIBLE:  # one impossible reading must not cost the run
            self._refused += 1
            return
        self._world = world
        self._report.steps += 1
        self._waiting.append((reading, item))
        if len(self._waiting) >= BATCH:
            self._commit()

    def _commit(self) -> None:
        """Store the steps that wait and tell what became of each."""
        taken = list(self._waiting)
        if not taken:
            return
        receipts = self._verbs.keep([item for _, item in taken])
        self._waiting = []  # only now: who is interrupted while storing stores them again, once
        self._untidy += len(taken)
        if self._untidy >= BATCH:  # a sensor in no hurry leaves the time for it between its readings
            self._tidy()
        if self._watch is not None:
            self._tell(self._watch, taken, receipts)

    def _tidy(self) -> None:
        if self._untidy:
            self._untidy = 0
            self._verbs.tidy()

    def _tell(
        self,
        watch: Callable[[Seen], object],
        taken: Sequence[tuple[Reading, Item]],
        receipts: Sequence[Receipt],
    ) -> None:
        records = self._verbs.judged(receipts[0].seq, receipts[-1].seq)
        for (reading, item), receipt in zip(taken, receipts, strict=True):
            record = records.get(receipt.seq)
            before, freezes = self._closed, _froze(record)
            self._closed += freezes
            watch(
                Seen(
                    number=receipt.seq,
                    place=reading.place,
                    confidence=item.location_confidence or 0.0,
                    entities=sum(entity.visible for entity in reading.entities),
                    events=len(item.events),
                    episode=before,
                    freezes=freezes,
                    record=record,
                )
            )


def interval_of(fps: float) -> timedelta:
    """Return how far apart readings are placed that bring no time; InvalidInput for an impossible pace.

    >>> interval_of(4.0)
    datetime.timedelta(microseconds=250000)
    """
    if not SLOWEST <= fps <= FASTEST:  # not a number, too, is none
        raise InvalidInput(f"fps must lie between {SLOWEST:g} and {FASTEST:,.0f} steps a second, not {fps:g}")
    return timedelta(seconds=1 / fps)


def _froze(record: Record | None) -> bool:
    return record is not None and record.action not in KEPT


def _readings(sensor: Sensor) -> Iterator[Reading]:
    """Yield a sensor's readings; SensorError for anything else among them."""
    for reading in sensor:
        if not isinstance(reading, Reading):
            raise SensorError(f"{sensor.name} gave {type(reading).__name__} where a Reading belongs")
        yield reading


class _Reader:
    """Reads a sensor in a thread of its own; iterating yields readings, and None where none is there yet."""

    def __init__(self, sensor: Sensor, steps: int | None) -> None:
        self._sensor = sensor
        self._steps = steps
        self._queue: Queue[_Read] = Queue(AHEAD)
        self._stop = Event()
        self._last: list[Reading] = []  # what was read when nobody took anything any more
        self._thread = Thread(target=self._read, name="sensor", daemon=True)

    def __enter__(self) -> "_Reader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._sensor.close()
        self._thread.join(5)  # a sensor that does not let go is left behind: the run must end

    def left(self) -> Iterator[Reading]:
        """Yield what was read and not taken when the reading was stopped."""
        while not self._queue.empty():
            found = self._queue.get_nowait()
            if isinstance(found, Reading):
                yield found
        yield from self._last

    def __iter__(self) -> Iterator[Reading | None]:
        while True:
            if self._queue.empty():
                yield None  # nothing to wait for: what was taken is committed
            try:
                found = self._queue.get(timeout=PATIENCE)
            except Empty:
                continue
            if isinstance(found, SensorError):
                raise found
            if found is None:
                return
            yield found

    def _read(self) -> None:
        end: _Read = None
        try:
            for reading in islice(_readings(self._sensor), self._steps):
                if not self._hand_over(reading):
                    self._last.append(reading)
                    return
        except SensorError as error:
            end = error
        except EpisodicError as error:
            end = SensorError(str(error))
        except Exception as error:  # noqa: BLE001 (somebody else's world: whatever it raises, the run ends in order)
            end = SensorError(f"{self._sensor.name} failed: {type(error).__name__}: {error}")
        self._hand_over(end)

    def _hand_over(self, read: _Read) -> bool:
        while not self._stop.is_set():
            with suppress(Full):
                self._queue.put(read, timeout=PATIENCE)
                return True
        return False
