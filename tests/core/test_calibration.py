"""What a calibration recovers from an embedder whose geometry is known, and what it refuses."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.boundary.contract import Arrival
from episodic_agent.core.boundary.conversation.default import NEIGHBOURS, DefaultPolicy
from episodic_agent.core.boundary.machine import run
from episodic_agent.core.boundary.policies import calibrated, for_embedder, policy
from episodic_agent.core.calibration import Calibration, fit, read
from episodic_agent.errors import InvalidInput
from episodic_agent.schemas import Observation, Vector

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
MINE = Calibration("mine", 0.8, (0.55, 0.11), ((-1.0, -1.0), (0.5, 0.1), (1.0, 1.0)), texts=300)


def unit(rows: np.ndarray) -> Vector:
    results: Vector = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return results


def talks(seed: int = 3, count: int = 5, length: int = 60) -> list[Vector]:
    """Conversations that drift: neighbours are nearer than others."""
    rng = np.random.default_rng(seed)
    result = []
    for _ in range(count):
        steps = rng.normal(size=(length, 48))
        topic = np.cumsum(rng.normal(size=(length, 48)) * 0.4, axis=0) + rng.normal(size=48)
        result.append(unit(steps + topic))
    return result


def raised(conversations: Sequence[Vector], common: float) -> list[Vector]:
    """Give every text a part in common: each cosine c becomes (c + common^2) / (1 + common^2)."""
    return [unit(np.hstack([v, np.full((len(v), 1), common)])) for v in conversations]


def test_an_embedder_with_a_part_in_common_is_brought_back_to_the_default_scale() -> None:
    default = talks()
    common = 1.5
    fitted, statistics = fit("raised", raised(default, common), default, NEIGHBOURS)
    assert fitted.agreement == pytest.approx(1.0, abs=1e-3)
    assert fitted.scale is not None
    square = common * common
    assert fitted.scale[0] == pytest.approx((NEIGHBOURS[0] + square) / (1 + square), abs=2e-3)
    assert fitted.scale[1] == pytest.approx(NEIGHBOURS[1] / (1 + square), abs=2e-3)
    cosines = np.array([0.0, 0.2, 0.5, 0.8])
    mapped = fitted.as_default((cosines + square) / (1 + square))
    np.testing.assert_allclose(mapped, cosines, atol=0.03)
    assert statistics.neighbours[0] > statistics.unrelated[0]


def test_what_agrees_little_is_not_read_for_boundaries_and_still_scaled_for_recall() -> None:
    default = talks()
    noise = [unit(np.random.default_rng(n).normal(size=v.shape) + 1.0) for n, v in enumerate(default)]
    fitted, _ = fit("noise", noise, default, NEIGHBOURS)
    assert fitted.scale is None
    pairs = np.concatenate(noise) @ np.concatenate(noise).T
    assert float(np.median(fitted.as_default(pairs))) == pytest.approx(
        float(np.median(np.concatenate(default) @ np.concatenate(default).T)), abs=0.05
    )


def test_the_same_texts_fit_the_same_numbers_and_silent_texts_are_left_out() -> None:
    default = talks()
    own = raised(default, 1.0)
    silent = [np.vstack([v, np.zeros((2, v.shape[1]), np.float32)]) for v in own]
    statements = [np.vstack([v, v[:2]]) for v in default]
    assert fit("x", own, default, NEIGHBOURS) == fit("x", silent, statements, NEIGHBOURS)


def test_too_few_texts_and_texts_all_alike_are_refused() -> None:
    few = talks(count=2, length=40)
    with pytest.raises(InvalidInput, match="78 messages that follow another are too few"):
        fit("x", few, few, NEIGHBOURS)
    default = talks()
    alike = [np.ones_like(v) / np.sqrt(np.float32(v.shape[1])) for v in default]
    with pytest.raises(InvalidInput, match="x gives all these texts the same cosine"):
        fit("x", alike, default, NEIGHBOURS)


@given(st.lists(st.floats(-1.0, 1.0), min_size=2, max_size=20))
def test_the_curve_never_turns_an_order_around(cosines: list[float]) -> None:
    values = np.sort(np.array(cosines))
    mapped = MINE.as_default(values)
    assert (np.diff(mapped) >= 0).all()
    assert np.abs(mapped).max() <= 1.0
    back = [MINE.as_own(float(c)) for c in mapped]
    np.testing.assert_allclose(back, values, atol=1e-9)


def test_a_calibration_survives_as_json_and_nothing_else_passes_for_one() -> None:
    full = replace(MINE, threshold=0.45)
    assert read(full.as_json()) == full
    assert read(replace(MINE, scale=None).as_json()).scale is None
    for damage in (
        {"curve": [[0.5, 0.1]]},
        {"curve": [[0.0, 0.0], [0.5, 0.0]]},
        {"curve": 3},
        {"embedder": None},
        {"scale": [0.5]},
        {"agreement": "much"},
    ):
        with pytest.raises(InvalidInput, match="run `episodic calibrate` again"):
            read({**full.as_json(), **damage})
    with pytest.raises(InvalidInput, match="no calibration"):
        read([])


# --- the policy it makes ---------------------------------------------------------------------------------


def test_the_name_says_everything_a_calibration_fitted() -> None:
    odd = replace(MINE, embedder="openai:a/b:1?dimensions=8", threshold=0.45)
    made = calibrated("default", odd)
    assert isinstance(made, DefaultPolicy)
    assert (made.scale, made.threshold, made.embedder) == (MINE.scale, 0.45, odd.embedder)
    again = for_embedder(policy(made.name), odd.embedder)
    assert again == made
    assert calibrated(made.name, MINE) == made  # a frame's name is taken to the letter
    words = calibrated("default", replace(MINE, scale=None))
    assert isinstance(words, DefaultPolicy)
    assert (words.vectors, words.name) == (0, "default-2027-03?vectors=0&embedder=mine")


def test_what_the_caller_sets_by_hand_wins() -> None:
    fitted = replace(MINE, threshold=0.45)
    assert calibrated("default?threshold=0.3", fitted).threshold == 0.3  # type: ignore[attr-defined]
    assert calibrated("default?scale=0.2,0.1", fitted).scale == (0.2, 0.1)  # type: ignore[attr-defined]
    assert calibrated("default", fitted, hindsight=0).hindsight == 0
    assert calibrated("seed-001", fitted) == policy("seed-001")
    assert calibrated("default-2027-03", fitted) == policy("default")


def test_a_scale_fitted_for_one_embedder_is_never_read_with_another() -> None:
    made = calibrated("default", MINE)
    other, measured = for_embedder(made, "yours"), for_embedder(made, "minilm-f32-1")
    assert isinstance(other, DefaultPolicy)
    assert isinstance(measured, DefaultPolicy)
    assert (other.scale, measured.scale) == (None, NEIGHBOURS)
    by_hand = for_embedder(policy("default?scale=0.5,0.1"), "yours")
    assert isinstance(by_hand, DefaultPolicy)
    assert by_hand.scale == (0.5, 0.1)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("scale=0.5", "scale must be two numbers"),
        ("scale=a,b", "scale must be two numbers"),
        ("scale=0.5,0", "a mean and a spread"),
        ("scale=2,0.1", "a mean and a spread"),
        ("scale=nan,0.1", "a mean and a spread"),
        ("vectors=2", "vectors must be 1, or 0"),
        ("name=mine", "no parameter 'name'"),
    ],
)
def test_a_parameter_that_cannot_be_is_refused(given: str, problem: str) -> None:
    with pytest.raises(InvalidInput, match=problem):
        policy(f"default?{given}")


def test_without_vectors_a_policy_hears_words_alone() -> None:
    texts = ["green tea calms me", "my tea kettle broke", "tea leaves from Assam", "buy a new tea kettle"]
    texts += ["the bike chain slipped", "a new bike saddle", "bike lanes downtown", "the bike brake squeaks"]
    seen = np.eye(4, dtype=np.float32)[[0, 1, 0, 1, 2, 3, 2, 3]]

    def odds(vectors: Sequence[Vector | None], chosen: str) -> list[float]:
        arrivals = [
            Arrival(Observation(UUID(int=n), UUID(int=1), n, START, START, "ana", text), vector)
            for n, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        made = policy(chosen)
        return [record.probability for record in run(made.begin(), arrivals, made).records]

    assert odds(list(seen), "default?vectors=0") == odds([None] * 8, "default")
    assert odds(list(seen), "default") != odds([None] * 8, "default")
