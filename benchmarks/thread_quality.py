"""Threads in a crowded channel: who answers what, judged by the evidence that links conversations.

Each message of the Ubuntu IRC set goes with the best of the messages before it, or with none. Evidence
(words, cues, time, names) is that of `core.linking`; who speaks and who is addressed is added here, since a
single user's threads have neither. Weights are fitted on the training files and judged on the others.

    python -m benchmarks.thread_quality --data DIR [--train 24] [--output FILE]
"""

import argparse
import gzip
import json
import math
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.evaluation.threads import ThreadReport, score_threads
from episodic_agent.core.linking.evidence import Setting, compare
from episodic_agent.core.linking.features import Features, ThreadFeatures, features_of, thread_of

FILE = "thr_irc.jsonl.gz"
REACH = 60  # messages back, system lines left out; almost every answer lies there
PENALTY, STEPS, RATE = 1e-4, 1_500, 0.05
HALF_DAY, SLACK = 720, 30  # minutes; clocks are of twelve hours or of twenty-four
DAY = datetime(2004, 1, 1, tzinfo=UTC)
FROM_EVIDENCE = ("rare", "shared", "keyword", "same", "topics")
FROM_MESSAGE = ("says_continuation", "says_anaphora", "says_nothing", "pointing", "fresh", "asks", "fragment")

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Said:
    """One line of a channel, read once."""

    id: int
    speaker: str
    at: datetime
    features: Features
    thread: ThreadFeatures
    names: frozenset[str]
    first_name: str


@dataclass(frozen=True, slots=True)
class Choice:
    """A message with what it may answer (last: nothing), a row of numbers for each, and which are right."""

    id: int
    options: Sequence[int]
    rows: Floats
    right: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Channel:
    """One annotated file: the messages scored, their labelled links, and the choices to make."""

    split: str
    messages: Sequence[int]
    links: Sequence[tuple[int, int]]
    choices: Sequence[Choice]


def channels(path: Path, train: int) -> Iterator[Channel]:
    """Yield the development files and the first `train` training files."""
    taken = 0
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            raw = json.loads(line)
            if raw["split"] == "train":
                taken += 1
                if taken > train:
                    continue
            yield read_channel(raw)


def read_channel(raw: Mapping[str, Any]) -> Channel:
    """Read a file into choices: one for each scored message that somebody said."""
    units = raw["units"]
    nicks = {unit["speaker"].lower() for unit in units if unit.get("speaker")}
    scored = [unit["id"] for unit in units if unit["scored"]]
    inside = set(scored)
    links = [(newer, older) for newer, older in raw["links"] if newer in inside]
    truth: dict[int, set[int]] = {}
    for newer, older in links:
        truth.setdefault(newer, set()).add(older)
    before: list[Said] = []
    choices = []
    minutes = 0
    for unit in units:
        if unit["system"] or not unit.get("speaker"):
            continue
        minutes = _later(minutes, unit.get("time", ""))
        said = _said(unit, nicks, minutes)
        if unit["id"] in truth:
            choices.append(_choice(said, before[-REACH:], truth[unit["id"]]))
        before.append(said)
    return Channel(raw["split"], scored, links, choices)


def _later(minutes: int, clock: str) -> int:
    """Return the minutes since the log began; a clock that went back passed midnight (or noon)."""
    match = re.fullmatch(r"(\d\d):(\d\d)", clock)
    if match is None:
        return minutes
    now = int(match[1]) * 60 + int(match[2])
    ahead = (now - minutes) % HALF_DAY
    return minutes if ahead > HALF_DAY - SLACK else minutes + ahead  # a line or two stand out of order


def _said(unit: Mapping[str, Any], nicks: set[str], minutes: int) -> Said:
    speaker, at = unit["speaker"].lower(), DAY + timedelta(minutes=minutes)
    found = [w for w in re.findall(r"[^\s,:;!?()<>]+", unit["text"].lower()) if w in nicks and len(w) > 2]
    opening = re.match(r"\s*([^\s,:;]+)\s*[,:;]", unit["text"].lower())
    first = opening[1] if opening and opening[1] in nicks else ""
    names = frozenset(found + ([first] if first else [])) - {speaker}
    features = features_of(unit["text"], language="en")
    return Said(unit["id"], speaker, at, features, thread_of(str(unit["id"]), [(at, features)]), names, first)


def _choice(said: Said, before: Sequence[Said], truth: set[int]) -> Choice:
    options = [other.id for other in before] + [said.id]
    rows = _rows(said, before)
    right = np.array([option in truth for option in options])
    return Choice(said.id, options, rows, right)


