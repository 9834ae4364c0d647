"""The `quote` job: what messages state is quoted as they come, whether or not a model reads them later.

So what is known and wished for is told from the first message on, however slow a model is, and where none
answers. Once a model has read the episode its reading takes the place of the quotations (`job`).
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final
from uuid import UUID

from episodic_agent.core.facts.quoting import may_teach
from episodic_agent.core.facts.stating import is_person
from episodic_agent.core.prompts import facts as asking
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.facts.listening import with_listeners
from episodic_agent.engine.facts.quoting import knows_meaning, quoted, stored_vectors, weighed
from episodic_agent.engine.facts.transcripts import is_told, read_messages, with_shares
from episodic_agent.engine.facts.writing import embedded, reworded, write_facts
from episodic_agent.engine.jobs.kinds import FACTS, QUOTE
from episodic_agent.engine.jobs.retrying import until_unopposed
from episodic_agent.engine.trace.usage import model_of
from episodic_agent.protocols import Transaction
from episodic_agent.schemas import Job, Observation, Scope
from episodic_agent.schemas.facts import Fact

WRITES: Final = 3  # tries before what was changed meanwhile is read again


def request_quotes(tx: Transaction, deps: Deps, observations: Sequence[Observation], now: datetime) -> None:
    """Ask for what messages of one thread state to be quoted, whatever model may read it later."""
    people = [one for one in observations if is_told(one) and is_person(one.actor)]
    # the first and the last that may teach bound what the job reads: whoever writes waits for no look between
    first = next((one.seq for one in people if may_teach(one.text, deps.language)), None)
    if first is None:
        return
    last = next(one.seq for one in reversed(people) if one.seq == first or may_teach(one.text, deps.language))
    key = f"{observations[0].thread_id}:{first}:{last}"
    tx.upkeep.ask(QUOTE, key, QUOTE, now=now)


class Quoter:
    """The handler of `quote` jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def handle(self, scope: Scope, jobs: Sequence[Job]) -> None:
        """Do each job, one at a time of a scope."""
        for job in jobs:
            self.quote(scope, job)

    def quote(self, scope: Scope, job: Job) -> None:
        """Read the messages that a job names, and write what they state that lasts."""
        thread, first, last = job.key.split(":")
        deps = self._deps
        with deps.store.begin(scope, write=False) as tx:
            statements = read_messages(tx, UUID(thread), int(first), int(last))
            ids = [one.observation_id for one in statements]
            there = stored_vectors(tx, deps, list(tx.observations.get(ids).values())) if ids else {}
            statements = [replace(one, language=deps.language) for one in statements]
            statements = with_shares(tx, statements, there if knows_meaning(deps) else None)
            statements = with_listeners(tx, statements)
        spoken = quoted(deps, statements, there)
        if not spoken:
            with deps.store.begin(scope) as tx:
                tx.upkeep.drop(job)
            return

        unembedded: list[Fact] = []

        def keep() -> None:
            vectors = embedded(deps, [*(one.candidate for one in spoken), *unembedded], there)
            now = deps.clock()
            with deps.store.begin(scope) as tx:
                tx.hold("facts")
                if self._was_read(tx, UUID(thread), int(first), int(last)):
                    tx.upkeep.drop(job)
                    return
                present = tx.observations.get([identity for one in spoken for identity in one.rests_on])
                left = [one for one in spoken if present.keys() >= one.rests_on]
                new = weighed(tx, deps, left, vectors)
                # what was known may be told apart again, in words of its own: the next try embeds them
                unembedded.extend(reworded(new.known, new.changes))
                write_facts(tx, deps, new.known, new.changes, vectors, now=now)
                tx.upkeep.drop(job)

        until_unopposed(keep, tries=WRITES)

    def _was_read(self, tx: Transaction, thread: UUID, first: int, last: int) -> bool:
        """Tell whether a model was faster: its reading stands, and what it left out is not quoted again."""
        if (
            model_of(self._deps.language_model, asking.STAGE) is None
            or first >= tx.threads.frame(thread).first_seq
        ):
            return False
        here = [e for e in tx.episodes.list(threads=[thread]) if e.first_seq <= last and e.last_seq >= first]
        read = [e for e in here if e.consolidated_at is not None]
        records = [d for e in read for d in tx.knowledge.decisions(subject=e.id, type=FACTS, last=1)]
        return any("model" in record.detail for record in records)
