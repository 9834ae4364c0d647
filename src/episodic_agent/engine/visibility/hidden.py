"""What of a scope recall leaves out, and why: suppressed, archived, or expired and not erased yet.

One look at the store tells that nothing is hidden, as in most scopes; everything else is asked only then.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Final
from uuid import UUID

from episodic_agent.core.language.sentences import sentences
from episodic_agent.core.language.terms import BIGRAM_SCRIPTS, script
from episodic_agent.lazily import module
from episodic_agent.protocols import Cover, Mark, MarkKind, Refs, Transaction, ref_of
from episodic_agent.schemas import Episode, Json, Observation, Thread

if TYPE_CHECKING:
    import numpy as np

    from episodic_agent.core.episodes import extractive as wording
else:
    np = module("numpy")
    wording = module("episodic_agent.core.episodes.extractive")

EXPIRED: Final = "expired"
FADED: Final = "faded"
HIDING: Final = (MarkKind.SUPPRESSED, MarkKind.ARCHIVED)
_EDITED: Final = (MarkKind.EDITED,)  # hides its own message, and an episode only where it holds no other
WIDER: Final = 2  # times as much is asked for where something is hidden, and again until enough is shown
Span = tuple[int, int]
_SIGN: Final = r"[^\W_]"  # of a word
_PAGE: Final = 256
_TITLED_BY: Final = 16  # messages that are read for another title
_LONGER: Final = 100  # characters of a word before or behind a piece of it


class Visibility:
    """What one transaction sees as hidden at a time. `drawn`: anything is; `pins`: anything is pinned.

    `lifted` shows all but what has expired.
    """

    def __init__(self, tx: Transaction, now: datetime, *, lifted: bool = False) -> None:
        self._tx = tx
        self._now = now
        self.drawn, self.pins = tx.upkeep.in_force(now)
        self._kinds = () if lifted else HIDING
        self._edits = () if lifted else _EDITED
        self._words = [w.words for w in tx.upkeep.settings().words] if self.drawn and not lifted else []
        self._known: dict[int, str] = {}  # by ref, "" for what is shown
        self._threads: dict[int, str] = {}  # the same of episodes by their first ref
        self._spans: dict[int, Cover] = {}

    @property
    def reads(self) -> bool:
        """Tell whether texts are read for the words they hold."""
        return bool(self._words)

    def why(self, refs: Sequence[int]) -> dict[int, str]:
        """Return the observations among these refs that are hidden, each with the reason."""
        fresh = [ref for ref in refs if ref not in self._known] if self.drawn else []
        if fresh:
            spans = [(ref, ref) for ref in fresh]
            texts = dict.fromkeys(self._tx.upkeep.expired(spans, self._now), EXPIRED)
            texts |= {
                fresh[n]: reason_text(mark)
                for n, mark in self._tx.upkeep.touched((*self._kinds, *self._edits), spans).items()
            }
            if self._words:
                stored = self._tx.observations.get([ref for ref in fresh if ref not in texts])
                texts |= {ref: words for ref, o in stored.items() if (words := self.holds(o.text))}
            self._known |= {ref: texts.get(ref, "") for ref in fresh}
        return {ref: self._known[ref] for ref in refs if self._known.get(ref)}

    def shown(self, refs: Refs) -> Refs:
        """Return the refs of observations that are not hidden, in their order."""
        hidden = self.why(refs.tolist())
        return refs if not hidden else refs[[ref not in hidden for ref in refs.tolist()]]

    def visible(self, number: int, observations: Sequence[Observation]) -> list[Observation]:
        """Return the observations of a thread that are not hidden; of a message edited since the last words.

        Also where what is hidden is lifted: words are made of these.
        """
        hidden = self.why([ref_of(number, o.seq) for o in observations])
        shown = [o for o in observations if ref_of(number, o.seq) not in hidden]
        return newest_versions(self._tx, shown) if self.drawn and not self._edits else shown

    def why_episodes(self, refs: Sequence[int]) -> dict[int, str]:
        """Return the current episodes, by first ref, that are hidden as wholes, each with the reason.

        Those that a mark meets anywhere, those of which every message was edited since, and those of which
        every message holds suppressed words.
        """
        fresh = [ref for ref in refs if ref not in self._threads] if self.drawn else []
        if fresh:
            covers = self._covers(fresh)
            touched = self._touched([(c.first_ref, c.last_ref) for c in covers])
            texts = {covers[n].first_ref: reason_text(mark) for n, mark in touched.items()}
            if self._words:
                spans = {c.first_ref: (c.first_ref, c.last_ref) for c in covers}
                stored = self._tx.episodes.get([ref for ref in spans if ref not in texts])
                texts |= {ref: self._why_worded(e, spans[ref]) for ref, e in stored.items()}
            self._threads |= {ref: texts.get(ref, "") for ref in fresh}
        return {ref: self._threads[ref] for ref in refs if self._threads.get(ref)}

    def why_unfound(self, refs: Sequence[int]) -> dict[int, str]:
        """Return the current episodes, by first ref, that their own words find no more, each with the reason.

        Those that are hidden as wholes, and those whose title or summary hold suppressed words: what else
        was said in these still finds them.
        """
        texts = self.why_episodes(refs)
        if self._words:
            stored = self._tx.episodes.get([ref for ref in refs if ref not in texts])
            texts |= {ref: why for ref, e in stored.items() if (why := self.holds(e.title, e.summary))}
        return texts

    def _why_worded(self, episode: Episode, span: Span) -> str:
        """Return why suppressed words hide an episode as a whole, "" where anything else was said in it."""
        why = self.holds(episode.title, episode.summary)
        if not why or not self._words:
            return why
        first, last = span
        for start in range(first, last + 1, _PAGE):
            stored = self._tx.observations.get(range(start, min(start + _PAGE, last + 1)))
            if any(not self.holds(one.text) for one in stored.values()):
                return ""
        return why

    def _touched(self, spans: Sequence[Span]) -> dict[int, Mark]:
        """Return by the place of a span the mark that hides all of it."""
        edited = self._tx.upkeep.touched(self._edits, spans) if self._edits else {}
        marks = {n: mark for n, mark in edited.items() if not self._left(spans[n])}
        return marks | dict(self._tx.upkeep.touched(self._kinds, spans))

    def _left(self, span: Span) -> bool:
        """Tell whether a span holds a message that nobody edited since."""
        first, last = span
        for start in range(first, last + 1, _PAGE):
            stored = list(self._tx.observations.get(range(start, min(start + _PAGE, last + 1))))
            if len(self._tx.upkeep.touched(self._edits, [(ref, ref) for ref in stored])) < len(stored):
                return True
        return False

    def _covers(self, refs: Sequence[int]) -> list[Cover]:
        """Return the current episodes that begin at these refs, each looked up once."""
        fresh = [ref for ref in refs if ref not in self._spans]
        if fresh:
            self._spans |= {c.first_ref: c for c in self._tx.index.covers([(ref, ref) for ref in fresh])}
        return [self._spans[ref] for ref in refs if ref in self._spans]

    def why_all(self, episodes: Sequence[Episode]) -> dict[UUID, str]:
        """Return the episodes, of any kind, that are hidden as wholes, each with the reason."""
        if not self.drawn:
            return {}
        spans = [self._span(e) for e in episodes]
        touched = self._touched(spans)
        texts = {e.id: self._why_worded(e, span) for e, span in zip(episodes, spans, strict=True)}
        texts |= {episodes[n].id: reason_text(mark) for n, mark in touched.items()}
        return {identity: why for identity, why in texts.items() if why}

    def why_episode(self, episode: Episode) -> str:
        """Return why an episode of any kind is hidden as a whole, "" where it is not."""
        return self.why_all([episode]).get(episode.id, "")

    def worded(self, episode: Episode) -> Episode:
        """Return an episode without its words while they may tell of what has expired.

        Its metadata and its summary are without what holds suppressed words, and a title that does gives way
        to what the other messages are called, where there are others.
        """
        if self.drawn and self._tx.upkeep.expired([self._span(episode)], self._now):
            return replace(episode, title="", summary="", metadata={})
        if not self._words:
            return episode
        metadata = {k: self._unsaid(v) for k, v in episode.metadata.items()}
        is_left = self.holds(episode.title, episode.summary) and not self._why_worded(
            episode, self._span(episode)
        )
        if not is_left:  # a list of what is hidden names it
            return replace(episode, metadata=metadata)
        left = [one for one in sentences(episode.summary) if not self.holds(one)]
        title = self._other_title(episode) if self.holds(episode.title) else episode.title
        return replace(episode, title=title, summary=" ".join(left), metadata=metadata)

    def _other_title(self, episode: Episode) -> str:
        """Return what an episode's first messages are called that do not hold suppressed words."""
        first, last = self._span(episode)
        stored = self._tx.observations.get(range(first, min(first + _PAGE, last + 1)))
        hidden = self.why(list(stored))
        shown = [one for ref, one in stored.items() if ref not in hidden][:_TITLED_BY]
        title = wording.encode_extractive(shown, []).title if shown else ""
        return "" if self.holds(title) else title

    def _unsaid(self, value: Json) -> Json:
        """Return a value of metadata without the texts that hold suppressed words."""
        if isinstance(value, str):
            return "" if self.holds(value) else value
        if isinstance(value, Mapping):
            return {k: self._unsaid(v) for k, v in value.items() if not self.holds(k)}
        if isinstance(value, list | tuple):
            return [self._unsaid(v) for v in value if not (isinstance(v, str) and self.holds(v))]
        return value

    def expired(self, spans: Sequence[Span]) -> set[int]:
        """Return the places of those spans in which something has expired."""
        if not (self.drawn and spans):
            return set()
        results = np.array(self._tx.upkeep.expired(spans, self._now), np.int64)
        first = np.searchsorted(results, [span[0] for span in spans])
        last = np.searchsorted(results, [span[1] for span in spans], side="right")
        return set(np.flatnonzero(last > first).tolist())

    def touches(self, thread: Thread) -> bool:
        """Tell whether anything of a thread is hidden, so that a summary of the whole may tell of it."""
        if not self.drawn:
            return False
        pairs = [span_of(self._tx, thread.id, 0, None)]
        met = self._tx.upkeep.touched(self._kinds, pairs) or self._tx.upkeep.expired(pairs, self._now)
        return bool(self._words or met)

    def pinned(self, refs: Sequence[int]) -> set[int]:
        """Return the current episodes, by first ref, that a pin meets."""
        if not self.pins or not refs:
            return set()
        covers = self._covers(refs)
        touched = self._tx.upkeep.touched([MarkKind.PINNED], [(c.first_ref, c.last_ref) for c in covers])
        return {covers[n].first_ref for n in touched}

    def pinned_of(self, episodes: Sequence[Episode]) -> set[UUID]:
        """Return the episodes that a pin meets."""
        spans = [self._span(e) for e in episodes] if self.pins else []
        return {episodes[n].id for n in self._tx.upkeep.touched([MarkKind.PINNED], spans)} if spans else set()

    def _span(self, episode: Episode) -> Span:
        return span_of(self._tx, episode.thread_id, episode.first_seq, episode.last_seq)

    def holds(self, *texts: str) -> str:
        """Return why texts are hidden for the words they hold, "" where they hold none."""
        for words in self._words:
            if any(pattern_of(words).search(text) for text in texts):
                return f"suppressed words: {words}"
        return ""


