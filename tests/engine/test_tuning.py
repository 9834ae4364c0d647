"""Outcomes and tuning through the engine: what is heard, what a person tells, what a run leaves behind."""

import threading
from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
from builders.chats import NOW, Clock, mine
from builders.commands import Run
from builders.links import DAY, between_70_and_72, decide, known, link_decision, the_documents_example
from conftest import OpenMemory

from episodic_agent import Memory
from episodic_agent.core.links.policies import link_policy
from episodic_agent.core.prompts import thread_link
from episodic_agent.engine.jobs.runner import Handler
from episodic_agent.engine.later import runner_of
from episodic_agent.engine.tuning import runs as tuning
from episodic_agent.engine.tuning.outcomes import ask_for_outcomes
from episodic_agent.engine.tuning.runs import guidance_in_force, policy_in_force
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import stored_decision
from episodic_agent.schemas import Decision, Job, Receipt, Scope

WEATHER = ("What's the weather in New York?", "Sunny in New York, a high of 72.")
BOILER = ("The boiler shows 0.6 bar", "Fill the boiler to 1.5 bar and bleed the radiators.")
FLAT = ("We travel to the holiday flat in July", "Noted: the holiday flat in July.")
GOES_ON = "And what about the weather in New York on Friday?"
SWITCHES = "How do I reset a Garmin watch?"
SEED = "seed-002"


@pytest.fixture(autouse=True)
def _seed_policy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EPISODIC_LINK_POLICY", SEED)


def talk(memory: Memory, name: str, texts: Sequence[str], minute: float) -> list[Receipt]:
    """Add texts to a thread, the user's and the agent's in turn, beginning at a minute of the clock's day."""
    roles = ("user", "assistant")
    items = [
        {"role": roles[n % 2], "content": text, "timestamp": NOW + timedelta(minutes=minute + n / 4)}
        for n, text in enumerate(texts)
    ]
    return mine(memory).add(items, thread=name)


def said(memory: Memory, text: str, minute: float, name: str = "new") -> Receipt:
    return talk(memory, name, [text], minute)[0]


def judged(memory: Memory, *scores: float, earlier: Sequence[Sequence[str]] = (WEATHER,)) -> list[Decision]:
    """Let a thread begin that was judged against earlier ones with these scores, and be answered."""
    threads = [talk(memory, f"old {n}", texts, -60 + n)[0].thread_id for n, texts in enumerate(earlier)]
    (first,) = talk(memory, "new", ["Oh, and what is it on Thursday?"], 0)
    made = [
        link_decision(
            f"to {n}",
            score,
            at=NOW,
            thread=first.thread_id,
            candidate=thread,
            message=first.id,
        )
        for n, (score, thread) in enumerate(zip(scores, threads, strict=True))
    ]
    decide(memory, made)
    mine(memory).add([{"role": "assistant", "content": "Rain.", "timestamp": NOW}], thread="new")
    return made


def stored(memory: Memory, decision: Decision) -> Decision:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        matching_decision = stored_decision(tx, decision.id)
    assert matching_decision is not None
    return matching_decision


def heard(memory: Memory, decision: Decision) -> tuple[str | None, object, object]:
    """Return a decision's outcome, its strength and by whom."""
    matching_decision = stored(memory, decision)
    how = matching_decision.detail.get("outcome")
    return (
        (matching_decision.outcome, how["strength"], how["by"])
        if isinstance(how, dict)
        else (matching_decision.outcome, None, None)
    )


# --- what is heard


