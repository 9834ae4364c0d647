"""Names by which a question may mean a thread or channel."""

import pytest

from episodic_agent.core.recall.query import talk_names


@pytest.mark.parametrize(
    ("question", "name", "sure"),
    [
        ("what happened in #nord-licht yesterday?", "nord-licht", True),
        ("what happened in the harbor channel?", "harbor", True),
        ("was war gestern im Kanal Harbor los?", "Harbor", True),
        ("qu'a-t-on dit dans le canal harbor ?", "harbor", True),
        ("昨天在#harbor发生了什么？", "harbor", True),
        ("what happened in Christmas party yesterday?", "Christmas party", False),
        ("was war gestern in nordlicht?", "nordlicht", False),
    ],
)
def test_a_name_is_read(question: str, name: str, sure: bool) -> None:
    assert (name, sure) in [(one.name, one.sure) for one in talk_names(question)]


@pytest.mark.parametrize("question", ["what happened yesterday?", "where is my key?", "x" * 10_000])
def test_without_a_name_none_is_read(question: str) -> None:
    assert talk_names(question) == []
