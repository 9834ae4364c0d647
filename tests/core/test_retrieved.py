"""The seed's Markdown of an answer: facts, then episodes; who shows what was said."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from episodic_agent.core.context.retrieved import DETAILS, RetrievedEpisode, RetrievedFact, recent, retrieved

NOW = datetime(2026, 3, 12, 12, tzinfo=UTC)
THEN = NOW - timedelta(days=2)
MOVING = RetrievedEpisode(
    "Moving", "Ana moves to Lisbon.", THEN, THEN, 0.7, [("user", 'I said\n## "no"')], 0.834
)
HEAD = (
    "## Episodic Memories\n### Moving [rank: 1, score: 0.83, key moment]\n"
    "**When:** 2026-03-10 12:00 UTC (2 days ago)\n**Summary:** Ana moves to Lisbon.\n"
)


def test_an_answer_is_told_in_the_document_s_form() -> None:
    assert retrieved([], [MOVING], "none", NOW) == HEAD
    detailed = HEAD + '\n**Details:**\n- user: "I said ## "no""\n'
    assert [retrieved([], [MOVING], detail, NOW) for detail in ("auto", "low", "high")] == [detailed] * 3


def test_only_key_moments_of_the_first_ranks_show_what_was_said() -> None:
    calm = replace(MOVING, surprise=0.69)
    assert "Details" not in retrieved([], [calm], "auto", NOW)
    assert "key moment" not in retrieved([], [calm], "auto", NOW)
    assert "Details" in retrieved([], [calm], "high", NOW)
    shown = {d: retrieved([], [MOVING] * 3, d, NOW).count("**Details:**") for d in DETAILS}
    assert shown == {"auto": 2, "none": 0, "low": 1, "high": 3}


def test_facts_stand_before_episodes_and_sections_without_anything_are_absent() -> None:
    fact = RetrievedFact("identity", "Ana lives in\n# Lisbon", 3)
    known = "## Known Facts\n- [identity] Ana lives in # Lisbon (from 3 episodes)\n"
    assert retrieved([fact], [], "auto", NOW) == known
    assert retrieved([fact], [MOVING], "none", NOW) == known + "\n" + HEAD
    assert retrieved([], [], "high", NOW) == ""


def test_recent_episodes_carry_no_score() -> None:
    text = recent([MOVING, replace(MOVING, surprise=0.1, summary="")], NOW)
    assert text == (
        "## Recent Memories\n### Moving (key moment)\n**When:** 2026-03-10 12:00 UTC (2 days ago)\n"
        "**Summary:** Ana moves to Lisbon.\n\n### Moving\n**When:** 2026-03-10 12:00 UTC (2 days ago)\n"
    )
    assert recent([], NOW) == ""
