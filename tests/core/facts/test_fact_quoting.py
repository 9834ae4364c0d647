"""Facts without a model: the speaker's own words, never turned round; one matter holds one thing at a time."""

import csv
import json
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from core.facts.saying import START, quoted, said_in_turn, statement
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.evaluation.lives import FoundFact, contradicts
from episodic_agent.core.facts import keeping, quotations, quoting, retold, stating
from episodic_agent.core.facts.quoting import is_quotation
from episodic_agent.core.facts.replacing import JudgedStatement, likelihood, threshold
from episodic_agent.core.facts.stating import (
    CATEGORIES,
    LONGEST,
    SHORT,
    SURE_WISH,
    WISH,
    has_cue,
    judged,
    parts_of,
    signs,
    wish,
)
from episodic_agent.data import phrases, texts
from episodic_agent.schemas.facts import Category

ROOT = Path(__file__).parents[3]
CASES = ROOT / "benchmarks" / "cases"
WISHES = sorted((ROOT / "tools" / "facts").glob("held_wishes*.tsv"))
DENIED = [
    json.loads(line) for line in (CASES / "facts_denied.jsonl").read_text(encoding="utf-8").splitlines()
]
HOME = "I live in Lisbon and I am allergic to walnuts."
SISTER = "My sister Hannah is a nurse."
RENT, RENT_NOW = "Our rent is 700 euros a month.", "Our rent is 720 euros a month now."


@pytest.mark.parametrize("path", WISHES, ids=lambda path: path.stem)
def test_wishes_never_taught_are_told_from_what_only_looks_like_one(path: Path) -> None:
    with path.open(encoding="utf-8") as file:
        lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    found = [label == "+" for label, _, text in lines if wish(text) >= WISH]
    # near misses of `held_wishes_h` are a third more than its wishes, and as short: a hint alone tells them apart
    assert sum(found) / len(found) >= (0.68 if path.stem == "held_wishes_h" else 0.76)
    assert sum(found) / sum(label == "+" for label, *_ in lines) >= 0.44


def test_a_new_wish_ends_none_that_asks_for_something_else() -> None:
    """Of pairs drawn by lot hardly any are about one thing; one in a hundred was held for a change."""
    rows = [line for path in WISHES for line in csv.reader(path.open(encoding="utf-8"), delimiter="\t")]
    listed = [text for label, language, text in rows if (label, language) == ("+", "en")]
    wishes = [JudgedStatement(text, START, Category.GUIDELINE) for text in listed]
    lot = random.Random(1)
    pairs = [lot.sample(wishes, 2) for _ in range(1_000)]
    ended = sum(likelihood(older, newer) >= threshold(meaning=False) for older, newer in pairs)
    assert ended <= 3


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Please keep your answers short.", Category.GUIDELINE),
        ("No emojis please.", Category.GUIDELINE),
        ("Always answer in German.", Category.GUIDELINE),
        ("I live in Lisbon.", Category.IDENTITY),
    ],
)
@pytest.mark.parametrize("beside", ["{}", "{} What about the bug in the coupons?", "Is it open today? {}"])
def test_what_is_stated_beside_a_question_is_learned(text: str, kind: Category, beside: str) -> None:
    (one,) = quoted(beside.format(text))
    assert (one.value, one.category) == (text, kind)


@given(st.text(max_size=300))
def test_a_quotation_is_what_was_said_whatever_was_said(text: str) -> None:
    for one in quoted(text, actor="Tom"):
        words = text[one.evidence.start : one.evidence.end]
        assert one.value == " ".join(words.split()) or one.value == words.strip()
        assert one.fact == f'Tom: "{one.value}"'


@pytest.mark.parametrize("case", DENIED, ids=lambda case: str(case["id"]))
def test_no_quotation_reads_as_its_opposite(case: dict[str, str]) -> None:
    for one in quoted(case["text"]):
        words = case["text"][one.evidence.start : one.evidence.end]
        assert one.value == " ".join(words.split())
        assert not contradicts(FoundFact(one.fact, [("m", words)]))


@pytest.mark.parametrize(
    "text",
    [
        "Can you fix line 42?",
        "run the tests again",
        "line 42 throws again",
        "what's the weather?",
        "lol ok",
        "hello there",
        "I'm on the train",
        "I made soup today",
        "if I lived in Rome I'd eat pizza every day",
        "maybe I should get a dog?",
        "thanks, that helps a lot",
        "kannst du mir das kurz erklären?",
        "帮我看看这个报错",
        "👍",
        "...",
    ],
)
def test_small_talk_questions_and_requests_teach_nothing(text: str) -> None:
    assert quoted(text) == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        (HOME, "identity"),
        (SISTER, "relationship"),
        ("always answer me in German please", "guideline"),
        ("My flight to Lisbon is on 3 May.", "goal"),
        (RENT, "experience"),
        ("Ich wohne seit März in Halle und arbeite als Lehrerin.", "identity"),
        ("Vivo en Madrid desde 2019 con mi hermana.", None),
        ("我对花生过敏，平时也从来不吃牛肉，记一下", None),
    ],
)
def test_what_lasts_is_quoted_with_a_category(text: str, category: str | None) -> None:
    (one,) = quoted(text)
    assert one.value == text
    assert category in (None, one.category.value)