@pytest.mark.parametrize(
    ("score", "text", "expected"),
    [
        (0.88, GOES_ON, ("CORRECT", 0.5, "behaviour")),
        (0.88, SWITCHES, ("INCORRECT", 0.5, "behaviour")),
        (0.88, "That's not what I meant", ("INCORRECT", 1.0, "words")),
        (0.88, "Right, that's the one!", ("CORRECT", 1.0, "words")),
        (0.35, "Didn't we talk about this?", ("INCORRECT", 1.0, "words")),
        (0.35, SWITCHES, ("CORRECT", 0.5, "behaviour")),
        (0.88, "ok", (None, None, None)),
        (0.35, "ok, thanks", (None, None, None)),
    ],
)
def test_the_users_next_turn_labels_a_link(
    memory: Memory, score: float, text: str, expected: tuple[str | None, object, object]
) -> None:
    (link,) = judged(memory, score)
    assert heard(memory, link) == (None, None, None)
    turn = said(memory, text, 3)
    assert heard(memory, link) == expected
    how = stored(memory, link).detail.get("outcome")
    assert (how is None) == (expected[0] is None)
    if isinstance(how, dict):
        assert how["turn"] == str(turn.id)
        assert how["why"]
    explained = mine(memory).links.explain("new").judged
    (told,) = [line for one in explained for line in one.sentences if "came of it" in line] or [""]
    assert ("nobody said so" in told) == (expected[2] == "behaviour")


def test_a_second_turn_corrects_what_the_first_seemed_to_say(memory: Memory) -> None:
    (link,) = judged(memory, 0.88)
    said(memory, GOES_ON, 2)
    assert heard(memory, link)[0] == "CORRECT"
    turn = said(memory, "No wait, that's not what I meant", 4)
    assert heard(memory, link) == ("INCORRECT", 1.0, "words")
    assert stored(memory, link).detail["outcome"]["turn"] == str(turn.id)  # type: ignore[index, call-overload]


@pytest.mark.parametrize(("minutes", "outcome"), [(10, "INCORRECT"), (11, None)])
def test_what_is_said_after_ten_minutes_says_nothing(
    memory: Memory, minutes: float, outcome: str | None
) -> None:
    (link,) = judged(memory, 0.88)
    said(memory, "That's not what I meant", minutes)
    assert heard(memory, link)[0] == outcome


def test_the_third_turn_says_nothing_any_more(memory: Memory) -> None:
    (link,) = judged(memory, 0.88)
    for minute, text in enumerate(("ok", "thanks", "That's not what I meant"), 1):
        said(memory, text, minute)
    assert heard(memory, link) == (None, None, None)


def test_what_a_person_told_no_turn_overwrites(memory: Memory) -> None:
    (link,) = judged(memory, 0.88)
    decision = mine(memory).links.outcome(link.id, "incorrect")
    assert (decision.outcome, decision.detail["outcome"]["by"]) == ("INCORRECT", "hand")  # type: ignore[index, call-overload]
    said(memory, "Right, that's the one!", 2)
    assert heard(memory, link) == ("INCORRECT", 1.0, "hand")
    assert mine(memory).links.outcome(str(link.id)[:8], "Correct").outcome == "CORRECT"


def test_a_fresh_start_tells_of_the_nearest_refusal_alone(memory: Memory) -> None:
    boiler, flat = judged(memory, 0.35, 0.2, earlier=(BOILER, FLAT))
    said(memory, SWITCHES, 2)
    assert heard(memory, boiler)[0] == "CORRECT"
    assert heard(memory, flat)[0] is None


def test_going_on_with_what_was_refused_is_no_fresh_start(memory: Memory) -> None:
    (refusal,) = judged(memory, 0.66)
    said(memory, GOES_ON, 2)
    assert heard(memory, refusal) == (None, None, None)


def test_a_reminder_means_the_thread_its_words_are_nearest_to(memory: Memory) -> None:
    boiler, flat = judged(memory, 0.35, 0.2, earlier=(BOILER, FLAT))
    said(memory, "Didn't we talk about the holiday flat in July?", 2)
    assert heard(memory, boiler)[0] is None
    assert heard(memory, flat) == ("INCORRECT", 1.0, "words")


def test_a_refusal_beside_a_link_is_not_judged(memory: Memory) -> None:
    link, refusal = judged(memory, 0.88, 0.3, earlier=(WEATHER, BOILER))
    said(memory, GOES_ON, 2)
    assert heard(memory, link)[0] == "CORRECT"
    assert heard(memory, refusal)[0] is None


