"""Weave weeks of talk out of labelled dialogues, in the form of the labelled lives, to train link judges on.

    python tools/weave_lives.py --data ../shared/data --weeks 12 --seed 7 --output /tmp/woven
    python tools/weave_lives.py --data ../shared/data --weeks 16 --groups --output /tmp/groups

A *matter* is one dialogue about one thing: an assistant's long chat (BEAM), a run of one topic of
SuperDialseg, TopiOCQA or TIAGE, a MemDaily event (Chinese). Matters are cut into sittings and dealt over the
days of a week so that three to eight are alive at once; a sitting goes on from the one before it of its
matter. A part of those that go on opens with words that name nothing (`OPENINGS`), or name the matter by one
of its rarer words; the rest opens as the source does. Some sittings change their channel in the middle, some
join a run of another matter, which is where another subject begins.

With `--groups` a week is the talk of six people in one channel: conversations of an IRC channel and topics of
meetings, up to three in one sitting, spoken in turns. A sitting goes on from every earlier one in which what
it mostly speaks of was spoken of (`direct`: nothing lies behind those). Weeks of even and odd numbers share
no conversation, so that either half can judge what the other taught.

Written for training alone: the sources' licences differ, so no woven week is shipped or committed, and
nothing is judged on them (`tools/train_links.py --woven` learns from them, `evaluate lives` judges).
The same data, seed and number give the same bytes.
"""

import argparse
import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice, pairwise
from pathlib import Path
from typing import Any, Final

START: Final = datetime(2026, 3, 2, 7)
DAYS: Final = 14
ALIVE: Final = (3, 8)  # matters between whose sittings a newer one has to choose
SITTINGS: Final = 48
SITTING: Final = (2, 9)  # messages; what an opening adds is not counted
LEAST: Final = 4  # messages of a matter: one sitting to begin it, one to go on
LONGEST_TALK: Final = 40  # messages of one conversation of a group
LONGEST: Final = 700  # characters kept of a message: assistants' pages drown what people say
GOES_ON: Final = 0.45  # share of sittings that go on from an earlier one, as in the labelled lives
CHANNELS: Final = ("whatsapp", "web", "sms")
SOURCES: Final = ("ret_beam100k", "seg_superdialseg", "seg_topiocqa", "seg_tiage", "ret_memdaily")
NAMELESS: Final = 0.35  # share of sittings that go on and say nothing of what
NAMING: Final = 0.25  # share that name it by one word
MOVES: Final = 0.1  # share of sittings that change their channel in the middle
JOINED: Final = 0.25  # share of sittings in which another subject begins
PEOPLE: Final = (
    "Hana",
    "Jonno",
    "Tomasz",
    "Bex",
    "Kofi",
    "Mara",
    "Luis",
    "Priya",
    "Sven",
    "Odile",
    "Nils",
    "Aisha",
)
GROUP: Final = 6  # people of a group
AT_ONCE: Final = (1, 1, 2, 2, 3)  # matters of one sitting of a group
BURST: Final = 4  # messages of one matter in a row, at most, where a sitting has several
CROWDED: Final = 8  # messages of a conversation of a channel, at least
PAUSES: Final = (31, 35, 45, 60, 90, 180, 400, 700)  # minutes between sittings of a group

OPENINGS: Final[Mapping[str, Sequence[str]]] = {
    "en": (
        "ok did that, what now",
        "well that didn't work",
        "any news on that?",
        "it's done",
        "so I tried what you said",
        "back to this",
        "they said yes!",
        "hm, still the same as before",
        "and the other one?",
        "could you say that again, shorter",
        "right, where were we",
        "she called back about it",
    ),
    "zh": ("那个后来怎么样了", "弄好了", "还是不行", "接着上次说的", "他们答应了", "另外那个呢"),
}
NAMED: Final[Mapping[str, Sequence[str]]] = {
    "en": ("about the {}", "the {} again", "quick one on the {}", "update on {}", "so the {} thing"),
    "zh": ("关于{}", "{}那件事", "再说说{}"),
}
ANSWERS: Final[Mapping[str, str]] = {"en": "Go on.", "zh": "你说。"}
_WORD: Final = re.compile(r"[^\W\d_]{5,}")
_SOUNDS: Final = re.compile(r"\{[^}]*\}")  # {vocalsound}, {disfmarker}
_HAN: Final = re.compile(r"[\u4e00-\u9fff]{2,4}")


@dataclass(frozen=True, slots=True)
class Matter:
    """A dialogue about one thing: (role, text) in order."""

    source: str
    name: str
    language: str
    turns: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Sitting:
    """A part of a matter, `place` counting its parts."""

    matter: Matter
    place: int
    turns: Sequence[tuple[str, str]]


