"""Who answers what where many talk at once: the linking evidence, and who speaks and who is addressed.

Every line of a channel is a thread of one message; a new line goes with the best of its candidates or begins
something of its own. Words, cues, vectors and time are judged by a linking policy, as they are for a user's
threads. Two things a single user's threads lack are added: whose line it is, and whom it calls by name.
"""

import math
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from episodic_agent.core.calibration import Calibration
from episodic_agent.core.links.candidates import MOST_ACTIVE, MOST_FOUND, ActivePeriod, candidates
from episodic_agent.core.links.evidence import LinkEvidence, judge
from episodic_agent.core.links.features import Features, ThreadFeatures, cosine, thread_of
from episodic_agent.core.links.policies import LinkPolicy
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.links.verdict import LinkVerdict, decide
from episodic_agent.data import numbers
from episodic_agent.schemas import Vector

REACH: Final = 100  # lines back; hardly an answer comes later
SHORTEST_NAME: Final = 3  # letters; shorter nicks are words too often
_WORD: Final = re.compile(r"[^\s,:;!?()<>]+")
_OPENING: Final = re.compile(r"\s*([^\s,:;]+)\s*[,:;]")
_LIMIT: Final = 1e-6

Floats = NDArray[np.float64]

OF_LINE: Final = (
    "odds", "lead", "best", "log_distance", "next_to", "log_minutes", "own", "own_last", "own_next",
    "own_though_named", "own_same_names", "own_since_answered", "answered_since_own", "called", "called_last",
    "called_first", "called_back", "calls_me", "calls_me_last", "calls_me_first", "calls_others",
    "said_to_others", "same_called", "mate", "mate_last", "last_of_other", "asks", "asks_other", "nothing",
    "length", "rare", "keyword", "near", "own_continuing", "next_pointing",
)  # fmt: skip
OF_NONE: Final = (
    "none", "none_named", "none_new", "none_log_since", "none_answered", "none_silence", "none_length",
    "none_fresh", "none_asks", "none_continuing", "none_pointing", "none_nothing", "none_best",
)  # fmt: skip
INPUTS: Final = (*OF_LINE, *OF_NONE)


@dataclass(frozen=True, slots=True)
class Line:
    """What somebody said in a channel; `vector` has length 1, or is None where there is no embedder."""

    id: str
    speaker: str
    text: str
    at: datetime
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class ReadLine:
    """A line read once: its evidence, and whom it names (`first`: whom it opens with, or "")."""

    line: Line
    speaker: str
    features: Features
    thread: ThreadFeatures
    names: frozenset[str]
    first: str


@dataclass(frozen=True, slots=True)
class LineChoice:
    """A line with what it may answer: evidence for each option, a row of INPUTS for each and for none.

    `rows` is [len(evidence) + 1, len(INPUTS)]; the last row says that the line answers nothing.
    """

    line: Line
    evidence: Sequence[LinkEvidence]
    rows: Floats


@dataclass(slots=True)
class Channel:
    """The last lines of a channel, and who has spoken in it."""

    policy: LinkPolicy
    calibration: Calibration | None = None
    lines: deque[ReadLine] = field(default_factory=lambda: deque(maxlen=REACH))
    speakers: set[str] = field(default_factory=set)

    def hear(self, line: Line) -> ReadLine:
        """Take a line in that nobody asks about, and return what was read of it."""
        spoken_line = self._read(line)
        self._keep(spoken_line)
        return spoken_line

    def choice(self, line: Line) -> LineChoice:
        """Take a line in and return what it may answer, best first."""
        spoken_line = self._read(line)
        before = list(self.lines)
        options = _candidates(spoken_line, before)
        evidence = judge(
            spoken_line.features,
            [other.thread for other in options],
            line.at,
            self.policy,
            calibration=self.calibration,
        )
        self._keep(spoken_line)
        return LineChoice(line, evidence, _rows(spoken_line, before, evidence))

    def _read(self, line: Line) -> ReadLine:
        speaker, text = line.speaker.casefold(), line.text.casefold()
        opening = _OPENING.match(text)
        first = opening[1] if opening and opening[1] in self.speakers else ""
        words = {word for word in _WORD.findall(text) if len(word) >= SHORTEST_NAME}
        names = frozenset((words & self.speakers) | ({first} if first else set())) - {speaker}
        features = read_message(line.text, line.at, vector=line.vector, among_others=True)
        thread = thread_of(line.id, [(line.at, features)])
        return ReadLine(line, speaker, features, thread, names, first)

    def _keep(self, line: ReadLine) -> None:
        self.lines.append(line)
        self.speakers.add(line.speaker)