def test_a_refusal_that_the_next_message_put_right_is_not_called_correct(memory: Memory) -> None:
    (refusal,) = judged(memory, 0.66)
    second = said(memory, "Is that with rain or snow?", 2)
    assert heard(memory, refusal)[0] == "CORRECT"  # so it seems, until the second message is linked
    candidate = UUID(str(refusal.detail["candidate"]))
    decide(
        memory,
        [
            link_decision(
                "later", 0.9, thread=second.thread_id, candidate=candidate, message=second.id, at=NOW
            )
        ],
    )
    said(memory, GOES_ON, 3)
    assert heard(memory, refusal) == (None, None, None)


def test_who_decides_after_the_fact_asks_to_hear_what_was_said(memory: Memory) -> None:
    old = talk(memory, "old", WEATHER, -60)[0].thread_id
    first, *_ = talk(memory, "new", ["Oh, and on Thursday?", "Rain.", "That's not what I meant"], 0)
    late = link_decision("late", 0.9, at=NOW, thread=first.thread_id, candidate=old, message=first.id)
    decide(memory, [late])
    with memory._deps.store.begin(Scope()) as tx:
        ask_for_outcomes(tx, first.thread_id, NOW)
    memory.jobs.run()
    assert heard(memory, late) == ("INCORRECT", 1.0, "words")


def test_only_the_first_turns_of_threads_with_links_ask_for_later_work(open_memory: OpenMemory) -> None:
    memory = open_memory(jobs="workers")

    def asked() -> int:
        return sum(job.kind == "outcome" for job in memory.jobs.list())

    talk(memory, "plain", ["Hello", "Hi", "How are you?"], -30)
    said(memory, "Fine", -29, "plain")
    assert asked() == 0  # nothing was judged there
    judged(memory, 0.88)
    assert asked() == 0  # a reply is no turn
    for minute in range(1, 5):
        said(memory, f"And in town {minute}?", minute)
    assert asked() == 1  # asked four times, done once
    memory.jobs.cancel(next(job.id for job in memory.jobs.list() if job.kind == "outcome"))
    said(memory, "And in the next?", 6)
    assert asked() == 0


def counting(memory: Memory) -> Counter[str]:
    """Count the jobs that a memory does from now on, by kind."""
    done: Counter[str] = Counter()

    def counted(kind: str, handler: Handler) -> Handler:
        def handle(scope: Scope, jobs: Sequence[Job]) -> None:
            done[kind] += len(jobs)
            handler(scope, jobs)

        return handle

    later = memory._works.later
    handlers = {kind: counted(kind, handler) for kind, handler in later.handlers.items()}
    later._runner = runner_of(memory._deps, handlers, space=later.space)
    return done


@pytest.mark.slow
def test_a_link_asks_for_later_work_only_where_something_was_said_since(url: str, clock: Clock) -> None:
    with (
        Memory.open(url, embedder="none", clock=clock) as memory,
        Memory.open(url, embedder="none", clock=clock, jobs="workers") as busy,
    ):
        done = counting(memory)

        def answer(where: Memory, hours: float, *texts: str) -> None:
            at = NOW + timedelta(hours=hours)
            mine(where).add([{"content": text, "channel": "sms", "timestamp": at} for text in texts])

        answer(memory, 0, WEATHER[0])
        answer(memory, 1, "Oh, and what is it on Thursday?")
        assert (done["link"], done["outcome"]) == (2, 0)  # nobody went on: there is nothing to hear
        answer(memory, 1.01, "That's not what I meant")
        assert done["outcome"] == 1
        assert [d.outcome for d in memory_decisions(memory) if d.verdict == "LINK"] == ["INCORRECT"]
        answer(busy, 30, "Oh, and what is the weather on Friday?")
        answer(busy, 30.01, "No, that's not what I meant")  # it came before the thread was judged
        memory.jobs.run()
        assert done["outcome"] == 2
        answer(memory, 60, "Oh, and what is the weather on Saturday?", "No, that's not what I meant")
        assert done["outcome"] == 3


