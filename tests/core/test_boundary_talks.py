"""Talk of many kinds in nine languages that taught nothing: is it cut where somebody else says it changes?"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from uuid import UUID

import pytest
from builders.minilm import default_model

from episodic_agent.core.boundary.contract import Arrival, ManualCut
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import policy
from episodic_agent.core.evaluation.segmentation import score_streams
from episodic_agent.schemas import Observation, TimeSource

TALKS = Path(__file__).parents[1] / "data" / "talks.jsonl"
NOBODY, WHEN = UUID(int=0), datetime(2026, 1, 1, tzinfo=UTC)


def cuts(turns: Sequence[tuple[str, str, int]]) -> list[int]:
    default = policy("default")
    vectors = default_model().embed([text for _, text, _ in turns])
    arrivals = [
        Arrival(
            Observation(NOBODY, NOBODY, n, WHEN, WHEN, who, text, at_source=TimeSource.ASSUMED), vectors[n]
        )
        for n, (who, text, _) in enumerate(turns)
    ]
    state = run(default.begin(), [*arrivals, ManualCut(WHEN)], default)
    before = {cut.before_seq for cut in state.cuts}
    return [int(n in before) for n in range(len(turns))]


@pytest.mark.slow
def test_talk_in_other_languages_is_cut_where_it_changes() -> None:
    talks = [json.loads(line) for line in TALKS.read_text(encoding="utf-8").splitlines()]
    for english, least in ((True, 0.38), (False, 0.28)):  # .45 and .34; other languages had .10
        some = [talk["turns"] for talk in talks if (talk["language"] == "en") is english]
        truth = [[0, *(start for *_, start in turns[1:])] for turns in some]
        assert score_streams(truth, [cuts(turns) for turns in some]).f1 > least
