"""Who answers what in a channel, on a channel made up for the purpose; and the fitting of its weights."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from benchmarks.thread_quality import Example, by_names, examples, fit, rounded
from episodic_agent.core.links.disentanglement import INPUTS, REACH, Channel, Line, alone, answers, chosen
from episodic_agent.core.links.policies import link_policy
from episodic_agent.engine.evaluate.threads import LabelledChannel

AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
TALK = (  # two people are helped at once; helpers say whom they mean
    ("anna", "how do I mount a usb stick?", None),
    ("bert", "my sound card is silent", None),
    ("carl", "anna: what does dmesg say about the stick?", 0),
    ("dora", "bert: is the channel muted in alsamixer?", 1),
    ("anna", "carl: it says sdb1", 2),
    ("bert", "dora: it was muted, thanks", 3),
)
LINKS = [(str(n), str(n if older is None else older)) for n, (*_, older) in enumerate(TALK)]
POLICY = link_policy("link-2026-12")


def lines(*talk: tuple[str, str]) -> list[Line]:
    return [Line(str(n), who, text, AT + timedelta(minutes=n)) for n, (who, text) in enumerate(talk)]


def channel() -> LabelledChannel:
    reported_lines = lines(*((who, text) for who, text, _ in TALK))
    return LabelledChannel("made up", "train", reported_lines, [line.id for line in reported_lines], LINKS)


def linked(*talk: tuple[str, str]) -> list[tuple[str, str]]:
    verdicts = list(answers(lines(*talk), POLICY))
    return [(str(n), v.thread_id if v.link else str(n)) for n, v in enumerate(verdicts)]


def test_whoever_is_addressed_is_answered() -> None:
    assert linked(*((who, text) for who, text, _ in TALK)) == LINKS
    assert by_names(channel()) == LINKS


def test_a_line_goes_on_with_its_speakers_own() -> None:
    assert linked(("anna", "my stick does not mount"), ("bert", "hello"), ("anna", "it says bad superblock"))[
        2
    ] == ("2", "0")


def test_an_empty_channel_answers_nothing_and_far_lines_are_forgotten() -> None:
    disentanglement = Channel(POLICY)
    first = disentanglement.choice(lines(("anna", "hello"))[0])
    assert (first.evidence, first.rows.shape) == ((), (1, len(INPUTS)))
    assert not chosen(first, POLICY).link
    assert not alone(first, POLICY).link
    for n in range(REACH + 5):
        disentanglement.hear(Line(f"later {n}", "bert", "and so on", AT))
    asked = disentanglement.choice(Line("last", "carl", "anna: hello", AT))
    assert "0" not in {e.thread_id for e in asked.evidence}
    assert len(asked.evidence) <= 15


def test_names_are_heard_whatever_their_case_and_only_of_who_spoke() -> None:
    disentanglement = Channel(POLICY)
    disentanglement.hear(lines(("Anna", "hello"))[0])
    line = disentanglement.hear(Line("1", "bert", "ANNA, zoe: look here", AT))
    assert (line.names, line.first) == ({"anna"}, "anna")
    assert disentanglement.hear(Line("2", "anna", "I am anna", AT)).names == set()


def test_the_threshold_is_the_policys() -> None:
    talk = [(who, text) for who, text, _ in TALK]
    strict = link_policy("link-2026-12", threshold=1.0)
    assert not any(verdict.link for verdict in answers(lines(*talk), strict))
    free = link_policy("link-2026-12", threshold=0.0)
    assert all(verdict.link for verdict in list(answers(lines(*talk), free))[1:])


def test_vectors_bring_lines_together_that_share_no_word() -> None:
    def vector(place: int) -> np.ndarray:
        return np.eye(4, dtype=np.float32)[place]

    texts = ["is anybody using btrfs", "lunch was good today", "copy on write seems fragile"]
    lines = [
        Line(str(n), who, text, AT + timedelta(minutes=n), vector(kind))
        for n, (who, text, kind) in enumerate(zip("abc", texts, (0, 1, 0), strict=True))
    ]
    verdict = list(answers(lines, POLICY))[2]
    assert (verdict.thread_id, verdict.features["near"]) == ("0", pytest.approx(1.0))


def test_weights_are_learnt_from_examples() -> None:
    learnt = list(examples(channel(), None)) * 3
    weights = fit(learnt)
    right = [one.right[int(np.argmax(one.rows @ weights))] for one in learnt]
    assert all(right)
    assert list(rounded(weights)) == list(INPUTS)


def test_an_example_that_nothing_answers_teaches_nothing() -> None:
    row = np.ones((2, len(INPUTS)))
    lost = Example(row, np.array([False, False]))
    matching_examples = list(examples(channel(), None))
    assert np.array_equal(fit([*matching_examples, lost]), fit(matching_examples))
