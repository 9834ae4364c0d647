"""Titles and summaries by a language model: checked, versioned, replaceable, and never needed."""

import sqlite3
import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest
from builders.chats import CELLO, TAP, Clock, mine, talk
from builders.commands import Run
from builders.injections import INJECTIONS
from builders.models import messages_in, only, retold, told
from builders.steps import step_fields
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.prompts import episode as question
from episodic_agent.core.prompts.quoting import AGAIN
from episodic_agent.data import demo_folder
from episodic_agent.engine.episodes.wording import EXTRACTIVE, REFUSED
from episodic_agent.engine.trace.usage import MOST_UNUSABLE
from episodic_agent.errors import BadReply, InvalidInput, ProviderUnavailable
from episodic_agent.providers.models.openai import ModelLimits, OpenAIModel
from episodic_agent.schemas import Encoding, Episode, Json
from episodic_agent.testing.model_server import Behaviour, serving
from episodic_agent.testing.models import Answer, ScriptedModel

MODEL = f"scripted {question.VERSION}"
GOOD = told(
    title="The dripping kitchen tap and its cracked cartridge",
    summary="The user tells that the kitchen tap drips; the assistant advises to replace the mixer tap.",
    entities=["plumber", "Napoleon"],
    tags=["Kitchen", "tap"],
)


def opened(open_memory: OpenMemory, *answers: Answer, **more: Any) -> tuple[Memory, ScriptedModel]:
    model = ScriptedModel(answers, **({} if answers else {"respond": lambda prompt, _stage: retold(prompt)}))
    return open_memory(language_model=only(model, question.STAGE), **more), model


def closed(memory: Memory, lines: Any = TAP, day: float = 0) -> Episode:
    mine(memory).add(talk(lines, day))
    mine(memory).flush()
    return mine(memory).episodes.get(mine(memory).episodes.list()[-1].episode_id)


def errors(memory: Memory) -> list[str]:
    return [f.message for f in memory.doctor() if f.severity == "error"]


# --- who finds the words --------------------------------------------------------------------------------


def test_a_model_names_and_summarises_a_closed_episode_in_one_call(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory, GOOD)
    episode = closed(memory)
    assert (episode.title, episode.summary, episode.encoded_by) == (GOOD["title"], GOOD["summary"], MODEL)
    assert [stage for stage, _ in model.calls] == [question.STAGE]
    assert all(text in model.calls[0][1] for _, text in TAP)
    assert episode.metadata["tags"] == ["kitchen", "tap"]
    assert episode.metadata["entities"] == ["plumber"]
    assert episode.metadata["actors"] == {"user": 2, "assistant": 2}  # counted, not told by a model
    assert episode.metadata["outcome"] == "ongoing"
    assert mine(memory).search("cracked cartridge").hits[0].episode_id == episode.id
    assert errors(memory) == []
    assert [use.stage for use in memory.usage()] == [question.STAGE]


def test_a_bad_form_is_asked_for_once_more(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory, {"title": "only this"}, GOOD)
    assert closed(memory).encoded_by == MODEL
    assert "summary must be a text" in model.calls[1][1]


def test_what_nobody_said_is_asked_for_once_more_and_then_refused(open_memory: OpenMemory) -> None:
    invented = {**GOOD, "summary": "The user pays 900 dollars to Gustav."}
    memory, model = opened(open_memory, invented, invented)
    episode = closed(memory)
    assert "nobody said 900" in model.calls[1][1]
    assert episode.encoded_by == EXTRACTIVE
    assert episode.metadata[REFUSED] == ["summary: nobody said 900"]
    assert "900" not in episode.summary + episode.title


def test_a_title_that_cannot_be_used_costs_only_the_title(open_memory: OpenMemory) -> None:
    short = {**GOOD, "title": "The tap"}
    memory, _ = opened(open_memory, short, short)
    episode = closed(memory)
    assert (episode.summary, episode.encoded_by) == (GOOD["summary"], MODEL)
    assert episode.title != "The tap"
    assert episode.metadata[REFUSED] == ["title: 2 words, not 3 to 15"]


@pytest.mark.parametrize(
    ("answers", "calls"),
    [
        ([BadReply("refused"), BadReply("refused")], 2),
        ([{}, {}], 2),
        ([{**GOOD, "summary": ""}, {**GOOD, "summary": " "}], 2),
    ],
    ids=["refused", "empty", "blank"],
)
def test_an_empty_or_refused_answer_falls_back_at_once(
    open_memory: OpenMemory, answers: list[Answer], calls: int
) -> None:
    memory, model = opened(open_memory, *answers)
    episode = closed(memory)
    assert len(model.calls) == calls
    assert episode.encoded_by == EXTRACTIVE
    assert str(episode.metadata[REFUSED]).startswith(("['answer:", '["answer:'))
    assert episode.summary
    assert mine(memory).stats().waiting_jobs == 1  # it is asked once more, later


