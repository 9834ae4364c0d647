"""Weights of `chain-2026-12`: written by `benchmarks.chain_training`, not by hand."""

from typing import Final

THRESHOLD: Final = 0.4
VECTORS: Final[dict[str, float]] = {
    "bias": -0.3264,
    "arc_link": 0.3937,
    "arc_cosine": 2.3238,
    "arc_lead": 3.5833,
    "arc_rare": 2.6126,
    "arc_age": -0.207,
    "arc_newest": 0.3919,
    "new": -1.4818,
    "others": -4.4866,
    "asks": -1.7042,
}
WORDS: Final[dict[str, float]] = {
    "bias": -0.6379,
    "arc_link": 0.502,
    "arc_rare": 5.7295,
    "arc_age": -0.0569,
    "arc_newest": 0.7259,
    "new": -1.4448,
    "others": -3.1967,
    "asks": -2.3306,
}
