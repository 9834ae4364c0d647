"""A wish how to answer is told with every message, in whatever words and language it was said."""

from datetime import timedelta
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.minilm import default_model

from episodic_agent import Memory

HEADS = ("What is known:", "わかっていること：", "已知：")
TALK = (
    "the tram was late",
    "I watched a film",
    "it rained all day",
    "we had curry",
    "the meeting took hours",
)


def known(tmp_path: Path, clock: Clock, text: str, answer: str, message: str) -> str:
    """Return what is told as known with a message that has nothing to do with what was said days before."""
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        for day, line in enumerate((text, *TALK)):
            clock.now = START + timedelta(days=day)
            user.add(line, channel="app")
            user.add(answer, role="assistant", channel="app", timestamp=clock.now + timedelta(seconds=9))
        clock.forward(days=4)
        blocks = user.context(message, channel="app", max_tokens=800).text.split("\n\n")
    return next((block for block in blocks if block.startswith(HEADS)), "")


@pytest.mark.parametrize(
    "wish",
    [
        "短く答えてください",
        "敬語やめて、タメ口でええよ",
        "絵文字は使わないで",
        "箇条書きで答えて",
        "いつも結論から言って",
        "健ちゃんって呼んで",
    ],
)
def test_a_wish_in_japanese(tmp_path: Path, clock: Clock, wish: str) -> None:
    assert wish in known(tmp_path, clock, wish, "わかりました。", "引っ越しの見積もりはいくら？")


@pytest.mark.parametrize("wish", ["回答简短一点", "以后先说结论", "说话别那么客气", "以后你就叫我晓晓吧"])
def test_a_wish_in_chinese(tmp_path: Path, clock: Clock, wish: str) -> None:
    assert wish in known(tmp_path, clock, wish, "好的。", "搬家的报价怎么写？")


@pytest.mark.parametrize(
    "wish",
    [
        "Отвечай коротко, пожалуйста.",
        "пиши мне без смайлов",
        "반말로 대답해줘.",
        "스티커는 쓰지 말아줘",
        "llámame Pilar",
        "Emoji kullanma.",
        "yanıtların kısa olsun",
    ],
)
def test_a_short_wish_in_russian_korean_spanish_or_turkish(tmp_path: Path, clock: Clock, wish: str) -> None:
    assert wish.rstrip(".") in known(tmp_path, clock, wish, "OK", "what does a van cost for a day?")


@pytest.mark.parametrize("wish", ["call me Sam", "Short. Bullet points, five at most."])
def test_a_wish_in_three_words(tmp_path: Path, clock: Clock, wish: str) -> None:
    assert wish in known(tmp_path, clock, wish, "Okay.", "what does a van cost for a day?")


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("この文を短くして", "引っ越しの見積もりはいくら？"),
        ("明日7時に起こして", "引っ越しの見積もりはいくら？"),
        ("把这段话缩短一点", "搬家的报价怎么写？"),
        ("Ответь Марине, что я опоздаю", "what does a van cost for a day?"),
        ("아빠한테 답장 써줘", "what does a van cost for a day?"),
        ("escríbele un mensaje corto a mi tía", "what does a van cost for a day?"),
        ("yarın altı buçukta uyandır beni", "what does a van cost for a day?"),
    ],
)
def test_an_order_of_the_moment_is_none(tmp_path: Path, clock: Clock, order: str, message: str) -> None:
    assert order not in known(tmp_path, clock, order, "OK", message)