def memory_decisions(memory: Memory) -> Sequence[Decision]:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return tx.knowledge.decisions(type="link")


def test_tuning_is_asked_for_where_every_thread_is_one_message(memory: Memory) -> None:
    decide(memory, between_70_and_72()[:99])
    mine(memory).add(WEATHER[0], channel="sms", timestamp=NOW)
    mine(memory).add("Oh, and what is it on Thursday?", channel="sms", timestamp=NOW + timedelta(hours=1))
    assert [run.kind for run in mine(memory).tuning.list()] == [
        "kept"
    ]  # nobody was heard, a hundred are known


def test_links_that_name_nothing_that_is_stored_are_left_alone(memory: Memory) -> None:
    (first,) = talk(memory, "new", ["Oh, and on Thursday?"], 0)
    lost = link_decision("lost", 0.9, thread=first.thread_id)
    bare = link_decision("bare", 0.9, thread=first.thread_id, message=first.id)
    decide(memory, [lost, bare])
    said(memory, "That's not what I meant", 2)
    assert heard(memory, lost)[0] is None
    assert heard(memory, bare)[0] == "INCORRECT"


def test_boundaries_are_labelled_by_their_episodes_id(memory: Memory) -> None:
    talk(memory, "old", WEATHER, 0)
    mine(memory).flush()
    (card,) = mine(memory).episodes.list()
    decision = mine(memory).tuning.outcome(card.episode_id, "incorrect")
    assert (decision.type, decision.outcome) == ("boundary", "INCORRECT")
    with pytest.raises(InvalidInput, match="type 'boundary', not 'link'"):
        mine(memory).links.outcome(card.episode_id, "incorrect")
    with pytest.raises(NotFound, match="no decision"):
        mine(memory).links.outcome("abcdef", "incorrect")
    with pytest.raises(InvalidInput, match="correct or incorrect"):
        mine(memory).tuning.outcome(decision.id, "perhaps")


# --- runs


def in_force(memory: Memory, name: str = SEED) -> str:
    with memory._deps.store.begin(Scope(), write=False) as tx:
        return policy_in_force(tx, name).name


def test_the_documents_example_is_adopted_and_leaves_its_record(memory: Memory, clock: Clock) -> None:
    clock.now = clock.now.replace(year=2025, month=11, day=7)
    decide(memory, the_documents_example())
    run = mine(memory).tuning.run()
    assert (run.kind, in_force(memory)) == ("tuned", "seed-002?threshold=0.72")
    fields = ("tuning_date", "previous_threshold", "new_threshold", "reason", "metrics")
    assert {name: run.record[name] for name in fields} == {
        "tuning_date": "2025-11-07",
        "previous_threshold": 0.7,
        "new_threshold": 0.72,
        "reason": "False positive rate was 8%, reduced to 5%",
        "metrics": {
            "accuracy_before": 0.92,
            "accuracy_after": 0.94,
            "false_positive_rate_before": 0.08,
            "false_positive_rate_after": 0.05,
            "false_negative_rate_before": 0.02,
            "false_negative_rate_after": 0.03,
        },
    }
    assert not mine(memory).tuning.run().changed


def test_false_positives_between_70_and_72_move_the_threshold_to_72(memory: Memory, clock: Clock) -> None:
    decide(memory, between_70_and_72())
    assert in_force(memory) == "seed-002"
    run = mine(memory).tuning.run()
    assert (run.kind, run.policy, in_force(memory)) == ("tuned", *["seed-002?threshold=0.72"] * 2)
    seed = {n: run.record[n] for n in ("tuning_date", "previous_threshold", "new_threshold", "reason")}
    assert seed == {
        "tuning_date": clock.now.date().isoformat(),
        "previous_threshold": 0.7,
        "new_threshold": 0.72,
        "reason": "False positive rate was 8%, reduced to 0%",
    }
    assert run.record["metrics"] == {
        "accuracy_before": 0.9346,
        "accuracy_after": 1.0,
        "false_positive_rate_before": 0.0805,
        "false_positive_rate_after": 0.0,
        "false_negative_rate_before": 0.0,
        "false_negative_rate_after": 0.0,
    }
    assert run.record["counts"] == {"labelled": 107, "positives": 20, "negatives": 87}
    assert mine(memory).tuning.list() == [run]


