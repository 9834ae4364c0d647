"""Mentions: what is found, of which kind, and with which value, by tables of sentences."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from builders.examples import share
from hypothesis import given, settings
from hypothesis import strategies as st

from episodic_agent.core.language.mentions.reading import mentions
from episodic_agent.schemas.mentions import KINDS, Mention

AT = datetime(2026, 3, 2, 12, tzinfo=UTC)  # a Monday


def found(text: str, **options: object) -> list[tuple[str, str]]:
    return [(m.kind, m.value) for m in mentions(text, **options)]  # type: ignore[arg-type]


def of_kind(kind: str, text: str) -> list[str]:
    return [m.value for m in mentions(text, at=AT) if m.kind == kind]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I'm planning a trip to Paris", ["paris"]),
        ("What about the weather in Boston?", ["boston"]),
        ("New York weather", ["new york"]),
        ("i live in nyc", ["new york"]),
        ("we moved from L.A. to the UK", ["los angeles", "united kingdom"]),
        ("THE WEATHER IN BOSTON IS BAD", ["boston"]),
        ("China's economy", ["china"]),
        ("she lives in north Queensland, Australia", ["north queensland", "australia"][1:]),
        ("Meet me at 12 Main Street", ["main street"]),
        ("the Pacific Northwest is lovely", ["pacific northwest"]),
        ("Lake Tahoe and Mount Hood", ["lake tahoe", "mount hood"]),
        ("we were in the living room", ["living room"]),
        ("Washington, D.C. is humid", ["washington"]),
        ("Wir fahren nach München", ["munich"]),
        ("Je vais à Paris", ["paris"]),
        ("Vivo en Madrid", ["madrid"]),
        ("物流精英招聘会的地点是上海。", ["上海"]),
        ("我们在世纪大道见面", ["世纪大道"]),
    ],
)
def test_places_are_found_under_one_value(text: str, values: list[str]) -> None:
    places = of_kind("place", text)
    assert [value for value in places if value in values] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("my friend Jordan said hi", ["jordan"]),
        ("Dr. Lee called", ["lee"]),
        ("Thanks, Tom!", ["tom"]),
        ("i visited paris with anna", ["anna"]),
        ("I'm Crystal, nice to meet you", ["crystal"]),
        ("a book by Jane Austen", ["jane austen"]),
        ("call from Wang Xiuying", ["wang xiuying"]),
        ("Sister Wang came along", ["wang"]),
        ("According to Kandinsky, blue is deep", ["kandinsky"]),
        ("heydude: which partition is it?", ["heydude"]),
        ("_jason: okay", ["_jason"]),
        ("kids like Michelle and Lily", ["michelle", "lily"]),
        ("John F. Kennedy spoke", ["john f kennedy"]),
        ("Mom, I'm home", ["mom"]),
        ("my Mom is home", []),
        ("張さんは明日来ます", ["張さん"]),
        ("王老师来了", ["王老师"]),
    ],
)
def test_people_are_found_without_their_titles(text: str, values: list[str]) -> None:
    assert of_kind("person", text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("I work at Apple", ["apple"]),
        ("He joined Acme Inc. in 2019", ["acme inc"]),
        ("She graduated from Stanford University", ["stanford university"]),
        ("the Red Cross helped us", ["red cross"]),
        ("i work at google", ["google"]),
        (
            "Call the National Call Center for Homeless Veterans",
            ["national call center for homeless veterans"],
        ),
        ("He plays for the Lakers", ["lakers"]),
        ("我在字节跳动上班", ["字节跳动"]),
    ],
)
def test_organisations_are_found_by_name_head_and_context(text: str, values: list[str]) -> None:
    assert of_kind("organisation", text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("My iPhone 15 broke", ["iphone 15"]),
        ("i installed windows and ubuntu", ["windows", "ubuntu"]),
        ("Watching Stranger Things tonight", ["stranger things"]),
        ('Have you seen "Gossip Girl"?', ["gossip girl"]),
        ('"The Blues Brothers", "Gremlins", "Vanilla Sky"', ["blues brothers", "gremlins", "vanilla sky"]),
        ("you have a geforce4 card", ["geforce4"]),
        ("I use the Reminders app", ["reminders"]),
        ("sudo apt-get install gdmx", ["apt-get", "gdmx"]),
        ("Snowball: new alert. 【Snowball】Your index fell", ["snowball", "snowball"]),
        ("我用微信付款", ["微信"]),
    ],
)
def test_products_are_found_by_name_quotes_and_use(text: str, values: list[str]) -> None:
    assert of_kind("product", text) == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("Oh, and what is it on Thursday?", ["weekday:thursday"]),
        ("next Thursday", ["date:2026-03-12"]),
        ("tomorrow night", ["date:2026-03-03 part:night"]),
        ("at 17:00", ["clock:17:00"]),
        ("at 5 pm, or 8 a.m.", ["clock:17:00", "clock:08:00"]),
        ("08:35 on October 28", ["clock:08:35 date:2025-10-28"]),
        ("Saturday, August 17, 2025", ["date:2025-08-17 weekday:saturday"]),
        ("29 January 1959", ["date:1959-01-29"]),
        ("2026-03-02 10:00:00", ["clock:10:00 date:2026-03-02"]),
        ("04/28 and 28.4.2026", ["date:2026-04-28", "date:2026-04-28"]),
        ("in October 2024", ["month:2024-10"]),
        ("last May", ["month:2025-05"]),
        ("in 2022", ["year:2022"]),
        ("in the evening", ["part:evening"]),
        ("on the 14th at 3 pm", ["clock:15:00 monthday:14"]),
        ("two weeks ago", ["week:2026-W08"]),
        ("the spring of 1918", ["season:spring year:1918"]),
        ("on Christmas Eve", ["date:2025-12-24"]),
        ("May I ask? You may march on.", []),
        ("good morning", []),
        ("am Donnerstag um 17 Uhr", ["clock:17:00 weekday:thursday"]),
        ("vor drei Tagen", ["date:2026-02-27"]),
        ("el jueves o mañana", ["weekday:thursday", "date:2026-03-03"]),
        ("hace dos semanas", ["week:2026-W08"]),
        ("demain, il y a trois jours", ["date:2026-03-03", "date:2026-02-27"]),
        ("le 5 mai 2024", ["date:2024-05-05"]),
        ("明天下午三点", ["clock:15:00 date:2026-03-03 part:afternoon"]),
        ("2025年3月5日", ["date:2025-03-05"]),
        ("下周五", ["date:2026-03-13"]),
    ],
)
def test_times_are_read_relative_to_the_moment_given(text: str, values: list[str]) -> None:
    assert of_kind("time", text) == values


def test_one_moment_is_another_day_elsewhere() -> None:
    there = AT.astimezone(timezone(timedelta(hours=14)))
    assert there == AT
    for at, day in ((AT, "03"), (there, "04"), (AT, "03")):
        assert found("tomorrow", at=at) == [("time", f"date:2026-03-{day}")]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("tomorrow", ["day:+1"]),
        ("last week", ["week:-1"]),
        ("May 11", ["date:05-11"]),
        ("in April", ["month:04"]),
    ],
)
def test_without_a_moment_times_stay_relative(text: str, values: list[str]) -> None:
    assert [m.value for m in mentions(text)] == values


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("twenty-five dollars", ["25 dollar"]),
        ("$25 or 25 dollars or €30.50", ["25 dollar", "25 dollar", "30.5 euro"]),
        ("500,000.00 yuan", ["500000 yuan"]),
        ("about 16% of 6.2 million", ["16 %", "6200000"]),
        ("two hundred and five people", ["205"]),
        ("5 minutes and 45 seconds", ["5 minute 45 second"]),
        ("under 2.5MB", ["2.5 megabyte"]),
        ("a budget of $1.2M", ["1200000 dollar"]),
        ("1. First item\n2. Second item", []),
        ("one of them is once enough", []),
        ("step 3 of the plan", []),
        ("call 8005551234", []),
        ("zwanzig Euro", ["20 euro"]),
        ("veinte euros y dos cafés, por favor", ["20 euro", "2"]),
        ("vingt euros", ["20 euro"]),
        ("花了二十五元", ["25 yuan"]),
        ("身高有172厘米", ["172 centimetre"]),
    ],
)
def test_numbers_carry_their_unit_and_lists_are_not_counted(text: str, values: list[str]) -> None:
    assert of_kind("number", text) == values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("we flew to Jordan", ("place", "jordan")),
        ("visiting Petra", ("place", "petra")),
        ("Paris Hilton arrived", ("person", "paris hilton")),
        ("Mark said so", ("person", "mark")),
        ("I love Queen and The Beatles", ("organisation", "queen")),
        ("my Apple watch broke, so I asked Apple", ("organisation", "apple")),
    ],
)
def test_names_of_two_kinds_are_decided_by_what_stands_around(text: str, expected: tuple[str, str]) -> None:
    assert expected in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Mark my words",
        "Will you come? I hope so.",
        "I ate an apple",
        "Turkey sandwiches are fine",
        "Absolutely! That sounds great.",
        "the museum was closed",
        "ok, thanks!",
        "### Practical Tips\n\n**Identify Your Goals**: be clear",
        "see https://example.com/Paris or mail bob@paris.com, @anna #Berlin",
        "```python\nParis = 3\n``` and `Boston`",
        "She speaks Spanish and likes Italian food",
        "Die Katze ist auf dem Tisch und der Hund schläft",
        "",
        " \n\t",
    ],
)
def test_everyday_words_headings_code_and_addresses_are_no_entities(text: str) -> None:
    assert found(text) == []


def test_a_message_of_every_kind_is_read_in_the_order_of_the_text() -> None:
    text = "Lunch with Anna in NYC on Thursday, twenty-five dollars, paid by Apple Pay at Microsoft"
    kinds = [m.kind for m in mentions(text)]
    assert kinds == ["person", "place", "time", "number", "product", "organisation"]


def test_a_short_form_introduced_after_a_name_stands_for_it() -> None:
    text = "You can also use the Benefit Eligibility Screening Tool BEST to find out. BEST will take your answers."
    assert {value for kind, value in found(text) if kind == "product"} == {
        "benefit eligibility screening tool"
    }
    assert len(found(text)) == 3


PIECES = """
Anna Paris in at Thursday tomorrow 5 pm 25 $ % Dr. " ' the The Apple iPhone 15 , . : 【 】 明天 北京 和 王明 twenty-five
million May 2022 - ( ) @x #y ** İstanbul ﬁ ß 10:00 Main Street of by ago week two both cities RMB 4pm 3rd n't ``` `
"""
TEXTS = st.one_of(
    st.text(max_size=120),
    st.lists(st.sampled_from([*PIECES.split(), "\n", ""]), max_size=25).map(" ".join),
)


@settings(max_examples=share(100), deadline=None)
@given(TEXTS)
def test_mentions_lie_in_the_text_in_order_and_never_overlap(text: str) -> None:
    last = 0
    for mention in mentions(text, at=AT):
        assert mention.kind in KINDS
        assert text[mention.start : mention.end] == mention.text
        assert last <= mention.start < mention.end
        assert mention.value
        last = mention.end


@settings(max_examples=share(100), deadline=None)
@given(TEXTS)
def test_the_same_text_gives_the_same_mentions(text: str) -> None:
    assert mentions(text) == mentions(text)


@settings(max_examples=share(100), deadline=None)
@given(
    st.datetimes(),
    st.sampled_from(["last year", "in 3 months", "two weeks ago", "next Friday", "May 11", "29 Feb"]),
)
def test_any_moment_can_be_given(at: datetime, text: str) -> None:
    assert all(isinstance(one, Mention) for one in mentions(text, at=at))


def test_a_very_long_message_is_read_in_bounded_time() -> None:
    assert mentions("Paris " * 50_000)[-1].end <= 20_000
