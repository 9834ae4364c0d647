"""The hashing embedder: the same everywhere, words and their forms near, nothing else claimed."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.providers.embedders.hashing import HashingEmbedder, words_of

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=60)


def cosine(first: str, second: str, dimensions: int = 256) -> float:
    a, b = HashingEmbedder(dimensions).embed([first, second])
    return float(a @ b)


def test_the_name_carries_the_dimensions() -> None:
    assert (HashingEmbedder().name, HashingEmbedder().dimensions) == ("hashing-256", 256)
    assert HashingEmbedder(64).name == "hashing-64"
    assert HashingEmbedder(64).embed(["tea", ""]).shape == (2, 64)
    assert HashingEmbedder().embed([]).shape == (0, 256)


GOLDEN_TEXT = "The kettle boils; das Café ist zu, 我爱你 😀"
GOLDEN = [-0.78308, -1.162804, -0.671808, 0.545448, 0.479075, 0.422983, 0.365804, 0.208744]


def test_stored_vectors_stay_comparable_a_change_of_features_needs_a_new_name() -> None:
    (vector,) = HashingEmbedder().embed([GOLDEN_TEXT])
    probes = np.cos(np.outer(np.arange(1, 9), np.arange(256)))
    np.testing.assert_allclose(probes @ vector, GOLDEN, atol=1e-5)


def test_another_process_computes_the_same_vector() -> None:
    script = (
        "import sys; from episodic_agent.providers.embedders.hashing import HashingEmbedder;"
        f"sys.stdout.buffer.write(HashingEmbedder().embed([{GOLDEN_TEXT!r}]).tobytes())"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, timeout=60)
    assert done.stdout == HashingEmbedder().embed([GOLDEN_TEXT]).tobytes()


@given(st.lists(ANY_TEXT, max_size=6))
def test_rows_have_length_one_unless_blank_and_do_not_depend_on_their_neighbours(texts: list[str]) -> None:
    embedder = HashingEmbedder()
    vectors = embedder.embed(texts)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    for text, vector, length in zip(texts, vectors, lengths, strict=True):
        assert length == (pytest.approx(1.0, abs=1e-5) if words_of(text) else 0.0)
        assert np.array_equal(vector, embedder.embed([text])[0])


def test_words_that_cancel_each_other_are_no_blank_text() -> None:
    (vector,) = HashingEmbedder().embed(["N:Å"])  # on one place, with opposite signs
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u2003"])
def test_a_blank_text_gets_a_zero_row(text: str) -> None:
    assert not HashingEmbedder().embed([text]).any()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The Kettle, boils!", "the kettle boils"),
        ("ﬁne ２０２４", "fine 2024"),
        ("STRASSE", "straße"),
        ("cafe\u0301", "café"),
    ],
)
def test_case_punctuation_and_unicode_forms_do_not_matter(first: str, second: str) -> None:
    assert cosine(first, second) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("near", "text", "far"),
    [
        ("the kettle is boiling", "did the kettle boil", "we sold the car in May"),
        ("kettles", "kettle", "settlement"),
        ("我明天去看牙医", "牙医在哪里", "今年的雨很大"),
        ("パスポートを更新した", "パスポートの期限", "犬が庭で寝ている"),
        ("병원에 갔다", "병원은 어디", "고양이가 잔다"),
        ("🎉", "🎉🎉", "😢"),
    ],
)
def test_shared_words_and_forms_bring_texts_nearer(near: str, text: str, far: str) -> None:
    assert cosine(text, near) > cosine(text, far) + 0.1


def test_texts_without_a_common_word_are_nearly_orthogonal_on_average() -> None:
    words = [
        "kettle",
        "window",
        "passport",
        "garden",
        "dentist",
        "invoice",
        "harbour",
        "pigeon",
        "quartz",
        "melody",
    ]
    vectors = HashingEmbedder().embed(words)
    apart = [float(a @ b) for a, b in pairwise(vectors)]
    assert abs(np.mean(apart)) < 0.1
    assert np.max(np.abs(apart)) < 0.4