def test_assistants_and_devices_prove_nothing_and_what_is_pasted_neither() -> None:
    assert quoted(SISTER, actor="assistant") == quoted(SISTER, actor="calendar") == []
    assert quoted(SISTER + " " + "x" * LONGEST) == []
    assert len(quoted(SISTER, actor="Tom")) == 1


def test_a_long_message_is_read_sentence_by_sentence() -> None:
    idle = "Well, the weather was all right and the bus came late as it does, so we stood there for a while. "
    text = idle + SISTER + " " + idle
    assert len(text) > SHORT
    values = [one.value for one in quoted(text)]
    assert SISTER in values
    assert [text[a:b] for a, b in parts_of(text)][1] == SISTER


def test_a_name_is_the_subject_and_a_role_is_not() -> None:
    assert [one.subject for one in quoted(SISTER, actor="Tom")] == ["Tom"]
    assert [one.fact for one in quoted(SISTER)] == [f'The user: "{SISTER}"']


def test_words_for_since_date_it_and_nothing_else_does() -> None:
    (one,) = quoted("I have lived in Halle with my sister since 2019.")
    assert one.evidence.valid_at == datetime(2019, 1, 1, tzinfo=UTC)
    (other,) = quoted("My flight to Lisbon is on 3 May.")
    assert other.evidence.valid_at == other.evidence.said_at == START
    cause = "My dad can't eat gluten on Friday, since he has coeliac disease."
    (third,) = quoted(cause)
    assert third.evidence.valid_at == START, "a since that gives a reason dates nothing"


def test_a_quotation_is_known_by_what_it_is_not_by_its_last_sign() -> None:
    (fact,) = said_in_turn(SISTER)
    assert is_quotation(fact)
    written = replace(fact, attribute="likes", fact='Maya likes the film "Stalker"')
    assert not is_quotation(written), "a model's sentence that ends with a quotation mark"
    assert not is_quotation(keeping.edit(fact, START, text='Hannah is called "the nurse"'))


def test_the_judge_knows_every_category_and_forgets_signs_it_never_saw() -> None:
    judgement = judged("zzqx vvkw")
    assert 0 <= judgement.likelihood <= 1
    assert 0 <= judgement.wish <= 1
    assert judgement.category in CATEGORIES
    assert ":ends ?" in signs("Did you?")
    assert ":answers" in signs("Thursday at three", "When is it?")


# --- matters ---------------------------------------------------------------------------------------------


def test_what_takes_the_place_of_something_ends_it_from_then_on() -> None:
    old, new = said_in_turn(RENT, RENT_NOW)
    assert (old.value, old.invalid_at, old.superseded_by) == (RENT, START + timedelta(days=10), new.id)
    assert (new.value, new.invalid_at, new.attribute) == (RENT_NOW, None, old.attribute)


@pytest.mark.parametrize(
    ("wished", "later", "ends"),
    [
        ("Please answer in English.", "My tiler has moved to Kiel.", False),  # news
        ("Please answer in English.", "Please always answer in German.", True),
        ("Answer in English please, and use metres.", "Please answer in German.", False),  # a part of it
    ],
)
def test_a_wish_is_ended_by_a_wish_that_takes_back_all_of_it(
    monkeypatch: pytest.MonkeyPatch, wished: str, later: str, *, ends: bool
) -> None:
    monkeypatch.setattr(quoting, "likelihood", lambda *_: 0.9)  # the judge of pairs is sure of each
    (before,) = [fact for fact in said_in_turn(wished, later) if fact.value == wished]
    assert (before.invalid_at is not None) == ends


def test_a_wish_is_ended_by_one_that_takes_it_back() -> None:
    old, new = said_in_turn(
        "Always answer in English please", "Please answer in German again, not in English"
    )
    assert (old.superseded_by, new.invalid_at) == (new.id, None)


def test_news_and_a_wish_of_one_message_are_two_facts() -> None:
    rate, wished = quoted("Our day rate is 960 euros. Please keep your answers short.")
    assert (rate.value, wished.value) == ("Our day rate is 960 euros.", "Please keep your answers short.")
    assert (rate.category is Category.GUIDELINE, wished.category) == (False, Category.GUIDELINE)


