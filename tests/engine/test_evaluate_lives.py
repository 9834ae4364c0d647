"""A life is played through the verbs of a user: what is found comes from the memory, not from the labels."""

import json
from pathlib import Path
from typing import Any

import pytest

from episodic_agent.engine.evaluate.lives import PlayedClock, evaluate_file, play, read_lives
from episodic_agent.errors import BadReply, InvalidInput
from episodic_agent.testing import HashingEmbedder
from episodic_agent.testing.models import ScriptedModel
from episodic_agent.wiring import temporary_memory


def message(identity: str, sitting: str, text: str, time: str, speaker: str = "Ana") -> dict[str, str]:
    role = "assistant" if speaker == "assistant" else "user"
    return {
        "id": identity, "sitting": sitting, "channel": "sms", "speaker": speaker, "role": role,
        "text": text, "time": time,
    }  # fmt: skip


LIFE: dict[str, Any] = {
    "id": "small",
    "lang": "en",
    "user": "Ana",
    "messages": [
        message("m1", "s1", "The boiler in the cellar leaks again", "2026-03-02T09:00:00"),
        message("m2", "s1", "Call Brandt, they mended it in January", "2026-03-02T09:01:00", "assistant"),
        message("m3", "s2", "Which pastry goes with a tarte tatin?", "2026-03-03T18:00:00"),
        message("m4", "s3", "Brandt wants ninety euros for the boiler", "2026-03-04T10:00:00"),
    ],
    "sittings": [
        {"id": "s1", "topic": "leaking boiler", "goes_on_from": []},
        {"id": "s2", "topic": "tarte tatin", "goes_on_from": []},
        {"id": "s3", "topic": "price of the boiler", "goes_on_from": ["s1"]},
    ],
    "episodes": [],
    "facts": [{"id": "f", "fact": "Brandt mends the boiler", "evidence": ["m2"], "from": "2026-03-02T09:01:00"}],
    "tempting": ["m3"],
    "needs": [{"message": "m4", "from": ["m2"]}],
    "questions": [
        {"id": "q1", "time": "2026-03-05T00:00:00", "type": "single", "question": "Who mended the boiler?",
         "answer": "Brandt", "evidence": ["m2"]},
        {"id": "q0", "time": "2026-03-03T00:00:00", "type": "single", "question": "Which pastry?",
         "answer": "", "evidence": ["m3"]},
    ],
}  # fmt: skip


def written(folder: Path, *lives: object) -> Path:
    path = folder / "life.jsonl"
    path.write_text("".join(json.dumps(life) + "\n" for life in lives), encoding="utf-8")
    return path


@pytest.mark.slow
def test_a_life_is_played_in_the_order_of_time(tmp_path: Path) -> None:
    (life,) = read_lives(written(tmp_path, LIFE))
    clock = PlayedClock(life.lines[0].at)
    with temporary_memory(HashingEmbedder(), now=clock) as memory:
        played = play(life, memory.user("Ana"), clock)
    assert len(set(played.thread_of.values())) == 3
    assert played.episode_of.keys() == {"m1", "m2", "m3", "m4"}
    assert "m3" not in played.answers[1].ranked  # asked on the day before it was said
    assert "m2" in played.answers[0].ranked
    assert "Brandt wants ninety" not in played.contexts["m4", 2000].text.partition("Current question")[0]
    assert {m for one in played.episodes for m in one.messages} == {"m1", "m2", "m3", "m4"}


def test_the_figures_have_the_published_shape_and_come_out_the_same_twice(tmp_path: Path) -> None:
    path = written(tmp_path, LIFE)

    def figures() -> dict[str, object]:
        scored: dict[str, object] = dict(
            evaluate_file(path, lambda now, _: temporary_memory(HashingEmbedder(), now=now))
        )
        assert scored.pop("ms_per_message")
        return scored

    first = figures()
    assert first == figures()
    assert {key: set(value) for key, value in first.items() if isinstance(value, dict)} == {
        "sittings": {"f1"},
        "links": {"precision", "recall", "f1", "elliptical_f1", "largest"},
        "episodes": {"f1", "f1_tol1", "score", "density"},
        "facts": {"precision", "recall", "f1", "tempted", "tempted_by", "stale"},
        "needs": {"covered@800", "covered@2000", "noise"},
        "changes": {"outdated@300", "outdated@800", "outdated@1500"},
        "questions": {"recall@5", "recall@10", "any@5", "abstained", "changed"},
        "titles": {"topic_words", "phrase"},
    }
    assert first["calls_per_100"] == 0.0


