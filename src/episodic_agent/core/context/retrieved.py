"""What answers a question, as the Markdown that seed 003 shows to a language model: facts, then episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Literal, TypeAlias, get_args

from episodic_agent.core.context.quoting import harmless
from episodic_agent.core.episodes.repeats import summary_beside
from episodic_agent.core.facts.speakers import as_prompted
from episodic_agent.core.language import excerpt, plural, tokens

Detail: TypeAlias = Literal["auto", "none", "low", "high"]
DETAILS: Final[tuple[Detail, ...]] = get_args(Detail)

KEY_MOMENT: Final = 0.7  # surprise, from here on
LONGEST_PROOF: Final = (
    1_000  # characters of a message that proves a hit; the rest of a longer one is left out
)
MOST_PROOFS: Final = 2  # beside a summary that does not tell them
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_SHOWN_RANK: Final = {"auto": 2, "low": 1}  # up to which rank a key moment is shown in full
_UNITS: Final = (
    ("year", 365.0),
    ("month", 30.0),
    ("week", 7.0),
    ("day", 1.0),
    ("hour", 1 / 24),
    ("minute", 1 / 1440),
)


@dataclass(frozen=True, slots=True)
class RetrievedFact:
    """A fact as it is told: `episodes` counts those it rests on."""

    category: str
    fact: str
    episodes: int


@dataclass(frozen=True, slots=True)
class RetrievedEpisode:
    """An episode as it is told; `messages` are (who, what) in order, `score` counts in an answer only.

    `proofs` are the messages that made it a hit, best first, with their places in it. An `open` one has no
    title of its own yet: it has its thread's, where that has one. `decisions` are those declared of it.
    """

    title: str
    summary: str
    start_at: datetime
    end_at: datetime
    surprise: float
    messages: Sequence[tuple[str, str]] = ()
    score: float = 0.0
    proofs: Sequence[tuple[int, str, str]] = ()
    open: bool = False
    decisions: Sequence[str] = ()

    @property
    def heading(self) -> str:
        """Return its title, or what it is called without one."""
        return heading(self.title, self.start_at, open=self.open)

    @property
    def key_moment(self) -> bool:
        """Tell whether it was surprising enough to be marked."""
        return self.surprise >= KEY_MOMENT


def heading(title: str, at: datetime, *, open: bool = False) -> str:
    """Return the title of an episode; one that has no words yet is called by when it began.

    >>> at = datetime(2026, 3, 2, 9)
    >>> heading("Lisbon flat", at), heading(" ", at), heading("", at, open=True)
    ('Lisbon flat', 'Conversation, 2 March 09:00', 'Open conversation, 2 March 09:00')
    """
    if title.strip():
        return title
    return f"{'Open conversation' if open else 'Conversation'}, {at.day} {_MONTHS[at.month - 1]} {at:%H:%M}"


def ago(at: datetime, now: datetime) -> str:
    """Say how long ago something was, in the largest unit of which there is at least one.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 12, 12, tzinfo=UTC)
    >>> ago(noon - timedelta(days=2, hours=5), noon), ago(noon + timedelta(hours=1), noon)
    ('2 days ago', 'in 1 hour')
    """
    days = (now - at) / timedelta(days=1)
    for unit, size in _UNITS:
        count = int(abs(days) / size)
        if count:
            words = plural(count, unit)
            return f"{words} ago" if days > 0 else f"in {words}"
    return "just now"


def is_detailed(rank: int, surprise: float, detail: Detail) -> bool:
    """Tell whether an episode's messages are shown: `auto` for two key moments, `low` for one.

    >>> [is_detailed(rank, 0.7, "auto") for rank in (1, 2, 3)], is_detailed(9, 0.0, "high")
    ([True, True, False], True)
    """
    return detail == "high" or (surprise >= KEY_MOMENT and rank <= _SHOWN_RANK.get(detail, 0))


def retrieved(
    facts: Sequence[RetrievedFact],
    episodes: Sequence[RetrievedEpisode],
    detail: Detail,
    now: datetime,
    query: str = "",
) -> str:
    """Render an answer; a section without anything in it is absent.

    Where an episode's messages are not shown, those that made it a hit are that its summary does not tell,
    and all of them where it has none; no message ever with detail `none`. Of a long one stands what is
    nearest to the query.

    >>> from datetime import UTC
    >>> noon = datetime(2026, 3, 12, 12, tzinfo=UTC)
    >>> print(retrieved([RetrievedFact("identity", "Ana lives in Lisbon", 2)], [], "auto", noon), end="")
    ## Known Facts
    - [identity] Ana lives in Lisbon (from 2 episodes)
    """
    known = [
        f"- [{f.category}] {harmless(as_prompted(f.fact))} (from {plural(f.episodes, 'episode')})"
        for f in facts
    ]
    sections = ["## Known Facts\n" + "\n".join(known)] if known else []
    if episodes:
        blocks = [_recalled(rank, episode, detail, now, query) for rank, episode in enumerate(episodes, 1)]
        sections.append("## Episodic Memories\n" + "\n\n".join(blocks))
    return "\n\n".join(sections) + "\n" if sections else ""


def recent(episodes: Sequence[RetrievedEpisode], now: datetime) -> str:
    """Render the newest episodes."""
    if not episodes:
        return ""
    marks = [" (key moment)" if e.key_moment else "" for e in episodes]
    blocks = [
        _block(f"### {harmless(heading(e.title, e.start_at))}{mark}", e, now)
        for e, mark in zip(episodes, marks, strict=True)
    ]
    return "## Recent Memories\n" + "\n\n".join(blocks) + "\n"


def _recalled(rank: int, episode: RetrievedEpisode, detail: Detail, now: datetime, query: str) -> str:
    moment = ", key moment" if episode.key_moment else ""
    head = f"### {harmless(episode.heading)} [rank: {rank}, score: {episode.score:.2f}{moment}]"
    lines = [_block(head, episode, now)]
    shown: Sequence[tuple[str, str]] = ()
    if is_detailed(rank, episode.surprise, detail):
        shown = episode.messages
    elif detail != "none":
        shown = _untold(episode, query)
    if shown:
        texts = [f'- {harmless(who)}: "{harmless(text)}"' for who, text in shown]
        lines.append("\n**Details:**\n" + "\n".join(texts))
    return "\n".join(lines)


def _untold(episode: RetrievedEpisode, query: str) -> list[tuple[str, str]]:
    """Return the proofs that the words of an episode do not tell, in the order in which they were said."""
    proofs, terms = list(episode.proofs), set(tokens(episode.summary))
    if terms:
        proofs = [proof for proof in proofs if not terms.issuperset(tokens(proof[2]))][:MOST_PROOFS]
    return [(who, excerpt(text, query, LONGEST_PROOF)) for _, who, text in sorted(proofs)]


def _block(head: str, episode: RetrievedEpisode, now: datetime) -> str:
    start = episode.start_at
    zone = start.isoformat()[-len("+00:00") :] if start.utcoffset() else "UTC"
    when = f"**When:** {start:%Y-%m-%d %H:%M} {zone} ({ago(episode.end_at, now)})"
    summary = summary_beside(episode.title, episode.summary)
    lines = [f"**Summary:** {harmless(summary)}"] if summary else []
    if episode.decisions:
        lines.append(f"**Decided:** {harmless('; '.join(episode.decisions))}")
    return "\n".join([head, when, *lines])
