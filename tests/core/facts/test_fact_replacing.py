"""What takes the place of what: the judge of pairs, on pairs that it was never taught."""

import csv
import random
from datetime import UTC, datetime
from pathlib import Path

import pytest

from episodic_agent.core.facts.replacing import JudgedStatement, features, likelihood, threshold
from episodic_agent.core.facts.stating import judged

HELD = Path(__file__).parents[3] / "tools" / "facts" / "held_pairs.tsv"
AT = datetime(2026, 3, 2, tzinfo=UTC)


def said(text: str) -> JudgedStatement:
    return JudgedStatement(text, AT, judged(text)[1])


def test_what_it_ends_of_pairs_never_taught_is_over() -> None:
    with HELD.open(encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    truth = [label == "=" for label, *_ in lines]
    chances = [likelihood(said(older), said(newer)) for *_, older, newer in lines]
    for bar, precision, recall in ((threshold(meaning=False), 0.8, 0.11), (0.5, 0.77, 0.39)):
        ended = [over for over, chance in zip(truth, chances, strict=True) if chance >= bar]
        assert sum(ended) / len(ended) >= precision
        assert sum(ended) / sum(truth) >= recall


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("I'm allergic to nuts.", "I'm allergic to penicillin."),
        ("I speak German.", "I speak English too."),
        ("I have a cat called Minka.", "I have a dog called Rex."),
        ("My son Paul is ten.", "My daughter Lea is eight."),
    ],
)
def test_what_only_looks_alike_takes_no_place(older: str, newer: str) -> None:
    assert likelihood(said(older), said(newer)) < 0.2


def test_words_are_told_by_whose_they_are() -> None:
    row = features(said("I drive a Polo"), said("I drive a Golf now"))
    assert {name for name in row if name[0] in "+=-"} == {"=i", "=drive", "=a", "-polo", "+golf", "+now"}
    assert (row["frame"], row["frame before"], row["same beginning"]) == (0.6, 0.75, 0.75)
    row = features(said("我住在杭州"), said("我住在苏州"))
    assert {name for name in row if name[0] in "+=-"} == {
        "=我住",
        "=住在",
        "-在杭",
        "-杭州",
        "+在苏",
        "+苏州",
    }


def test_the_frame_is_the_longest_common_subsequence_of_words() -> None:
    chance = random.Random(5)
    for _ in range(200):
        older, newer = ([chance.choice("abcd") for _ in range(chance.randint(0, 9))] for _ in range(2))
        row = features(said(" ".join(older)), said(" ".join(newer)))
        assert row["frame"] * max(1, len(older), len(newer)) == pytest.approx(longest_common(older, newer))


def longest_common(older: list[str], newer: list[str]) -> int:
    if not older or not newer:
        return 0
    table = [[0] * (len(newer) + 1)]
    for word in older:
        above, line = table[-1], [0]
        for n, other in enumerate(newer):
            line.append(above[n] + 1 if word == other else max(above[n + 1], line[-1]))
        table.append(line)
    return table[-1][-1]
