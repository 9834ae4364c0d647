"""Text: repair, scripts, search terms and sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from episodic_agent.core.language import fold, repair, script, sentences, term_counts, tokens, words

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)


@pytest.mark.parametrize(
    ("broken", "repaired"),
    [("a\x00b", "a\ufffdb"), ("\ud83d!", "\ufffd!"), ("\udc00", "\ufffd"), ("é\x00", "é\ufffd")],
)
def test_nul_and_lone_surrogates_become_replacement_characters(broken: str, repaired: str) -> None:
    assert repair(broken) == (repaired, True)


@given(ANY_TEXT)
def test_repaired_text_can_be_encoded_and_needs_no_second_repair(text: str) -> None:
    repaired, changed = repair(text)
    repaired.encode("utf-8")
    assert "\x00" not in repaired
    assert changed == (repaired != text)
    assert repair(repaired) == (repaired, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cats' toys", ["cat", "toy"]),
        ("Zoë's CAFÉ", ["zoe", "cafe"]),
        ("don't won't I'm she'd", []),
        ("Don told Will about US visas", ["don", "told", "us", "visa"]),
        ("snake_case episodeId", ["snakecas", "snake", "case", "episodeid", "episod", "id"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("e-mail", ["email", "mail"]),
        ("COVID-19 covid19", ["covid", "19", "covid19", "covid", "19"]),
        ("C++ and C#", ["c++", "c#"]),
        ("$1,280.00 or 3.14", ["1280", "3.14"]),
        ("2024-03-05", ["2024", "3", "5"]),
        ("a@b.org ann@example.org", ["org", "ann", "exampl", "org"]),
        ("昨天", ["昨", "昨天", "天"]),
        ("4月1日", ["4", "月", "1", "日"]),
        ("我在TikTok上", ["我在", "tiktok", "tik", "tok", "上"]),
        ("ラーメン", ["ラー", "ーメ", "メン"]),
        ("книгами Ёлка", ["книг", "елк"]),
        ("ﷺ", ["صلىاللهعليهوسلم"]),
        ("", []),
        ("🙂 … !", []),
    ],
)
def test_terms_of(text: str, expected: list[str]) -> None:
    assert tokens(text) == expected


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("de", "Häuser", "Haus"),
        ("es", "hablando", "hablar"),
        ("fr", "chanter", "chantait"),
        ("it", "parlando", "parlare"),
        ("nl", "lampen", "lamp"),
        ("pt", "falando", "falar"),
        ("ru", "книга", "книгами"),
    ],
)
def test_forms_of_a_word_meet_in_the_declared_language(language: str, one: str, other: str) -> None:
    assert tokens(one, language) == tokens(other, language) != []


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Wo war ich mit dem"),
        ("es", "dónde está el"),
        ("fr", "où est-ce que"),
        ("ru", "что это было"),
        ("en", "Where did you"),
    ],
)
def test_stop_words_of_the_language_are_dropped(language: str, text: str) -> None:
    assert tokens(text, language) == []


def test_a_declared_language_leaves_other_scripts_alone() -> None:
    assert tokens("running книгами", "ru") == ["run", "книг"]
    assert tokens("the 上海 trains", "zh") == ["上", "上海", "海", "train"]


def test_combining_accents_and_ready_made_ones_are_the_same_term() -> None:
    assert tokens("cafe\u0301") == tokens("caf\u00e9") == ["cafe"]


def test_marks_that_make_another_letter_are_kept() -> None:
    assert fold("й") == "й"
    assert fold("が") == "が"
    assert tokens("हिन्दी") == ["हिन्द"]


@given(ANY_TEXT)
def test_terms_of_any_text_are_clean_and_steady(text: str) -> None:
    texts = tokens(text)
    assert texts == tokens(text)
    assert all(texts)
    assert not any(character.isspace() for term in texts for character in term)
    assert sum(term_counts(text).values()) == len(texts)


@given(st.text(st.characters(codec="ascii"), max_size=60))
def test_case_does_not_matter_to_whole_words(text: str) -> None:
    assert words(text) == words(text.upper()) == words(text.lower())


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("hello", "latin"),
        ("Где мы?", "cyrillic"),
        ("我在上海 ok", "han"),
        ("東京に行った", "kana"),
        ("안녕하세요", "hangul"),
        ("γειά", "greek"),
        ("שלום", "hebrew"),
        ("12:30 …", ""),
        ("", ""),
    ],
)
def test_script_of(text: str, name: str) -> None:
    assert script(text) == name


def test_sentences_end_at_stops_and_line_breaks() -> None:
    assert sentences("Mr. Fox paid $3.50. Why? \n\n- tea\n- milk") == [
        "Mr. Fox paid $3.50.",
        "Why?",
        "- tea",
        "- milk",
    ]
    assert sentences("今天很好。我去了！") == ["今天很好。", "我去了！"]
    assert sentences(" \n ") == []


@given(ANY_TEXT)
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    repaired, _ = repair(text)
    assert "".join("".join(sentences(repaired)).split()) == "".join(repaired.split())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Er ist vom 16. bis 20. März weg. Gut.", ["Er ist vom 16. bis 20. März weg.", "Gut."]),
        ("Wir kommen am 5. Mai. Bis dann.", ["Wir kommen am 5. Mai.", "Bis dann."]),
        ("Der 2. Weltkrieg war lang. Ja.", ["Der 2. Weltkrieg war lang.", "Ja."]),
        ("Am 16. 3. kommt er. Gut.", ["Am 16. 3. kommt er.", "Gut."]),
        ("Den 2. verdenskrig var lang. Ja.", ["Den 2. verdenskrig var lang.", "Ja."]),
        ("I was born in 1990. Then we moved.", ["I was born in 1990.", "Then we moved."]),
        ("It costs 20. Fine.", ["It costs 20.", "Fine."]),
        ("I am 20. Then I left.", ["I am 20.", "Then I left."]),
    ],
)
def test_an_ordinal_ends_no_sentence_and_a_number_does(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected
