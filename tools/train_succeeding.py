"""Train what takes the place of what in an answer (`core/facts/succeeding.py`) and ship the judges.

    python tools/train_succeeding.py LIFE.jsonl…                  # measure with each left out, then ship
    python tools/train_succeeding.py --only-measure LIFE.jsonl…

Three judges. *Does a message report a change?* learns from talks (`tools/facts/talk_*`, `changes_*`), lives
and stories (`stories_*.jsonl`: messages, which takes the place of which, questions with the messages they are
and are no longer answered with; written without sight of this code). *Does a question ask for what was
before?* learns from `asked_before.tsv`. *Which of the best answers takes the place of which?* learns from the
questions of stories and lives, and from what changed in lives, asked for in its label's words: each memory is
played, and the best twelve of each search are weighed against each other. Printed for what is left out (each
life, a sixth of the stories): of questions of now how many have first what holds, what held, and the one
above the other, before and with the judge.
"""

import argparse
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from judges import HERE, Floats, Row, fit_judge, likely, listed_rows, packed
from numpy.typing import NDArray
from shipping import Origin, ship_arrays
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from talks import read_life, read_talk

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.facts.succeeding import (
    ANSWERING,
    BEFORE,
    REPORTING,
    SUCCEEDS,
    WEIGHTS,
    AnsweringText,
    features,
)
from episodic_agent.engine.evaluate.lives import PlayedClock
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder, temporary_memory

FOLDS = 6
WORDS = 2.0  # of words beside vectors
TRUST = 0.1  # inverse of the ridge's strength
ASKING = {"words": WORDS, "trust": 10.0, "least": 2}  # of the judge of questions: few words tell
OF_A_STORY, OF_A_CHANGE = 3.0, 0.5  # what a story's question weighs beside a life's, and a label's words
SITTING = timedelta(minutes=30)


@dataclass(slots=True)
class Asked:
    """A question of a stream: what it is answered with, what it was answered with, and the best hits.

    `hits` are message and score, best first, as they are found without this judge.
    """

    stream: str
    at: datetime
    text: str
    holds: frozenset[str]
    held: frozenset[str]
    weight: float
    hits: Sequence[tuple[str, float]] = ()

    @property
    def of_now(self) -> bool:
        """Tell whether it is for what holds: what it is answered with was said after what it was."""
        return not self.held or max(self.holds) > min(self.held)


@dataclass(slots=True)
class Stream:
    """Messages as they are played, what of them reports a change, and what is asked."""

    name: str
    owner: str
    language: str | None
    messages: Sequence[Mapping[str, Any]]
    changing: frozenset[str]
    asked: list[Asked]


def read_stories(path: Path) -> Iterator[Stream]:
    """Yield the stories of a file."""
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        name = row["id"]
        messages = [
            {
                "id": f"{message['i']:05}",
                "role": message["speaker"] if message["speaker"] in ("assistant", "tool") else "user",
                "speaker": message["speaker"],
                "channel": message["channel"],
                "text": message["text"],
                "at": datetime.fromisoformat(message["time"]),
            }
            for message in row["messages"]
        ]
        asked = [
            Asked(
                name,
                datetime.fromisoformat(question["time"]),
                question["text"],
                frozenset(f"{n:05}" for n in question["wanted_from"]),
                frozenset(f"{n:05}" for n in question["outdated_from"]),
                OF_A_STORY,
            )
            for question in row["questions"]
        ]
        changing = frozenset(f"{pair['new']:05}" for pair in row["pairs"] if pair["verdict"] != "no")
        yield Stream(name, row["owner"], None, messages, changing, asked)