def answers(
    lines: Iterable[Line], policy: LinkPolicy, *, calibration: Calibration | None = None
) -> Iterator[LinkVerdict]:
    """Yield for each line, in order, the best candidate and whether it is linked; read online.

    A line without candidates has itself for its verdict's thread.

    >>> from datetime import UTC, timedelta
    >>> from episodic_agent.core.links.policies import link_policy
    >>> at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    >>> said = ["anna|how do I mount a stick?", "bert|my sound is gone", "carl|anna: what does dmesg say?"]
    >>> lines = [Line(str(n), *one.split("|"), at + timedelta(minutes=n)) for n, one in enumerate(said)]
    >>> judged = answers(lines, link_policy("link-2026-12"))
    >>> [verdict.thread_id if verdict.link else "-" for verdict in judged]
    ['-', '-', '0']
    """
    channel = Channel(policy, calibration)
    for line in lines:
        yield chosen(channel.choice(line), policy)


def chosen(choice: LineChoice, policy: LinkPolicy) -> LinkVerdict:
    """Return the verdict on a line: linked where "nothing" is unlikely enough for the policy's threshold."""
    if not choice.evidence:
        return decide(LinkEvidence(choice.line.id, {}, 0.0), policy)
    probability = choice.rows @ _weights("vectors" if "near" in choice.evidence[0].features else "words")
    shares = np.exp(probability - probability.max())
    shares /= shares.sum()
    best = int(shares[:-1].argmax())
    evidence = choice.evidence[best]
    return decide(LinkEvidence(evidence.thread_id, evidence.features, 1.0 - float(shares[-1])), policy)


def alone(choice: LineChoice, policy: LinkPolicy) -> LinkVerdict:
    """Return what the policy says by itself, not knowing who speaks to whom."""
    return decide(choice.evidence[0] if choice.evidence else LinkEvidence(choice.line.id, {}, 0.0), policy)


def _candidates(line: ReadLine, before: Sequence[ReadLine]) -> list[ReadLine]:
    """Choose what is compared: the latest lines, those of whoever is involved, and the best of a search."""
    by_id = {other.line.id: other for other in before}
    threads = [ActivePeriod(other.line.id, other.line.at, other.line.at) for other in before]
    # the lines of a minute share their time, so the order said decides which are the latest
    texts = [*_of_people(line, before), *_searched(line, before)]
    picked = candidates(threads[-MOST_ACTIVE:], texts, line.line.at)
    return [by_id[one.thread_id] for one in picked]


def _of_people(line: ReadLine, before: Sequence[ReadLine]) -> list[str]:
    """Return the last line of whom the message calls, its speaker's own, and the last that calls them."""
    tests = (
        lambda other: other.speaker in line.names,
        lambda other: line.speaker in other.names,
        lambda other: other.speaker == line.speaker,
    )
    latest = [next((o.line.id for o in reversed(before) if test(o)), None) for test in tests]
    return [one for one in latest if one is not None]


def _searched(line: ReadLine, before: Sequence[ReadLine]) -> list[str]:
    """Return earlier lines by what they share, rare words first, or by their vectors; best first."""
    holders: dict[str, int] = {}
    for other in before:
        for word in other.features.words & line.features.words:
            holders[word] = holders.get(word, 0) + 1
    scores = [
        sum(math.log((len(before) + 1) / holders[w]) for w in other.features.words & line.features.words)
        + 4.0 * (cosine(line.features.vector, other.features.vector) or 0.0)
        for other in before
    ]
    ranked = sorted(range(len(before)), key=lambda n: (-scores[n], -n))
    return [before[n].line.id for n in ranked[:MOST_FOUND] if scores[n] > 0.0]


