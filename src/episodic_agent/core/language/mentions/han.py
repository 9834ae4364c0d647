"""Mentions in text without spaces between words: Chinese, Japanese and Korean.

Known names by the longest match, the rest by endings: 市 路 公司 先生. A guess between two words that a
dictionary would tell apart is left out.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from functools import cache, lru_cache
from typing import Final

from episodic_agent.core.language.mentions.calendar import (
    date_value,
    month_value,
    shifted_value,
    weekday_value,
)
from episodic_agent.core.language.mentions.lexicon import Lexicon
from episodic_agent.data import phrases, text
from episodic_agent.schemas.mentions import Kind, Mention

_DIGITS: Final = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9
}  # fmt: skip
_SCALES: Final = {
    "十": 10,
    "百": 100,
    "千": 1000,
    "万": 10_000,
    "亿": 100_000_000,
    "億": 100_000_000,
    "萬": 10_000,
}
_N: Final = r"(?:\d+(?:[.,]\d+)*|[零〇一二两三四五六七八九十百千万亿]+)"
_UNSPACED: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_H: Final = "[\u3400-\u9fff]"

_DATE: Final = rf"(?:(\d{{4}})年)?({_N})月(?:份|({_N})[日号號])?|(\d{{4}})年"
_DAY_WORDS: Final = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "今晚": 0, "今早": 0,
    "明天": 1, "明日": 1, "明晚": 1, "后天": 2, "後天": 2, "어제": -1, "오늘": 0, "내일": 1,
}  # fmt: skip
_DAY: Final = "|".join(sorted(_DAY_WORDS, key=len, reverse=True))
_PARTS: Final = {
    "早上": "morning", "清晨": "morning", "上午": "morning", "中午": "noon", "下午": "afternoon",
    "傍晚": "evening", "晚上": "evening", "夜里": "night", "凌晨": "night", "半夜": "night",
    "早晨": "morning",
}  # fmt: skip
_PART: Final = "|".join(part for part in _PARTS if len(part) > 1)
_CLOCK: Final = rf"({_N})(?:点|點|時)(半|(?:{_N})分)?(?!间|間|钟)|({_N})点钟"
_WEEKDAY: Final = r"(上|下|这|本)?个?(?:周|星期|礼拜)([一二三四五六日天])|([月火水木金土日])曜日"
_SHIFT: Final = r"(上|下|这|本|今|去|明|前|来|先)个?(周|星期|礼拜|月|年|週)(?![一二三四五六日天])"
_AGO: Final = rf"({_N}|几)个?(天|周|星期|月|年|小时|分钟)(前|后|以前|之前|以后|之后)"
_NUMBER: Final = (
    rf"({_N})\s*(多)?\s*(公里|千米|米|厘米|公斤|千克|斤|克|吨|升|毫升|元|块钱|块|美元|欧元|日元|円|平方米|平米|度|岁|歳|分钟|小时|个小时|天|周|个月|年|"
    r"个人|人|个|位|名|次|件|只|条|张|本|辆|杯|瓶|份|套|间|页|步|%|％|원|명|개)?"
)
_PLACE: Final = (
    rf"{_H}{{2,6}}?(?:省|市|自治区|特别行政区|县|区|镇|村|街道|大街|大道|路|街|巷|胡同|小区|广场|公园|机场|火车站|高铁站|地铁站|车站|寺|湖|山|岛"
    r"|博物馆|图书馆|体育馆|美术馆|餐厅|饭店|酒店|商场|超市|咖啡馆|健身房|空港|駅|県|都|府)"
)
_PLACE_LEADS: Final = "在去到从往回离来抵达位于住"
_STOP: Final = frozenset(
    "的了吗呢吧啊呀嘛着过是在我你他她它们什么哪那这个和与就也都很把被让给到去来说没不又再才还只最更太自从往对为跟及或一有要会能想看家前后上下里外中"
)


def find_unspaced(text: str, lexicon: Lexicon, at: datetime | None) -> list[Mention]:
    """Return the mentions in the parts of a text that are written without spaces."""
    if not _UNSPACED.search(text):
        return []
    mentions: list[Mention] = []
    taken = bytearray(len(text))
    for find in (
        _times(text, at),
        _organisations(text),
        _places(text),
        _known(text, lexicon),
        _people(text),
        _numbers(text),
    ):
        for mention in find:
            if mention.start < mention.end and not any(taken[mention.start : mention.end]):
                mentions.append(mention)
                taken[mention.start : mention.end] = b"\x01" * (mention.end - mention.start)
    return sorted(mentions, key=lambda one: one.start)


def _mention(kind: Kind, text: str, value: str, start: int, end: int) -> Mention:
    return Mention(kind, text[start:end], value, start, end)


def han_number(text: str) -> str:
    """Return what a Chinese numeral says, as digits.

    >>> han_number("二十五"), han_number("三百零二"), han_number("1,000.50"), han_number("两万")
    ('25', '302', '1000.5', '20000')
    """
    if text[0].isdigit():
        full, _, decimals = text.replace(",", "").partition(".")
        decimals = decimals.rstrip("0")
        return f"{int(full)}.{decimals}" if decimals.isdigit() else str(int(full))
    if not any(character in _SCALES for character in text):
        return "".join(str(_DIGITS[character]) for character in text)
    total, part, digit = 0, 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif _SCALES[character] >= 10_000:
            total, part, digit = (total + part + digit) * _SCALES[character], 0, 0
        else:
            part, digit = part + (digit or 1) * _SCALES[character], 0
    return str(total + part + digit)


def _times(text: str, at: datetime | None) -> Iterator[Mention]:
    """Yield dates, days, weekdays, clocks; those that touch are one time."""
    atoms = sorted(_atoms(text, at))
    place = 0
    while place < len(atoms):
        start, end, value = atoms[place]
        values = [value]
        place += 1
        while place < len(atoms) and atoms[place][0] <= end + (text[end : end + 1] in {" ", "的"}):
            if atoms[place][0] >= end:
                values.append(atoms[place][2])
                end = atoms[place][1]
            place += 1
        yield _mention("time", text, " ".join(sorted(dict.fromkeys(_afternoon(values)))), start, end)


def _afternoon(values: list[str]) -> list[str]:
    """Count an hour after noon from noon: 下午三点 is 15:00."""
    if not {"part:afternoon", "part:evening"}.intersection(values):
        return values
    late = [value for value in values if value.startswith("clock:") and value < "clock:12"]
    return [f"clock:{int(one[6:8]) + 12}{one[8:]}" if one in late else one for one in values]


def _atoms(text: str, at: datetime | None) -> Iterator[tuple[int, int, str]]:
    for match in re.finditer(_DATE, text):
        value = _date(match, at)
        if value:
            yield match.start(), match.end(), value
    for match in re.finditer(_DAY, text):
        yield match.start(), match.end(), shifted_value("day", _DAY_WORDS[match.group()], at)
        if match.group().endswith("晚"):
            yield match.end(), match.end(), "part:evening"
    for match in re.finditer(_PART, text):
        yield match.start(), match.end(), f"part:{_PARTS[match.group()]}"
    for match in re.finditer(_WEEKDAY, text):
        number = min("一二三四五六日天".index(match[2]), 6) if match[2] else "月火水木金土日".index(match[3])
        which = {"上": -1, "下": 1, "这": 0, "本": 0}.get(match[1] or "")
        yield match.start(), match.end(), weekday_value(number, which, at)
    for match in re.finditer(_CLOCK, text):
        value = _clock(match)
        if value:
            yield match.start(), match.end(), value
    yield from _moved(text, at)


def _date(match: re.Match[str], at: datetime | None) -> str | None:
    if match[4]:
        return f"year:{int(match[4])}"
    year = int(match[1]) if match[1] else None
    month = int(float(han_number(match[2])))
    if match[3]:
        return date_value(month, int(float(han_number(match[3]))), year, at)
    explicit = match.group().endswith("份") or match[1] or match[2].isdigit() or len(match[2]) == 1
    return month_value(month, year, at) if 1 <= month <= 12 and explicit else None


def _clock(match: re.Match[str]) -> str | None:
    hour = int(float(han_number(match[1] or match[3])))
    past = match[2] or ""
    minute = 30 if past == "半" else int(float(han_number(past[:-1]))) if past else 0
    return f"clock:{hour:02}:{minute:02}" if hour < 24 and minute < 60 else None


def _moved(text: str, at: datetime | None) -> Iterator[tuple[int, int, str]]:
    units = {
        "周": "week",
        "星期": "week",
        "礼拜": "week",
        "週": "week",
        "月": "month",
        "年": "year",
        "天": "day",
        "小时": "hour",
        "分钟": "minute",
    }
    counts = {"上": -1, "下": 1, "去": -1, "明": 1, "前": -2, "来": 1, "先": -1}
    for match in re.finditer(_SHIFT, text):
        if (match[1] in "今去明前" and match[2] not in "年月") or (match[1] == "上" and match[2] == "年"):
            continue
        yield match.start(), match.end(), shifted_value(units[match[2]], counts.get(match[1], 0), at)
    for match in re.finditer(_AGO, text):
        count = 3 if match[1] == "几" else int(float(han_number(match[1])))
        sign = -1 if "前" in match[3] else 1
        yield match.start(), match.end(), shifted_value(units[match[2]], sign * min(count, 100_000), at)


def _known(text: str, lexicon: Lexicon) -> Iterator[Mention]:
    """Yield the longest known names."""
    place = 0
    while place < len(text):
        for form, name in lexicon.unspaced.get(text[place], ()):
            if text.startswith(form, place) and not (
                name.kind == "place" and _ends_place(text, place + len(form))
            ):
                yield _mention(name.kind, text, name.value, place, place + len(form))
                place += len(form) - 1
                break
        place += 1


def _ends_place(text: str, end: int) -> bool:
    """Say whether a known place is only the beginning of a longer name: 上海市, 北京路, 北京大学."""
    return any(text.startswith(head, end) for head in _heads())


@lru_cache(maxsize=1)
def _heads() -> tuple[str, ...]:
    heads = [
        "市",
        "省",
        "路",
        "大学",
        "银行",
        "医院",
        "公司",
        "机场",
        "火车站",
        "高铁站",
        "站",
        "大街",
        "博物馆",
        "图书馆",
        "有限公司",
        "中学",
        "小学",
    ]
    return tuple(heads)


@lru_cache(maxsize=1)
def _organisation_pattern() -> re.Pattern[str]:
    heads = "|".join(sorted(phrases("entities/organisations.han_heads"), key=len, reverse=True))
    return re.compile(rf"(?:{_H}|[A-Za-z]){{2,12}}?(?:{heads})")


def _organisations(text: str) -> Iterator[Mention]:
    for match in _organisation_pattern().finditer(text):
        start = _name_start(text, match.start(), match.end())
        if match.end() - start > 3:
            yield _mention("organisation", text, text[start : match.end()].casefold(), start, match.end())


def _name_start(text: str, start: int, end: int) -> int:
    """Move the start of a guessed name past the last function word before it."""
    for place in range(end - 3, start - 1, -1):
        if text[place] in _STOP:
            return place + 1
    return start


def _places(text: str) -> Iterator[Mention]:
    for match in re.finditer(_PLACE, text):
        start = _name_start(text, match.start(), match.end())
        led = start > 0 and text[start - 1] in _PLACE_LEADS
        if match.end() - start > 2 and (led or match.group()[-1] in "省市县区路街岛" or start == 0):
            yield _mention("place", text, text[start : match.end()], start, match.end())


@cache
def _common_family() -> str:
    return text("entities/people.han_family")[:110]


@cache
def _titled() -> str:
    return (
        rf"[{text('entities/people.han_family')}]{_H}{{0,2}}?(?:{'|'.join(phrases('entities/people.han_titles'))})"
        rf"|[小老阿][{_common_family()}](?![师板])"
    )


@cache
def _named() -> str:
    return (
        rf"(?:(?<=[和跟与叫给向是找约])|(?<=朋友)|(?<=同事)|(?<=邻居)|(?<=老师)|(?<=with ))"
        rf"([{_common_family()}]{_H}{{1,2}})(?=[，。！？、；:： ,.!?\]]|$|[的在说去来和跟与一正])"
        rf"|(?:^|(?<=[：:，, ]))([{_common_family()}]{_H}{{1,2}})(?=[:：,，]|$|[在和与正])"
    )


_JAPANESE: Final = rf"(?<!{_H}){_H}{{1,4}}(?:さん|ちゃん|くん|様|先輩)"


def _people(text: str) -> Iterator[Mention]:
    """Yield a family name with a title (王老师), and full names where a name stands (和马明轩, 马秀兰：)."""
    for match in (*re.finditer(_titled(), text), *re.finditer(_JAPANESE, text)):
        yield _mention("person", text, match.group(), match.start(), match.end())
    for match in re.finditer(_named(), text):
        group = 1 if match[1] else 2
        name = match[group]
        if not any(character in _STOP for character in name[1:]):
            yield _mention("person", text, name, *match.span(group))


_UNIT_VALUES: Final = {
    "％": "%", "公里": "kilometre", "千米": "kilometre", "米": "metre", "厘米": "centimetre",
    "公斤": "kilogram", "千克": "kilogram", "元": "yuan", "块钱": "yuan", "块": "yuan", "美元": "dollar",
    "欧元": "euro", "天": "day", "分钟": "minute", "小时": "hour", "个小时": "hour", "周": "week",
    "个月": "month", "年": "year", "日元": "yen", "円": "yen", "원": "won",
}  # fmt: skip
# After "one" they make an article, not a number: 一个, 一家.
_ARTICLE_UNITS: Final = frozenset("个位名次件只条张份套天年块间人度本步")


def _numbers(text: str) -> Iterator[Mention]:
    for match in re.finditer(_NUMBER, text):
        number, unit = match[1], match[3]
        around = text[max(match.start() - 1, 0) : match.start()] + text[match.end() : match.end() + 1]
        if not unit and not (number[0].isdigit() and _UNSPACED.search(around)):
            continue
        if number in {"一", "千", "万", "百"} and (unit is None or unit in _ARTICLE_UNITS):
            continue
        value = han_number(number)
        yield _mention(
            "number",
            text,
            f"{value} {_UNIT_VALUES.get(unit, unit)}" if unit else value,
            match.start(),
            match.end(),
        )