def read_lived(path: Path) -> Stream:
    """Return a life as a stream: its questions, and what changed, asked for in the label's words."""
    row = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    by_id = {fact["id"]: fact for fact in row["facts"]}
    pairs = [(by_id[f["replaces"]], f) for f in row["facts"] if f.get("replaces") in by_id]
    messages = [{**m, "at": datetime.fromisoformat(m["time"]).replace(tzinfo=UTC)} for m in row["messages"]]
    last = messages[-1]["at"] + timedelta(days=1)
    asked = []
    for question in row["questions"]:
        holds = frozenset(question["evidence"])
        held = frozenset[str]()
        if question["type"] == "changed" and len(holds) > 1:
            newest = max(holds)
            holds, held = frozenset({newest}), holds - {newest}
        if holds:
            at = datetime.fromisoformat(question["time"]).replace(tzinfo=UTC)
            asked.append(Asked(path.stem, at, question["question"], holds, held, 1.0))
    for old, new in pairs:
        holds, held = frozenset(new["evidence"]), frozenset(old["evidence"])
        if not holds & held:
            asked.append(Asked(path.stem, last, old["fact"], holds, held, OF_A_CHANGE))
    changing = frozenset(message for _, new in pairs for message in new["evidence"])
    return Stream(path.stem, row["user"], row["lang"], messages, changing, asked)


def play(stream: Stream, embedder: Embedder) -> None:
    """Tell a stream to a memory of its own and note what each question finds."""
    first, last = stream.messages[0]["at"], stream.messages[-1]["at"]
    clock = PlayedClock(first)
    with temporary_memory(embedder, now=clock, language=stream.language) as memory:
        user = memory.user(stream.owner)
        waiting = sorted(stream.asked, key=lambda one: one.at)

        def ask(until: datetime | None) -> None:
            while waiting and (until is None or waiting[0].at <= until):
                question = waiting.pop(0)
                clock.now = max(clock.now, question.at)
                recall = user.search(question.text, observations=2 * ANSWERING, now=clock.now, explain=True)
                scored = [
                    (one.id, sum(v for leg, v in one.legs.items() if leg != "replaced"))
                    for one in recall.observations
                ]
                question.hits = sorted(scored, key=lambda pair: -pair[1])

        for message, following in pairwise([*stream.messages, None]):
            assert message is not None
            ask(message["at"])
            clock.now = message["at"]
            named = message["role"] == "user" and message["speaker"] != stream.owner
            user.add(
                {
                    "role": message["role"],
                    "content": message["text"],
                    "timestamp": message["at"],
                    "id": message["id"],
                    **({"name": message["speaker"]} if named else {}),
                },
                channel=message["channel"],
            )
            if following is None or following["at"] - message["at"] > SITTING:
                clock.now = message["at"] + SITTING
                user.upkeep(now=clock.now)
        clock.now = max(clock.now, last) + SITTING
        user.upkeep(now=clock.now)
        user.flush()
        ask(None)


# --- what reports a change ---------------------------------------------------------------------------------


def telling(
    streams: Sequence[Stream], lives: Sequence[Path], embedder: Embedder
) -> tuple[list[Row], list[str]]:
    """Return what people say, "lasts" where it reports a change, and the stream of each."""
    spoken: list[tuple[str, str, bool]] = []
    for path in sorted([*(HERE / "facts").glob("talk_*.tsv"), *(HERE / "facts").glob("changes_*.tsv")]):
        spoken += [(path.stem, line.text, bool(line.ends)) for line in read_talk(path) if line.is_person]
    for path in lives:
        spoken += [(path.stem, line.text, bool(line.ends)) for line in read_life(path) if line.is_person]
    named = {path.stem for path in lives}
    for stream in streams:
        if stream.name not in named:
            people = [m for m in stream.messages if m["role"] == "user"]
            spoken += [(stream.name, m["text"], m["id"] in stream.changing) for m in people]
    vectors = np.asarray(embedder.embed([text for _, text, _ in spoken]), float)
    rows = [Row(text, "", changes, None, v) for (_, text, changes), v in zip(spoken, vectors, strict=True)]
    return rows, [name for name, _, _ in spoken]