def matters(data: Path, sources: Sequence[str] = SOURCES) -> list[Matter]:
    """Read what weeks are woven of; raise SystemExit where a source is missing."""
    found: list[Matter] = []
    for source in sources:
        path = data / f"{source}.jsonl.gz"
        if not path.is_file():
            raise SystemExit(f"{path} is missing: --data names the folder of labelled data")
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for row in map(json.loads, file):
                found += _of_chat(source, row) if "messages" in row else _of_dialogue(source, row)
    return [matter for matter in found if len(matter.turns) >= LEAST]


def _of_chat(source: str, row: Mapping[str, Any]) -> Iterator[Matter]:
    language = "zh" if row["lang"].startswith("zh") else "en"
    yield Matter(source, row["id"], language, [_turn(m) for m in row["messages"] if m["text"].strip()])


def _of_dialogue(source: str, row: Mapping[str, Any]) -> Iterator[Matter]:
    """Yield the runs of one topic; speakers become a user and one who answers."""
    first = row["units"][0]["speaker"]
    cuts = [0, *(n for n, start in enumerate(row["starts"]) if start and n), len(row["units"])]
    for begin, end in pairwise(cuts):
        units = [u for u in row["units"][begin:end] if u["text"].strip() and u["text"] != "UNANSWERABLE"]
        turns = [("user" if u["speaker"] == first else "assistant", _cut(u["text"])) for u in units]
        yield Matter(source, f"{row['id']}:{begin}", "en", turns)


def _turn(message: Mapping[str, Any]) -> tuple[str, str]:
    return "assistant" if message["speaker"] == "assistant" else "user", _cut(message["text"])


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST].rsplit(" ", 1)[0]


def week(number: int, all_matters: Sequence[Matter], chance: random.Random) -> dict[str, Any]:
    """Weave one week of one language; every fourth is Chinese where there is material."""
    languages = sorted({m.language for m in all_matters})
    language = "zh" if number % 4 == 3 and "zh" in languages else languages[0]
    own = [m for m in all_matters if m.language == language]
    order = _dealt(_mixed(own, chance), chance)
    rare = Counter(word for m in own for word in {w.lower() for _, t in m.turns for w in _words(t)})
    return _Weaver(f"woven{number:02}", language, rare, chance).woven(order)


def _mixed(own: Sequence[Matter], chance: random.Random) -> list[Matter]:
    """Draw matters from each source in turn: the one with most dialogues would drown the others."""
    piles = [[m for m in own if m.source == source] for source in sorted({m.source for m in own})]
    for pile in piles:
        chance.shuffle(pile)
    rounds = (pile[n] for n in range(SITTINGS) for pile in piles if n < len(pile))
    drawn = list(islice(rounds, SITTINGS))
    chance.shuffle(drawn)
    return drawn


def _dealt(pool: list[Matter], chance: random.Random) -> list[Sitting]:
    """Deal matters into sittings: three to eight are open to be gone on with at any time."""
    waiting: dict[str, list[Sitting]] = {}
    dealt: list[Sitting] = []
    while len(dealt) < SITTINGS and (pool or waiting):
        begun = [name for name, rest in waiting.items() if rest]
        goes_on = len(begun) >= ALIVE[0] and chance.random() < GOES_ON / (1 - GOES_ON / ALIVE[1])
        if begun and (goes_on or not pool or len(begun) >= ALIVE[1]):
            name = chance.choice(begun[-ALIVE[1] :])
            dealt.append(waiting[name].pop(0))
            if not waiting[name]:
                del waiting[name]
        elif pool:
            first, *rest = _parts(pool.pop(), chance)
            dealt.append(first)
            if rest:
                waiting[first.matter.name] = rest[:4]
    return dealt


def _parts(matter: Matter, chance: random.Random) -> list[Sitting]:
    parts, start = [], 0
    while start < len(matter.turns):
        size = min(chance.randint(*SITTING), max(2, len(matter.turns) - 2))
        turns = matter.turns[start : start + size]
        if len(turns) < 2 and parts:
            break
        parts.append(Sitting(matter, len(parts), turns))
        start += size
    return parts


def _words(text: str) -> list[str]:
    return _WORD.findall(text) or _HAN.findall(text)


