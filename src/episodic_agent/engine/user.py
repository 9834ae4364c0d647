"""`UserMemory`: one user's memory, the everyday verbs at hand and a room for each idea."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack
from uuid import UUID

from episodic_agent.core.boundary.contract import Policy
from episodic_agent.core.chains.metadata import MetadataFilter
from episodic_agent.core.context.retrieved import Detail
from episodic_agent.core.ingest import read_time
from episodic_agent.core.language.windows import is_long
from episodic_agent.engine.arguments import (
    FEW_FACTS,
    MAX_TOKENS,
    Form,
    Progress,
    aware,
    file_path,
    filled,
    item_of,
    listed,
    name_or_none,
    names_or_none,
    order_of_dates,
    time_zone,
    worded,
)
from episodic_agent.engine.filters import (
    Filter,
    Narrowed,
    Where,
    check_named,
    filter_of,
    held_to,
    narrowed,
    walls_of,
)
from episodic_agent.engine.jobs.runner import WORKERS
from episodic_agent.engine.results import ImportReport, Recall, Stats
from episodic_agent.engine.scoped import Scoped
from episodic_agent.engine.trace.acts import acts
from episodic_agent.engine.works import Works
from episodic_agent.errors import InvalidInput
from episodic_agent.lazily import module
from episodic_agent.protocols import Sensor
from episodic_agent.schemas import Receipt
from episodic_agent.schemas.erasures import Erasure

if TYPE_CHECKING:
    from episodic_agent.agents import run as agents_run
    from episodic_agent.engine.boundary import verbs as boundary_verbs
    from episodic_agent.engine.chains import verbs as chain_verbs
    from episodic_agent.engine.context import assembling
    from episodic_agent.engine.episodes import listing
    from episodic_agent.engine.episodes import verbs as episode_verbs
    from episodic_agent.engine.erase import verbs as erase_verbs
    from episodic_agent.engine.facts import verbs as fact_verbs
    from episodic_agent.engine.files import exporting, importing
    from episodic_agent.engine.ingest import appending
    from episodic_agent.engine.ingest import runs as ingest_runs
    from episodic_agent.engine.jobs import verbs as job_verbs
    from episodic_agent.engine.links import verbs as link_verbs
    from episodic_agent.engine.people import verbs as people_verbs
    from episodic_agent.engine.recall import filtering, walls
    from episodic_agent.engine.recall import verbs as recall_verbs
    from episodic_agent.engine.sections import verbs as section_verbs
    from episodic_agent.engine.skills import verbs as skill_verbs
    from episodic_agent.engine.threads import session_verbs
    from episodic_agent.engine.threads import verbs as thread_verbs
    from episodic_agent.engine.trace import turns
    from episodic_agent.engine.tuning import verbs as tuning_verbs
    from episodic_agent.engine.visibility import verbs as retention_verbs
else:
    agents_run = module("episodic_agent.agents.run")
    appending = module("episodic_agent.engine.ingest.appending")
    assembling = module("episodic_agent.engine.context.assembling")
    boundary_verbs = module("episodic_agent.engine.boundary.verbs")
    chain_verbs = module("episodic_agent.engine.chains.verbs")
    episode_verbs = module("episodic_agent.engine.episodes.verbs")
    erase_verbs = module("episodic_agent.engine.erase.verbs")
    exporting = module("episodic_agent.engine.files.exporting")
    fact_verbs = module("episodic_agent.engine.facts.verbs")
    filtering = module("episodic_agent.engine.recall.filtering")
    importing = module("episodic_agent.engine.files.importing")
    ingest_runs = module("episodic_agent.engine.ingest.runs")
    job_verbs = module("episodic_agent.engine.jobs.verbs")
    link_verbs = module("episodic_agent.engine.links.verbs")
    listing = module("episodic_agent.engine.episodes.listing")
    people_verbs = module("episodic_agent.engine.people.verbs")
    recall_verbs = module("episodic_agent.engine.recall.verbs")
    retention_verbs = module("episodic_agent.engine.visibility.verbs")
    section_verbs = module("episodic_agent.engine.sections.verbs")
    session_verbs = module("episodic_agent.engine.threads.session_verbs")
    skill_verbs = module("episodic_agent.engine.skills.verbs")
    thread_verbs = module("episodic_agent.engine.threads.verbs")
    tuning_verbs = module("episodic_agent.engine.tuning.verbs")
    turns = module("episodic_agent.engine.trace.turns")
    walls = module("episodic_agent.engine.recall.walls")


@acts(within=("add", "as_of", "context", "erase", "only", "retrieve", "search"))
class UserMemory:
    """The memory of one user; nothing in it reaches another user's (I11). `Memory.user` makes one.

    It holds nothing but a name: making one reads nothing, and any number may be in use at once. What is not
    done every day stands in its rooms.
    """

    def __init__(self, at: Scoped, works: Works, *, as_of: datetime | None = None) -> None:
        self._at = at
        self._as_of = as_of
        self._deps = at.deps
        self._works = works
        self.name = at.scope.user_id

    # --- the rooms, each loaded when it is first entered --------------------------------------------------

    episodes = cached_property(lambda my: episode_verbs.EpisodeRoom(my._at, my._works.later))
    threads = cached_property(lambda my: thread_verbs.ThreadRoom(my._at, my._works))
    sessions = cached_property(lambda my: session_verbs.SessionRoom(my._at, my._works))
    facts = cached_property(lambda my: fact_verbs.FactRoom(my._at, my._works.later))
    links = cached_property(lambda my: link_verbs.LinkRoom(my._at, my._works))
    chains = cached_property(lambda my: chain_verbs.ChainRoom(my._at))
    skills = cached_property(lambda my: skill_verbs.SkillRoom(my._at))
    sections = cached_property(lambda my: section_verbs.SectionRoom(my._at, my._works.later))
    people = cached_property(lambda my: people_verbs.PeopleRoom(my._at))
    places = cached_property(lambda my: recall_verbs.PlaceRoom(my._at))
    boundaries = cached_property(lambda my: boundary_verbs.BoundaryRoom(my._at, my._works))
    retention = cached_property(lambda my: retention_verbs.RetentionRoom(my._at, my._works))
    tuning = cached_property(lambda my: tuning_verbs.TuningRoom(my._at))
    trace = cached_property(lambda my: turns.TraceRoom(my._at))
    erasures = cached_property(lambda my: erase_verbs.ErasureRoom(my._at))
    jobs = cached_property(lambda my: job_verbs.JobRoom(my._deps, my._works.later, my._at, my.import_file))

    @property
    def missing(self) -> bool:
        """Tell whether reading raises NotFound because nothing is remembered of the user."""
        return not self._at.new and not self._deps.store.scopes(self._at.scope)

    def as_of(self, moment: "datetime | str | float") -> "UserMemory":
        """Return the memory as it stood at a moment of record time: what was known then, to read only.

        Every verb that reads answers as it did, whatever came, was corrected or taken back since; one that
        would write raises InvalidInput. What was erased stays erased, what is suppressed or has expired
        stays hidden. The copy is made in this process's memory at the first reading, and the last few are
        kept. Raises InvalidInput for what is no moment, or one that is still to come; reading
        raises NotFound where nothing was remembered yet.
        """
        at = self._works.pasts.at(self._at, moment)
        return UserMemory(at, Works(at.deps, space=at.scope.space, jobs=WORKERS), as_of=aware(moment))

    def only(self, names: Where) -> "UserMemory":
        """Return the memory held to some threads and channels, by name: nothing said elsewhere is told.

        An `only` that is given to one of its verbs narrows it further. A thread or an episode outside is
        NotFound, as one that nobody knows. A message lies inside by its thread's name or its own channel.
        `add` and `sessions.start` take a thread inside, and without a channel the one by which it lies there,
        so that what is kept is told again; `erase` takes nothing of people or of all. What cannot be held to
        threads raises InvalidInput. Raises it for no name, too.
        """
        if names is None:
            raise InvalidInput("`only` is None: name at least one thread or channel")
        at = replace(self._at, walls=walls_of(self._at.walls, names))
        return UserMemory(at, self._works, as_of=self._as_of)

    def _check_thread(self, name: str | None, channel: str | None = None) -> None:
        """Raise NotFound for a thread that this memory does not tell of."""
        if self._at.walls:
            with self._deps.store.begin(self._at.scope, write=False) as tx:
                walls.check_thread(tx, self._at.walls, name, channel)

    def _kept_by(self, thread: str | None, channel: str | None, source: str | None) -> str | None:
        """Return the channel of what is kept; raises where this memory would not tell it again."""
        if not self._at.walls:
            return channel
        check_named(self._at.walls, thread, source)
        self._check_thread(thread, channel)
        if thread is None or channel is not None:
            return channel
        with self._deps.store.begin(self._at.scope, write=False) as tx:
            return walls.channel_inside(tx, self._at.walls, thread)

    def __repr__(self) -> str:
        held = f": {held_to(self._at.walls)}" if self._at.walls else ""
        moment = "" if self._as_of is None else f" as of {self._as_of:%Y-%m-%d %H:%M:%S}"
        return f"<UserMemory of {self.name!r}{moment}{held}>"

    # --- observe -----------------------------------------------------------------------------------------

    def add(
        self,
        items: "str | Mapping[str, Any] | Iterable[str | Mapping[str, Any]]",
        *,
        thread: str | None = None,
        channel: str | None = None,
        source: str | None = None,
        role: str = "user",
        timestamp: "str | float | datetime | None" = None,
        id: str | None = None,
        ttl: "str | float | timedelta | None" = None,
        expires_at: "str | float | datetime | None" = None,
        wait: bool = True,
        idempotency_key: str | None = None,
        progress: Progress | None = None,
    ) -> list[Receipt]:
        """Keep observations, exactly once, and return a receipt for each, in order.

        Takes a string, a chat message (`{"role", "content", "timestamp"?, "name"?, "id"?}`), a step, or an
        iterable of them. Without `thread` each joins the thread its channel and its time lead to (see
        docs/threads.md). An id is unique within `source`, else the thread that is named, else the channel:
        repeated there it adds nothing; with another text it is IdTaken. A time without a zone is UTC. What
        has no time was said now; with `"at_source": "assumed"` in it, and where others of the call are over
        an hour from now, nobody knows when. What has a `ttl` (seconds, or "30d") is hidden and erased so
        long after its time, or at `expires_at`; items may say so themselves.
        With an `idempotency_key` a batch that comes again, from any process, adds nothing: items without an
        id get one made from the key. Another batch with the key within a day is IdTaken.
        Of over 7,000 characters the rest is embedded in the background; `flush` waits for it.
        `wait=False` returns after the durable append and leaves vectors, boundaries, titles and summaries to
        the background (with `jobs="workers"` to worker processes); until then words alone find them. Raises
        InvalidInput for an item that cannot be accepted (TooLarge for one of more bytes than
        EPISODIC_MESSAGE_BYTES): nothing of this call is stored then.
        """
        scope, role = self._at.scope, filled("role", worded("role", role))
        thread, channel = name_or_none("thread", thread), name_or_none("channel", channel)
        source, id = name_or_none("source", source), name_or_none("id", id)
        channel = self._kept_by(thread, channel, source)
        about = {"timestamp": timestamp, "id": id, "ttl": ttl, "expires_at": expires_at}
        batch, key = listed(items), None
        if idempotency_key is not None:
            batch = list(batch)
            about_all = {**about, "thread": thread, "channel": channel, "source": source, "role": role}
            key = appending.OnceKey(self._at, idempotency_key, batch, about_all)
            key.check()
            batch = key.named(batch)
        now, alone = self._deps.clock(), isinstance(items, str | Mapping)
        item = partial(item_of, now=now, largest=self._deps.limits.message, alone=alone)
        read = [item(n, raw, role, channel, about) for n, raw in enumerate(batch)]
        if not (progress is None or callable(progress)):
            raise InvalidInput("`progress` is told how many are kept: give what can be called with a number")
        if id is not None and len(read) != 1:
            raise InvalidInput("`id` names one item; give ids inside the messages of a list")
        ingest, after = self._works.ingest, partial(self._works.later.after, scope)
        done, named = partial(after, wait=True), appending.incoming(self._at, read, thread, source)
        counts = ingest.run(scope, named, embeds=wait, progress=progress, after_group=done if wait else None)
        if key is not None:
            key.keep()
        if not wait or any(is_long(item.text) for item in read):  # the rest was done behind each group
            after(wait=False)
        return counts.receipts

    def import_file(
        self,
        path: "str | Path",
        *,
        source: str | None = None,
        encoding: str | None = None,
        timezone: "str | tzinfo | None" = None,
        dates: str | None = None,
        began: "str | datetime | None" = None,
        me: "Iterable[str] | str | None" = None,
        speaker: str | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> ImportReport:
        """Import a chat file, a folder or zip of them, or an export of this project; again it adds nothing.

        docs/importing.md lists the formats. Times without a zone are in `timezone` ("Europe/Berlin"; UTC
        without one); `dates` is the order of numeric dates ("dmy", "mdy", "ymd"; found from the file without
        one); `began` is when a meeting began whose captions do not say it. `me` are the names
        the user has there (addresses, accounts): what they say is the user's own. `speaker` is the key of
        JSON messages that says who spoke, where the file has one of its own ("none": all are the user's).
        `dry_run` stores nothing and reports what would come. Unreadable records are reported with their line
        and do not stop the rest.
        Raises InvalidInput when the file is missing or of no known format.
        """
        works = self._works
        importer = importing.Importer(self._deps, works.ingest, works.closer, works.later.run)
        options = importing.ImportOptions(
            source=name_or_none("source", source),
            encoding=encoding,
            timezone=(zone := time_zone(timezone)),
            dates=order_of_dates(dates),
            began=None if began is None else read_time(began, zone),
            me=names_or_none("me", me or None) or (),
            speaker=name_or_none("speaker", speaker),
            dry_run=dry_run,
            progress=progress,
        )
        return importer.run(file_path(path), self._at.scope, options)

    def run(
        self,
        sensor: Sensor,
        *,
        thread: str | None = None,
        steps: int | None = None,
        fps: float = 10.0,
        policy: "str | Policy[Any] | None" = None,
        watch: "Callable[[agents_run.Seen], object] | None" = None,
        say: Callable[[str], object] | None = None,
    ) -> "agents_run.RunReport":
        """Let an agent's sensor fill a thread step by step until it ends; return how that went.

        Ends after `steps`, at the stream's end, when the sensor fails or on KeyboardInterrupt; the report
        says which, and what was read is kept and its last episode closed. `policy` is this memory's unless
        given; `fps` (steps a second) places readings that bring no time; `watch` is told of every step,
        `say` of the first failure of a detector of your own (else the log).
        Without `thread` the run gets one of its own. Errors of the store are raised.
        """
        return ingest_runs.run_agent(
            self._at,
            self._works,
            sensor,
            thread=thread,
            steps=steps,
            fps=fps,
            policy=policy,
            watch=watch,
            say=say,
        )

    def flush(self, *, thread: str | None = None) -> int:
        """Close the open frames (of one thread, or all of the user's) and wait for their words.

        Return how many were closed. With `jobs="workers"` it waits for nobody: the words come when a worker
        made them.
        """
        scope, works = self._at.known(), self._works
        works.later.embed_first(scope)
        named = name_or_none("thread", thread)
        closed = works.closer.flush(scope, None if named is None else self._at.thread_id(named))
        works.later.run(scope)
        works.later.finish([scope])
        return closed

    # --- recall ------------------------------------------------------------------------------------------

    def context(
        self,
        message: str,
        *,
        thread: str | None = None,
        channel: str | None = None,
        at: "str | float | datetime | None" = None,
        max_tokens: int = MAX_TOKENS,
        form: Form = "default",
        project: str | None = None,
        only: Where = None,
    ) -> "assembling.ThreadContext":
        """Return what the next prompt should be told of the past, before or after the message was added.

        Standing wishes and facts that bear on it, the session before, this conversation, and what was said
        earlier that it needs, within the budget. `thread`, `channel` and `at` are those the message is added
        with. `project` is a folder: nothing said in other projects is told, but how to answer and what was
        linked by hand. Without it that is the channel, or the thread's, if it is one. `form="seed-002"` tells
        of threads and their last questions as the founding document does.

        `only` are names of threads and channels, those who read the answer may know: nothing said elsewhere
        is told, not even what was linked by hand. `thread` counts in any case.
        Stores nothing. What nobody knows yet, a user or a thread that the message would begin, has no past
        and is no error. Raises InvalidInput for an empty message, a time that cannot be read, a budget below
        1 or an unknown form.
        """
        largest = self._deps.limits.message
        request = assembling.read_request(
            message,
            thread=thread,
            channel=channel,
            at=at,
            max_tokens=max_tokens,
            largest=largest,
            form=form,
            project=project,
            only=only,
            walls=self._at.walls,
        )
        self._check_thread(request.thread, request.message.channel)
        return assembling.context_of(
            self._works.contexts, self._deps, self._at.scope, request, as_of=self._as_of
        )

    def search(
        self,
        query: str,
        *,
        limit: int = 5,
        observations: int | None = None,
        policy: str = "default",
        now: datetime | None = None,
        explain: bool = False,
        asking: str | None = None,
        facts: int = FEW_FACTS,
        suppressed: bool = False,
        detail: Detail = "none",
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> Recall:
        """Return the episodes and facts that best answer a query, with the observations that prove it.

        `limit` counts episodes, at most 1,000, `observations` the ranked observations over all, at most
        10,000 (`limit` of them unless given). Raises InvalidInput for more, or a blank query, and NotFound
        for an unknown user or place.

        A `filter`, or its fields as keywords (`thread="work"`), narrows it. `since` and `until` are on event
        time, `place` on where it was; time words and places in the query are a preference, and all of a
        question that asks for nothing else. `where` leaves only closed episodes that are about something, as
        in `tool=bash tag=memory,leak` (docs/chains.md), and the facts they prove.

        `only` are names of threads and channels: nothing said elsewhere is told.

        `facts` is how many, at most 1,000: those that hold now (or at `until`), of one `category` where it is
        given; `thread` narrows them too, and a `place` leaves them out.

        `asking` names the thread that asks: what it says next tells how the episodes served, and they are
        stronger or weaker for it (a review). Otherwise nothing is written.

        `suppressed` fills `Recall.suppressed`: the hits that the suppression list, retention or fading kept
        out, each with its reason. With a `detail` the answer is a `DetailedRecall`: it has the messages of
        those hits that `retrieve` would show with it.
        """
        options = recall_verbs.options_of(
            narrowed(filter, narrow),
            walls=self._at.walls,
            limit=limit,
            observations=limit if observations is None else observations,
            policy=policy,
            now=aware(now),
            explain=explain,
            facts=facts,
            suppressed=suppressed,
            asking=asking,
            detail=detail,
        )
        self._check_thread(options.thread)
        self._check_thread(options.asking)
        return recall_verbs.recall(self._at, self._works.recaller, query, options)

    def retrieve(
        self,
        query: str,
        *,
        detail: Detail = "auto",
        limit: int = 5,
        facts: int = FEW_FACTS,
        now: datetime | None = None,
        asking: str | None = None,
        filter: Filter | None = None,
        **narrow: Unpack[Narrowed],
    ) -> str:
        """Return what `search` finds as Markdown for a prompt, in seed 003's form; "" where nothing answers.

        `detail` says which episodes show what was said: `auto` key moments of the first two, `low` of the
        first, `high` all, `none` none. Of a tool's long output stand the lines that bear on the query
        (`episodes.messages` has all). Takes a filter and raises as `search` does, and InvalidInput for
        another `detail`.
        """
        answer = self.search(
            query, limit=limit, facts=facts, now=now, asking=asking, detail=detail, filter=filter, **narrow
        )
        return recall_verbs.recall_markdown(answer, detail, aware(now) or self._deps.clock())

    # --- care --------------------------------------------------------------------------------------------

    def stats(self) -> Stats:
        """Count what the memory holds of the user."""
        with self._at.read() as tx:
            return listing.stats(tx, self._deps, self._works.policy_name)

    def upkeep(self, *, now: datetime | None = None) -> int:
        """Do for this user what `Memory.upkeep` does for all; return how many frames that closed."""
        return self._works.later.keep_up([self._at.known()], aware(now))

    def export(self, *, where: Where = None) -> Iterator[str]:
        """Yield the user's memory as JSON lines that `import_file` takes back without loss.

        With `where` (docs/chains.md), the threads of which an episode is about that, whole: no part of a
        thread could be taken back alone. Skills, which rest on all threads, are then learned anew.
        """
        self._at.known()  # what is wrong is refused here, not at the first line
        return self._exported(filter_of(where))

    def _exported(self, conditions: MetadataFilter) -> Iterator[str]:
        with self._at.read(as_stored=True) as tx:
            now = self._deps.clock()
            yield from exporting.export(
                tx, now, None if conditions.empty else filtering.threads_about(tx, now, conditions)
            )

    def erase(
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
        """Erase one observation, episode or thread, all that one `speaker` said, or `everything` of the user.

        Or every message that holds `words`, whole and in capitals or not, whoever wrote it: who is to be
        forgotten is mostly spoken of. Returns the receipt. An observation is named by its id or by the one
        it was added with (InvalidInput where several sources have that); a speaker by name, the user by
        their own name or as "user". What was made of it goes too, or is made again without it
        (docs/forgetting.md). `dry_run` only counts. Without `sweep` the receipt stays pending until `upkeep`
        cleans the file. Raises InvalidInput unless exactly one thing is named, NotFound for what is not
        there.
        """
        return erase_verbs.Forgetter(self._at, self._works.later, self._works.eraser).run(
            observation=observation,
            episode=episode,
            thread=thread,
            speaker=speaker,
            words=words,
            everything=everything,
            dry_run=dry_run,
            sweep=sweep,
            now=now,
        )