def test_the_beginning_of_a_life_has_what_was_labelled_needed_and_asked_by_then(tmp_path: Path) -> None:
    replaced = {"id": "g", "fact": "A plumber mends it", "evidence": ["m2", "m4"], "replaced_by": "h"}
    later = {"id": "h", "fact": "Brandt wants ninety", "evidence": ["m4"], "from": "2026-03-04T10:00:00"}
    path = written(tmp_path, {**LIFE, "facts": [*LIFE["facts"], replaced, later]})
    (life,) = read_lives(path, 3)
    labels = life.labels
    assert [line.id for line in life.lines] == ["m1", "m2", "m3"]
    assert {fact.id: (sorted(fact.evidence), fact.replaced) for fact in labels.facts} == {
        "f": (["m2"], False),
        "g": (["m2"], False),  # what replaces it is not told yet
    }
    assert labels.topics.keys() == {"s1", "s2"}
    assert (labels.needs, labels.tempting) == ({}, {"m3"})
    assert [question for _, question in life.questions] == ["Which pastry?"]
    assert read_lives(path, 99) == read_lives(path)


@pytest.mark.slow
def test_what_changed_is_looked_up_at_the_end_in_the_words_of_what_was_so(tmp_path: Path) -> None:
    said = [
        *LIFE["messages"],
        message("m5", "s4", "The boiler is mended, Brandt took eighty euros", "2026-03-06T10:00:00"),
        message("m6", "s5", "Tarte tatin wants puff pastry", "2026-03-08T10:00:00"),
    ]
    sittings = [*LIFE["sittings"], *({"id": s, "topic": "", "goes_on_from": []} for s in ("s4", "s5"))]
    price = {"id": "p", "fact": "Brandt wants ninety euros", "evidence": ["m4"], "replaced_by": "q"}
    paid = {"id": "q", "fact": "Brandt took eighty euros", "evidence": ["m5"], "replaces": "p"}
    path = written(tmp_path, {**LIFE, "messages": said, "sittings": sittings, "facts": [price, paid]})
    (life,) = read_lives(path)
    clock = PlayedClock(life.lines[0].at)
    with temporary_memory(HashingEmbedder(), now=clock) as memory:
        played = play(life, memory.user("Ana"), clock)
    assert played.looked_up.keys() == {("p", 300), ("p", 800), ("p", 1500)}
    assert {"m4", "m5"} <= {m for line in played.looked_up["p", 800].lines for m in line}
    model = ScriptedModel(respond=lambda _prompt, _stage: BadReply("no"))
    with_model = evaluate_file(
        path, lambda now, _: temporary_memory(HashingEmbedder(), now=now, language_model=model)
    )
    assert with_model["changes"] == dict.fromkeys(("outdated@300", "outdated@800", "outdated@1500"))
    assert model.calls
    assert not [prompt for _, prompt in model.calls if f'"{price["fact"]}"' in prompt]


@pytest.mark.slow
def test_a_model_is_asked_as_in_use_and_what_it_takes_is_counted(tmp_path: Path) -> None:
    model = ScriptedModel(respond=lambda _prompt, stage: BadReply("no") if stage == "facts" else {})
    path = written(tmp_path, LIFE)

    def opened(now: Any, _language: str | None) -> Any:
        return temporary_memory(HashingEmbedder(), now=now, language_model=model)

    figures = evaluate_file(path, opened)
    assert model.calls
    assert figures["calls_per_100"] == pytest.approx(100 * len(model.calls) / 4)
    assert float(str(figures["tokens_per_100"])) > 0
    assert figures["answers_refused"]
    assert figures["wrong_high_links"] == 0


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ({key: value for key, value in LIFE.items() if key != "sittings"}, "lacks `sittings`"),
        ({**LIFE, "needs": {}}, "`needs` is to be a list"),
        ({**LIFE, "messages": []}, "at least one message"),
        ({**LIFE, "messages": [LIFE["messages"][0], LIFE["messages"][0]]}, "two messages of one id"),
        ({**LIFE, "messages": LIFE["messages"][::-1]}, "in the order of their times"),
        ({**LIFE, "messages": [{"id": "m1"}]}, "message 1 lacks `sitting`"),
        ({**LIFE, "tempting": ["m9"]}, "labels m9, which it does not have"),
        ({**LIFE, "facts": [{**LIFE["facts"][0], "replaced_by": "x"}]}, "labels x, which it does not have"),
        ({**LIFE, "questions": [{"question": "?", "time": "soon"}]}, "question 1 has no time"),
    ],
)
def test_a_life_that_cannot_be_played_is_refused(tmp_path: Path, broken: object, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        read_lives(written(tmp_path, broken))


def test_a_file_without_a_life_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="is empty; give"):
        read_lives(written(tmp_path))
