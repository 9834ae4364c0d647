"""A Slack workspace's export: a folder or zip with `users.json`, lists of channels, and a folder a channel.

Written after public descriptions of standard exports, not tried on one. A channel's folder has a file a
day, a list of messages. A message with `thread_ts` belongs to a thread, which is a thread of its own here,
begun by the message it answers and called by its words; where that message is not in the export, by those of
the first answer. Joins, topics, pins and the like (`subtype`) are notices.
"""

import html
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Final

from episodic_agent.core.ingest import Item
from episodic_agent.engine.files.bundle import Bundle, BundledFile
from episodic_agent.engine.files.formats.glimpse import Glimpse
from episodic_agent.engine.files.formats.speaking import Chat, Records, joined, link, note, speak, talk_title
from episodic_agent.engine.files.formats.walking import Fields, documents, list_of, mapping_of, text_of
from episodic_agent.engine.files.opening import Opened, Unreadable, inspect
from episodic_agent.engine.files.options import ReadingOptions
from episodic_agent.lazily import module

if TYPE_CHECKING:
    from rich import emoji
else:
    emoji = module("rich.emoji")

_DAY: Final = re.compile(r"(.+)/(\d{4}-\d{2}-\d{2})\.json")
_LISTS: Final = ("channels.json", "groups.json", "mpims.json", "dms.json")
_SPOKEN: Final = frozenset(
    ("", "bot_message", "me_message", "file_share", "file_comment", "thread_broadcast", "reply_broadcast")
)
_PICTURE: Final = re.compile(r"(?<!\w):([a-z0-9_+-]+):(?::skin-tone-\d:)?(?!\w)")
_MARKUP: Final = re.compile(r"<([^<>\n]+)>")
_ANSWERABLE: Final = 5_000  # latest messages of a channel whose words may be the title of a thread


def root_of(bundle: Bundle) -> str | None:
    """Return the folder of a bundle that holds a workspace ("" for the bundle itself); None without one."""
    names = {file.name for file in bundle.files}
    for name in sorted(names, key=len):
        folder, _, base = name.rpartition("/")
        prefix = f"{folder}/" if folder else ""
        if base == "users.json" and any(prefix + listed in names for listed in _LISTS):
            days = (file.name.removeprefix(prefix) for file in bundle.files if file.name.startswith(prefix))
            if any(_DAY.fullmatch(day) for day in days):
                return prefix
    return None


def read(bundle: Bundle, root: str, reading: ReadingOptions) -> Iterator[tuple[str, Item | Unreadable]]:
    """Stream a workspace's messages, channel by channel and day by day, each with the name of its file."""
    files = {file.name.removeprefix(root): file for file in bundle.files if file.name.startswith(root)}
    users = list(_listed(bundle, files.get("users.json")))
    people, accounts = _people(users), _accounts(users)
    channels = {}
    for name in _LISTS:
        for value in _listed(bundle, files.get(name)):
            identity = text_of(value.get("id"))
            channels[text_of(value.get("name")) or identity] = (identity, _title(value, people))
    folder, place = "", _SlackChannel("", "", people, accounts)
    for name in sorted(files, key=lambda name: (name.rpartition("/")[0], name)):
        day = _DAY.fullmatch(name)
        if day is None:
            continue
        if day[1] != folder:
            folder = day[1]
            identity, title = channels.get(folder, (folder, f"#{folder}"))
            place = _SlackChannel(identity or folder, title, people, accounts)
        for record in documents(inspect(files[name].file, None, bundle.limits)):
            if isinstance(record, Unreadable):
                yield files[name].name, record
                continue
            for result in _message(mapping_of(record.value), place, reading, record.line):
                yield files[name].name, result


def fits_day(seen: Glimpse) -> bool:
    """Tell a channel's day by itself: a list of messages with Slack's names for who spoke and when."""
    return {"[].type", "[].ts", "[].user", "[].text"} <= seen.paths


def read_day(opened: Opened, reading: ReadingOptions) -> Records:
    """Stream a channel's day, named after the folder it lies in; who is who only its messages say."""
    known = [mapping_of(r.value) for r in documents(opened) if not isinstance(r, Unreadable)]
    users = [
        {"id": one.get("user"), "profile": one["user_profile"]} for one in known if one.get("user_profile")
    ]
    people = {i: name for i, name in _people(users).items() if i}
    folder = PurePath(os.path.abspath(str(opened.path))).parent.name
    place = _SlackChannel(folder, f"#{folder}", people, _accounts(users))
    for record in documents(opened):
        if isinstance(record, Unreadable):
            yield record
        else:
            yield from _message(mapping_of(record.value), place, reading, record.line)


@dataclass(frozen=True, slots=True)
class _SlackChannel:
    """A channel, the names of those who speak there, and by its time what was said of late.

    `accounts` are all names of each of them, by the id.
    """

    identity: str
    title: str
    people: Mapping[str, str]
    accounts: Mapping[str, tuple[str, ...]]
    titles: dict[str, str] = field(default_factory=dict)

    def chat_of(self, at: str, thread: str, text: str) -> Chat:
        """Return the chat of a message: the channel, or the thread it is in.

        A message is named by its time; one that was answered does not always say so, its answers do.
        """
        begins = thread or at
        if begins and text and begins not in self.titles:
            self.titles[begins] = talk_title(self.title, text)
            if len(self.titles) > _ANSWERABLE:
                del self.titles[next(iter(self.titles))]
        if not thread:
            return Chat(f"slack-{self.identity}", self.title, "slack")
        return Chat(f"slack-{self.identity}-{thread}", self.titles.get(thread, self.title), "slack")


