"""What harms a person stands until somebody denies it by name; what confirms it, or is of another, ends nothing."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory

MONDAY = datetime(2026, 3, 2, 20, tzinfo=UTC)


def holding(folder: Path, clock: Clock, *spoken: str) -> set[str]:
    """Return what is known after things were said a week apart."""
    clock.now = MONDAY
    with Memory.open(folder / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("mei")
        for text in spoken:
            user.add(text, channel="sms", timestamp=clock.now)
            user.add("Okay.", role="assistant", channel="sms", timestamp=clock.now + timedelta(seconds=9))
            clock.now += timedelta(days=7)
        user.flush()
        return {card.fact.value for card in user.facts.list()}


@pytest.mark.parametrize(
    ("harm", "later"),
    [
        ("I'm allergic to penicillin.",
         "Told the dentist I'm allergic to penicillin and he gave me something else instead"),
        ("I'm allergic to penicillin.", "Don't forget, I'm not joking, I'm allergic to penicillin."),
        ("I'm allergic to nuts.", "My daughter is not allergic to nuts."),
        ("I'm allergic to nuts.", "Am I not allergic to nuts?"),
        ("I take my blood pressure medication at eight.", "I forgot my blood pressure medication again"),
        ("我对青霉素过敏，小时候打针休克过", "看完牙了，医生给开头孢，我说了青霉素过敏，他换了别的药"),
        ("我对青霉素过敏", "今天做了检测，芒果其实不过敏，是尘螨过敏"),
        ("海老アレルギーです。", "友だちはアレルギーじゃなかった。"),
    ],
)  # fmt: skip
def test_what_confirms_a_harm_or_is_of_another_ends_none(
    tmp_path: Path, clock: Clock, harm: str, later: str
) -> None:
    assert harm in holding(tmp_path, clock, "My mother lives in Cardiff.", harm, later)


@pytest.mark.parametrize(
    ("harm", "later"),
    [
        ("I'm allergic to nuts.", "The test says I'm not allergic to nuts."),
        ("My daughter is allergic to nuts.", "She is not allergic to nuts after all."),
        ("Ich bin gegen Nüsse allergisch.", "Der Test sagt, ich bin doch nicht gegen Nüsse allergisch."),
        ("我对芒果过敏", "今天做了检测，芒果其实不过敏"),
        ("海老アレルギーです。", "検査の結果、海老アレルギーじゃなかった。"),
    ],
)  # fmt: skip
def test_what_denies_a_harm_by_name_ends_it(tmp_path: Path, clock: Clock, harm: str, later: str) -> None:
    known = holding(tmp_path, clock, "My mother lives in Cardiff.", harm, later)
    assert harm not in known
    assert later in known
