"""Somebody dictates six matters in one entry: a context tells the sentence that is asked for, not the first."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest
from builders.chats import START, Clock
from builders.counting import CountingStore
from builders.minilm import default_model

from episodic_agent import Memory as Opened
from episodic_agent.core.context.tokens import estimate
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.user import UserMemory
from episodic_agent.schemas import Vector

MORNING = (
    "so this is the report for the allotment group, I'm in the shed and it rains. The new fence posts came, "
    "twelve of them, larch, and Ruth signed for them. Somebody left the tap running again and the meter says "
    "four cubic metres. For the tomatoes it's a litre each in the evening, only at the root, and the feed goes "
    "in every second Sunday. The key for the shed hangs behind the blue can now. Also the parish wants its "
    "forms back by the 3rd of July, all of them, on paper. I ate my sandwich standing up like a horse."
)
KITCHEN = (
    "right, kitchen notes. The plumber was here and he says the pressure is fine. I paid him sixty. We had soup. "
    "The tiles come on Thursday the 18th, somebody has to be in from seven. The colour is called oyster, which "
    "is a grey. Mum rang and talked about her neighbour's cat for half an hour, it has a collar with a bell now."
)
OTHERS = (
    "I slept badly, the wind was in the chimney. The bus was late and full of people with wet dogs. I read the "
    "paper, all of it, even the sport. For lunch there was bread. Nobody rang. I watched the rain and later the "
    "news, and the news was the rain. I went to bed at ten and thought about nothing in particular for a while."
)


@pytest.fixture
def memory(tmp_path: Path, clock: Clock) -> Iterator[Memory]:
    with Opened.open(tmp_path / "m.db", embedder=default_model(), clock=clock) as memory:
        yield memory


@pytest.fixture
def ana(memory: Memory, clock: Clock) -> UserMemory:
    ana = memory.user("ana", new=True)
    for day, entry in enumerate((MORNING, KITCHEN, *[OTHERS] * 6)):
        clock.now = START + timedelta(days=day)
        ana.add(entry if entry != OTHERS else f"Day {day}. {entry}", channel="voice", timestamp=clock.now)
    clock.forward(hours=12)
    ana.flush()
    return ana


def test_the_sentence_that_bears_on_a_message_is_told_though_it_shares_no_word(ana: UserMemory) -> None:
    told = ana.context("how should I water the plants?", channel="chat", max_tokens=300).text
    assert "a litre each in the evening, only at the root" in told
    assert "like a horse" not in told


def test_of_an_entry_stands_what_is_due_on_the_day_asked_about(ana: UserMemory, clock: Clock) -> None:
    clock.now = START.replace(month=7, day=18, hour=6)  # a Thursday
    ana.add(KITCHEN, channel="voice", timestamp=clock.now - timedelta(days=3))
    told = ana.context("what's on today?", channel="chat", max_tokens=150).text
    assert "The tiles come on Thursday the 18th" in told


def test_where_there_is_room_an_entry_is_told_whole(ana: UserMemory) -> None:
    asked = "how should I water the plants?"
    short, long = (ana.context(asked, channel="chat", max_tokens=n) for n in (300, 4_000))
    assert MORNING in long.text
    assert MORNING not in short.text
    assert short.tokens <= 300
    assert estimate(long.text) <= 4_000


def test_nothing_is_embedded_while_a_context_is_read(
    ana: UserMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    deps, model = ana._deps, default_model()
    store, embed = CountingStore(deps.store), model.embed
    open_reads: list[int] = []

    def watched(texts: Sequence[str]) -> Vector:
        open_reads.append(store.open_reads)
        return embed(texts)

    monkeypatch.setattr(model, "embed", watched)
    nora = Memory(replace(deps, store=store, embedder=model)).user("ana")
    asked = partial(nora.context, "how should I water the plants?", channel="chat", max_tokens=300)
    told = asked().text
    assert len(open_reads) == 2, "the message, then the sentences of long entries together"
    assert not any(open_reads)
    assert asked().text == told
    assert len(open_reads) == 3, "and kept: the next time the message alone is"
