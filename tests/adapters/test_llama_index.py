"""A chat engine of LlamaIndex with the block in its memory, on a mock model."""

import asyncio
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

framework("llama_index.core")

from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import ChatMessage, MockLLM
from llama_index.core.memory import Memory as ShortTerm

from episodic_agent import InvalidInput, Memory
from episodic_agent.adapters.llama_index import EpisodicMemoryBlock

# The framework's own store leaves its connection's thread to a loop that may be closed by the time it answers.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")


class Recorder(MockLLM):
    """A mock model that says `ok` and keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self._asked: list[Any] = []

    @property
    def asked(self) -> list[Any]:
        return self._asked

    def chat(self, messages: Any, **options: Any) -> Any:
        self.asked.append(list(messages))
        answer = super().chat(messages, **options)
        answer.message = ChatMessage(role="assistant", content="ok")
        return answer


def engine(block: EpisodicMemoryBlock, model: Recorder, session: str, **limits: Any) -> SimpleChatEngine:
    short = ShortTerm.from_defaults(
        session_id=session, memory_blocks=[block], tokenizer_fn=str.split, **limits
    )
    return SimpleChatEngine.from_defaults(llm=model, memory=short)


def texts(memory: Any, thread: str) -> list[str]:
    return [m.text for f in memory.episodes.contents(memory.episodes.list(thread=thread)) for m in f.messages]


def test_a_chat_engine_recalls_in_one_session_what_was_said_in_another(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    block, model = EpisodicMemoryBlock(memory=ana), Recorder()
    engine(block, model, "one").chat("My cello teacher is called Odile")
    engine(block, model, "two").chat("What is my cello teacher called?")
    system = model.asked[-1][0]
    assert system.role.value == "system"
    assert "Odile" in str(system.content)
    assert "<recalled-memory>" in str(system.content)
    assert texts(ana, "one") == ["My cello teacher is called Odile"]


def test_each_message_is_kept_once_as_the_short_term_memory_fills_and_empties(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    block, model = EpisodicMemoryBlock(memory=ana), Recorder()
    chat = engine(block, model, "one", token_limit=60, token_flush_size=10, chat_history_token_ratio=0.5)
    said = [f"the {n}. thing to say is about number {n}" for n in range(12)]
    for text in said:
        chat.chat(text)
    asyncio.run(block.observe(chat.chat_history, "one"))
    assert texts(ana, "one") == [line for text in said for line in (text, "ok")]


def test_a_repeated_word_is_kept_as_often_as_it_was_said(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    chat = engine(EpisodicMemoryBlock(memory=ana), Recorder(), "one")
    for _ in range(3):
        chat.chat("yes")
    assert texts(ana, "one") == ["yes", "ok", "yes", "ok", "yes"]


def test_a_block_of_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicMemoryBlock(memory=memory)


def test_a_block_tells_of_named_threads_alone(memory: Memory) -> None:
    team, model = team_of(memory), Recorder()
    for name, only in (("a", None), ("b", [OPEN])):
        engine(EpisodicMemoryBlock(memory=team, only=only), model, name).chat(QUESTION)
        assert told_of(model.asked[-1][0].content) == (True, only is None)


def test_a_memory_that_begins_anew_is_told_what_its_thread_holds(memory: Memory) -> None:
    ana, model = memory.user("ana", new=True), Recorder()
    moved = ("flights to Oslo: SAS, leaving 8 may", "jonas cannot do the 8th, so it is the 15th of may")
    chat = engine(EpisodicMemoryBlock(memory=ana), model, "trip")
    for text in moved:
        chat.chat(text)
    assert str(model.asked[-1]).count(moved[0]) == 1
    engine(EpisodicMemoryBlock(memory=ana), model, "trip").chat("when do we fly to Oslo?")
    system = str(model.asked[-1][0].content)
    assert [text in system for text in moved] == [True, True]
    assert "when do we fly" not in system
