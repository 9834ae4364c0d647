"""A word, a name or a date that is typed as a query finds what holds it as it stands, with an embedder too."""

from datetime import UTC, datetime

import numpy as np
import pytest
from builders.chats import mine
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.providers.embedders.hashing import HashingEmbedder

NOW = datetime(2026, 10, 5, 9, tzinfo=UTC)
SAID = (
    "中午同事点了芒果布丁，我不敢吃", "答应我妈周末给她打电话", "搬完了，现在住宜山路388弄6号502", "我妈生日是10月3号，想送她丝巾",
    "抢到了！10月4号苏州到成都的票", "薬、ロキソニンは飲んでええよな", "the kick-off is on Friday, then a party", "Mein Flug geht am 3. Oktober",
    "腰いたい", "PRD写完就更轻松了", "昨天下雨", "今天去医院做了检测", "we painted the fence green", "her train leaves at nine", "the lease ends on the 3rd of October",
)  # fmt: skip


class Foreign(HashingEmbedder):
    """An embedder that knows no piece of a text without Latin words: its vector is zero."""

    name = "minilm-foreign"

    def embed(self, texts):  # type: ignore[no-untyped-def]
        vectors = super().embed(texts)
        known = np.array([[text.isascii()] for text in texts])
        return np.where(known, vectors, np.zeros_like(vectors))


@pytest.fixture
def memory(open_memory: OpenMemory) -> Memory:
    memory = open_memory(embedder=Foreign())
    for number, text in enumerate(SAID):
        mine(memory).add(text, thread=f"t{number}", timestamp=datetime(2026, 9, 10 + number, 9, tzinfo=UTC))
    return memory


def first(memory: Memory, query: str) -> str:
    recall = mine(memory).search(query, now=NOW)
    assert not recall.abstained
    return recall.observations[0].observation.text


@pytest.mark.parametrize(
    ("query", "place"),
    [
        ("芒果", 0),
        ("妈", 1),
        ("宜山路", 2),
        ("ロキソニン", 5),
        ("ﾛｷｿﾆﾝ", 5),
        ("腰", 8),
        ("PRD", 9),
        ("kick-off", 6),
        ("Party", 6),
    ],
)
def test_a_word_finds_what_holds_it(memory: Memory, query: str, place: int) -> None:
    text = first(memory, query)
    assert text == SAID[place] if query != "妈" else "妈" in text


@pytest.mark.parametrize("query", ["护照", "头孢", "part", "lea"])
def test_a_word_that_nothing_holds_finds_nothing(memory: Memory, query: str) -> None:
    assert mine(memory).search(query, now=NOW).abstained


def test_a_name_that_is_another_by_one_character_is_not_certain(memory: Memory) -> None:
    assert mine(memory).search("宜山路", now=NOW).confidence > 0.9
    assert mine(memory).search("宜川路", now=NOW).confidence < 0.9


@pytest.mark.parametrize(
    ("query", "place"),
    [("10月3号", 3), ("10月3日", 3), ("10月4号", 4), ("October 3", 14), ("3 October", 14), ("3. Oktober", 7)],
)
def test_a_date_finds_what_names_it(memory: Memory, query: str, place: int) -> None:
    assert first(memory, query) == SAID[place]
