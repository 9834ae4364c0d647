"""What people are shown: which hits of a search, whose times, what a thread is called."""

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest
from builders.chats import START
from builders.commands import Run

from episodic_agent.engine.results import Hit, Recall
from episodic_agent.faces.cli.reading import render_recall

BEST = Hit(UUID(int=1), UUID(int=2), "The plumber", "", 0.5, 0.37, START, START, "closed", 1.0, ())
OTHERS = [replace(BEST, title="The cello", confidence=0.02), replace(BEST, title="The tap", confidence=0.14)]


def test_a_hit_that_is_surely_none_is_left_out_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    recall = Recall("who came?", [BEST, *OTHERS], (), 0.4)
    render_recall(recall, "ana")
    shown = capsys.readouterr()
    assert "1. The plumber" in shown.out
    assert "2. The tap" in shown.out
    assert "The cello" not in shown.out
    assert "1 unlikely hit left out; --explain shows them" in shown.err
    render_recall(recall, "ana", explain=True)
    assert "2. The cello" in capsys.readouterr().out


def test_the_best_hit_is_shown_however_faint_and_all_of_a_policy_that_is_sure_of_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    render_recall(Recall("who came?", [replace(BEST, confidence=0.003)], (), 0.2), "ana")
    assert "confidence under 1%" in capsys.readouterr().out
    unsure = [replace(hit, confidence=0.0) for hit in (BEST, *OTHERS)]
    render_recall(Recall("who came?", unsure, (), 0.0), "ana")
    assert "3. The tap" in capsys.readouterr().out


def test_times_are_those_of_who_wrote_with_their_offset_and_in_utc_for_scripts(run: Run) -> None:
    """As `docs/cli.md` says."""
    run("add", "The tap drips again", "--timestamp", "2026-03-01T00:30:00+01:00", "--thread", "kitchen")
    assert "2026-03-01 00:30 +01:00" in run("episodes").out
    assert "2026-02-28T23:30:00+00:00" in run("episodes", "--json").out
    rules = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    assert "- Times are those of who wrote, with their offset (`+01:00`) where that is not UTC.\n" in rules
    assert "with times in UTC.\n" in rules


def test_a_listing_of_threads_says_that_a_title_may_be_its_newest_episode_s(run: Run) -> None:
    run("add", "The tap drips again", "--thread", "kitchen")
    heading, row = run("threads").out.splitlines()[:2]
    assert "title or newest episode" in heading
    assert "kitchen" in row
    assert "The tap drips again" in row