def _listed(bundle: Bundle, file: BundledFile | None) -> Iterator[Fields]:
    records = documents(inspect(file.file, None, bundle.limits)) if file else iter(())
    return (mapping_of(record.value) for record in records if not isinstance(record, Unreadable))


def _people(users: Iterable[Fields]) -> dict[str, str]:
    """Return the names by the ids: the real one, else as shown, else the account's."""
    people = {"USLACKBOT": "Slackbot"}
    for user in users:
        profile = mapping_of(user.get("profile"))
        names = (
            profile.get("real_name"), user.get("real_name"), profile.get("display_name"), user.get("name"),
        )  # fmt: skip
        people[text_of(user.get("id"))] = next((n.strip() for n in map(text_of, names) if n.strip()), "")
    return {identity: name or identity for identity, name in people.items()}


def _accounts(users: Iterable[Fields]) -> dict[str, tuple[str, ...]]:
    """Return all names of each account by its id: as shown, the real one, the handle, the address."""
    accounts: dict[str, tuple[str, ...]] = {}
    for user in users:
        profile, identity = mapping_of(user.get("profile")), text_of(user.get("id"))
        keys = ("display_name", "real_name", "name", "email")
        names = [text_of(place.get(key)) for place in (profile, user) for key in keys]
        accounts[identity] = (identity, *filter(None, names))
    return accounts


def _title(channel: Fields, people: Mapping[str, str]) -> str:
    name = text_of(channel.get("name"))
    members = channel.get("members")
    if (name and not name.startswith("mpdm-")) or not isinstance(members, list):
        return f"#{name}"
    return ", ".join(people.get(str(member), str(member)) for member in members)


def _message(message: Fields, place: _SlackChannel, reading: ReadingOptions, line: int) -> Records:
    if text_of(message.get("subtype")) not in _SPOKEN or message.get("type") not in ("message", None):
        reading.leave_out("notice")
        return
    marked = text_of(message.get("text"))
    text = joined(plain(marked, place.people), *_files(message))
    if not text:  # what a bot shows
        cards = list_of(message.get("attachments"))
        marked = joined(*(text_of(card.get("text")) or text_of(card.get("fallback")) for card in cards))
        text = plain(marked, place.people)
    at, thread = text_of(message.get("ts")), text_of(message.get("thread_ts"))
    fields = {
        "speaker": _speaker(message, place.people),
        "content": text,
        "timestamp": at or None,
        "id": at or None,
    }
    edited = mapping_of(message.get("edited")).get("ts")
    also = place.accounts.get(text_of(message.get("user")), (message.get("user"), message.get("username")))
    chat = place.chat_of(at, thread, text)
    same = _same_but_for_names(marked, text, place)
    yield from speak(chat, fields, reading, line, edited=edited, also=also, says_same=same)


def _same_but_for_names(marked: str, text: str, place: _SlackChannel) -> Callable[[str], bool] | None:
    """Return what tells a text that differs by names of whom it mentions, or of pictures; None without any.

    A name that somebody else has now is another mention, one that nobody has is an earlier name.
    """
    mentions = [found[1] for found in _MARKUP.finditer(marked) if found[1][0] in "@#"]
    pattern, rest = "", text
    for mention in mentions:
        before, name, rest = rest.partition(html.unescape(_resolved(mention, place.people)))
        pattern += f"{re.escape(before)}{name[:1]}([^\n@#]{{1,80}})"
    if not mentions and ":" not in marked:
        return None
    ids = [mention[1:].partition("|")[0] for mention in mentions]

    def says_same(earlier: str) -> bool:
        match = re.fullmatch(pattern + re.escape(rest), _pictured(earlier))
        names = match.groups() if match else ()
        return match is not None and all(
            name in place.accounts.get(identity, ())
            or not any(name in held for held in place.accounts.values())
            for name, identity in zip(names, ids, strict=True)
        )

    return says_same


def _speaker(message: Fields, people: Mapping[str, str]) -> str:
    user = text_of(message.get("user"))
    profile = mapping_of(message.get("user_profile"))
    bot = mapping_of(message.get("bot_profile"))
    names = (
        people.get(user), profile.get("real_name"), profile.get("display_name"), message.get("username"),
        bot.get("name"), user, message.get("bot_id"),
    )  # fmt: skip
    return next((name for name in map(text_of, names) if name), "unknown")


def _files(message: Fields) -> Iterator[str]:
    for file in list_of(message.get("files")):
        if file.get("mode") != "tombstone":
            yield note("file", file.get("name") or file.get("title"))


def plain(text: str, people: Mapping[str, str]) -> str:
    """Return Slack's markup as plain text: names for ids, words with their links, signs for entities.

    >>> plain("<@U1>: see <https://a.example|the plan> &amp; <#C1|general> <!here>", {"U1": "Ana"})
    '@Ana: see the plan (https://a.example) & #general @here'
    >>> plain("up :tada::wave::skin-tone-2: at 9:15:30 :our_own:", {})
    'up 🎉👋 at 9:15:30 :our_own:'
    """
    return _pictured(html.unescape(_MARKUP.sub(lambda match: _resolved(match[1], people), text)))


def _pictured(text: str) -> str:
    """Return a text with the pictures that are called so; a workspace's own keep their names."""
    return _PICTURE.sub(lambda match: emoji.Emoji.replace(f":{match[1]}:"), text)


def _resolved(inside: str, people: Mapping[str, str]) -> str:
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return f"@{people.get(target[1:]) or label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return label if label and not label.isidentifier() else f"@{target[1:].partition('^')[0]}"
    return link(target, label)
