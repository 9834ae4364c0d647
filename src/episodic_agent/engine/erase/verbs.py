"""The verbs that erase: forget something, see what that would take away, read receipts, look for residue."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.erasing import fingerprint, traces
from episodic_agent.engine.arguments import (
    aware,
    clean_name,
    episode_identity,
    find_by_id,
    given_ids,
    listed,
    own_id,
    worded,
)
from episodic_agent.engine.episodes.listing import find_thread
from episodic_agent.engine.erase.erasing import PREVIEW, Eraser, refs_of
from episodic_agent.engine.erase.repeats import quoting, refs_of_words, repeated, words_name
from episodic_agent.engine.erase.speakers import near_names, refs_of_speaker, speaker_name
from episodic_agent.engine.filters import held_to
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.later import Later
from episodic_agent.engine.recall.walls import (
    check_episode,
    check_whole,
    thread_asked_for,
    thread_within,
    walled_off,
    within,
)
from episodic_agent.engine.scoped import RoomOf, Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.protocols import Transaction, ref_of
from episodic_agent.schemas import EpisodeKind, Observation, Scope, Thread
from episodic_agent.schemas.erasures import REQUEST, Erasure, What

LOOKED_AT: Final = 64  # observations of a thread among which strings to look for are chosen
THREADS: Final = 16  # threads of a user


class _Previewed(Exception):
    """Carries what an erasure would be out of a transaction that is not kept."""

    def __init__(self, erasure: Erasure) -> None:
        super().__init__()
        self.erasure = erasure


class Forgetter:
    """Erases for good."""

    def __init__(self, at: Scoped, later: Later, eraser: Eraser) -> None:
        self._at = at
        self._deps = at.deps
        self._later = later
        self._eraser = eraser

    def run(
        self,
        *,
        observation: "UUID | str | None" = None,
        episode: "UUID | str | None" = None,
        thread: str | None = None,
        speaker: str | None = None,
        words: str | None = None,
        everything: bool = False,
        dry_run: bool = False,
        sweep: bool = True,
        now: datetime | None = None,
    ) -> Erasure:
        """Erase what is named; see `UserMemory.erase`."""
        if not isinstance(everything, bool):  # what only looks like yes must not erase all
            raise InvalidInput(f"`everything` is True or False, not {everything!r}")
        things: dict[What, UUID | str | None] = {
            What.OBSERVATION: observation,
            What.EPISODE: episode,
            What.THREAD: thread,
            What.SPEAKER: speaker,
            What.WORDS: words,
        }
        named = [(what, name) for what, name in things.items() if name is not None]
        if len(named) + everything != 1:
            raise InvalidInput(
                "name one thing to forget: an observation, episode, thread or speaker, words, or everything"
            )
        scope, at = self._at.known(), aware(now) or self._deps.clock()
        if self._at.walls:
            observation = self._check_inside(things, everything=everything)
        if everything:
            return self._forget_user(scope, at, dry_run=dry_run, sweep=sweep)
        ((what, name),) = named
        name = observation if what is What.OBSERVATION and observation is not None else name
        if what is What.THREAD:
            return self._forget_thread(scope, clean_name(name) or "", at, dry_run=dry_run, sweep=sweep)
        return self._forget_some(scope, what, name, at, dry_run=dry_run, sweep=sweep)

    def _check_inside(
        self, things: "Mapping[What, UUID | str | None]", *, everything: bool
    ) -> "UUID | str | None":
        """Raise for what lies outside of the walls, as people and words do, that stand in any thread.

        Return the own id of an observation that is meant: its caller's may be that of others, too.
        """
        walls, anywhere = self._at.walls, (things[What.SPEAKER], things[What.WORDS])
        if everything or anywhere != (None, None):
            raise InvalidInput(f"erase an episode, a message or a thread here: {held_to(walls)}")
        observation, episode, thread = (things[one] for one in (What.OBSERVATION, What.EPISODE, What.THREAD))
        with self._at.read() as tx:
            inside = within(tx, walls) or frozenset()
            if episode is not None:
                check_episode(tx, walls, episode_identity(episode), entire=True)
            if thread is not None:
                thread_within(tx, walls, str(thread), walled=True)
                check_whole(tx, walls, thread_asked_for(tx, clean_name(thread) or "", walled=True))
            return None if observation is None else find_by_id(tx, observation, inside).id

    def _forget_some(
        self, scope: Scope, what: What, named: "UUID | str", at: datetime, *, dry_run: bool, sweep: bool
    ) -> Erasure:
        def erase(tx: Transaction) -> tuple[Erasure, Sequence[Observation]]:
            refs, name = _refs_named(tx, what, named)
            gone = [*tx.observations.get(refs).values()]
            near = near_names(tx, str(named)) if what is What.SPEAKER else {}
            made = self._eraser.erase(tx, refs, reason=REQUEST, now=at, what=what, name=name)
            if made is None:
                raise NotFound(f"{what} {name} is erased already; `episodic forget receipts` lists when")
            return replace(made, near_names=near), gone

        return self._forgotten(scope, erase, dry_run=dry_run, sweep=sweep)

    def _forget_thread(self, scope: Scope, name: str, at: datetime, *, dry_run: bool, sweep: bool) -> Erasure:
        def erase(tx: Transaction) -> tuple[Erasure, Sequence[Observation]]:
            thread = find_thread(tx, name)
            gone = _sample(tx, thread)
            return self._eraser.erase_thread(tx, thread, reason=REQUEST, now=at), gone

        return self._forgotten(scope, erase, dry_run=dry_run, sweep=sweep)

    def _forgotten(
        self,
        scope: Scope,
        erase: Callable[[Transaction], tuple[Erasure, Sequence[Observation]]],
        *,
        dry_run: bool,
        sweep: bool,
    ) -> Erasure:
        """Erase in a transaction of its own, which is taken back where it is to be seen first."""

        def once() -> tuple[Erasure, Sequence[Observation]]:
            with self._deps.store.begin(scope) as tx:
                made, gone = erase(tx)
                if dry_run:
                    raise _Previewed(replace(made, repeated_by=self._repeated(tx, gone)))
            return made, gone

        try:
            made, gone = until_unopposed(once)
        except _Previewed as seen:
            return replace(seen.erasure, state=PREVIEW)
        return self._swept(scope, made, gone, sweep=sweep)

    def _forget_user(self, scope: Scope, at: datetime, *, dry_run: bool, sweep: bool) -> Erasure:
        with self._deps.store.begin(scope, write=False) as tx:
            if dry_run:
                draft = self._eraser.draft(scope, What.USER, scope.user_id, REQUEST, at)
                return replace(draft, counts=tx.holdings(), state=PREVIEW)
            gone = [one for thread in tx.threads.list(limit=THREADS) for one in _sample(tx, thread)]
        made = until_unopposed(lambda: self._eraser.erase_user(scope, reason=REQUEST, now=at))
        return self._swept(scope, made, gone, sweep=sweep)

    def _swept(self, scope: Scope, made: Erasure, gone: Sequence[Observation], *, sweep: bool) -> Erasure:
        """Sweep the database, unless that is left to `upkeep`, and do the later work that was asked for."""
        self._deps.recently_shown.erase(scope)
        pairs = {made.id: (scope, traces(one.text for one in gone))}
        settled = self._eraser.settle(scope.space, pairs) if sweep else ()
        done = next((one for one in settled if one.id == made.id), made)
        if made.what is What.USER:
            return (
                done  # no work is left; what another thread still does for the user is refused, not awaited
            )
        self._later.try_run(scope)
        with self._deps.store.begin(scope, write=False) as tx:
            return replace(done, repeated_by=self._repeated(tx, gone), near_names=made.near_names)

    def _repeated(self, tx: Transaction, gone: Sequence[Observation]) -> Sequence[UUID]:
        same = repeated(tx, gone, self._deps.language)
        inside = within(tx, self._at.walls)
        if inside is None:
            return same
        stored = walled_off(tx, self._at.walls).observations.get(list(same)).values()
        return [one.id for one in stored if one.thread_id in inside]


@acts("erasures")
class ErasureRoom(RoomOf):
    """What was erased of a user, and whether anything is left of it."""

    def __init__(self, at: Scoped) -> None:
        self._at = at
        self._deps = at.deps

    def list(
        self,
        *,
        observation: "UUID | str | None" = None,
        episode: "UUID | str | None" = None,
        thread: str | None = None,
        speaker: str | None = None,
        words: str | None = None,
    ) -> Sequence[Erasure]:
        """Return the receipts of the user (an erased one too), oldest first; or of one thing.

        An observation is named by its id or by the one it was added with.
        """
        scope = self._at.scope
        erasures = [*self._deps.store.erasures(scope.space, scope)]
        asked = [(What.OBSERVATION, observation), (What.EPISODE, episode), (What.THREAD, thread)]
        if observation is not None and own_id(observation) is None:
            with self._deps.store.begin(scope, write=False) as tx:
                asked += [(What.OBSERVATION, one) for one in given_ids(tx, str(observation).strip())]
        if speaker is not None:
            asked.append((What.SPEAKER, speaker_name(scope, worded("speaker", speaker))))
        if words is not None:
            asked.append((What.WORDS, words_name(worded("words", words))))
        prints = {fingerprint(scope, what, str(name)) for what, name in asked if name is not None}
        return [one for one in erasures if not prints or one.subject in prints]

    def residue(self, texts: Sequence[str]) -> Sequence[str]:
        """Return those of these strings that the database still holds beside observations that are kept.

        A file is searched byte by byte with its log, on a server the user's rows are; capitals or not makes
        no difference. A string that a kept observation holds is none of them: `repeats` returns those that
        do. Raises InvalidInput for an empty string.
        """
        return list(self._deps.store.residue(self._at.scope, _looked_for(texts)))

    def repeats(self, texts: Sequence[str]) -> Sequence[Observation]:
        """Return the user's observations that are kept and hold one of these strings, in capitals or not.

        The first 1000 of them. Raises InvalidInput for an empty string.
        """
        with self._deps.store.begin(self._at.scope, write=False) as tx:
            return quoting(tx, _looked_for(texts))


def _looked_for(texts: Sequence[str]) -> list[str]:
    targets = [worded("texts", text) for text in listed(texts)]
    if not all(text.strip() for text in targets):
        raise InvalidInput("an empty string is everywhere; name the words to look for")
    return targets


def _refs_named(tx: Transaction, what: What, named: "UUID | str") -> tuple[list[int], str]:
    """Return the references that go, and the name of what was named."""
    if what is What.SPEAKER:
        return refs_of_speaker(tx, worded("speaker", named)), speaker_name(tx.scope, str(named))
    if what is What.WORDS:
        return refs_of_words(tx, worded("words", named)), words_name(str(named))
    if what is What.OBSERVATION:
        observation = find_by_id(tx, named)
        return [ref_of(tx.threads.number(observation.thread_id), observation.seq)], str(observation.id)
    identity = episode_identity(named)
    episode = tx.episodes.get(identity)  # one that was replaced is its own span, not its successor's
    if episode is None:
        raise NotFound(f"no closed episode {identity}; `episodic episodes` lists them, `flush` closes one")
    if episode.kind is not EpisodeKind.EVENT:
        raise InvalidInput(f"{episode.id} is made up of others; forget its thread, or its episodes")
    return refs_of(tx, episode), str(episode.id)


def _sample(tx: Transaction, thread: Thread) -> list[Observation]:
    """Return some of what was said in a thread: what it began and ended with."""
    end = tx.threads.frame(thread.id).next_seq
    spans = ((0, LOOKED_AT - 1), (max(LOOKED_AT, end - LOOKED_AT), end - 1))
    return [one for span in spans for one in tx.observations.read(thread.id, *span)]