def changes_left_out(
    rows: Sequence[Row], names: Sequence[str], fold_of: Callable[[str], int]
) -> dict[str, float]:
    """Return by text how likely it reports a change, as judged by what other folds teach."""
    result: dict[str, float] = {}
    folds = np.array([fold_of(name) for name in names])
    for fold in sorted(set(folds.tolist())):
        judge = fit_judge([rows[n] for n in np.flatnonzero(folds != fold)], meaning=True, words=WORDS)
        left = [rows[n] for n in np.flatnonzero(folds == fold)]
        result |= dict(zip((row.text for row in left), likely(judge, left).tolist(), strict=True))
    truth = [row.lasts for row in rows]
    print(f"reports of a change, left out: AUC {roc_auc_score(truth, [result[r.text] for r in rows]):.3f}")
    return result


# --- what takes the place of what --------------------------------------------------------------------------


@dataclass(slots=True)
class Weighed:
    """A question's best hits: places of an earlier and a later, their features, which pair is right."""

    asked: Asked
    names: list[str]
    pairs: list[tuple[int, int]]
    rows: Floats
    right: NDArray[np.bool_]


def weighed(asked: Asked, stream: Stream, changes: Mapping[str, float], embedder: Embedder) -> Weighed:
    """Return the best hits of a question, each two of them beside each other."""
    by_id = {message["id"]: message for message in stream.messages}
    hits = asked.hits[:ANSWERING]
    best = max((score for _, score in hits), default=0.0) or 1.0
    question, *vectors = embedder.embed([asked.text, *(by_id[name]["text"] for name, _ in hits)])
    some = [
        AnsweringText(
            by_id[name]["text"],
            by_id[name]["speaker"],
            by_id[name]["at"],
            score / best,
            vector,
            changes.get(by_id[name]["text"]) if by_id[name]["role"] == "user" else None,
        )
        for (name, score), vector in zip(hits, vectors, strict=True)
    ]
    pairs, rows = features(asked.text, question, some)
    names = [name for name, _ in hits]
    right = [names[n] in asked.held and names[m] in asked.holds for n, m in pairs]
    return Weighed(asked, names, pairs, rows, np.array(right, bool))


def fit(some: Sequence[Weighed]) -> dict[str, Floats]:
    """Return the judge that questions of now teach."""
    taught = [one for one in some if one.asked.of_now and one.pairs]
    rows, right = (np.concatenate([getattr(one, part) for one in taught]) for part in ("rows", "right"))
    weights = np.concatenate([np.full(len(one.pairs), one.asked.weight) for one in taught])
    means, scales = rows.mean(0), rows.std(0) + 1e-9
    model = LogisticRegression(C=TRUST, max_iter=1000)
    model.fit((rows - means) / scales, right, sample_weight=weights)
    return {"means": means, "scales": scales, "weights": model.coef_[0], "base": model.intercept_[0]}


def usual_shares(some: Sequence[Weighed]) -> Floats:
    """Return the middle share of the best score by place, [ANSWERING]."""
    scored = [[score for _, score in one.asked.hits[:ANSWERING]] for one in some]
    full = [row for row in scored if len(row) == ANSWERING and row[0] > 0]
    return np.median([[score / row[0] for score in row] for row in full], axis=0)


def order(one: Weighed, judge: Mapping[str, Floats] | None) -> list[str]:
    """Return the hits in the order of an answer."""
    result = list(one.names)
    if judge is None or not one.pairs:
        return result
    sums = (one.rows - judge["means"]) / judge["scales"] @ judge["weights"] + judge["base"]
    sure = 1 / (1 + np.exp(-sums))
    for place in np.argsort(-sure):
        if sure[place] < SUCCEEDS:
            break
        earlier, later = (one.names[n] for n in one.pairs[place])
        if result.index(later) > result.index(earlier):
            result.remove(later)
            result.insert(result.index(earlier), later)
    return result