def _rows(line: ReadLine, before: Sequence[ReadLine], matching_evidence: Sequence[LinkEvidence]) -> Floats:
    place = {other.line.id: n for n, other in enumerate(before)}
    rows = np.zeros((len(matching_evidence) + 1, len(INPUTS)))
    around = _Around(line, before)
    best, second, *_ = (*(_probabilities(e.score) for e in matching_evidence), 0.0, 0.0)  # best first
    for n, evidence in enumerate(matching_evidence):
        own = _probabilities(evidence.score)
        read = around.of(place[evidence.thread_id], evidence)
        read |= {"odds": own, "lead": own - (second if n == 0 else best), "best": float(n == 0)}
        rows[n, : len(OF_LINE)] = [read[name] for name in OF_LINE]
    nothing = around.none() | {"none_best": best}
    rows[-1, len(OF_LINE) :] = [nothing[name] for name in OF_NONE]
    return rows


class _Around:
    """A line among those before it."""

    def __init__(self, line: ReadLine, before: Sequence[ReadLine]) -> None:
        self.lines, self.before = line, before
        self.newest = {other.speaker: n for n, other in enumerate(before)}
        self.mates = {o.speaker for o in before if line.speaker in o.names}
        self.mates |= {name for o in before if o.speaker == line.speaker for name in o.names}
        self.answered = max((n for n, o in enumerate(before) if line.speaker in o.names), default=-1)
        self.own = self.newest.get(line.speaker, -1)

    def of(self, where: int, evidence: LinkEvidence) -> dict[str, float]:
        """Return what speaks for an earlier line, given as its place."""
        line, other = self.lines, self.before[where]
        distance = len(self.before) - where
        minutes = max(0.0, (line.line.at - other.line.at).total_seconds() / 60.0)
        mine, last = other.speaker == line.speaker, self.newest[other.speaker] == where
        called, back = other.speaker in line.names, line.speaker in other.names
        features = evidence.features
        read = {
            "log_distance": math.log(distance), "next_to": distance == 1, "log_minutes": math.log1p(minutes),
            "own": mine, "own_last": mine and last, "own_next": mine and distance == 1,
            "own_though_named": mine and bool(line.names),
            "own_same_names": mine and line.names == other.names,
            "own_since_answered": mine and self.own > self.answered,
            "answered_since_own": mine and self.answered > self.own,
            "called": called, "called_last": called and last,
            "called_first": called and other.speaker == line.first, "called_back": called and back,
            "calls_me": back, "calls_me_last": back and where == self.answered,
            "calls_me_first": back and line.speaker == other.first,
            "calls_others": bool(line.names) and not called and not mine,
            "said_to_others": bool(other.names) and not back and not mine,
            "same_called": bool(line.names & other.names),
            "mate": other.speaker in self.mates and not mine,
            "mate_last": other.speaker in self.mates and last and not mine,
            "last_of_other": last and not mine,
            "asks": other.features.dependence.asks, "asks_other": other.features.dependence.asks * (not mine),
            "nothing": other.features.cues.nothing, "length": math.log1p(other.features.length) / 3.0,
            "rare": features["rare"] * math.sqrt(len(line.features.words)),
            "keyword": features.get("keyword", 0.0), "near": features.get("near", 0.0),
            "own_continuing": mine and max(features["says_continuation"], features["says_anaphora"]),
            "next_pointing": features["pointing"] / math.sqrt(distance),
        }  # fmt: skip
        return {name: float(value) for name, value in read.items()}

    def none(self) -> dict[str, float]:
        """Return what speaks for a line that answers nothing."""
        line, before = self.lines, self.before
        silence = (line.line.at - before[-1].line.at).total_seconds() / 60.0 if before else 60.0
        since = len(before) - self.own if self.own >= 0 else REACH
        wording = line.features.dependence
        return {
            "none": 1.0, "none_named": float(bool(line.names)), "none_new": float(self.own < 0),
            "none_log_since": math.log1p(since), "none_answered": float(self.answered > self.own),
            "none_silence": math.log1p(max(0.0, silence)), "none_length": math.log1p(line.features.length),
            "none_fresh": wording.fresh, "none_asks": wording.asks,
            "none_continuing": float(line.features.cues.continuation), "none_pointing": wording.pointing,
            "none_nothing": float(line.features.cues.nothing),
        }  # fmt: skip


def _probabilities(score: float) -> float:
    return math.log(max(score, _LIMIT) / max(1.0 - score, _LIMIT)) / 4.0  # of order one, as the others


@cache
def _weights(of: str) -> NDArray[np.float64]:
    table = numbers(f"links/crowd.{of}")
    return np.array([table[name] for name in INPUTS])
