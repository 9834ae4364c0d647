"""The act `calibrate`: embed conversations with an embedder and the default one, and fit the first's scale.

The texts are those of the caller: the shipped conversations, chat files, or a memory's own. Labelled
dialogues, where there are any, settle what similarities alone cannot: whether this embedder's vectors help
boundaries at all, and the threshold.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.boundary.conversation.default import NEIGHBOURS
from episodic_agent.core.boundary.policies import MEASURED, calibrated
from episodic_agent.core.calibration import MOST_TEXTS, Calibration, Statistics, fit, read
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.core.language import plural
from episodic_agent.core.language.windows import windows
from episodic_agent.engine.evaluate.cases import LabelledStream, streams
from episodic_agent.engine.evaluate.segmentation import segment, vectors_of
from episodic_agent.engine.files.opening import Unreadable
from episodic_agent.engine.files.read import read_file
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Vector

Conversation = Sequence[str]
THRESHOLDS = (0.25, 0.3, 0.35, 0.45, 0.5, 0.55)  # beside the .4 that is shipped
GAIN = 0.005  # of Score, below which a fitted value is chance and what is shipped stays
MOST_STREAMS = 200


@dataclass(frozen=True, slots=True)
class Fitted:
    """A calibration with the figures it came from; `scores` names each policy tried on labelled dialogues."""

    calibration: Calibration
    statistics: Statistics
    default: Statistics
    scores: Sequence[tuple[str, float]] = ()


def calibrate(
    embedder: Embedder,
    default: Embedder,
    conversations: Iterable[Conversation],
    labelled: Sequence[Path] = (),
    say: Callable[[str], None] = lambda _line: None,
) -> Fitted:
    """Fit an embedder's scale; `default` is the embedder everything was fitted on.

    Raises InvalidInput for the default embedder itself, and for too few texts.
    """
    if embedder.name.startswith(MEASURED):
        raise InvalidInput(f"{embedder.name} is what everything was fitted on; calibrate another --embedder")
    chosen = _few_enough(conversations)
    say(f"embedding {plural(sum(map(len, chosen)), 'text')} of {plural(len(chosen), 'conversation')} twice …")
    own, others = ([_embedded(c, e) for c in chosen] for e in (embedder, default))
    calibration, statistics = fit(embedder.name, own, others, NEIGHBOURS)
    _, reference = fit(default.name, others, others, NEIGHBOURS)
    scores: list[tuple[str, float]] = []
    if labelled:
        calibration = _on_labelled(calibration, embedder, labelled, scores, say)
    return Fitted(calibration, statistics, reference, scores)


def _few_enough(conversations: Iterable[Conversation]) -> list[Conversation]:
    """Return conversations in order, without blank texts, up to MOST_TEXTS texts."""
    chosen: list[Conversation] = []
    left = MOST_TEXTS
    for conversation in conversations:
        texts = [text for text in conversation if text.strip()][:left]
        if texts:
            chosen.append(texts)
            left -= len(texts)
    if not chosen:
        raise InvalidInput("there are no texts to calibrate on; give --data FILE with conversations")
    return chosen


def _embedded(conversation: Conversation, embedder: Embedder) -> Vector:
    return embedder.embed([windows(text)[0] for text in conversation])


def _on_labelled(
    calibration: Calibration,
    embedder: Embedder,
    files: Sequence[Path],
    scores: list[tuple[str, float]],
    say: Callable[[str], None],
) -> Calibration:
    """Choose by Score between this embedder's vectors and words alone, then the threshold."""
    cases = [case for path in files for case in streams(path)][:MOST_STREAMS]
    if not cases:
        raise InvalidInput("the labelled files hold no dialogues; leave --labelled out")
    say(f"scoring on {plural(len(cases), 'labelled dialogue')} …")
    vectors = [vectors_of(case, embedder) for case in cases]

    def score(candidate: Calibration) -> float:
        policy = calibrated("default", candidate)
        value = _score(policy, cases, vectors)
        scores.append((policy.name, round(value, 4)))
        return value

    best, reached = calibration, score(calibration)
    if calibration.scale is not None:
        best, reached = _better(best, reached, [replace(calibration, scale=None)], score)
    tried = [replace(best, threshold=threshold) for threshold in THRESHOLDS]
    return _better(best, reached, tried, score)[0]


def _better(
    best: Calibration, reached: float, others: Sequence[Calibration], score: Callable[[Calibration], float]
) -> tuple[Calibration, float]:
    least = reached + GAIN
    for other in others:
        value = score(other)
        if value > max(least, reached):
            best, reached = other, value
    return best, reached


def _score(
    policy: Policy[Any], cases: Sequence[LabelledStream], vectors: Sequence[Sequence[Vector | None]]
) -> float:
    predicted = [segment(c.units, policy, v) for c, v in zip(cases, vectors, strict=True)]
    return score_streams([c.starts for c in cases], predicted, empty_f1=0.0).score


# --- where the texts come from --------------------------------------------------------------------------


def conversations_in(path: Path) -> list[Conversation]:
    """Return the conversations of a chat file, in order; records that cannot be read are left out."""
    if not path.is_file():
        raise InvalidInput(f"no such file: {path}")
    texts: dict[str, list[str]] = {}
    for item in read_file(path):
        if not isinstance(item, Unreadable):
            texts.setdefault(item.conversation or "", []).append(item.text)
    return list(texts.values())


def conversations_of(memory: UserMemory) -> list[Conversation]:
    """Return what a memory holds as conversations, a thread each, in the order it was said."""
    cards = memory.episodes.list()
    inside = [o for card in cards for o in memory.episodes.messages(card.episode_id)]
    inside.sort(key=lambda o: (o.thread_id.bytes, o.seq))
    return [[o.text for o in thread] for _, thread in groupby(inside, key=lambda o: o.thread_id)]


# --- where it is kept -----------------------------------------------------------------------------------


def save(calibration: Calibration, path: Path) -> None:
    """Write a calibration; the file changes whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(calibration.as_json(), indent=1) + "\n", encoding="utf-8")
    part.replace(path)


def load(path: Path) -> Calibration:
    """Read a calibration; InvalidInput names the file that is none."""
    try:
        return read(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path} cannot be read ({error}); run `episodic calibrate` again") from error
    except InvalidInput as error:
        raise InvalidInput(f"{path}: {error}") from error
