"""What is kept of a vector: its direction, in halves, whatever it was, and the same again when it is kept again."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from episodic_agent.core.vectors import as_floats, in_halves, length_error, rounded

ROWS = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 4), st.integers(1, 40)),
    elements=st.floats(width=32, allow_nan=False, allow_infinity=False),
)


@given(ROWS)
def test_what_is_kept_is_kept_again_to_the_bit(rows: np.ndarray) -> None:  # type: ignore[type-arg]
    once = rounded(rows)
    assert np.array_equal(in_halves(once), in_halves(rows))
    assert np.array_equal(rounded(once), once)


@given(ROWS)
def test_of_any_finite_row_the_direction_is_kept(rows: np.ndarray) -> None:  # type: ignore[type-arg]
    wide, kept = rows.astype(np.float64), rounded(rows).astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    there = np.abs(wide).max(axis=1) > 0
    assert (kept[~there] == 0).all()
    unit = wide[there] / np.abs(wide[there]).max(axis=1, keepdims=True)  # lengths of the smallest vanish
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    off = np.linalg.norm(kept[there] - unit, axis=1)
    assert (off <= 2 * length_error(rows.shape[1]) + (3 * rows.shape[1] + 24) * 2.0**-24).all(), lengths


def test_a_row_is_kept_alike_alone_and_among_others() -> None:
    rows = np.random.default_rng(1).normal(size=(300, 384)).astype(np.float32)
    together = in_halves(rows)
    assert all(
        np.array_equal(in_halves(row[None])[0], kept) for row, kept in zip(rows, together, strict=True)
    )


@pytest.mark.parametrize("order", ["<", ">"])
def test_every_finite_half_is_read_as_the_number_it_is(order: str) -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)].astype(f"{order}f2")
    read, expected = as_floats(finite), finite.astype(np.float32)
    assert read.dtype == np.float32
    assert np.array_equal(read.view(np.int32), expected.view(np.int32))  # the sign of zero too


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_is_still_known_for_it(bad: float) -> None:
    kept = in_halves(np.array([[bad, 1.0], [3.0, 4.0]], dtype=np.float32))
    assert np.isnan(kept[0]).any()
    assert np.isnan(rounded(np.array([[bad, 1.0]], dtype=np.float32))).any()
    assert kept[1].tolist() == pytest.approx([0.6, 0.8], abs=1e-3)
