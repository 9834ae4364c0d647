"""Records elsewhere that rest on what is erased, or quote it, go with it."""

from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from builders.assistants import TEN
from builders.chats import Clock, mine
from builders.erasing import SECRET, everywhere

from episodic_agent import Memory
from episodic_agent.core.identity import decision_id
from episodic_agent.engine.jobs.kinds import LINK, REVIEW
from episodic_agent.schemas import Decision, PendingReview, Scope

ANA = Scope("default")


@pytest.fixture
def memory(url: str, clock: Clock) -> Iterator[Memory]:
    with closing(Memory.open(url, embedder="hashing", policy="seed-001", clock=clock)) as opened:
        yield opened


def say(memory: Memory, thread: str, *texts: str) -> list[UUID]:
    """Say something in a thread and close its episode; return the messages' ids."""
    statements = [
        {"role": "user", "content": text, "timestamp": (TEN + timedelta(minutes=n)).isoformat()}
        for n, text in enumerate(texts)
    ]
    receipts = mine(memory).add(statements, thread=thread)
    mine(memory).flush(thread=thread)
    return [receipt.id for receipt in receipts]


def waiting(memory: Memory) -> set[str]:
    with memory._deps.store.begin(ANA, write=False) as tx:
        return {one.query for one in tx.upkeep.reviews()}


def ask(memory: Memory, thread: str, query: str, *shown: UUID) -> None:
    """Let a recall of a thread wait for its review, as a search that names the asking thread does."""
    with memory._deps.store.begin(ANA) as tx:
        asking = tx.threads.get(thread)
        assert asking is not None
        tx.upkeep.put(PendingReview(uuid4(), asking.id, 99, TEN, query, shown))


@pytest.mark.parametrize("whole", [False, True], ids=["a message", "its thread"])
def test_recalls_of_other_threads_that_rest_on_it_or_quote_it_go(
    memory: Memory, clock: Clock, url: str, whole: bool
) -> None:
    clock.now = TEN
    secret, _ = say(memory, "safe", f"The code of the safe is {SECRET} 4711x", "Where is the plumber?")
    say(memory, "desk", "My cello teacher is Odile", "The train leaves soon")
    episode = next(card.episode_id for card in mine(memory).episodes.list() if card.origin == "safe")
    ask(memory, "desk", "who may open it?", episode)  # rests on what it was shown
    ask(memory, "desk", f"is {SECRET} the word?")  # says half of it
    ask(memory, "desk", "does the train of Odile leave from platform 4711x?")  # says its code
    ask(memory, "desk", "when does the train leave?")
    mine(memory).erase(**({"thread": "safe"} if whole else {"observation": secret}))
    assert waiting(memory) == {"when does the train leave?"}
    assert everywhere(url, SECRET) == []


def test_queries_of_judged_recalls_go_where_they_rest_on_it(memory: Memory, clock: Clock, url: str) -> None:
    clock.now = TEN
    secret, _ = say(memory, "safe", f"The code of the safe is {SECRET}", "Where is the plumber?")
    say(memory, "desk", "My cello teacher is Odile")
    cards = {card.origin: card.episode_id for card in mine(memory).episodes.list()}
    with memory._deps.store.begin(ANA) as tx:
        desk = tx.threads.get("desk")
        assert desk is not None
        for number, (subject, query) in enumerate(
            [
                (cards["safe"], f"what of {SECRET} that I was told of long ago by somebody else?"),
                (cards["desk"], f"{SECRET} or Odile?"),
                (cards["desk"], "who teaches me?"),
            ]
        ):
            detail = {"thread": str(desk.id), "query": query, "why": f"took up: {query}", "rank": 1}
            tx.knowledge.decide(record(subject, f"{number}", REVIEW, detail=detail))
    mine(memory).erase(observation=secret)
    with memory._deps.store.begin(ANA, write=False) as tx:
        queries = [one.detail["query"] for one in tx.knowledge.decisions(type=REVIEW)]
    assert sorted(queries) == ["", "", "who teaches me?"]
    assert everywhere(url, SECRET) == []


def test_what_a_model_said_of_another_candidate_in_the_same_answer_goes(
    memory: Memory, clock: Clock, url: str
) -> None:
    clock.now = TEN
    (secret,) = say(memory, "safe", f"The code of the safe is {SECRET}")
    say(memory, "desk", "My cello teacher is Odile")
    say(memory, "music", "Does she play the viola, too?")
    with memory._deps.store.begin(ANA) as tx:
        safe, desk, music = (tx.threads.get(name) for name in ("safe", "desk", "music"))
        assert safe is not None
        assert desk is not None
        assert music is not None
        texts = {
            "candidate": str(desk.id),
            "llm": {"reasoning": f"not {SECRET} but the teacher", "score": 0.8},
        }
        others = ({"candidate": str(safe.id), "score": 0.1},)
        tx.knowledge.decide(record(music.id, "m", LINK, detail=texts, alternatives=others))
    mine(memory).erase(observation=secret)
    assert everywhere(url, SECRET) == []
    with memory._deps.store.begin(ANA, write=False) as tx:
        (decision,) = tx.knowledge.decisions(type=LINK)
    assert decision.alternatives == others
    assert decision.detail["llm"] == {"reasoning": "", "score": 0.8}


def record(subject: UUID, name: str, kind: str, **more: object) -> Decision:
    return Decision(
        id=decision_id(subject, name),
        type=kind,
        at=TEN,
        subject=subject,
        features={},
        score=1.0,
        threshold=0.5,
        verdict="GOOD",
        policy_version="default",
        **more,  # type: ignore[arg-type]
    )
