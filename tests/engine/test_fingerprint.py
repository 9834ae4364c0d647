"""What the engine decides stays what it was: digests of what a memory holds and answers, on both stores.

Where a change of decisions is meant, write them anew, look at what differs and say why in the commit:
`python -m benchmarks.fingerprint --stores sqlite --write tests/data/fingerprint.json`.
"""

import json
from pathlib import Path

import pytest

from benchmarks.fingerprint import differences, digests, runs, shipped
from episodic_agent.providers.embedders.hashing import HashingEmbedder

EXPECTED = json.loads((Path(__file__).parents[1] / "data" / "fingerprint.json").read_text(encoding="utf-8"))
RUNS = dict(runs(HashingEmbedder(), shipped()))
QUICK = ("tim, default", "walk, seed-000")


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=() if one in QUICK else pytest.mark.slow) for one in RUNS]
)
def test_the_same_is_decided_and_answered_as_before(name: str, url: str) -> None:
    seen = digests(RUNS[name](url))
    assert differences({name: EXPECTED[name]}, {name: seen}) == []


def test_every_run_is_expected() -> None:
    assert sorted(EXPECTED) == sorted(RUNS)