def newest_versions(tx: Transaction, observations: Sequence[Observation]) -> list[Observation]:
    """Return observations without those that were edited since: their last words stand elsewhere."""
    numbers = {thread: tx.threads.number(thread) for thread in {o.thread_id for o in observations}}
    refs = [ref_of(numbers[o.thread_id], o.seq) for o in observations]
    if not refs or not tx.upkeep.touched(_EDITED, [(min(refs), max(refs))]):  # nearly always
        return list(observations)
    edited = tx.upkeep.touched(_EDITED, [(ref, ref) for ref in refs])
    return [o for n, o in enumerate(observations) if n not in edited]


def span_of(tx: Transaction, thread: UUID, first_seq: int, last_seq: int | None) -> Span:
    """Return the refs of a stretch of a thread; to the last its number allows where `last_seq` is None."""
    number = tx.threads.number(thread)
    last = ref_of(number + 1, 0) - 1 if last_seq is None else ref_of(number, last_seq)
    return ref_of(number, first_seq), last


def reason_text(mark: Mark) -> str:
    """Return a mark's kind and reason in words.

    >>> reason_text(Mark(1, 2, MarkKind.SUPPRESSED, datetime(2024, 3, 1), "private"))
    'suppressed: private'
    """
    return f"{mark.kind.value}: {mark.reason}" if mark.reason else mark.kind.value