ENTRY = (
    "so long day again, the meeting about the new kitchen went on until six and nobody decided anything. "
    "My aunt wants me to ring her every evening before nine and never on the mobile. "
    "Her other idea was to write down each night one thing that was only mine. "
    "What I want to say to the builder: no more cash, always a receipt, and the same team until May. "
    "Choir is on Tuesday, Mrs Holt, first time since the flu, I wonder whether she lets me sing at all. "
    "{} Slept badly, knee at four, and the cat was sick on the good rug."
)


def test_what_others_want_in_a_long_entry_is_no_wish_to_who_remembers_it() -> None:
    wished = "and please, never start your answers with praise, I feel like a customer."
    learned = quoted(ENTRY.format(wished))
    assert [one.value for one in learned if one.category is Category.GUIDELINE] == [wished]


def test_in_a_long_entry_a_wish_must_be_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    stated = "I live in Lisbon and I am allergic to walnuts."
    monkeypatch.setattr(stating, "wish", lambda *_: (WISH + SURE_WISH) / 2)
    (short,) = quoted(stated)
    assert short.category is Category.GUIDELINE
    assert not any(one.category is Category.GUIDELINE for one in quoted(ENTRY.format(stated)))


def test_what_comes_late_is_ended_by_what_was_said_after_it() -> None:
    (new,) = said_in_turn("I like tea.", RENT_NOW)[-1:]
    facts = said_in_turn(RENT, known=[new])
    assert [(one.value, one.superseded_by) for one in facts] == [(RENT, new.id), (RENT_NOW, None)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("I'm allergic to nuts.", "I'm allergic to penicillin."),
        ("Ich bin allergisch gegen Nüsse.", "Ich bin allergisch gegen Penicillin."),
        ("I am a vegetarian.", "My doctor says I am lactose intolerant, so no cheese any more."),
    ],
)
def test_what_harms_is_no_change_of_other_harm(first: str, second: str) -> None:
    assert [fact.invalid_at for fact in said_in_turn(first, second)] == [None, None]


def test_what_was_said_last_holds_though_it_was_so_before_something_else_was_said() -> None:
    old, new = said_in_turn(
        "I eat no fish, I am a vegetarian.", "I eat fish since February, I am no vegetarian any more."
    )
    assert (new.value[:10], new.valid_at, new.invalid_at) == ("I eat fish", START + timedelta(days=10), None)
    assert (old.superseded_by, old.invalid_at) == (new.id, new.valid_at)


def test_other_matters_stay_as_they_are() -> None:
    facts = said_in_turn(HOME, SISTER, RENT)
    assert [fact.invalid_at for fact in facts] == [None] * 3
    assert len({fact.attribute for fact in facts}) == 3


def test_the_same_words_again_are_more_evidence() -> None:
    (fact,) = said_in_turn(SISTER, SISTER.lower())
    assert (len(fact.evidence), fact.invalid_at) == (2, None)


def test_nobody_ends_what_somebody_else_said() -> None:
    facts = said_in_turn(RENT_NOW, actor="Bo", known=said_in_turn(RENT))
    assert [(fact.subject, fact.invalid_at) for fact in facts] == [("Bo", None), ("Maya", None)]


def test_a_pinned_fact_is_ended_by_no_words() -> None:
    (fact,) = said_in_turn(RENT)
    facts = said_in_turn("I like tea.", RENT_NOW, known=[keeping.pin(fact)])
    assert all(one.invalid_at is None for one in facts)


def test_what_was_read_before_changes_nothing_when_it_is_read_again() -> None:
    facts = said_in_turn(HOME, RENT, SISTER, RENT_NOW)
    again = said_in_turn(HOME, RENT, SISTER, RENT_NOW, known=facts)
    assert again == facts
    assert not retold(facts)


def test_what_is_deleted_gives_way_to_what_it_had_ended() -> None:
    old, new = said_in_turn(RENT, RENT_NOW)
    changes = retold([old, new], {new.id: None})
    (back,) = changes.applied([old, new])
    assert (back.value, back.invalid_at, back.superseded_by) == (RENT, None, None)
    stones = keeping.delete(new, START)
    assert stones[0].mark  # of words that nothing can be read from
    for quotation in quotations([statement(RENT_NOW, actor="Maya", days=10)]):
        assert quotation.candidate.evidence.observation_id == stones[0].observation_id


@pytest.mark.parametrize("name", texts("facts/cues"))
def test_each_form_of_a_list_is_told_inside_a_sentence(name: str) -> None:
    missed = [form for form in phrases(f"facts/cues.{name}") if not has_cue(f"well {form} then", name)]
    assert not missed


def test_a_question_before_a_statement_is_one_more_sign_of_it() -> None:
    alone, behind = signs(HOME), signs(HOME, "Where do you live?")
    assert [sign for sign in behind if sign not in alone] == [":answers"]
    assert [sign for sign in behind if sign in alone] == list(alone)
