"""Messages that say the opposite of their words, or say them for somebody else (benchmarks/cases)."""

import json
from datetime import datetime
from pathlib import Path
from uuid import uuid5

import pytest
from core.facts.saying import SPACE

from episodic_agent.core.facts import Fact, FactCandidate, Statement, learn, read_facts

CASES = Path(__file__).parents[3] / "benchmarks" / "cases" / "facts_denied.jsonl"
ROWS = [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]
PAST = "VALID_BEFORE_SAID"


def said(text: str, at: datetime) -> Statement:
    return Statement(text, at, "user", uuid5(SPACE, text))


def read(case: dict) -> tuple[FactCandidate, ...]:
    at = datetime.fromisoformat(case["said_at"])
    known: tuple[Fact, ...] = ()
    for text in case["earlier"]:
        known = learn(known, read_facts(said(text, at), known)).applied(known)
    return read_facts(said(case["text"], at), known)


@pytest.mark.parametrize("case", ROWS, ids=lambda case: case["id"])
def test_nothing_is_asserted_that_was_not(case: dict) -> None:
    at = datetime.fromisoformat(case["said_at"])
    asserted = [one for one in read(case) if one.holds]
    text = " | ".join(one.evidence.fact for one in asserted).lower()
    assert [words for words in case["must_not"] if words != PAST and words.lower() in text] == []
    if PAST in case["must_not"]:
        assert all(one.evidence.valid_at >= at for one in asserted)


def test_plain_statements_among_them_are_still_read() -> None:
    plain = [case for case in ROWS if case["kind"] == "plain"]
    results = [
        case for case in plain
        if any(word.lower() in one.evidence.fact.lower() for one in read(case) for word in case["may"])
    ]  # fmt: skip
    assert len(results) >= len(plain) * 0.6