@lru_cache(maxsize=256)
def pattern_of(words: str) -> re.Pattern[str]:
    """Return what finds words in a text: whole ones in any case, whatever blanks are between them.

    An underscore joins words, as it does for search.

    >>> bool(pattern_of("Ann Lee").search("it was ann  lee!")), bool(pattern_of("ann").search("planned"))
    (True, False)
    >>> bool(pattern_of("sk_live").search("KEY=sk_live_51Hx")), bool(pattern_of("51").search("sk_live_51Hx"))
    (True, False)
    """
    pieces = pieces_of(words)
    # no blanks around words in these scripts: anywhere will do
    bounded = script(words) not in BIGRAM_SCRIPTS
    before = rf"(?<!{_SIGN})" if bounded and re.match(_SIGN, words.strip()) else ""
    after = rf"(?!{_SIGN})" if bounded and re.search(rf"{_SIGN}$", words.strip()) else ""
    return re.compile(f"{before}{pieces}{after}", re.IGNORECASE)


def pieces_of(words: str) -> str:
    """Return a pattern of words with any blanks between them, wherever they stand."""
    return r"\s+".join(re.escape(piece) for piece in words.split())


def longer_words(words: str, text: str) -> str:
    """Return how a text goes on around words that it holds no whole of; "" where it does not hold them so.

    >>> longer_words("51hx", "KEY=sk_live_51HxInvented"), longer_words("51hx", "sk_live")
    ('51HxInvented', '')
    """
    for match in re.finditer(pieces_of(words), text, re.IGNORECASE):
        begin, end = match.span()
        while begin and match.start() - begin < _LONGER and re.match(_SIGN, text[begin - 1]):
            begin -= 1
        while end < len(text) and end - match.end() < _LONGER and re.match(_SIGN, text[end]):
            end += 1
        if pattern_of(longer := text[begin:end]).search(text):
            return " ".join(longer.split())
    return ""