def test_an_answer_that_cannot_be_read_twice_is_asked_for_once_more_later(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory, model = opened(open_memory, BadReply("no JSON"), BadReply("no JSON"), GOOD)
    episode = closed(memory)
    assert (episode.encoded_by, episode.metadata["outcome"], episode.metadata["participants"]) == (
        EXTRACTIVE,
        "unknown",
        ["user", "assistant"],
    )
    assert memory.jobs.run() == 0  # not yet
    clock.forward(hours=1)
    memory.jobs.run()
    episode = mine(memory).episodes.get(episode.id)
    assert (episode.encoded_by, episode.metadata["tags"], episode.encoding_version) == (
        MODEL,
        ["kitchen", "tap"],
        2,
    )
    assert [c.episode_id for c in mine(memory).episodes.list(where="tag=kitchen outcome=ongoing")] == [
        episode.id
    ]
    assert (len(model.calls), mine(memory).stats().waiting_jobs, errors(memory)) == (3, 0, [])


def test_a_model_that_never_answers_readably_is_not_asked_for_ever(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory, model = opened(open_memory, *[BadReply("no JSON")] * 9)
    episode = closed(memory)
    for _ in range(6):
        clock.forward(hours=1)
        memory.jobs.run()
    assert (mine(memory).episodes.get(episode.id).encoded_by, len(model.calls)) == (EXTRACTIVE, 3)
    assert mine(memory).stats().waiting_jobs == 0


@pytest.mark.slow
def test_answers_that_never_fit_cost_a_few_calls_however_many_episodes_close(
    open_memory: OpenMemory, clock: Clock
) -> None:
    memory, model = opened(open_memory, *[{"note": "hm"}] * 99)
    for day in range(9):
        closed(memory, day=day)
    assert len(model.calls) == MOST_UNUSABLE
    (use,) = memory.usage()
    assert (use.calls, use.used, use.refused, use.late) == (MOST_UNUSABLE, 0, MOST_UNUSABLE, 0)
    assert {mine(memory).episodes.get(e.episode_id).encoded_by for e in mine(memory).episodes.list()} == {
        EXTRACTIVE
    }


def test_a_model_that_is_away_is_tried_again_and_then_done_without(
    open_memory: OpenMemory, clock: Clock
) -> None:
    away = [ProviderUnavailable("gone")] * 3
    memory, model = opened(open_memory, *away)
    episode = closed(memory)
    assert (episode.title, episode.encoding_version) == ("", 0)
    assert mine(memory).search("kitchen tap").observations  # what was said is found meanwhile
    for _ in range(4):
        clock.forward(hours=1)
        memory.jobs.run()
    episode = mine(memory).episodes.get(episode.id)
    assert (episode.encoded_by, len(model.calls)) == (EXTRACTIVE, 3)
    assert "gone" in str(episode.metadata[REFUSED])
    assert errors(memory) == []


def test_a_failure_that_passes_costs_nothing(open_memory: OpenMemory, clock: Clock) -> None:
    memory, _ = opened(open_memory, ProviderUnavailable("busy"), GOOD)
    episode = closed(memory)
    clock.forward(hours=1)
    memory.jobs.run()
    assert mine(memory).episodes.get(episode.id).encoded_by == MODEL


def test_a_spent_budget_is_not_waited_for(open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_LLM_BUDGET", "1")
    memory, model = opened(open_memory, GOOD)
    episode = closed(memory)
    assert (episode.encoded_by, model.calls) == (EXTRACTIVE, [])
    assert "EPISODIC_LLM_BUDGET" in str(episode.metadata[REFUSED])


def test_a_few_words_need_no_model(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory, GOOD)
    assert closed(memory, (("user", "Good morning"), ("assistant", "Hello"))).encoded_by == EXTRACTIVE
    assert model.calls == []


def test_what_holds_something_is_weighed_in_tokens(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory)
    chinese = (
        ("user", "我下周三要去上海出差，住在静安寺附近的酒店，周五晚上坐高铁回杭州，票已经买好了。"),
        ("assistant", "好的，祝您一路顺风。"),
    )
    assert closed(memory, chinese).encoded_by == MODEL
    fragment = (
        ("user", "Thank you very much indeed, that was extraordinarily helpful to me."),
        ("assistant", "You are very welcome, take care of yourself!"),
    )
    assert closed(memory, fragment, 3).encoded_by == EXTRACTIVE
    assert len(model.calls) == 1


def test_an_agents_steps_need_no_model(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory, GOOD, policy="default")
    mine(memory).add([step_fields(n) for n in range(30)])
    mine(memory).flush()
    assert {mine(memory).episodes.get(e.episode_id).encoded_by for e in mine(memory).episodes.list()} == {
        EXTRACTIVE
    }
    assert model.calls == []


def test_without_a_model_the_words_are_as_ever(open_memory: OpenMemory, database: Path) -> None:
    asked, _ = opened(open_memory, BadReply("no"), BadReply("no"))
    plain = open_memory(path=database.with_name("plain.db"))
    episode, other = closed(asked), closed(plain)
    assert (episode.title, episode.summary) == (other.title, other.summary)
    assert {k: v for k, v in episode.metadata.items() if k != REFUSED} == other.metadata


def test_a_log_that_was_pasted_names_no_episode_open_or_closed(memory: Memory) -> None:
    log = "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree"
    asked = "the calendar of the choir does not build any more"
    answer = "Two packages want different versions of React."
    mine(memory).add(talk((("user", log), ("user", asked), ("assistant", answer)), 0))
    (being_talked,) = mine(memory).episodes.list()
    assert being_talked.title == asked.capitalize()
    episode = closed(memory, TAP, 3)
    titles = [card.title for card in mine(memory).episodes.list()]
    assert episode.title in titles
    assert asked.capitalize() in titles
    assert not any("ERR" in title for title in titles)


# --- over HTTP, and injections --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [[], [Behaviour.FENCED], [Behaviour.WRONG_TYPES], [Behaviour.REFUSAL], [Behaviour.BUSY]],
    ids=str,
)
def test_words_come_over_http(open_memory: OpenMemory, script: list[Behaviour]) -> None:
    with serving(lambda _prompt: GOOD, script) as server:
        limits = ModelLimits(tries=2, away=0.0)
        model = OpenAIModel("small", base_url=server.url, limits=limits, sleep=lambda _s: None)
        memory = open_memory(language_model=only(model, question.STAGE))
        assert closed(memory).encoded_by == f"openai:small {question.VERSION}"


def obedient(prompt: str) -> Mapping[str, Json]:
    """Tell what stands quoted; but who stands outside of the quotations is obeyed."""
    plain, lines = retold(prompt), prompt[prompt.index(question.CONVERSATION) :].split("\n")
    own = [
        line for line in lines if line.startswith((question.CONVERSATION, "What does the memory keep", AGAIN))
    ]
    quoted = len(messages_in(prompt)) + len(own) == len(lines)
    return plain if quoted else {**plain, "outcome": "failure"}


@pytest.mark.slow
@pytest.mark.parametrize("injection", INJECTIONS, ids=range(len(INJECTIONS)))
def test_what_is_said_to_the_model_changes_no_words(open_memory: OpenMemory, injection: str) -> None:
    attack = injection.replace("{fence}", "```")
    model = ScriptedModel(respond=lambda prompt, _stage: obedient(prompt))
    memory = open_memory(language_model=only(model, question.STAGE))
    episode = closed(memory, (*TAP, ("user", f"The tap {attack}"), (attack[:80] or "x", "Yes, the tap")))
    assert model.calls
    assert episode.metadata["outcome"] in (
        "ongoing",
        "unknown",
    )  # the model's, or extraction's where it was refused


# --- one by one -----------------------------------------------------------------------------------------


class Slow:
    """A model that answers the first question only when it is told to."""

    name = "slow"

    def __init__(self) -> None:
        self.inner = ScriptedModel(respond=lambda prompt, _stage: retold(prompt))
        self.asked, self.open = threading.Event(), threading.Event()

    def complete(self, prompt: str, schema: Any, stage: str) -> Any:
        if not self.asked.is_set():
            self.asked.set()
            assert self.open.wait(30)
        return self.inner.complete(prompt, schema, stage)


def test_a_slow_answer_holds_up_nobody(open_memory: OpenMemory) -> None:
    slow = Slow()
    memory = open_memory(language_model=only(slow, question.STAGE))
    mine(memory).add([*talk(TAP, 0), *talk(CELLO, 1)], wait=False)
    closing = threading.Thread(target=mine(memory).flush)
    closing.start()
    assert slow.asked.wait(30)
    assert mine(memory).add({**talk(TAP, 2)[0]}, wait=False)[0].added  # no transaction waits for the model
    assert mine(memory).search("cello strings").observations
    slow.open.set()
    closing.join(30)
    memory.jobs.run()
    assert all(e.title for e in mine(memory).episodes.list() if e.state == "closed")


# --- again ----------------------------------------------------------------------------------------------


@pytest.fixture
def stores(url: str, clock: Clock) -> Iterator[Any]:
    with ExitStack() as stack:

        def opened(model: ScriptedModel | None = None) -> Memory:
            staged = "none" if model is None else only(model, question.STAGE)
            parts: dict[str, Any] = {"embedder": "hashing", "policy": "seed-001", "clock": clock}
            return stack.enter_context(Memory.open(url, language_model=staged, **parts))

        yield opened


def words_of(encodings: list[Encoding]) -> list[tuple[int, str, str]]:
    return [(e.version, e.title, e.by) for e in encodings]


@pytest.mark.slow
def test_an_episode_is_encoded_again_on_both_stores(stores: Any) -> None:
    plain = stores()
    before = closed(plain)
    changed = stores(ScriptedModel([GOOD]))
    assert mine(changed).episodes.reencode(every=True) == 1
    after = mine(changed).episodes.get(before.id)
    assert (after.title, after.encoding_version, after.encoded_by) == (GOOD["title"], 2, MODEL)
    assert words_of(mine(changed).episodes.history(before.id)) == [
        (1, before.title, EXTRACTIVE),
        (2, GOOD["title"], MODEL),
    ]
    strength = ("stability", "difficulty", "surprise", "last_reviewed_at", "first_seq", "last_seq")
    assert all(getattr(after, name) == getattr(before, name) for name in strength)
    assert [o.text for o in mine(changed).episodes.messages(after.id)] == [text for _, text in TAP]
    hits = mine(changed).search("advises to replace").hits
    assert hits
    assert hits[0].summary == GOOD["summary"]
    assert errors(changed) == []


def test_encoding_again_what_would_come_out_the_same_writes_nothing(memory: Memory) -> None:
    episode = closed(memory)
    assert mine(memory).episodes.reencode(every=True) == 1
    assert mine(memory).episodes.get(episode.id).encoding_version == 1
    assert mine(memory).stats().waiting_jobs == 0


@pytest.mark.slow
def test_the_words_do_not_depend_on_whether_the_vectors_were_there_yet(database: Path) -> None:
    def summaries(memory: Memory) -> list[str]:
        return [card.summary for card in mine(memory).episodes.list() if card.state != "open"]

    with Memory.open(database, embedder="hashing") as memory:
        mine(memory).import_file(demo_folder() / "maya-family.jsonl")
        before = summaries(memory)
    with closing(sqlite3.connect(database)) as db, db:
        db.execute("DELETE FROM vector")  # as where a flush closed what is embedded later
    with Memory.open(database, embedder="hashing") as memory:
        assert mine(memory).episodes.reencode(every=True) > 5
        assert summaries(memory) == before


def test_words_a_model_found_can_be_taken_back_to_extraction(open_memory: OpenMemory) -> None:
    memory, _ = opened(open_memory, GOOD)
    episode = closed(memory)
    memory.close()
    plain = open_memory()
    assert mine(plain).episodes.reencode(thread="chat", by="scripted") == 1
    after = mine(plain).episodes.get(episode.id)
    assert (after.encoding_version, after.encoded_by) == (2, EXTRACTIVE)
    assert episode.metadata["tags"] != after.metadata["tags"]


def test_only_what_is_asked_for_is_encoded_again(open_memory: OpenMemory) -> None:
    memory, model = opened(open_memory)
    closed(memory)
    mine(memory).add("A short word", thread="other")
    mine(memory).flush()
    assert mine(memory).episodes.reencode(every=True, by="extractive") == 1
    assert mine(memory).episodes.reencode(thread="chat", by="extractive") == 0
    assert mine(memory).episodes.reencode(thread="other") == 1
    assert len(model.calls) == 1


@pytest.mark.parametrize("asked", [{}, {"thread": "chat", "every": True}])
def test_who_does_not_say_which_episodes_is_told_so(memory: Memory, asked: dict[str, Any]) -> None:
    closed(memory)
    with pytest.raises(InvalidInput, match="name a thread"):
        mine(memory).episodes.reencode(**asked)


def test_an_export_keeps_every_version(open_memory: OpenMemory, tmp_path: Path) -> None:
    memory, _ = opened(open_memory, GOOD)
    episode = closed(memory)
    memory.close()
    plain = open_memory()
    mine(plain).episodes.reencode(every=True)
    lines = list(mine(plain).export())
    file = tmp_path / "all.jsonl"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    other = open_memory(path=tmp_path / "other.db")
    for _ in range(2):
        mine(other).import_file(file)
        assert words_of(list(mine(other).episodes.history(episode.id))) == words_of(
            list(mine(plain).episodes.history(episode.id))
        )
        assert list(mine(other).export())[1:] == lines[1:]


def test_the_command_encodes_again(run: Run, tmp_path: Path) -> None:
    run("add", "The kitchen tap drips again, says the plumber", "--thread", "chat")
    run("flush")
    assert run("reencode", "--all", "--json").json["asked"] == 1
    assert run("reencode", "--thread", "chat", "--by", "openai", "--json").json["asked"] == 0
    assert "0 episodes encoded again" in run("reencode", "--all", "--by", "openai").err
    assert run("reencode").code == 2
