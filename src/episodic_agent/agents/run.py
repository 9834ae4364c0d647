"""The verb `run`: an agent's sensor fills the memory step by step, and whoever watches is told what froze.

The loop is sensor -> perception -> memory; the detector stands where it does for every thread, in the
transaction that keeps the steps. The sensor is read by a thread of its own, so that a silent one keeps
nobody from committing what came, from being interrupted, or from ending in order. However a run ends, what
was read is stored and the open frame is closed (`end_of_stream`); where the process is killed, by whoever
comes next (`engine.boundary.orphans`). A sensor or a detector that fails is reported, and costs no step.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from itertools import islice
from queue import Empty, Full, Queue
from threading import Event, Thread
from typing import Any, Final, TypeAlias

from episodic_agent.agents.perception.changes import World, perceive
from episodic_agent.core.boundary.contract import Policy, Record
from episodic_agent.core.boundary.policies import STEP, check_modality, for_modality
from episodic_agent.core.boundary.steps.custom import CustomPolicy
from episodic_agent.core.ingest import Item
from episodic_agent.core.language import plural
from episodic_agent.errors import EpisodicError, InvalidInput, SensorError
from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Json, Reading, Receipt
from episodic_agent.showing import described

BATCH: Final = 256  # steps committed together when they come fast
PATIENCE: Final = 0.25  # seconds between two looks at whether to stop
NAMED: Final = 20  # refused readings that are named
AHEAD: Final = 1024  # readings a fast sensor may be ahead
SLOWEST, FASTEST = 0.001, 1_000_000.0  # steps a second
LIMIT: Final = (
    "keep",
    "disarmed",
    "error",
    "pending",
    "open",
    "skip",
)  # verdicts of a check that cut nothing
END, STEPS, INTERRUPTED, FAILED = "end_of_stream", "steps", "interrupted", "failed"

# what a reading may cost whose parts are of other kinds than they should be
IMPOSSIBLE: Final = (InvalidInput, AttributeError, TypeError, ValueError, OverflowError)

log = logging.getLogger(__name__)
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
    """How a run went. `ended` is end_of_stream, steps, interrupted or failed (`error` then says why).

    `error` also tells what failed without ending the run: a sensor that could not be closed. Of a detector
    of one's own that failed `detector_error` tells where first and why; at those steps it cut nothing.
    `refusals` name the first readings that could not be kept; `counts` has how many there were.
    """

    thread: str
    started: datetime
    steps: int = 0
    episodes: int = 0
    ended: str = END
    error: str = ""
    detector_error: str = ""
    counts: Mapping[str, int] = field(default_factory=dict)
    refusals: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        return described(
            self,
            self.thread,
            plural(self.steps, "step"),
            plural(self.episodes, "episode"),
            f"{refused} refused" if (refused := self.counts.get("refused", 0)) else "",
            self.ended,
            self.error,
        )


@dataclass(frozen=True, slots=True)
class Verbs:
    """What a run needs of the memory, for its thread.

    `read` makes an item of a step (InvalidInput where it cannot be), `keep` stores items and returns their
    receipts; `judged` returns the records of a stretch of seqs; `episodes` counts the thread's closed
    episodes, which takes the longer the more there are; `flush` closes the open frame (with what remains
    undecided), at the end of a world or of the stream, and returns how many frames it closed; `run_jobs` does
    the
    later work, titles and summaries, that waits.
    """

    read: Callable[[Step], Item]
    keep: Callable[[Sequence[Item]], Sequence[Receipt]]
    judged: Callable[[int, int], Mapping[int, Record]]
    episodes: Callable[[], int]
    flush: Callable[[bool], int]
    run_jobs: Callable[[], object]


class Faults:
    """Notes where a detector of one's own failed, and says so at the first time."""

    def __init__(self, name: str, say: Callable[[str], object]) -> None:
        self._name = name
        self._say = say
        self._seqs: set[int] = set()
        self.first = ""

    @property
    def count(self) -> int:
        """Return at how many steps it failed."""
        return len(self._seqs)

    def note(self, seq: int, why: str) -> None:
        """Note a failure; one step may fail several times, where it is tried again."""
        self._seqs.add(seq)
        if not self.first:
            self.first = f"detector {self._name} failed at step {seq}: {why}; where it fails nothing is cut"
            self._say(self.first)


def policy_of_run(
    policy: "str | Policy[Any] | None",
    own: Policy[Any] | None,
    resolve: Callable[[str], Policy[Any]],
    say: Callable[[str], object] | None,
) -> tuple[Policy[Any] | None, Faults | None]:
    """Return the policy a run names (None: the memory's `own` for steps), and what notes a detector's faults.

    Raises InvalidInput for a policy that judges messages.
    """
    if isinstance(policy, str):
        check_modality(policy, STEP)
        policy = resolve(for_modality(policy, STEP))
    elif policy is None and isinstance(own, CustomPolicy):
        policy = own
    if not isinstance(policy, CustomPolicy):
        return policy, None
    faults = Faults(policy.name, say or log.warning)
    return replace(policy, tell=faults.note), faults


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
        faults: Faults | None = None,
    ) -> None:
        """Take a `name` that no other run has: with the step's number it makes storing a step twice once.

        `faults` are those of the detector.
        """
        self._sensor = sensor
        self._verbs = verbs
        self._report = report
        self._name = name
        self._watch = watch
        self._faults = faults
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
        report, readings = self._report, _SensorReader(self._sensor, steps)
        try:
            with readings:
                self._read(readings, steps, interval)
        except BaseException:  # who watches may raise what they like: the run ends in order all the same
            self._watch = None
            with suppress(EpisodicError):
                self._end(readings.left(), interval)
            raise
        left = readings.left()
        try:
            self._end(left, interval)
        except KeyboardInterrupt:  # to store and close takes moments; a second one breaks off
            report.ended = INTERRUPTED
            self._end(left, interval)
        report.error = report.error or readings.unclosed
        report.episodes = self._verbs.episodes()
        own = {"refused": self._refused, "detector_errors": self._faults.count if self._faults else 0}
        report.counts = {**_counts(self._sensor), **{name: n for name, n in own.items() if n}}
        report.detector_error = self._faults.first if self._faults else ""
        return report

    def _read(self, readings: "_SensorReader", steps: int | None, interval: timedelta) -> None:
        report = self._report
        try:
            for reading in readings:
                self._take(reading, interval)
            report.ended = STEPS if steps is not None and report.steps >= steps else END
        except SensorError as error:
            report.ended, report.error = FAILED, str(error)
        except KeyboardInterrupt:
            report.ended = INTERRUPTED

    def _end(self, left: Iterator[Reading], interval: timedelta) -> None:
        for reading in left:
            self._take(reading, interval)
        self._commit()
        self._verbs.flush(True)

    def _take(self, reading: Reading | None, interval: timedelta) -> None:
        """Take one reading in; None means that nothing came for a while."""
        if reading is None:
            self._commit()
            self._clean_up()
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
        except IMPOSSIBLE as error:  # one impossible reading must not cost the run
            self._refused += 1
            if self._refused <= NAMED:
                self._report.refusals.append(f"reading {reading.number}: {error or type(error).__name__}")
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
            self._clean_up()
        if self._watch is not None:
            self._tell(self._watch, taken, receipts)

    def _clean_up(self) -> None:
        if self._untidy:
            self._untidy = 0
            self._verbs.run_jobs()

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
    return record is not None and record.action not in LIMIT


def _readings(sensor: Sensor) -> Iterator[Reading]:
    """Yield a sensor's readings; SensorError for anything else among them."""
    for reading in sensor:
        if not isinstance(reading, Reading):
            raise SensorError(f"{sensor.name} gave {type(reading).__name__} where a Reading belongs")
        yield reading


def _counts(sensor: Sensor) -> Mapping[str, int]:
    try:
        return dict(sensor.counts)
    except Exception:  # noqa: BLE001 (somebody else's sensor: what it counted is not worth the report)
        return {}


class _SensorReader:
    """Reads a sensor in a thread of its own; iterating yields readings, and None where none is there yet."""

    def __init__(self, sensor: Sensor, steps: int | None) -> None:
        self._sensor = sensor
        self._steps = steps
        self._queue: Queue[_Read] = Queue(AHEAD)
        self._stop = Event()
        self.unclosed = ""  # why the sensor could not be closed
        self._last: list[Reading] = []  # what was read when nobody took anything any more
        self._thread = Thread(target=self._read, name="sensor", daemon=True)

    def __enter__(self) -> "_SensorReader":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        try:
            self._sensor.close()
        except (Exception, SystemExit) as error:  # noqa: BLE001 (as in `_read`)
            self.unclosed = f"{self._sensor.name} could not be closed: {type(error).__name__}: {error}"
        self._thread.join(5)  # a sensor that does not let go is left behind: the run must end

    def left(self) -> Iterator[Reading]:
        """Yield what was read and not taken when the reading was stopped."""
        while not self._queue.empty():
            result = self._queue.get_nowait()
            if isinstance(result, Reading):
                yield result
        yield from self._last

    def __iter__(self) -> Iterator[Reading | None]:
        while True:
            if self._queue.empty():
                yield None  # nothing to wait for: what was taken is committed
            try:
                result = self._queue.get(timeout=PATIENCE)
            except Empty:
                continue
            if isinstance(result, SensorError):
                raise result
            if result is None:
                return
            yield result

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
        except (Exception, SystemExit) as error:  # noqa: BLE001 (somebody else's world: whatever it raises, the run ends in order)
            end = SensorError(f"{self._sensor.name} failed: {type(error).__name__}: {error}")
        self._hand_over(end)

    def _hand_over(self, read: _Read) -> bool:
        while not self._stop.is_set():
            with suppress(Full):
                self._queue.put(read, timeout=PATIENCE)
                return True
        return False