class _Weaver:
    """Writes the messages of one week in order of time, and the labels with them."""

    def __init__(self, name: str, language: str, rare: Counter[str], chance: random.Random) -> None:
        self._name, self._language, self._rare, self._chance = name, language, rare, chance
        self._messages: list[dict[str, Any]] = []
        self._starts: list[str] = []

    def woven(self, order: Sequence[Sitting]) -> dict[str, Any]:
        at, left, labels = START, list(order), []
        last: dict[str, str] = {}
        step = timedelta(days=DAYS) / max(1, len(order))
        while left:
            sitting = left.pop(0)
            name = f"s{len(labels):02}"
            before = last.get(sitting.matter.name)
            labels.append(
                {"id": name, "topic": sitting.matter.name, "goes_on_from": [before] if before else []}
            )
            last[sitting.matter.name] = name
            joined = left.pop(0) if left and not left[0].place and self._chance.random() < JOINED else None
            end = self._write(name, sitting, joined, at, continues=before is not None)
            at = max(at + step * self._chance.uniform(0.3, 1.7), end + timedelta(minutes=35))
            if joined is not None:
                last.setdefault(joined.matter.name, name)
        return {
            "kind": "life", "id": self._name, "lang": self._language, "user": "Kim", "about": "woven",
            "messages": self._messages, "sittings": labels, "episodes": self._starts,
            "facts": [], "tempting": [], "needs": [], "questions": [],
        }  # fmt: skip

    def _write(
        self, name: str, sitting: Sitting, joined: Sitting | None, at: datetime, *, continues: bool
    ) -> datetime:
        turns = [*self._opening(sitting, continues=continues), *sitting.turns]
        border = len(turns)
        turns += joined.turns if joined is not None else ()
        channel = self._chance.choice(CHANNELS)
        moves_at = self._chance.randrange(1, len(turns)) if self._chance.random() < MOVES else None
        for number, (role, text) in enumerate(turns):
            if number == moves_at:
                channel = self._chance.choice([c for c in CHANNELS if c != channel])
            identity = f"m{len(self._messages):04}"
            if number == border:
                self._starts.append(identity)
            speaker = "Kim" if role == "user" else "assistant"
            self._messages.append(
                {"id": identity, "sitting": name, "channel": channel, "speaker": speaker, "role": role,
                 "text": text, "time": at.isoformat(timespec="seconds")}
            )  # fmt: skip
            at += timedelta(seconds=self._chance.uniform(8, 240))
        return at

    def _opening(self, sitting: Sitting, *, continues: bool) -> list[tuple[str, str]]:
        """Return what is said before a sitting goes on as its source does, if anything is."""
        drawn = self._chance.random()
        if not continues or drawn >= NAMELESS + NAMING:
            return []
        said = self._chance.choice(OPENINGS[self._language])
        if drawn >= NAMELESS:
            words = {w.lower() for _, text in sitting.matter.turns[:6] for w in _words(text)}
            if words:
                rarest = min(sorted(words), key=lambda w: self._rare[w])
                said = self._chance.choice(NAMED[self._language]).format(rarest)
        return [("user", said), ("assistant", ANSWERS[self._language])]


# --- groups ----------------------------------------------------------------------------------------------


def conversations(data: Path) -> list[list[Matter]]:
    """Return what weeks of groups are woven of, by source; a turn's role is who speaks."""
    with gzip.open(data / "thr_irc.jsonl.gz", "rt", encoding="utf-8") as file:
        channels = [matter for row in map(json.loads, file) for matter in _of_channel(row)]
    with gzip.open(data / "seg_qmsum.jsonl.gz", "rt", encoding="utf-8") as file:
        meetings = [matter for row in map(json.loads, file) for matter in _of_meeting(row)]
    return [channels, meetings]


def _of_channel(row: Mapping[str, Any]) -> Iterator[Matter]:
    by_id = {unit["id"]: unit for unit in row["units"] if not unit.get("system") and unit["text"].strip()}
    for number, thread in enumerate(row["threads"]):
        units = [by_id[n] for n in sorted(thread) if n in by_id]
        if len(units) >= CROWDED and len({unit["speaker"] for unit in units}) > 1:
            turns = [(unit["speaker"], _cut(unit["text"])) for unit in units][:LONGEST_TALK]
            yield Matter("irc", f"{row['id']}:{number}", "en", turns)


def _of_meeting(row: Mapping[str, Any]) -> Iterator[Matter]:
    cuts = [0, *(n for n, start in enumerate(row["starts"]) if start and n), len(row["units"])]
    for begin, end in pairwise(cuts):
        units = [(u["speaker"], _SOUNDS.sub("", u["text"]).strip()) for u in row["units"][begin:end]]
        turns = [(speaker, _cut(text)) for speaker, text in units if len(text.split()) > 1]
        if len(turns) >= CROWDED:
            yield Matter("meeting", f"{row['id']}:{begin}", "en", turns[:LONGEST_TALK])


