"""Which channels let a user choose a thread, and what silence a thread outlasts (seed 002, section 1.2)."""

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from episodic_agent.core.language import fold
from episodic_agent.errors import InvalidInput

DEFAULT_CHANNEL: Final = "default"
DEFAULT_TIMEOUT: Final = timedelta(minutes=30)
_BETWEEN: Final = re.compile(r"[\W_]+")  # the parts of a name


class ChannelKind(StrEnum):
    """On an explicit channel the user picks the thread; on an implicit one silence ends it."""

    IMPLICIT = "implicit"
    EXPLICIT = "explicit"


KINDS: Final[Mapping[str, ChannelKind]] = MappingProxyType(
    dict.fromkeys(("sms", "whatsapp", "email", "telegram", "signal", DEFAULT_CHANNEL), ChannelKind.IMPLICIT)
    | dict.fromkeys(("web", "mobile", "app", "cli"), ChannelKind.EXPLICIT)
)


def channel_name(channel: str | None) -> str:
    """Return the one spelling a channel is known by; none given is the channel `default`.

    >>> channel_name(" SMS "), channel_name(None), channel_name("")
    ('sms', 'default', 'default')
    """
    return (channel or "").strip().casefold() or DEFAULT_CHANNEL


def channels_meant(name: str, channels: Iterable[str]) -> frozenset[str]:
    """Return the channels that somebody means by a name: those called so, else those of which it is a part.

    A folder is called by its whole name.

    >>> sorted(channels_meant("WhatsApp", ["slack", "whatsapp-ben", "whatsapp family", "/home/whatsapp"]))
    ['whatsapp family', 'whatsapp-ben']
    >>> channels_meant("Slack", ["slack", "slack-ops"])
    frozenset({'slack'})
    """
    called, known = channel_name(name), [*channels]
    if called in known:
        return frozenset([called])
    parts = {one: _BETWEEN.split(fold(one)) for one in known if not projects_of([one])}
    return frozenset(one for one, some in parts.items() if len(called) > 1 and fold(called) in some)


def projects_of(channels: Iterable[str]) -> frozenset[str]:
    """Return the projects that channels declare: a channel that is a folder is one.

    >>> sorted(projects_of(["sms", "/home/ana/Shop", "/home/ana/shop/"]))
    ['/home/ana/shop']
    """
    folders = (channel_name(one) for one in channels)
    return frozenset(os.path.normpath(one) for one in folders if os.path.isabs(one))


def project_called(folder: str | None) -> frozenset[str]:
    """Return the project that a caller names by its folder, none where they name none.

    Raises InvalidInput for what is no folder from the root on: it would leave nothing out, and say nothing.

    >>> sorted(project_called("/home/ana/shop/")), sorted(project_called(None))
    (['/home/ana/shop'], [])
    """
    projects = projects_of([folder or ""])
    if folder is not None and folder.strip() and not projects:
        raise InvalidInput(f"a project is named by its folder, as in /home/ana/shop, not {folder!r}")
    return projects


def projects_above(folders: Iterable[str], known: Iterable[str]) -> dict[str, str | None]:
    """Return for each folder the nearest project among known channels that it is or lies in, else None.

    >>> known = ["sms", "/home/ana/shop", "/home/ana/shop/api"]
    >>> [*projects_above(["/home/ana/shop/api/src", "/home/ana/shops", "/home/ana"], known).values()]
    ['/home/ana/shop/api', None, None]
    """
    projects = projects_of(known)

    def nearest(folder: str) -> str | None:
        while folder not in projects:
            above = os.path.dirname(folder)
            if above == folder:
                return None
            folder = above
        return folder

    return {folder: nearest(folder) for folder in folders}


def are_apart(projects: frozenset[str], others: frozenset[str]) -> bool:
    """Tell whether what declares these projects is of others than what declares those: no story is both's."""
    return bool(projects and others) and projects.isdisjoint(others)