def test_disagreements_on_temporal_markers_make_a_prompt_with_that_guidance(memory: Memory) -> None:
    marked = [
        known(link_decision(f"marked {n}", 0.8, features={"says_dated": 1.0}, related=False), truth=True)
        for n in range(6)
    ]
    agreed = [known(link_decision(f"yes {n}", 0.9, related=True), truth=True) for n in range(20)]
    agreed += [known(link_decision(f"no {n}", 0.2, related=False), truth=False) for n in range(20)]
    decide(memory, [*marked, *agreed])
    run = mine(memory).tuning.run()
    with memory._deps.store.begin(Scope(), write=False) as tx:
        (line,) = guidance_in_force(tx)
    assert "temporal marker" in line
    assert "more often" in line
    assert run.prompt == thread_link.version([line]) != thread_link.version()
    assert [(f.side, f.feature, f.cases) for f in run.findings] == [("model", "says_dated", 6)]
    assert run.policy == "seed-002"
    assert mine(memory).tuning.rollback().prompt == thread_link.version()


def test_a_dry_run_changes_nothing(memory: Memory) -> None:
    decide(memory, between_70_and_72())
    before = list(mine(memory).export())
    run = mine(memory).tuning.run(dry_run=True)
    assert (run.decision_id, run.record["new_threshold"]) == (None, 0.72)
    assert list(mine(memory).export()) == before
    assert mine(memory).tuning.list() == []
    assert mine(memory).tuning.run().record == run.record


def test_a_run_without_enough_labels_leaves_its_record_too(memory: Memory) -> None:
    decide(memory, between_70_and_72()[:19])
    run = mine(memory).tuning.run()
    assert (run.kind, run.changed, run.policy) == ("kept", False, "seed-002")
    assert run.record["reason"] == "19 labelled decisions are too few; 20 are needed"
    assert mine(memory).tuning.list() == [run]
    with pytest.raises(InvalidInput, match=r"no tuning to take back; `tuning\.list"):
        mine(memory).tuning.rollback()


def test_a_rollback_restores_and_what_led_to_the_change_does_not_bring_it_back(
    memory: Memory, clock: Clock
) -> None:
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    back = mine(memory).tuning.rollback()
    assert (back.kind, back.policy, in_force(memory)) == ("rollback", "seed-002", "seed-002")
    assert mine(memory).tuning.run().record["reason"] == "0 labelled decisions are too few; 20 are needed"
    assert in_force(memory) == "seed-002"


def later(truth: bool, score: float, count: int, clock: Clock) -> list[Decision]:
    """Labelled links decided after a change to .72, which is on probation with them."""
    clock.forward(hours=2)
    policy = "seed-002?threshold=0.72"
    made = [
        link_decision(f"later {n}", score, policy=policy, at=clock.now + timedelta(seconds=n))
        for n in range(count)
    ]
    return [known(decision, truth) for decision in made]


@pytest.mark.parametrize(
    ("truth", "policy", "reason"),
    [
        (True, "seed-002", "taken back: accuracy 0.0% against 100.0% on the next 50"),
        (False, "seed-002?threshold=0.72", "nothing would be clearly better"),
    ],
)
def test_the_next_fifty_labels_judge_a_change(
    memory: Memory, clock: Clock, truth: bool, policy: str, reason: str
) -> None:
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    decide(memory, later(truth, 0.71, 50, clock)[:49])
    assert "49 of 50" in str(mine(memory).tuning.run().record["reason"])
    decide(memory, later(truth, 0.71, 51, clock)[49:])
    run = mine(memory).tuning.run()
    assert (run.record["reason"], run.policy, in_force(memory)) == (reason, policy, policy)


