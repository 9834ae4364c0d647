"""A crew of CrewAI with the memory, on a model that answers as told."""

import os
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

import pytest
from builders.frameworks import framework
from builders.teams import OPEN, QUESTION, team_of, told_of

# said before it is imported: nothing of a test leaves the machine
if find_spec("crewai") is not None:  # elsewhere the tests of our own traces run in this process
    os.environ |= {
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
        "CREWAI_TRACING_ENABLED": "false",
    }
framework("crewai")

from crewai import Agent, Crew, Task
from crewai.llms.base_llm import BaseLLM

from episodic_agent import InvalidInput, Memory, NotFound
from episodic_agent.adapters.crewai import EpisodicCrewMemory


class Scripted(BaseLLM):
    """A model that gives one answer and keeps what it was asked."""

    asked: list[str] = []  # noqa: RUF012 (a field of pydantic's)
    answer: str = ""

    def call(self, messages: Any, *_: Any, **options: Any) -> str:
        self.asked.append(str(messages))
        return f"Thought: I now can give a great answer\nFinal Answer: {self.answer}"


def crew(memory: EpisodicCrewMemory, model: Scripted, task: str) -> Crew:
    agent = Agent(role="Assistant", goal="Help Ana", backstory="You help Ana.", llm=model)
    return Crew(
        agents=[agent],
        tasks=[Task(description=task, expected_output="one sentence", agent=agent)],
        memory=memory,
    )


def test_a_crew_recalls_what_another_crew_reported(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    first, second = Scripted(model="m", asked=[]), Scripted(model="m", asked=[])
    first.answer, second.answer = "The cello teacher Odile lives in Lisbon", "In Lisbon"
    crew(EpisodicCrewMemory(ana), first, "Find out where the cello teacher lives").kickoff()
    crew(EpisodicCrewMemory(ana), second, "Say in which city the cello teacher Odile lives").kickoff()
    assert "Odile lives in Lisbon" not in first.asked[0]
    assert "Odile lives in Lisbon" in second.asked[0]
    assert len(first.asked) == 1  # no model is asked what there is to remember
    assert ana.stats().observations == 2
    assert "Odile" in str(ana.search("the cello teacher Odile"))


def test_records_are_kept_once_listed_by_scope_changed_and_forgotten(memory: Memory) -> None:
    crew_memory = EpisodicCrewMemory(memory.user("ana", new=True))
    assert crew_memory.list_records() == crew_memory.recall("anything") == crew_memory.list_scopes() == []
    kept = crew_memory.remember(
        "We use PostgreSQL", scope="/team/db", categories=["decision"], importance=0.9
    )
    assert kept is not None
    assert (
        crew_memory.remember("We use PostgreSQL", scope="/team/db", categories=["decision"], importance=0.9)
        == kept
    )
    crew_memory.remember_many(["The office is in Porto", "The rent is nine hundred"], scope="/team/office")
    assert [r.content for r in crew_memory.list_records("/team/db")] == ["We use PostgreSQL"]
    assert len(crew_memory.list_records()) == 3
    assert crew_memory.list_scopes("/team") == ["/team/db", "/team/office"]
    assert crew_memory.list_categories() == {"decision": 1}
    assert crew_memory.info("/team").record_count == 3
    assert crew_memory.info("/team/db").child_scopes == []
    matches = crew_memory.recall("which database do we use: PostgreSQL?", scope="/team", limit=2)
    assert matches[0].record.content == "We use PostgreSQL"
    assert matches[0].record.importance == 0.9
    assert crew_memory.recall("PostgreSQL", scope="/team/office", categories=["decision"]) == []
    changed = crew_memory.update(kept.id, content="We use SQLite", categories=["changed"])
    assert (changed.content, changed.scope, changed.importance) == ("We use SQLite", "/team/db", 0.9)
    assert crew_memory.update(changed.id, content="We use PostgreSQL", categories=["decision"]).id != kept.id
    with pytest.raises(NotFound, match="no record 'x'"):
        crew_memory.update("x", content="y")
    assert crew_memory.forget(older_than=datetime(2000, 1, 1, tzinfo=UTC)) == 0
    assert crew_memory.forget(scope="/team/office") == 2
    assert crew_memory.forget(metadata_filter={"a": 1}) == 0
    assert [r.content for r in crew_memory.list_records()] == ["We use PostgreSQL"]


def test_resetting_leaves_what_else_is_remembered(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    ana.add("I am Ana", thread="chat")
    crew_memory = EpisodicCrewMemory(ana, root_scope="/crew/one")
    crew_memory.remember("a report", scope="x")
    assert [r.scope for r in crew_memory.list_records()] == ["/crew/one/x"]
    EpisodicCrewMemory(ana).remember("another crew's", scope="/crew/two")
    crew_memory.reset()
    assert [r.content for r in EpisodicCrewMemory(ana).list_records()] == ["another crew's"]
    EpisodicCrewMemory(ana).reset_all()
    assert [t.origin for t in ana.threads.list()] == ["chat"]


def test_a_memory_that_is_read_only_keeps_nothing(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    crew_memory = EpisodicCrewMemory(ana, read_only=True)
    assert crew_memory.remember("a") is None
    assert crew_memory.remember_many(["a", "b"]) == []
    assert ana.missing or ana.stats().observations == 0


def test_views_of_a_scope_keep_and_recall_in_it(memory: Memory) -> None:
    ana = memory.user("ana", new=True)
    view = EpisodicCrewMemory(ana).scope("/agent/writer")
    view.remember("The style guide forbids semicolons")
    assert view.recall("what does the style guide forbid? semicolons")[0].record.scope == "/agent/writer"


def test_a_crews_memory_of_nobody_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="name whose memory it is"):
        EpisodicCrewMemory(memory)  # type: ignore[arg-type]


def test_a_crew_recalls_of_named_threads_and_of_what_crews_wrote(memory: Memory) -> None:
    team = team_of(memory)
    EpisodicCrewMemory(team).remember("The cello teacher is called Odile, too", scope="/music")
    for only in (None, [OPEN], ["nobody"]):
        assert told_of(EpisodicCrewMemory(team, only=only).recall(QUESTION)) == (True, only is None)