class _Group:
    """Weaves one week of a group: who is who in each conversation, and what is left of it."""

    def __init__(self, number: int, sources: Sequence[Sequence[Matter]], chance: random.Random) -> None:
        self._name, self._chance = f"group{number:02}", chance
        self._waiting = [m for some in sources for m in chance.sample(some, min(len(some), SITTINGS // 2))]
        chance.shuffle(self._waiting)
        self._people = chance.sample(PEOPLE, GROUP)
        self._begun: dict[str, tuple[Matter, int, Mapping[str, str]]] = {}
        self._messages: list[dict[str, Any]] = []
        self._sittings: list[dict[str, Any]] = []
        self._where: dict[str, list[str]] = {}

    def woven(self) -> dict[str, Any]:
        """Return the week in the form of a life."""
        at = START
        while len(self._sittings) < SITTINGS and (self._waiting or self._begun):
            at = self._sit(self._drawn(), at) + timedelta(minutes=self._chance.choice(PAUSES))
        return {
            "kind": "life", "id": self._name, "lang": "en", "user": self._people[0], "about": "woven",
            "messages": self._messages, "sittings": self._sittings, "episodes": [], "direct": True,
            "facts": [], "tempting": [], "needs": [], "questions": [],
        }  # fmt: skip

    def _drawn(self) -> dict[str, list[tuple[str, str]]]:
        """Return what is said next of each matter of a sitting."""
        drawn: dict[str, list[tuple[str, str]]] = {}
        for _ in range(self._chance.choice(AT_ONCE)):
            begun = [name for name in self._begun if name not in drawn]
            full = len(self._begun) >= ALIVE[1] or not self._waiting
            if not begun and not self._waiting:
                break
            if begun and (full or self._chance.random() < GOES_ON):
                name = self._chance.choice(begun)
            else:
                matter = self._waiting.pop()
                name = matter.name
                self._begun[name] = (matter, 0, self._cast(matter))
            matter, place, cast = self._begun[name]
            end = place + self._chance.randint(*SITTING)
            drawn[name] = [(cast[who], _renamed(text, cast)) for who, text in matter.turns[place:end]]
            self._begun[name] = (matter, end, cast)
            if end >= len(matter.turns) - 1:
                del self._begun[name]
        return drawn

    def _cast(self, matter: Matter) -> Mapping[str, str]:
        speakers = list(dict.fromkeys(who for who, _ in matter.turns))
        people = self._chance.sample(self._people, GROUP)
        return {who: people[n % GROUP] for n, who in enumerate(speakers)}

    def _sit(self, drawn: Mapping[str, list[tuple[str, str]]], at: datetime) -> datetime:
        name, left = f"s{len(self._sittings):02}", {matter: list(turns) for matter, turns in drawn.items()}
        while any(left.values()):
            turns = left[self._chance.choice([matter for matter, rest in left.items() if rest])]
            for _ in range(min(len(turns), self._chance.randint(1, BURST))):
                speaker, text = turns.pop(0)
                self._messages.append(
                    {"id": f"m{len(self._messages):04}", "sitting": name, "channel": "group", "role": "user",
                     "speaker": speaker, "text": text, "time": at.isoformat(timespec="seconds")}
                )  # fmt: skip
                at += timedelta(seconds=self._chance.uniform(8, 120))
        most = max(map(len, drawn.values()))
        mainly = [matter for matter, turns in drawn.items() if 2 * len(turns) >= most]
        before = sorted({earlier for matter in mainly for earlier in self._where.get(matter, [])})
        self._sittings.append({"id": name, "topic": " + ".join(drawn), "goes_on_from": before})
        for matter in drawn:
            self._where.setdefault(matter, []).append(name)
        return at


def _renamed(text: str, cast: Mapping[str, str]) -> str:
    for nick in sorted(cast, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(nick)}(?!\w)", cast[nick], text)
    return text


def main() -> None:
    """Write the weeks, one file each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--weeks", type=int, default=12)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--groups", action="store_true", help="weave talk of groups in one channel")
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    spoken = conversations(options.data) if options.groups else []
    for matters_of_source in spoken:
        random.Random(options.seed).shuffle(matters_of_source)
    material = [] if options.groups else matters(options.data)
    for number in range(options.weeks):
        chance = random.Random(options.seed * 1000 + number)
        halves = [some[number % 2 :: 2] for some in spoken]
        woven = _Group(number, halves, chance).woven() if spoken else week(number, material, chance)
        path = options.output / f"{woven['id']}.jsonl"
        path.write_text(json.dumps(woven, ensure_ascii=False) + "\n", encoding="utf-8")
        linked = sum(bool(s["goes_on_from"]) for s in woven["sittings"])
        print(f"{path}: {len(woven['messages'])} messages, {len(woven['sittings'])} sittings, {linked} go on")


if __name__ == "__main__":
    main()