def report(name: str, some: Sequence[Weighed], judges: Sequence[Mapping[str, Floats] | None]) -> None:
    """Print of questions of now what stands first."""
    counts: Counter[tuple[str, str]] = Counter()
    for one, judge in zip(some, judges, strict=True):
        ranked = order(one, judge)
        if not one.asked.of_now or not ranked:
            continue
        kind = "changed" if one.asked.held else "unchanged"
        place = {identity: n for n, identity in enumerate(ranked)}
        holds, held = (
            min((place[i] for i in part if i in place), default=len(place))
            for part in (one.asked.holds, one.asked.held)
        )
        counts[kind, "asked"] += 1
        counts[kind, "first holds"] += holds == 0
        counts[kind, "first held"] += held == 0 and holds > 0
        counts[kind, "above"] += holds < held
    told = ", ".join(f"{' '.join(key)} {count}" for key, count in sorted(counts.items()))
    print(f"{name}: {told}", flush=True)


def main() -> None:
    """Train, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lives", nargs="+", type=Path)
    parser.add_argument("--only-measure", action="store_true")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    stories = [one for path in sorted((HERE / "facts").glob("stories_*.jsonl")) for one in read_stories(path)]
    lived = [read_lived(path) for path in options.lives]
    streams = [*stories, *lived]
    groups = {one.name: FOLDS + n for n, one in enumerate(lived)}
    groups |= {one.name: n % FOLDS for n, one in enumerate(stories)}

    def fold_of(name: str) -> int:
        return groups.get(name, sum(map(ord, name)) % FOLDS)

    rows, names = telling(streams, options.lives, embedder)
    changes = changes_left_out(rows, names, fold_of)
    some: list[Weighed] = []
    for stream in streams:
        play(stream, embedder)
        some += [weighed(asked, stream, changes, embedder) for asked in stream.asked]
    folds = [fold_of(one.asked.stream) for one in some]
    judges = {fold: fit([o for o, f in zip(some, folds, strict=True) if f != fold]) for fold in set(folds)}
    for name, few in (("stories", stories), ("lives", lived)):
        mine = [n for n, one in enumerate(some) if one.asked.stream in {stream.name for stream in few}]
        report(f"{name}, before", [some[n] for n in mine], [None] * len(mine))
        report(f"{name}, left out", [some[n] for n in mine], [judges[folds[n]] for n in mine])
    ship(rows, some, embedder, write=not options.only_measure)


def ship(rows: Sequence[Row], some: Sequence[Weighed], embedder: Embedder, *, write: bool) -> None:
    """Write the judges that everything teaches; print how that of questions does on each fifth, left out."""
    before = listed_rows(HERE / "facts" / "asked_before.tsv", embedder)
    sure = np.zeros(len(before))
    part = np.arange(len(before)) % 5
    for one in range(5):
        judge = fit_judge([before[n] for n in np.flatnonzero(part != one)], meaning=True, **ASKING)
        sure[part == one] = likely(judge, [before[n] for n in np.flatnonzero(part == one)])
    truth = np.array([row.lasts for row in before])
    asks = sure >= 0.5
    print(
        f"asked for before, left out: AUC {roc_auc_score(truth, sure):.3f}, "
        f"precision {truth[asks].mean():.2f}, recall {asks[truth].mean():.2f}"
    )
    if not write:
        return
    made = {
        REPORTING: (
            rows,
            "talk_*, changes_*, stories_*, five labelled lives",
            "reports a change",
            {"words": WORDS},
        ),
        BEFORE: (before, "asked_before", "asks for what was before", ASKING),
    }
    for name, (taught, lists, what, more) in made.items():
        arrays: dict[str, Any] = {}
        for kind in ("meaning", "words"):
            arrays |= packed(kind, fit_judge(taught, meaning=kind == "meaning", **more))
        origin = Origin("tools/train_succeeding.py", f"tools/facts ({lists})", f"judge of whether it {what}")
        ship_arrays(name, arrays, origin)
    origin = Origin(
        "tools/train_succeeding.py",
        "tools/facts (stories_*) and five labelled lives",
        "a judge of which answer takes the place of which",
    )
    arrays = {**fit(some), "shares": usual_shares(some)}
    ship_arrays(WEIGHTS, {name: np.float32(values) for name, values in arrays.items()}, origin)


if __name__ == "__main__":
    main()
