"""Titles, summaries and metadata taken from what was said."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

import numpy as np
import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.episodes.clauses import plain_text, tame
from episodic_agent.core.episodes.extractive import EpisodeText, encode_extractive
from episodic_agent.schemas import Kind, Observation, TimeSource, Vector

START = datetime(2023, 8, 14, 15, 0, tzinfo=UTC)


def observe(*lines: tuple[str, str], source: TimeSource = TimeSource.GIVEN) -> list[Observation]:
    return [
        Observation(
            UUID(int=n), UUID(int=1), n, START + timedelta(minutes=n), START, actor, text, at_source=source
        )
        for n, (actor, text) in enumerate(lines)
    ]


def encode(observations: Sequence[Observation], **options: str) -> EpisodeText:
    return encode_extractive(observations, [None] * len(observations), **options)


LISBON = (
    ("Ana", "Hey Ben! How are you?"),
    ("Ben", "Good, thanks! And you?"),
    ("Ana", "I'm moving to Lisbon in May, the marketing team there offered me a contract last month."),
    ("Ben", "Wow!"),
    ("Ben", "Have you found a flat in Lisbon yet?"),
    ("Ana", "Yes, a small flat in Alfama with a balcony, the rent is 900 euros."),
    ("Ben", "Sounds great."),
    ("Ana", "My sister Clara will help me with the moving boxes tomorrow."),
    ("Ben", "I can bring my van and the old bookshelf if you want."),
    ("Ana", "Thanks a lot!"),
)


def test_a_title_is_a_clause_that_somebody_said() -> None:
    assert encode(observe(*LISBON)).title == "I'm moving to Lisbon in May"


def test_a_summary_names_actors_and_keeps_words_verbatim() -> None:
    summary = encode(observe(*LISBON)).summary
    assert "Ana said: I'm moving to Lisbon in May" in summary
    assert "a small flat in Alfama with a balcony" in summary
    assert "Ben" in summary


@pytest.mark.parametrize("courtesy", ["How are you", "Good, thanks", "Wow", "Sounds great", "Thanks a lot"])
def test_courtesies_are_left_out(courtesy: str) -> None:
    assert courtesy not in encode(observe(*LISBON)).summary


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        (
            (("user", "Ok so, the boiler in the cellar leaks!"), ("assistant", "Call a plumber.")),
            "The boiler in the cellar leaks",
        ),
        (
            (("system", "You are a helpful assistant with tools."), ("user", "hey, is the oven fixed now?")),
            "Is the oven fixed now?",
        ),
        (
            (
                ("user", "why does the build of dispatch fail"),
                ("tool", "Traceback (most recent call last): KeyError: 'slot' in dispatch/build.py line 42"),
            ),
            "Why does the build of dispatch fail",
        ),
        (
            (("Ana", "[voice] haha yes the wedding is on 12 June"), ("Ben", "Great!")),
            "The wedding is on 12 June",
        ),
        (
            (("system", "You are a helpful assistant that books hotels for travellers."), ("user", "ok")),
            "ok",
        ),
        (
            (
                ("user", "here's the log, what's wrong with it\n2026-03-02 10:00:02 ERROR db refused 5432"),
                ("assistant", "Postgres is not running."),
            ),
            "Here's the log, what's wrong with it",
        ),
        (
            (("user", "no tea without oat milk for me"), ("assistant", "Noted.")),
            "No tea without oat milk for me",
        ),
        (
            (("user", "Morgen kommt der Klempner wegen der Heizung."),),
            "Morgen kommt der Klempner wegen der Heizung",
        ),
        (
            (("Katja", "Hallo, hier ist Katja. Ich brauche einen Zettel für die Kita wegen der Allergie."),),
            "Ich brauche einen Zettel für die Kita wegen der Allergie",
        ),
        (
            (("user", "Wann muss ich die Umsatzsteuervoranmeldung fürs 1. Quartal abgeben?"),),
            "Wann muss ich die Umsatzsteuervoranmeldung fürs 1. Quartal abgeben?",
        ),
        (
            (("user", "if i won the lottery we'd have a chef and i'd never see a fish finger again"),),
            "If i won the lottery we'd have a chef",
        ),
        (
            (("user", 'order of operations, year 6, theo reckons brackets are "optional"'),),
            'Order of operations, year 6, theo reckons brackets are "optional"',
        ),
        (
            (
                (
                    "user",
                    "The talk with the architect is moved to Monday 14:15 because she is in Porto until then",
                ),
            ),
            "The talk with the architect is moved to Monday 14:15",
        ),
        (
            (
                (
                    "user",
                    "the kitchen with the oven and the fridge costs 12,400 euros, eleven thousand was told",
                ),
            ),
            "The kitchen with the oven and the fridge costs 12,400 euros",
        ),
        (
            (
                (
                    "user",
                    "I finally have an appointment: Thursday at 9:30 with Dr. Amaya in Calle Sierpes 14.",
                ),
            ),
            "Thursday at 9:30 with Dr. Amaya in Calle Sierpes 14",
        ),
        (
            (("user", "thanks again for the help with the move yesterday"),),
            "Thanks again for the help with the move yesterday",
        ),
        (
            (("user", "danke, die Heizung geht wieder"),),
            "Die Heizung geht wieder",
        ),
        (
            (("user", "the deploy of billing is on Thursday, see the plan (https://x.example/a/b?c=1)"),),
            "The deploy of billing is on Thursday, see the plan (x.example)",
        ),
        (
            (
                (
                    "用户",
                    "我现在漕宝路租的房子4月30到期\uff0c装修肯定来不及\uff0c想跟房东谈续两个月\uff0c怎么开口",
                ),
            ),
            "我现在漕宝路租的房子4月30到期\uff0c装修肯定来不及\uff0c想跟房东谈续两个月",
        ),
    ],
)
def test_a_title_is_the_clause_that_says_the_matter_and_says_it_whole(
    lines: tuple[tuple[str, str], ...], title: str
) -> None:
    assert encode(observe(*lines)).title.rstrip("?") == title.rstrip("?")


def test_short_sentences_that_open_a_talk_are_its_title_together() -> None:
    """Alone each of them says less than what came up later; together they are what the evening was about."""
    lines = (
        ("user", "Wrote Harbourlight. I'm declining. I stay where I am. God that felt good"),
        ("assistant", "It sounds like you chose, not fled."),
        (
            "user",
            "yes. Noor's letter isn't done tho, she gave me until 2 April because I looked like a ghost",
        ),
    )
    assert encode(observe(*lines)).title.startswith("Wrote Harbourlight. I'm declining.")


def test_a_system_prompt_alone_is_no_title() -> None:
    words = encode(observe(("system", "You are a helpful assistant that books hotels for travellers.")))
    assert "helpful" not in words.title
    assert words.title


def test_a_form_of_address_alone_is_no_keyword() -> None:
    words = encode(observe(("user", "The dentist again! Dr. Amaya is ill, now it's Dr. Peña on Thursday.")))
    found = [keyword.casefold() for keyword in words.metadata["keywords"]]
    assert "amaya" in found
    assert "dr" not in found


def test_an_answered_question_is_the_title_not_its_answer() -> None:
    answer = "Named after the Leipzig doctor Moritz Schreber, the first club was founded in 1864."
    assert encode(observe(("user", "who invented allotment gardens"), ("assistant", answer))).title == (
        "Who invented allotment gardens"
    )


@given(st.lists(st.text(alphabet="aeiknrst ,.?", min_size=3, max_size=200), min_size=1, max_size=4))
@settings(max_examples=share(60))
def test_every_title_is_a_contiguous_piece_of_one_message(texts: list[str]) -> None:
    title = encode(observe(*[("Ana", text) for text in texts])).title
    plain = title.removesuffix("…").casefold()
    assert len(title) <= 71
    known = any(plain in " ".join(text.casefold().split()) for text in texts)
    assert known or not any(char.isalpha() for text in texts for char in text)


LONG_TALK = (
    ("user", "Can you help me choose a van for the workshop, diesel, at most 12000 euros?"),
    ("assistant", "Transit, Ducato and Master come into question, mostly from 2016 to 2018."),
    ("user", "There are two adverts, a Transit at a dealer in Halle and a Ducato from a man in Borna."),
    (
        "assistant",
        "The dealer gives a warranty, the private seller does not, and the Transit is younger too.",
    ),
    ("user", "Sure, but the weather is awful and the radio says it will snow on Sunday in the mountains."),
    ("assistant", "Then drive carefully on the way there, and look at the tyres before you leave home."),
    ("user", "My brother once bought a car at night and found out the next day that it was green."),
    ("assistant", "That is why people look at cars by day."),
    ("user", "I took the Transit for 13200 after all, they change the timing belt before I fetch it."),
    ("assistant", "Good choice."),
)


def test_a_summary_is_short_and_ends_with_how_the_matter_was_left() -> None:
    summary = encode(observe(*LONG_TALK)).summary
    assert "Can you help me choose a van for the workshop" in summary
    assert "I took the Transit for 13200 after all" in summary
    assert len(summary) < 450


def test_a_short_request_without_telling_words_stands_before_its_answer() -> None:
    lines = (("user", "Still 11?"), ("assistant", "Yes, the appointment at the clinic is at 11:00 today."))
    assert "Still 11?" in encode(observe(*lines)).summary


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Harbourlight wrote again, they offer 100% remote and 70k. I told them no.", "I told them no."),
        ("Saw the flat in Mill Lane at lunch, two rooms with a garden. I want it.", "I want it."),
        ("It's a boy!!! Marta told me on the phone before anybody else knew of it.", "It's a boy!!!"),
    ],
)
def test_what_was_answered_in_a_few_words_is_told_with_what_it_answers(text: str, answer: str) -> None:
    """The answer has hardly a word of its own, and is what came of the matter."""
    lines = (
        ("user", "Started the blanket for the baby, eleven rows, it looks like a fishing net."),
        ("assistant", "A net for catching a niece, in eleven rows."),
        ("user", text),
        ("assistant", "That is a clear word on the matter."),
        ("user", "whatever. The choir sings the Requiem in the cathedral on Saturday evening."),
    )
    summary = encode(observe(*lines)).summary
    assert answer in summary
    assert "whatever" not in summary


def test_what_a_tool_said_is_left_to_those_who_talk_about_it() -> None:
    lines = (
        ("user", "How will the weather be in Leipzig on Saturday?"),
        ("tool", "Sat 18.04. Leipzig: 17 degrees, cloudy, risk of rain 20 percent, wind weak"),
        ("assistant", "Up to 17 degrees on Saturday, cloudy, hardly any rain."),
    )
    assert "risk of rain" not in encode(observe(*lines)).summary


def test_sentences_stand_in_the_order_they_were_said() -> None:
    observations = observe(*LISBON)
    summary = encode(observations).summary
    numbers = [summary.find(o.text[:20]) for o in observations if o.text[:20] in summary]
    assert len(numbers) >= 2
    assert numbers == sorted(numbers)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved to the new house last month.", "last month (July 2023)"),
        ("The plumber repaired the kitchen sink yesterday.", "yesterday (13 August 2023)"),
        ("Our train to Vienna leaves tomorrow morning.", "tomorrow morning (15 August 2023)"),
        ("Grandma bought that piano two years ago.", "two years ago (2021)"),
        ("The exhibition opens next week in the museum.", "next week (week of 21 August 2023)"),
        ("The exam in chemistry is in three days.", "in three days (17 August 2023)"),
        ("We harvested the potatoes last Friday.", "last Friday (11 August 2023)"),
        ("Gestern haben wir die neue Küche aufgebaut.", "Gestern (13 August 2023)"),
        ("El mes pasado compramos la casa de mi abuelo.", "El mes pasado (julio 2023)"),
        ("Le mois dernier nous avons visité le musée.", "Le mois dernier (juillet 2023)"),
        ("昨天我和妈妈去了上海外滩。", "昨天（2023年8月13日）"),
        ("Вчера мы посадили яблони на даче.", "Вчера (13 августа 2023)"),
    ],
)
def test_relative_times_are_dated(text: str, expected: str) -> None:
    assert expected in encode(observe(("Ana", text))).summary


@pytest.mark.parametrize(
    "text",
    [
        "I set up the checklist on the ward, trained 11 starters, never missed a shift in 6 years.",
        "That was the first real holiday in two years for all of us.",
        "I lost nearly nine kilos in three months without a diet.",
        "In six years I never missed a single shift at the hospital.",
        "She hasn't called her mother in four weeks.",
        "It takes a good carpenter to build this table in two days.",
        "Down 350 in a month with a hen do and a deposit, that's good going.",
        "The savings account is up 1,200 in two years.",
        "A whole roof for £900 in a week, I call that cheap.",
    ],
)
def test_how_long_something_took_is_no_date(text: str) -> None:
    assert "(" not in encode(observe(("Ana", text))).summary


@pytest.mark.parametrize(
    "text",
    [
        "We were at the doctor with Milo, and in two weeks we go again.",
        "My sister gets married in two weeks in Leeds.",
        "Barry asked for the deposit, the tiler starts in two weeks.",
        "We have to pay Barry £900 in two weeks.",
    ],
)
def test_a_day_to_come_is_dated_beside_what_is_over(text: str) -> None:
    assert "in two weeks (week of 28 August 2023)" in encode(observe(("Ana", text))).summary


@pytest.mark.parametrize(
    ("phrase", "date"),
    [
        ("next Sunday", ""),  # tomorrow to some, in a week to others
        ("next weekend", "26 August 2023"),
        ("next Wednesday", "23 August 2023"),
        ("this Sunday", "20 August 2023"),
    ],
)
def test_a_day_that_may_be_one_of_two_is_not_dated(phrase: str, date: str) -> None:
    saturday = START + timedelta(days=5)
    lines = [replace(one, at=saturday) for one in observe(("Ana", f"The race in the hills is {phrase}"))]
    expected = f"{phrase} ({date})" if date else phrase
    assert encode(lines).summary == f"Ana said: The race in the hills is {expected}."


def test_a_sentence_that_ends_in_a_bracket_or_a_quotation_gets_its_full_stop() -> None:
    lines = [
        ("Ana", 'The worktop in the kitchen is the pale grey one, "Cloudburst"'),
        ("Ana", "Our deposit for the kitchen goes to Barry in three days"),
        ("Ana", 'Then Barry said: "The cupboards come first!"'),
    ]
    summary = encode(observe(*lines)).summary
    assert 'the pale grey one, "Cloudburst". Our deposit' in summary
    assert "in three days (17 August 2023). Then Barry" in summary
    assert summary.endswith('come first!"')


def test_a_date_is_given_once_for_the_same_words() -> None:
    lines = [("Ana", "Yesterday the roof leaked."), ("Ana", "And yesterday the cellar flooded too.")]
    assert encode(observe(*lines)).summary.count("13 August 2023") == 1


LETTERS = [
    ("Liebe Frau Keller,\n\ndie Heizung ist seit Montag kalt.\n\nViele Grüße\nJonas", "die Heizung ist seit Montag kalt.", "Keller"),
    ("Liebe Frau Keller,\ndie Heizung ist seit Montag kalt.", "Liebe Frau Keller, die Heizung ist seit Montag", ""),
    ("Dear Mrs Keller,\n\nthe heating broke on Monday.\n\nKind regards,\nJonas", "the heating broke on Monday.", "Mrs"),
    ("Chère Madame Dupont,\n\nle chauffage est froid depuis lundi.", "le chauffage est froid depuis lundi.", "Madame"),
    ("Cari amici,\n\nil riscaldamento è rotto da lunedì.", "il riscaldamento è rotto da lunedì.", "amici"),
    ("Уважаемая Анна Петровна,\n\nотопление сломалось в понедельник.", "отопление сломалось в понедельник.", "Анна"),
    ("田中様、\n\n月曜日から暖房が壊れています。", "月曜日から暖房が壊れています。", "田中様"),
    ("The heating broke on Monday,\nso the plumber comes at noon.", "broke on Monday, so the plumber comes at noon.", ""),
    ("The heating broke on 3 May,\n\nand the plumber comes at noon.", "broke on 3 May, and the plumber comes", ""),
    ("We need these today:\n- two litres of oat milk,\n- a kilo of rye flour,\n- fresh yeast", "oat milk. a kilo of rye flour. fresh yeast.", ""),
    ("The plumber will come on Thursday,", "on Thursday.", ""),
]  # fmt: skip


@pytest.mark.parametrize(("letter", "said", "addressed"), LETTERS)
def test_a_line_that_ends_with_a_comma_ends_no_sentence(letter: str, said: str, addressed: str) -> None:
    text = encode(
        observe(("user", letter), ("assistant", "The plumber was called and comes tomorrow at ten."))
    )
    assert said in text.summary
    assert not re.search(r"[,，、]\s*[.。]", text.summary), text.summary
    assert not addressed or addressed not in text.summary, "to whom it was written is no matter"
    assert not text.title.endswith((",", "、"))


def test_days_are_those_of_the_speakers_place() -> None:
    (late,) = observe(("Ana", "Today the ferry to the island was cancelled."))
    late = replace(late, at=START.replace(hour=23), utc_offset=2 * 3600)
    assert "Today (15 August 2023)" in encode([late]).summary


def test_times_nobody_gave_are_not_dated() -> None:
    observations = observe(("Ana", "I moved to the new house last month."), source=TimeSource.ASSUMED)
    assert encode(observations).summary == "Ana said: I moved to the new house last month."


@pytest.mark.parametrize("phrase", ["in a row", "in two days of rain", "hier ist das Museum"])
def test_words_that_only_look_like_times_are_left_alone(phrase: str) -> None:
    language = "de" if phrase.startswith("hier") else "en"
    assert "(" not in encode(observe(("Ana", f"The team won {phrase}.")), language=language).summary


def test_roles_are_written_out_and_left_out_of_titles() -> None:
    words = encode(
        observe(
            ("user", "Which vaccines do I need for a trip to Kenya?"),
            ("assistant", "For Kenya you need a yellow fever vaccine and malaria tablets."),
        )
    )
    assert words.title == "Which vaccines do I need for a trip to Kenya?"
    assert words.summary == (
        "The user asked: Which vaccines do I need for a trip to Kenya? "
        "The assistant said: For Kenya you need a yellow fever vaccine and malaria tablets."
    )


@pytest.mark.parametrize(
    ("language", "lines", "title_has", "summary_has"),
    [
        (
            "de",
            (
                ("Anna", "Hast du schon eine Stelle im Krankenhaus gefunden?"),
                ("Jonas", "Ja, ich fange in der Klinik an."),
            ),
            "Stelle im Krankenhaus",
            "Anna fragte: Hast du",
        ),
        (
            "es",
            (
                ("user", "Quiero organizar la fiesta de cumpleaños de mi hija Lucía."),
                ("assistant", "Propongo una tarta de chocolate."),
            ),
            "Lucía",
            "El usuario dijo: Quiero organizar",
        ),
        (
            "fr",
            (
                ("Claire", "Tu as vu le film de Truffaut à la cinémathèque ?"),
                ("Marc", "Oui, la photographie est magnifique."),
            ),
            "film de Truffaut",
            "Claire a demandé : Tu as vu le film",
        ),
        (
            "zh",
            (("小王", "我和妈妈去了上海外滩，住在和平饭店。"), ("小李", "你们看了灯光秀吗？")),
            "上海外滩",
            "小李问：你们看了灯光秀吗？",
        ),
        (
            "ja",
            (("太郎", "京都の清水寺に行きました。"), ("花子", "紅葉はきれいでしたか？")),
            "清水寺",
            "太郎：京都の清水寺に行きました。",
        ),
        (
            "ru",
            (("Маша", "Мы ездили на дачу и посадили яблони."), ("Олег", "А у меня сломалась машина.")),
            "на дачу",
            "Олег: А у меня сломалась машина.",
        ),
        ("ko", (("민수", "부산 해운대에 다녀왔어요."),), "해운대", "민수: 부산 해운대에 다녀왔어요."),
    ],
)
def test_other_languages_read_as_themselves(
    language: str, lines: tuple[tuple[str, str], ...], title_has: str, summary_has: str
) -> None:
    words = encode(observe(*lines))
    assert words.metadata["language"] == language
    assert title_has in words.title
    assert summary_has in words.summary


def test_vectors_decide_what_is_central() -> None:
    texts = [
        "The apple harvest in the orchard begins early.",
        "Cider presses need clean wooden barrels.",
        "Our neighbour repaired his motorcycle engine.",
        "The village council discussed new street lamps.",
        "Autumn storms damaged the greenhouse roof badly.",
        "Bees pollinate the cherry blossoms every spring.",
        "A violin concert took place inside the chapel.",
        "The ferry timetable changed again without notice.",
        "Somebody painted the fire station bright yellow.",
        "Wild boars dug through the potato field overnight.",
    ] * 2
    observations = observe(*[("Ana", f"{text[:-1]} near plot {n}.") for n, text in enumerate(texts)])
    centre, off = np.array([1.0, 0.0], np.float32), np.array([0.0, 1.0], np.float32)
    near = {3, 7, 15}
    vectors: list[Vector | None] = [centre if n in near else off * 0.1 + centre * 0.01 for n in range(20)]
    summary = encode_extractive(observations, vectors).summary
    other = encode_extractive(observations, [None] * 20).summary
    assert "street lamps" in summary
    assert summary != other


def test_a_sentence_said_twice_is_told_once() -> None:
    line = ("Ana", "The boiler in the cellar makes strange noises at night.")
    filler = [
        ("Ben", f"My report number {n} about the bridge over the river is ready now.") for n in range(9)
    ]
    assert encode(observe(line, *filler, line)).summary.count("boiler") == 1


def test_summaries_are_short_however_long_the_episode() -> None:
    lines = [
        ("Ana" if n % 2 else "Ben", f"Item {n}: " + "the garden fence needs new wooden posts " * 9)
        for n in range(60)
    ]
    words = encode(observe(*lines))
    assert len(words.summary) < 800
    assert len(words.title.split()) <= 15


def test_a_short_episode_is_told_whole() -> None:
    facts = [
        ("user", "我的下属老家在山西太原。"),
        ("user", "我的下属身高167厘米。"),
        ("user", "我的下属是医生。"),
    ]
    summary = encode(observe(*facts)).summary
    assert summary == "用户说：我的下属老家在山西太原。我的下属身高167厘米。我的下属是医生。"


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("### Plan\n1. **Pack** the `boxes`", "### Plan\n1. Pack the boxes"),
        ("See [the map](https://a.example/x) now", "See the map now"),
        ("at https://www.example.org/deep/path?x=1 today", "at example.org today"),
        ("Try this:\n```js\nlet a = 1;\n```\nDone.", "Try this:\n\nDone."),
        ("```python\nx = 1\n```", "[python code]"),
        ("an unclosed ```block\nx = 1", "an unclosed"),
        ("so {vocalsound} we wait", "so we wait"),
        ("<b>bold</b> and *italic* and snake_case", "bold  and italic and snake_case"),
        (r"the ratio \(P(A|B)\) matters", "the ratio P(A|B) matters"),
        ("2 * 3 * 4 = 24", "2 * 3 * 4 = 24"),
        ("plain words", "plain words"),
    ],
)
def test_markdown_and_code_are_tamed(raw: str, plain: str) -> None:
    assert [line.split() for line in tame(raw).splitlines()] == [line.split() for line in plain.splitlines()]


def test_code_and_tables_are_not_quoted() -> None:
    answer = (
        "You forgot the **colon** after the loop header.\n```python\nfor i in range(10):\n    print(i)\n```\n"
        "| option | meaning |\n|---|---|\n| a | b |\n1. Add the missing colon there.\n2. Run the whole script again."
    )
    words = encode(observe(("user", "Why does my Python loop fail?"), ("assistant", answer)))
    assert "print" not in words.summary
    assert "|" not in words.summary
    assert "*" not in words.summary
    assert "You forgot the colon after the loop header." in words.summary


def test_tools_are_told_shortly() -> None:
    call, question = observe(("assistant", "weather: …"), ("user", "Will it rain in Lisbon?"))
    used = {"name": "weather", "arguments": {"city": "Lisbon"}, "result": {"sky": "clear"}, "error": None}
    tool = replace(call, kind=Kind.TOOL, extras=used)
    assert plain_text(tool) == "weather(Lisbon): sky clear"
    failed = replace(tool, extras={**used, "result": None, "error": "timeout " * 60})
    assert plain_text(failed).startswith("weather(Lisbon): timeout")
    assert len(plain_text(failed)) < 200
    summary = encode([question, replace(tool, seq=1)]).summary
    assert summary == "The user asked: Will it rain in Lisbon? weather(Lisbon): sky clear."


def test_steps_are_told_without_saying_that_anybody_spoke() -> None:
    steps = [
        replace(o, kind=Kind.STEP, location="kitchen")
        for o in observe(("agent", "Opened the fridge."), ("agent", "A mug appeared on the table."))
    ]
    words = encode(steps)
    assert words.summary == "Opened the fridge. A mug appeared on the table."
    assert words.metadata["places"] == ["kitchen"]


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ((), "Messages without words"),
        ((("user", "   "),), "Messages without words"),
        ((("user", "ok"), ("assistant", "Great!")), "ok"),
        ((("user", "🎉🎉"),), "🎉🎉"),
        ((("user", "x" * 500),), "x" * 500),
    ],
)
def test_there_is_always_a_title(lines: tuple[tuple[str, str], ...], title: str) -> None:
    words = encode(observe(*lines)).title
    assert words
    assert words.lower().rstrip("…")[:60] == title.lower()[:60]


def test_metadata_counts_and_names() -> None:
    observations = [replace(o, channel="signal" if o.seq % 2 else "mail") for o in observe(*LISBON)]
    metadata = encode(observations).metadata
    assert metadata["actors"] == {"Ana": 5, "Ben": 5}
    assert metadata["observations"] == 10
    assert metadata["channels"] == ["mail", "signal"]
    assert metadata["start"] == "2023-08-14T15:00:00+00:00"
    assert metadata["end"] == "2023-08-14T15:09:00+00:00"
    assert any("Lisbon" in str(word) for word in list(metadata["keywords"]))  # type: ignore[arg-type]
    assert json.loads(json.dumps(metadata)) == metadata


ANYTHING = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "Ana", "", "sms"]), st.text(max_size=120)), max_size=8
)


@given(lines=ANYTHING, vectors=st.booleans(), step=st.sampled_from(list(Kind)))
@settings(max_examples=share(150), deadline=None)
def test_any_text_is_encoded_the_same_way_twice(
    lines: list[tuple[str, str]], vectors: bool, step: Kind
) -> None:
    observations = [replace(o, kind=step) for o in observe(*lines)]
    rows: list[Vector | None] = [
        np.array([1.0, n + 1.0], np.float32) / np.float32(np.hypot(1.0, n + 1.0)) if vectors else None
        for n in range(len(lines))
    ]
    words = encode_extractive(observations, rows)
    assert words == encode_extractive(observations, rows)
    assert words.title.strip()
    assert bool(words.summary.strip()) or not any(tame(text).strip() for _, text in lines)
    json.dumps(words.metadata)


def test_an_assistant_with_a_name_makes_no_other_title_than_one_without() -> None:
    lines = (
        ("assistant", "The warehouse in Girona sends the red touring bike BC-1 with new brakes on Friday."),
        ("user", "Thanks, and my saddle squeaks since yesterday"),
    )
    plain = observe(*lines)
    named = [
        replace(one, actor="Pedal", extras={"role": "assistant"}) if one.actor == "assistant" else one
        for one in plain
    ]
    assert encode(named).title == encode(plain).title
    assert "Pedal" in encode(named).summary
