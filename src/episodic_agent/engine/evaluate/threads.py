"""Score who answers what in a labelled channel, by the evidence that links a user's threads."""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.evaluation.threads import ThreadReport, score_threads
from episodic_agent.core.language.windows import windows
from episodic_agent.core.links.disentanglement import Channel, Line, LineChoice, chosen
from episodic_agent.core.links.policies import LinkPolicy
from episodic_agent.core.links.verdict import LinkVerdict
from episodic_agent.engine.evaluate.cases import rows, unit_time
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Json

BEGINNING = datetime(2000, 1, 1, tzinfo=UTC)
HELD_OUT, TRAINING, EVERY = "dev", "train", "all"  # parts of a file
HALF_DAY, SLACK = 720, 30  # minutes; clocks are of twelve hours or of twenty-four
_CLOCK = re.compile(r"(\d\d):(\d\d)")

Verdicts = Callable[[LineChoice, LinkPolicy], LinkVerdict]
Links = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class LabelledChannel:
    """A channel: its lines but those of the system, which messages count, and what they answer.

    `links` are (newer, older) of the messages that count; one that begins something answers itself.
    """

    id: str
    split: str
    lines: Sequence[Line]
    scored: Sequence[str]
    links: Links


@dataclass(frozen=True, slots=True)
class ThreadsResult:
    """The scores of one file, and what a line cost (embedding included), in milliseconds."""

    report: ThreadReport
    ms_per_line: float
    predicted: Sequence[Links]

    def as_json(self) -> dict[str, Json]:
        """Return the scores as plain JSON."""
        return {**self.report.as_json(), "ms_per_line": round(self.ms_per_line, 4)}


def evaluate_file(
    path: Path,
    policy: LinkPolicy,
    embedder: Embedder | None,
    *,
    split: str | None = None,
    calibration: Calibration | None = None,
) -> ThreadsResult:
    """Score `policy` on one file: each line is judged by what was said before it.

    `split` chooses a part of a file that has parts (`dev`, `train`, `all`); by default what is not for
    training. Raises InvalidInput where nothing is left.
    """
    labelled = list(channels(path, split))
    if not labelled:
        raise InvalidInput(f"{path}: no channel of the part {split or HELD_OUT!r}; choose --split all")
    started = time.perf_counter()
    predicted = [links(c, policy, embedder, calibration=calibration) for c in labelled]
    spent = time.perf_counter() - started
    report = score_threads([(c.scored, c.links, p) for c, p in zip(labelled, predicted, strict=True)])
    return ThreadsResult(report, 1000 * spent / max(sum(len(c.lines) for c in labelled), 1), predicted)


def links(
    channel: LabelledChannel,
    policy: LinkPolicy,
    embedder: Embedder | None,
    *,
    calibration: Calibration | None = None,
    verdict: Verdicts = chosen,
) -> Links:
    """Return what each scored message answers, itself where it answers nothing."""
    verdicts = {
        choice.line.id: verdict(choice, policy)
        for choice in choices(channel, policy, embedder, calibration=calibration)
    }
    linked = {message: v.thread_id for message, v in verdicts.items() if v.link}
    return [(message, linked.get(message, message)) for message in channel.scored]


def choices(
    channel: LabelledChannel,
    policy: LinkPolicy,
    embedder: Embedder | None,
    *,
    calibration: Calibration | None = None,
) -> Iterator[LineChoice]:
    """Yield what each scored line may answer, hearing the others on the way."""
    disentanglement = Channel(policy, calibration)
    scored = set(channel.scored)
    for line in _with_vectors(channel.lines, embedder):
        if line.id in scored:
            yield disentanglement.choice(line)
        else:
            disentanglement.hear(line)


def _with_vectors(lines: Sequence[Line], embedder: Embedder | None) -> Sequence[Line]:
    """Embed lines by the first window of each text, as ingest does for segmentation."""
    if embedder is None:
        return lines
    vectors = embedder.embed([windows(line.text)[0] for line in lines])
    return [replace(line, vector=vector) for line, vector in zip(lines, vectors, strict=True)]


def channels(path: Path, split: str | None = None) -> Iterator[LabelledChannel]:
    """Yield the labelled channels of a `thr_*` file, of one part or (by default) those not for training."""
    for n, row in enumerate(rows(path)):
        part = str(row.get("split", ""))
        is_known = part != TRAINING if split is None else split in (EVERY, part)
        if is_known:
            yield _channel(row, path, n, part)


def _channel(row: Mapping[str, Any], path: Path, n: int, part: str) -> LabelledChannel:
    units, pairs = row.get("units"), row.get("links")
    if not isinstance(units, list) or not isinstance(pairs, list):
        raise InvalidInput(f"{path}: channel {n + 1} needs `units` and `links`")
    if not all(isinstance(u, Mapping) and "id" in u for u in units):
        raise InvalidInput(f"{path}: channel {n + 1} needs units that are objects with an id")
    if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
        raise InvalidInput(f"{path}: channel {n + 1} needs links that are pairs [newer, older]")
    scored = [str(u["id"]) for u in units if u.get("scored", True)]
    inside = set(scored)
    labelled = [(str(newer), str(older)) for newer, older in pairs if str(newer) in inside]
    return LabelledChannel(str(row.get("id", n)), part, list(_lines(units)), scored, labelled)


def _lines(units: Sequence[Mapping[str, Any]]) -> Iterator[Line]:
    at = None
    for unit in units:
        if unit.get("system") or not unit.get("speaker"):
            continue  # who comes and goes says nothing
        at = _time(unit.get("time"), at)
        yield Line(str(unit["id"]), str(unit["speaker"]), str(unit.get("text", "")), at)


def _time(value: object, before: datetime | None) -> datetime:
    """Return a line's time; a clock without a date goes on from the line before.

    >>> _time("00:10", datetime(2000, 1, 1, 23, 50, tzinfo=UTC)).isoformat()
    '2000-01-02T00:10:00+00:00'
    """
    clock = _CLOCK.fullmatch(str(value))
    if clock is None:
        return unit_time(value) or before or BEGINNING
    minutes = int(clock[1]) * 60 + int(clock[2])
    if before is None:
        return BEGINNING + timedelta(minutes=minutes)
    ahead = (minutes - before.hour * 60 - before.minute) % HALF_DAY
    # a line or two stand out of order; any other clock that went back passed noon or midnight
    return before if ahead > HALF_DAY - SLACK else before + timedelta(minutes=ahead)
