"""Train whose commitments are asked for, and whose a message tells of (`core/recall/`), and ship the judges.

    python tools/train_whose.py
    python tools/train_whose.py --only-measure

It learns from `tools/facts/asked_whose.tsv` ("+": what others took on or owe to who asks; "-": what who asks
took on; what stands under both, who does something or what "we" owe, asks for neither), written by hand in
six languages. A second judge tells whether whoever is spoken to is asked for their own ("what did you promise
me?"), by `asked_you.tsv`, a third whether what "we" took on is, by `asked_ours.tsv`. Of messages one tells
whether they only ask something of others (`requests.tsv`), one whether somebody else takes something on
("Jonas said he'll pay me back"; `promised_by_others.tsv`), both beside the lines of `commitments_*.tsv` that
do take something on. Another tells whether a decision of a session says that something is done
(`decided.tsv`). Two more tell whether a question is for the sessions that are open, or for what is new since
the last (`asked_open_sessions.tsv`, `asked_since_session.tsv`). Printed: how they do on a fifth that they are
not taught.
"""

import argparse
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from judges import HERE, Row, Weights, fit_judge, likely, listed_rows, packed
from shipping import Origin, ship_arrays
from sklearn.metrics import roc_auc_score
from train_commitments import story_messages

from episodic_agent.core.facts.stating import EMBEDDER
from episodic_agent.core.recall.commitments import (
    ADDRESSED,
    BY_OTHERS,
    DECIDED,
    OPEN_SESSIONS,
    OURS,
    REQUESTING,
    SINCE_SESSION,
    SURE,
    WHOSE,
)
from episodic_agent.protocols import Embedder
from episodic_agent.wiring import load_settings, make_embedder

PARTS = 5
TAKING_ON = 1.0  # what lines that take something on weigh together, beside the labelled ones
PAIR = 2  # lines that stand side by side are often alike: they are left out together
WORDS, TRUST, LEAST = 2.0, 10.0, 2  # of judges of questions: who owes whom is told by the order of few words
MESSAGES = (
    1.0  # of judges of messages: what words weigh beside vectors, and the inverse of the ridge's strength
)


@dataclass(frozen=True)
class Judged:
    """A judge to train: its file, its lines, others that are not what it looks for, and from what."""

    into: str
    rows: Sequence[Row]
    lists: str
    what: str
    others: Sequence[Row] = ()
    words: float = WORDS
    trust: float = TRUST