@dataclass(frozen=True, slots=True)
class Channels:
    """The kinds of channels and the silence a thread outlasts on them.

    `kinds` adds to the usual ones and overrides them. A channel nobody has named is `unknown`: implicit,
    because every message without a thread opens a new one on an explicit channel. Taken for implicit, a
    wrongly guessed channel at worst joins what was said within half an hour; taken for explicit, it would
    tear every conversation into single messages. Timeouts must not be negative.
    """

    kinds: Mapping[str, ChannelKind] = field(default_factory=dict)
    unknown: ChannelKind = ChannelKind.IMPLICIT
    timeout: timedelta = DEFAULT_TIMEOUT
    by_channel: Mapping[str, timedelta] = field(default_factory=dict)
    by_user: Mapping[str, timedelta] = field(default_factory=dict)
    by_user_channel: Mapping[tuple[str, str], timedelta] = field(default_factory=dict)

    def __post_init__(self) -> None:
        # look-ups must not depend on how a settings file spells "SMS"
        object.__setattr__(self, "kinds", {channel_name(c): ChannelKind(k) for c, k in self.kinds.items()})
        object.__setattr__(self, "by_channel", {channel_name(c): t for c, t in self.by_channel.items()})
        object.__setattr__(
            self, "by_user_channel", {(u, channel_name(c)): t for (u, c), t in self.by_user_channel.items()}
        )
        arguments = (self.by_channel, self.by_user, self.by_user_channel)
        for timeout in (self.timeout, *(t for table in arguments for t in table.values())):
            check_timeout(timeout)

    def kind(self, channel: str | None) -> ChannelKind:
        """Return the kind of a channel.

        >>> Channels().kind("WhatsApp").value, Channels().kind("web").value, Channels().kind("fax").value
        ('implicit', 'explicit', 'implicit')
        """
        name = channel_name(channel)
        return self.kinds.get(name) or KINDS.get(name) or self.unknown

    @property
    def longest(self) -> timedelta:
        """Return the longest silence that any of these tables allows."""
        tables = (self.by_channel, self.by_user, self.by_user_channel)
        return max([self.timeout, *(timeout for table in tables for timeout in table.values())])

    @property
    def explicit(self) -> tuple[str, ...]:
        """Return the channels known by name on which the user chooses the thread.

        >>> Channels(kinds={"Portal": ChannelKind.EXPLICIT, "web": ChannelKind.IMPLICIT}).explicit
        ('app', 'cli', 'mobile', 'portal')
        """
        return tuple(sorted(name for name in {**KINDS, **self.kinds} if self.is_explicit(name)))

    def is_explicit(self, channel: str | None) -> bool:
        """Tell whether the user chooses the thread on this channel."""
        return self.kind(channel) is ChannelKind.EXPLICIT

    def silence(self, user_id: str, channel: str | None, own: timedelta | None = None) -> timedelta:
        """Return the longest silence that does not end a thread: its own, (user, channel), user, channel.

        >>> slow = Channels(by_user={"ana": timedelta(hours=1)}, by_channel={"email": timedelta(days=1)})
        >>> [str(slow.silence(user, "email")) for user in ("ana", "bo")]
        ['1:00:00', '1 day, 0:00:00']
        >>> str(slow.silence("ana", "email", timedelta(minutes=5)))
        '0:05:00'
        """
        name = channel_name(channel)
        choices = (
            own,
            self.by_user_channel.get((user_id, name)),
            self.by_user.get(user_id),
            self.by_channel.get(name),
        )
        return next((timeout for timeout in choices if timeout is not None), self.timeout)


def read_channels(text: str, timeout: timedelta = DEFAULT_TIMEOUT) -> Channels:
    """Read channels as a setting writes them: `NAME=implicit|explicit[:MINUTES]`, with commas between.

    Raises InvalidInput naming the part that cannot be read.

    >>> read = read_channels("Portal=explicit, sms=implicit:45")
    >>> read.is_explicit("portal"), str(read.silence("ana", "SMS"))
    (True, '0:45:00')
    """
    kinds: dict[str, ChannelKind] = {}
    timeouts: dict[str, timedelta] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, _, rest = part.partition("=")
        kind, _, minutes = rest.partition(":")
        try:
            kinds[name] = ChannelKind(kind.strip().casefold())
            if minutes:
                timeouts[name] = timedelta(minutes=float(minutes))
        except (ValueError, OverflowError) as error:
            raise InvalidInput(
                f"channels: {part!r} must be NAME=implicit|explicit, then :MINUTES if it has its own"
            ) from error
        if not name.strip():
            raise InvalidInput(f"channels: {part!r} names no channel")
    return Channels(kinds=kinds, timeout=timeout, by_channel=timeouts)


def check_timeout(timeout: timedelta) -> timedelta:
    """Return a timeout that can be used; raises InvalidInput for a negative one."""
    if timeout < timedelta(0):
        raise InvalidInput(f"a thread's inactivity timeout must not be negative; {timeout} is")
    return timeout