def _rows(said: Said, before: Sequence[Said]) -> Floats:
    """Return a row of numbers for each message before, latest last, and one for "nothing"."""
    holders = Counter(word for other in before for word in other.features.words)
    newest: dict[str, int] = {}
    for place, other in enumerate(before):
        newest[other.speaker] = place
    mates = {o.speaker for o in before if said.speaker in o.names}
    mates |= {name for o in before if o.speaker == said.speaker for name in o.names}
    answered = max((n for n, o in enumerate(before) if said.speaker in o.names), default=-1)
    own = newest.get(said.speaker, -1)
    rows = []
    for place, other in enumerate(before):
        setting = Setting(newest=place == len(before) - 1, holders=holders, threads=len(before))
        evidence = compare(said.features, other.thread, said.at, setting)
        distance = len(before) - place
        minutes = (said.at - other.at).total_seconds() / 60.0
        mine, last = other.speaker == said.speaker, newest[other.speaker] == place
        names, named = other.speaker in said.names, said.speaker in other.names
        rows.append(
            [
                math.log(distance), float(distance == 1), math.log1p(minutes), float(minutes > 10.0),
                float(mine), float(mine and last), float(mine and distance == 1),
                float(mine and bool(said.names)), float(mine and said.names == other.names),
                float(mine and own > answered), float(mine and answered > own >= 0),
                float(names), float(names and last), float(names and other.speaker == said.first_name),
                float(names and named), float(named), float(named and place == answered),
                float(named and said.speaker == other.first_name),
                float(bool(said.names) and not names and not mine),
                float(bool(other.names) and not named and not mine),
                float(bool(said.names & other.names)), float(other.speaker in mates and not mine),
                float(other.speaker in mates and last and not mine), float(last and not mine),
                evidence["rare"] * len(said.features.words) ** 0.5,
                *(evidence.get(k, 0.0) for k in FROM_EVIDENCE),
                other.features.dependence.asks, other.features.dependence.asks * float(not mine),
                float(other.features.cues.nothing), math.log1p(other.features.length) / 3.0,
                *(evidence[k] / math.sqrt(distance) for k in FROM_MESSAGE), *([0.0] * _ALONE),
            ]
        )  # fmt: skip
    alone = _alone(said, before, own, answered)
    rows.append([0.0] * (len(rows[0]) - _ALONE if rows else _WIDTH - _ALONE) + alone)
    return np.array(rows)


_ALONE = 8 + len(FROM_MESSAGE)
_WIDTH = 24 + 1 + len(FROM_EVIDENCE) + 4 + len(FROM_MESSAGE) + _ALONE


def _alone(said: Said, before: Sequence[Said], own: int, answered: int) -> list[float]:
    """Return what speaks for a message that answers nothing."""
    since = len(before) - own if own >= 0 else REACH
    silent = (said.at - before[-1].at).total_seconds() / 60.0 if before else 60.0
    message = compare(said.features, said.thread, said.at)
    return [
        1.0, float(bool(said.names)), float(own < 0), math.log1p(since), float(answered > own),
        math.log1p(silent), math.log1p(said.features.length), float(bool(said.first_name)),
        *(message[k] for k in FROM_MESSAGE),
    ]  # fmt: skip


def fit(choices: Sequence[Choice]) -> tuple[Floats, Floats]:
    """Fit a conditional logit by Adam: the right options of a message share its probability."""
    kept = [choice for choice in choices if choice.right.any()]
    sizes = np.array([len(choice.options) for choice in kept])
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    owner = np.repeat(np.arange(len(kept)), sizes)
    x = np.vstack([choice.rows for choice in kept])
    scale = 1.0 / np.maximum(np.abs(x).max(axis=0), 1e-6)
    x = x * scale
    right = np.concatenate([choice.right for choice in kept])
    weights = np.zeros(x.shape[1])
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        odds = x @ weights
        odds = np.exp(odds - np.maximum.reduceat(odds, starts)[owner])
        p = odds / np.add.reduceat(odds, starts)[owner]
        share = np.where(right, odds, 0.0)
        share = share / np.add.reduceat(share, starts)[owner]
        slope = x.T @ (p - share) / len(kept) + PENALTY * weights
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights -= RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-8)
    return weights, scale


def predict(channel: Channel, weights: Floats, scale: Floats) -> list[tuple[int, int]]:
    """Return each message's best link; lines of the system answer nothing."""
    chosen = {c.id: c.options[int(np.argmax(c.rows * scale @ weights))] for c in channel.choices}
    labelled = {newer for newer, _ in channel.links}
    return [(message, chosen.get(message, message)) for message in channel.messages if message in labelled]


def by_names(channel: Channel) -> list[tuple[int, int]]:
    """Return links by names alone: the last line of who is addressed, else one's own last line."""
    chosen: dict[int, int] = {}
    for choice in channel.choices:
        addressed = np.flatnonzero(choice.rows[:-1, 12])
        mine = np.flatnonzero(choice.rows[:-1, 5])
        place = addressed[-1] if len(addressed) else (mine[-1] if len(mine) else -1)
        chosen[choice.id] = choice.options[int(place)]
    labelled = {newer for newer, _ in channel.links}
    return [(message, chosen.get(message, message)) for message in channel.messages if message in labelled]


def measure(path: Path, train: int) -> dict[str, Any]:
    """Return the figures of the development files, by the evidence and by names alone."""
    began = time.process_time()
    every = list(channels(path, train))
    learnt = [choice for channel in every if channel.split == "train" for choice in channel.choices]
    judged = [channel for channel in every if channel.split == "dev"]
    weights, scale = fit(learnt)
    found = {"by evidence": _report(judged, [predict(c, weights, scale) for c in judged]),
             "by names": _report(judged, [by_names(c) for c in judged])}  # fmt: skip
    spent = time.process_time() - began
    return {name: report.as_json() for name, report in found.items()} | {
        "train_files": sum(channel.split == "train" for channel in every),
        "train_messages": len(learnt),
        "seconds": round(spent, 1),
    }


def _report(judged: Sequence[Channel], predicted: Sequence[Sequence[tuple[int, int]]]) -> ThreadReport:
    return score_threads([(c.messages, c.links, p) for c, p in zip(judged, predicted, strict=True)])


def main() -> None:
    """Print the figures as JSON."""
    here = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=here.parent / "shared" / "data")
    parser.add_argument("--train", type=int, default=24, help="training files to learn from")
    parser.add_argument("--output", type=Path, help="where to write the figures")
    options = parser.parse_args()
    text = json.dumps(measure(options.data / FILE, options.train), indent=1)
    print(text)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