def main() -> None:
    """Train, print the figures, and write the weights."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only-measure", action="store_true")
    parser.add_argument("--judges", nargs="*", help="their names; all, unless given")
    options = parser.parse_args()
    embedder = make_embedder("minilm", load_settings(), lambda *_, **__: None)
    if embedder is None or embedder.name != EMBEDDER:
        raise SystemExit(f"the judge learns the vectors of {EMBEDDER} alone")
    for name, judge in _judges(embedder).items():
        if options.judges and name not in options.judges:
            continue
        arrays = _fitted(name, judge)
        if not options.only_measure:
            origin = Origin(
                "tools/train_whose.py", f"tools/facts ({judge.lists})", f"judge of whether {judge.what}"
            )
            ship_arrays(judge.into, arrays, origin)


def _judges(embedder: Embedder) -> dict[str, Judged]:
    def read(name: str) -> list[Row]:
        return listed_rows(HERE / "facts" / name, embedder)

    whose, asked = read("asked_whose.tsv"), "a question for commitments asks"
    both = Counter(row.text for row in whose)  # what asks for neither is no one's, "we" among them
    surely = [replace(row, lasts=False) for row in whose if both[row.text] == 1]
    files = sorted((HERE / "facts").glob("commitments_*.tsv"))
    taken_on = [row for path in files for row in read(path.name) if row.lasts]
    tasks = [row for row in story_messages(embedder) if row.lasts]
    by_others = read("promised_by_others.tsv")
    theirs = {row.text for row in by_others if row.lasts}
    own = [replace(row, lasts=False) for row in taken_on if row.text not in theirs]
    of_sessions = {
        row.text for name in ("open_sessions", "since_session") for row in read(f"asked_{name}.tsv")
    }
    paths = sorted((HERE / "facts").glob("asked_commitments_*.tsv"))
    others = [replace(row, lasts=False) for path in paths for row in read(path.name)]
    not_sessions = [row for row in others if row.text not in of_sessions]
    return {
        "others": Judged(WHOSE, whose, "asked_whose.tsv", f"{asked} for those of others"),
        "addressed": Judged(
            ADDRESSED,
            read("asked_you.tsv") + [replace(row, lasts=False) for row in whose],
            "asked_whose.tsv, asked_you.tsv",
            f"{asked} whoever it speaks to for their own",
        ),
        "ours": Judged(
            OURS,
            read("asked_ours.tsv"),
            "asked_whose.tsv, asked_ours.tsv",
            f'{asked} for what "we" took on',
            surely,
        ),
        "requests": Judged(
            REQUESTING,
            read("requests.tsv"),
            "requests.tsv, commitments_*.tsv; benchmarks/cases: commitments",
            "a message only asks something of others",
            [replace(row, lasts=False) for row in (*taken_on, *tasks)],
            words=MESSAGES,
            trust=MESSAGES,
        ),
        "by others": Judged(
            BY_OTHERS,
            by_others,
            "promised_by_others.tsv, commitments_*.tsv",
            "a message tells what somebody else than who speaks takes on",
            own,
            words=MESSAGES,
            trust=MESSAGES,
        ),
        "decided": Judged(
            DECIDED, read("decided.tsv"), "decided.tsv", "a decision of a session says that something is done"
        ),
        "open sessions": Judged(
            OPEN_SESSIONS,
            read("asked_open_sessions.tsv"),
            "asked_open_sessions.tsv, asked_commitments_*.tsv",
            "a question asks which sessions are open",
            not_sessions,
        ),
        "since session": Judged(
            SINCE_SESSION,
            read("asked_since_session.tsv"),
            "asked_since_session.tsv, asked_commitments_*.tsv",
            "a question asks what is new since the last session",
            not_sessions,
        ),
    }


def _fitted(name: str, judge: Judged) -> dict[str, Any]:
    """Return a judge's arrays, and print how it does on what it is not taught."""
    rows = judge.rows
    part, truth = np.arange(len(rows)) // PAIR % PARTS, np.array([row.lasts for row in rows])
    arrays: dict[str, Any] = {}
    for kind in ("meaning", "words"):
        shares = np.zeros(len(rows))
        for one in range(PARTS):
            left = [row for row, other in zip(rows, part, strict=True) if other == one]
            taught = [row for row, other in zip(rows, part, strict=True) if other != one]
            texts = {row.text for row in left}
            others = [row for row in judge.others if row.text not in texts]
            shares[part == one] = likely(_taught(judge, taught, others, kind), left)
        sure = shares >= SURE
        print(
            f"{name}, {kind}: {len(rows)} lines, AUC {roc_auc_score(truth, shares):.3f}; from {SURE} "
            f"precision {truth[sure].mean():.2f}, recall {sure[truth].mean():.2f}"
        )
        arrays |= packed(kind, _taught(judge, rows, judge.others, kind))
    return arrays


def _taught(judge: Judged, rows: Sequence[Row], others: Sequence[Row], kind: str) -> Weights:
    weight = TAKING_ON * len(rows) / max(len(others), 1)
    shares = np.concatenate([np.ones(len(rows)), np.full(len(others), min(weight, 1.0))])
    return fit_judge(
        [*rows, *others],
        meaning=kind == "meaning",
        words=judge.words,
        trust=judge.trust,
        least=LEAST,
        shares=shares,
    )


if __name__ == "__main__":
    main()
