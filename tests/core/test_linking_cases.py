"""The written cases: what they cover, and that the shipped weights link them without any vectors."""

import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from episodic_agent.core.links.evidence import judge
from episodic_agent.core.links.features import thread_of
from episodic_agent.core.links.policies import FittedPolicy, inputs, link_policy
from episodic_agent.core.links.reading import read_message
from episodic_agent.core.links.verdict import compete, decide
from episodic_agent.data import numbers

FILE = Path(__file__).parents[2] / "benchmarks" / "cases" / "links_own.jsonl"
CASES = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]


def at(turn: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(turn["at"])


def linked(case: Mapping[str, Any]) -> set[str]:
    threads = [
        thread_of(t["id"], [(at(turn), read_message(turn["text"], at(turn))) for turn in t["turns"]])
        for t in case["threads"]
    ]
    policy, when = link_policy("link-2026-12"), at(case["message"])
    message = read_message(case["message"]["text"], when)
    alone = [decide(evidence, policy) for evidence in judge(message, threads, when, policy)]
    return {verdict.thread_id for verdict in compete(alone, message.most) if verdict.link}


def test_the_cases_are_many_and_of_many_kinds() -> None:
    assert len(CASES) >= 60
    assert len({case["domain"] for case in CASES}) >= 10
    assert {"en", "de", "es", "fr", "zh"} <= {case["lang"] for case in CASES}
    assert 0.3 < sum(bool(case["links"]) for case in CASES) / len(CASES) < 0.7
    assert len({case["id"] for case in CASES}) == len(CASES)


def test_links_are_found_by_words_alone() -> None:
    right = predicted = labelled = 0
    for case in CASES:
        terms, truth = linked(case), set(case["links"])
        right, predicted, labelled = right + len(terms & truth), predicted + len(terms), labelled + len(truth)
    assert 2 * right / (predicted + labelled) > 0.82


def test_no_thanks_link() -> None:
    assert [case["id"] for case in CASES if case["kind"] == "thanks" and linked(case)] == []


def test_the_weights_are_of_inputs_that_there_are() -> None:
    vectors, words = numbers("links/weights.vectors"), numbers("links/weights.words")
    assert set(vectors) == set(inputs({}))
    assert set(words) < set(vectors)


def test_the_default_links_above_a_threshold_it_can_be_tuned_around() -> None:
    policy = FittedPolicy()
    low, high = policy.tunable
    assert low < policy.threshold < high
