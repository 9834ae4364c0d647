"""What one has to do oneself, told to an assistant in one channel and settled in another sitting."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from builders.chats import Clock
from builders.minilm import default_model

from episodic_agent import Memory
from episodic_agent.core.recall.commitments import Report, settling
from episodic_agent.engine.recall import settling as reading
from episodic_agent.engine.user import UserMemory

MONDAY = datetime(2026, 11, 2, 19, tzinfo=UTC)
ASKED_AT = datetime(2026, 11, 16, 8, tzinfo=UTC)
SITTINGS = (
    (0, "i need to return the grey coat by the 20th"),
    (1, "i'll take the bins out before the 4th, promise"),
    (3, "gotta draft the speech for the club by the 28th"),
    (5, "slept badly, the cat was sick on the rug again"),
    (8, "i need to email the council about the fence"),
    (12, "I've returned the grey coat, they took it without the receipt"),
)
COAT, BINS, SPEECH, CAT, COUNCIL, RETURNED = (text for _, text in SITTINGS)


@pytest.fixture
def nell(tmp_path: Path, clock: Clock) -> Iterator[UserMemory]:
    with Memory.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        user = memory.user("nell")
        for day, text in SITTINGS:
            clock.now = MONDAY + timedelta(days=day)
            user.add(text, role="user", channel="companion", timestamp=clock.now)
            later = clock.now + timedelta(minutes=1)
            user.add("Noted.", role="assistant", channel="companion", timestamp=later)
        clock.now = ASKED_AT
        user.flush()
        assert len(user.threads.list()) == len(SITTINGS), "each sitting is a thread of its own"
        yield user


def listed(nell: UserMemory, question: str) -> list[str]:
    text = nell.context(question, channel="companion", at=ASKED_AT, max_tokens=600).text
    lines = text.partition("What was taken on:\n")[2].partition("\n\n")[0].splitlines()
    return [line.removeprefix("- user: ").removeprefix("- user → assistant: ") for line in lines]


def test_what_is_to_be_done_is_listed_and_what_another_sitting_reports_done_is_told_so(
    nell: UserMemory,
) -> None:
    lines = listed(nell, "what do i still have to do?")
    shown = "\n".join(lines)
    assert SPEECH in shown
    assert COUNCIL in shown
    assert CAT not in shown
    (coat,) = [line for line in lines if COAT in line]
    assert f"done 2026-11-14 – “{RETURNED[:20]}" in coat


@pytest.mark.parametrize(
    "question",
    [
        "what have i forgotten?",
        "any loose ends?",
        "anything still open from last week?",
        "what slipped through the cracks?",
        "was ist noch offen?",
        "¿se me ha olvidado algo?",
        "что я забыл?",
    ],
)
def test_what_is_forgotten_or_hangs_loose_is_what_is_still_to_be_done(
    nell: UserMemory, question: str
) -> None:
    open_ones = {one.text for one in nell.search(question, now=ASKED_AT).commitments if not one.settled_by}
    assert {SPEECH, COUNCIL} <= open_ones
    context = nell.context(question, channel="companion", at=ASKED_AT, max_tokens=600).text
    assert SPEECH in context
    assert COUNCIL in context


@pytest.mark.parametrize(
    "question",
    [
        "what have i forgotten to tell you about my mum?",
        "what did i forget at the hotel?",
        "is the shop still open?",
    ],
)
def test_what_was_forgotten_somewhere_is_nothing_to_be_done(nell: UserMemory, question: str) -> None:
    assert listed(nell, question) == []
    assert list(nell.search(question, now=ASKED_AT).commitments) == []


def test_what_is_still_to_come_stands_before_what_was_due_long_ago(nell: UserMemory) -> None:
    lines = listed(nell, "what do i still have to do?")
    places = {text: n for n, line in enumerate(lines) for text in (SPEECH, COUNCIL, BINS) if text in line}
    assert places[SPEECH] < places[COUNCIL] < places[BINS]


def test_it_is_asked_for_in_the_middle_of_talk(nell: UserMemory) -> None:
    question = "morning! what do i still have to do? feels like i'm losing track of everything"
    assert SPEECH in "\n".join(listed(nell, question))
    assert SPEECH in [one.observation.text for one in nell.search(question).observations]


def test_a_report_of_another_sitting_is_judged_as_of_the_same_stream(
    nell: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[Report] = []
    monkeypatch.setattr(reading, "settling", lambda some: judged.extend(some) or settling(some))
    nell.search("what do i still have to do?")
    returned = [report for report in judged if report.text == RETURNED]
    assert {(report.in_stream, report.between) for report in returned} == {(True, None)}


def test_a_report_is_believed_in_the_same_stream_of_talk_rather_than_elsewhere() -> None:
    pair = Report(
        text="deposit paid",
        length=2,
        likelihood=0.86,
        takes_on=0.09,
        cosine=0.66,
        with_before=0.66,
        margin=0.5,
        held=0.4,
        held_margin=0.3,
        held_near=0.0,
        between=None,
        others_between=6,
        in_stream=True,
        by_whose=True,
        by_asker=False,
        days=5.0,
    )
    near, far = settling([pair, pair._replace(in_stream=False)])
    assert near >= far
    assert near > 3 * settling([pair._replace(likelihood=0.1, held=0.0, held_margin=0.0)])[0]