def test_a_change_whose_probation_is_no_longer_read_is_not_judged_again(
    memory: Memory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    decide(memory, later(True, 0.715, 60, clock))
    monkeypatch.setattr(tuning, "READ", 60)
    assert mine(memory).tuning.run(dry_run=True).kind == "kept"


def test_what_was_tuned_for_another_policy_does_not_apply(memory: Memory) -> None:
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    assert in_force(memory, "hybrid") == "seed-002?threshold=0.72"  # an alias of it
    assert in_force(memory, "default") == "choice-2027-01"
    assert in_force(memory, "seed-002?threshold=0.8") == "seed-002?threshold=0.8"


def test_an_unknown_linking_policy_is_refused_before_a_file_is_made(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_LINK_POLICY", "seed-003")
    with pytest.raises(InvalidInput, match="unknown linking policy 'seed-003'"):
        Memory.open(database, embedder="none")
    assert not database.exists()


def test_a_policy_learns_from_decisions_of_its_family_alone(memory: Memory) -> None:
    decide(memory, between_70_and_72(policy="link-2026-12"))
    assert mine(memory).tuning.run().record["counts"] == {"labelled": 0, "positives": 0, "negatives": 0}


def test_the_default_policy_is_tuned_within_its_own_bounds(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EPISODIC_LINK_POLICY", "default")
    memory, threshold = open_memory(), link_policy().threshold
    scores = (
        [(threshold + 0.3, True)] * 20 + [(threshold - 0.2, False)] * 20 + [(threshold + 0.01, False)] * 9
    )
    decide(
        memory,
        [known(link_decision(f"{n}", s, policy="default"), truth) for n, (s, truth) in enumerate(scores)],
    )
    run = mine(memory).tuning.run()
    assert threshold < float(str(run.record["new_threshold"])) <= threshold + 0.05
    assert run.policy.startswith("choice-2027-01?threshold=")
    assert run.record["new_weights"] is None


def test_weights_are_tuned_from_two_hundred_labels_on(memory: Memory) -> None:
    def item(n: int) -> Decision:
        truth = n % 2 == 0
        features = {"keyword": 0.9 if n % 3 else 0.4, "entity": 0.8, "recency": 0.9}
        features["topic"] = 0.95 if truth else 0.1
        score = link_policy(SEED).score(features)
        return known(link_decision(f"{n}", score, features=features, at=DAY + timedelta(minutes=n)), truth)

    decide(memory, [item(n) for n in range(240)])
    first = mine(memory).tuning.run()
    weights = first.record["new_weights"]
    assert isinstance(weights, dict)
    assert first.changed
    moved = (first.record["new_threshold"] != 0.7, weights["topic"] > 0.2)
    assert sum(moved) == 1  # one thing at a time
    assert in_force(memory) == first.policy
    assert sum(weights.values()) == pytest.approx(1.0)


# --- by itself, at once, elsewhere


def test_a_run_comes_by_itself_with_every_hundredth_link(memory: Memory, clock: Clock) -> None:
    decide(memory, between_70_and_72()[:99])
    judged(memory, 0.88)
    assert mine(memory).tuning.list() == []
    said(memory, GOES_ON, 2)
    assert [run.kind for run in mine(memory).tuning.list()] == ["kept"]  # its labels are right as they are
    clock.forward(minutes=1)
    decide(memory, [link_decision(f"more {n}", 0.8, at=clock.now) for n in range(99)])
    said(memory, "And on Saturday?", 3)
    assert len(mine(memory).tuning.list()) == 1


def test_runs_at_the_same_time_adopt_a_change_once(url: str, clock: Clock) -> None:
    with (
        Memory.open(url, embedder="none", clock=clock) as first,
        Memory.open(url, embedder="none", clock=clock) as second,
    ):
        mine(first).add("Hello")
        decide(first, between_70_and_72())
        start, runs = threading.Barrier(2), []

        def act(memory: Memory) -> None:
            start.wait()
            runs.append(mine(memory).tuning.run())

        workers = [threading.Thread(target=act, args=(memory,)) for memory in (first, second)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert sorted(run.kind for run in runs) == ["kept", "tuned"]
        assert [run.kind for run in mine(first).tuning.list()] == ["kept", "tuned"]
        assert in_force(first) == "seed-002?threshold=0.72"


def test_an_export_keeps_outcomes_and_what_was_tuned(
    memory: Memory, open_memory: OpenMemory, tmp_path: Path
) -> None:
    (link,) = judged(memory, 0.88)
    said(memory, "That's not what I meant", 2)
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(mine(memory).export()) + "\n", encoding="utf-8")
    other = open_memory(tmp_path / "other.db")
    for _ in range(2):
        mine(other).import_file(path)
        assert stored(other, link) == stored(memory, link)
        assert mine(other).tuning.list() == mine(memory).tuning.list()
        assert in_force(other) == "seed-002?threshold=0.72"
    mine(other).tuning.rollback()
    mine(other).import_file(path)
    assert in_force(other) == "seed-002"  # its own history stands


def test_nothing_is_tuned_while_linking_is_off(open_memory: OpenMemory) -> None:
    memory = open_memory()
    judged(memory, 0.88)
    decide(memory, between_70_and_72())
    mine(memory).tuning.run()
    memory.close()
    off = open_memory(link_policy="none")
    with off._deps.store.begin(Scope()) as tx:
        tx.upkeep.ask("tune", "link", "tune:link", now=NOW)  # asked for before it was switched off
    said(off, GOES_ON, 2)  # what was linked is still heard of
    off.jobs.run()
    assert [job for job in off.jobs.list() if job.attempts] == []
    assert [run.kind for run in mine(off).tuning.list()] == ["tuned"]
    for act in (mine(off).tuning.run, lambda: mine(off).tuning.run(dry_run=True), mine(off).tuning.rollback):
        with pytest.raises(InvalidInput, match=r"linking is off.*EPISODIC_LINK_POLICY"):
            act()


def test_the_commands_say_that_linking_is_off(
    run: Run, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine(memory).add("Hello")
    monkeypatch.setenv("EPISODIC_LINK_POLICY", "none")
    for command in ("run", "dry-run", "rollback"):
        refused = run("tune", command)
        assert (refused.code, "EPISODIC_LINK_POLICY" in refused.err) == (2, True)
        assert "unknown" not in refused.err
    assert "nothing was tuned yet" in run("tune", "history").out


def test_users_are_tuned_apart(memory: Memory) -> None:
    memory.user("bo").add("Hello")
    decide(memory, between_70_and_72(), Scope("bo"))
    assert memory.user("bo").tuning.run().changed
    assert not mine(memory).tuning.run().changed
    assert in_force(memory) == "seed-002"


def test_the_commands_tell_what_was_tuned(run: Run, open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        (link,) = judged(memory, 0.88)
        decide(memory, between_70_and_72())
    assert "is incorrect" in run("link", "outcome", str(link.id)[:8], "incorrect").out
    assert run("tune", "outcome", link.id, "correct", "--json").json["outcome"] == "CORRECT"
    assert "a dry run: nothing is changed" in run("tune", "dry-run").out
    assert "nothing was tuned yet" in run("tune", "history").out
    done = run("tune", "run", "--json").json
    assert (done["policy"], done["new_threshold"]) == ("seed-002?threshold=0.72", 0.72)
    assert "0.70 > 0.72" in run("tune", "history").out
    assert run("tune", "rollback", "--json").json["new_threshold"] == 0.7
    assert [r["kind"] for r in run("tune", "history", "--json").json["runs"]] == ["rollback", "tuned"]
    assert run("tune", "rollback").code == 2
