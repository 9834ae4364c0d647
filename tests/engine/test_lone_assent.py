"""A reply that only assents is told behind what it answers, and not where that stands above as a fact."""

from datetime import UTC, datetime, timedelta

import pytest
from builders.chats import mine
from conftest import OpenMemory

BEGAN = datetime(2026, 9, 7, 9, tzinfo=UTC)
NOW = BEGAN + timedelta(days=20)


@pytest.mark.parametrize(
    ("stated", "assent", "asked"),
    [
        ("我对芒果过敏，吃了会肿。", "明白。", "我对什么过敏？"),
        ("I am allergic to mangoes, they make me swell.", "Got it.", "what am I allergic to?"),
        ("そばアレルギーです。", "わかりました。", "何のアレルギー？"),
    ],
)
def test_a_lone_assent_takes_no_line(open_memory: OpenMemory, stated: str, assent: str, asked: str) -> None:
    user = mine(open_memory(embedder="none"))
    for actor, text in (("user", stated), ("assistant", assent)):
        user.add({"role": actor, "content": text, "timestamp": BEGAN.isoformat()}, thread="first")
    text = user.context(asked, at=NOW, channel="another").text
    assert stated in text
    assert f"- assistant: {assent}" not in text
