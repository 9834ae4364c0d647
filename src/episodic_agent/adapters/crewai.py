"""CrewAI: the memory of a crew or an agent, without a model and a vector store of its own.

Written against crewai 1.15.30, whose one `Memory` is asked for `recall`, `remember`, `extract_memories`.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from episodic_agent.adapters.history import ThreadHistory, item_for, original
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.arguments import names_or_none
from episodic_agent.engine.filters import Where
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import NotFound
from episodic_agent.schemas import Observation

with needing("crewai"):
    from crewai.memory.types import MemoryConfig, MemoryMatch, MemoryRecord, ScopeInfo
    from crewai.memory.unified_memory import Memory
    from pydantic import PrivateAttr

PREFIX: Final = "crewai:"  # of the threads that are scopes
OVERSAMPLED: Final = (
    4  # observations asked for each that is wanted, where a scope or a category may drop some
)


class EpisodicCrewMemory(Memory):
    """A memory for `Crew(memory=…)` or `Agent(memory=…)`, bound to one user.

    A task's report is kept as one observation of its scope's thread, not as what a model makes of it; the
    same record twice in a scope is one. What a crew recalls is what `search` finds, of the whole memory or of
    a scope. `only` are the threads and channels of which it may tell, beside what crews wrote.
    """

    _user: Any = PrivateAttr(default=None)
    _only: Any = PrivateAttr(default=None)

    def __init__(self, user_memory: UserMemory, *, only: Where = None, **options: Any) -> None:
        """Bind a crew's memory to a user's; `read_only` and `root_scope` are CrewAI's own."""
        bound(user_memory)
        super().__init__(**options)
        self._user = user_memory
        self._only = names_or_none("only", only)

    def model_post_init(self, context: object, /) -> None:
        """Make no store and no embedder: the user's memory has them."""
        del context
        self._config = MemoryConfig()

    # --- keep --------------------------------------------------------------------------------------------

    def extract_memories(self, content: str) -> list[str]:
        """Return a report as it is: it is kept in its own words, not in what a model makes of them."""
        return [content] if content.strip() else []

    def remember(self, content: str, scope: str | None = None, **about: Any) -> MemoryRecord | None:
        """Keep a text in a scope, once, and return its record; None where the memory is read only."""
        if self.read_only or not content.strip():
            return None
        path = self._path(scope, about.pop("root_scope", None))
        role, metadata = about.pop("agent_role", None), dict(about.pop("metadata", None) or {})
        if role:
            metadata.setdefault("agent_role", role)
        fields = {
            k: v for k, v in about.items() if k in ("categories", "importance", "source") and v is not None
        }
        record = MemoryRecord(content=content, scope=path, metadata=metadata, **fields)
        written = record.model_dump(mode="json", exclude={"id", "created_at", "last_accessed"})
        item = item_for({"role": "assistant", "content": content}, written, identity="record")
        history = ThreadHistory(self._user, PREFIX + path)
        history.append([item], returning=True)
        standing = [o for o in history.observations() if original(o) == written]
        return _record(standing[-1]) if standing else record

    def remember_many(
        self, contents: list[str], scope: str | None = None, **about: Any
    ) -> list[MemoryRecord]:
        """Keep several texts in order; they are there when this returns."""
        records = [self.remember(content, scope, **about) for content in contents]
        return [record for record in records if record is not None]

    def update(self, record_id: str, **changes: Any) -> MemoryRecord:
        """Put a record with other content, scope or metadata in the place of one; NotFound without it."""
        before = next((r for r in self._records() if r.id == record_id), None)
        if before is None:
            raise NotFound(f"no record {record_id!r} in this memory; list_records names those there are")
        if self.read_only:
            return before
        fields = before.model_dump(
            include={"content", "scope", "categories", "metadata", "importance", "source"}
        )
        fields |= {key: value for key, value in changes.items() if value is not None}
        content, scope = fields.pop("content"), fields.pop("scope")
        self._user.erase(observation=record_id)
        # its scope is whole already
        return self.remember(content, scope, root_scope="/", **fields) or before

    # --- recall ------------------------------------------------------------------------------------------

    def recall(
        self,
        query: str,
        scope: str | None = None,
        categories: list[str] | None = None,
        limit: int = 10,
        **how: Any,
    ) -> list[MemoryMatch]:
        """Return what answers a query, best first: facts that hold, then the observations that prove it."""
        del how  # depth and privacy are for a memory that several share
        if self._user.missing or not query.strip():
            return []
        most = limit * OVERSAMPLED if scope or categories else limit
        facts = 0 if scope or categories else 3
        only = self._only and [*self._only, *(PREFIX + path for path in self._scopes())]
        answer = self._user.search(query, limit=most, observations=most, facts=facts, only=only)
        matches = [
            MemoryMatch(
                record=MemoryRecord(
                    id=str(hit.fact.id), content=hit.fact.fact, created_at=_naive(hit.fact.valid_at)
                ),
                score=hit.score,
                match_reasons=["fact"],
            )
            for hit in answer.facts
        ]
        proofs = [proof for hit in answer.hits for proof in hit.evidence]
        for proof in sorted(proofs, key=lambda proof: -proof.score):
            record = _record(proof.observation)
            if self._inside(record, scope) and _of(record, categories):
                matches.append(MemoryMatch(record=record, score=proof.score, match_reasons=["semantic"]))
        return matches[:limit]

    def list_records(self, scope: str | None = None, limit: int = 200, offset: int = 0) -> list[MemoryRecord]:
        """Return the records of a scope and those below it, newest first."""
        records = [r for r in self._records() if self._inside(r, scope)]
        records.sort(key=lambda record: record.created_at, reverse=True)
        return records[offset : offset + limit]

    def list_scopes(self, path: str | None = None) -> list[str]:
        """Return the scopes right below a path."""
        root = self._path(path).rstrip("/")
        below = [s.removeprefix(root).strip("/") for s in self._scopes() if s.startswith(root + "/")]
        return sorted({f"{root}/{rest.split('/')[0]}" for rest in below if rest})

    def list_categories(self, path: str | None = None) -> dict[str, int]:
        """Return how many records of a scope each category has."""
        named = [category for record in self.list_records(path, 10**9) for category in record.categories]
        return {category: named.count(category) for category in sorted(set(named))}

    def info(self, path: str | None = None) -> ScopeInfo:
        """Tell what a scope holds."""
        records = self.list_records(path, 10**9)
        times = [record.created_at for record in records]
        return ScopeInfo(
            path=self._path(path),
            record_count=len(records),
            categories=list(self.list_categories(path)),
            oldest_record=min(times, default=None),
            newest_record=max(times, default=None),
            child_scopes=self.list_scopes(path),
        )

    # --- let go ------------------------------------------------------------------------------------------

    def forget(
        self,
        scope: str | None = None,
        categories: list[str] | None = None,
        older_than: datetime | None = None,
        metadata_filter: dict[str, Any] | None = None,
        record_ids: list[str] | None = None,
    ) -> int:
        """Erase the records that are all that is asked for; return how many."""
        fits: list[Callable[[MemoryRecord], bool]] = [lambda record: self._inside(record, scope)]
        if categories:
            fits.append(lambda record: _of(record, categories))
        if older_than is not None:
            fits.append(lambda record: record.created_at < _naive(older_than))
        if metadata_filter:
            fits.append(lambda record: metadata_filter.items() <= record.metadata.items())
        if record_ids is not None:
            fits.append(lambda record: record.id in record_ids)
        doomed = [record.id for record in self._records() if all(fit(record) for fit in fits)]
        for identity in doomed:
            self._user.erase(observation=identity)
        return len(doomed)

    def reset(self, scope: str | None = None) -> None:
        """Erase the records of a scope, or all that crews wrote; what else is remembered stays."""
        for path in self._scopes():
            if self._below(path, scope):
                ThreadHistory(self._user, PREFIX + path).clear()

    def reset_all(self) -> None:
        """Erase all that crews wrote; what else is remembered stays."""
        self.reset()

    def close(self) -> None:
        """Nothing is open here: the memory is its opener's to close."""

    def _scopes(self) -> list[str]:
        try:
            threads = self._user.threads.list()
        except NotFound:
            return []
        return [t.origin.removeprefix(PREFIX) for t in threads if t.origin.startswith(PREFIX)]

    def _records(self) -> Iterator[MemoryRecord]:
        for path in self._scopes():
            yield from map(_record, ThreadHistory(self._user, PREFIX + path).observations())

    def _path(self, scope: str | None, root: str | None = None) -> str:
        parts = (root or self.root_scope or "", scope or "")
        return "/" + "/".join(part.strip("/") for part in parts if part.strip("/"))

    def _inside(self, record: MemoryRecord, scope: str | None) -> bool:
        return self._below(record.scope, scope)

    def _below(self, path: str, scope: str | None) -> bool:
        root = self._path(scope).rstrip("/")
        return (scope is None and not self.root_scope) or path == (root or "/") or path.startswith(root + "/")


def _record(observation: Observation) -> MemoryRecord:
    """Return an observation as CrewAI's record; what came another way stands in the scope of its own."""
    written = original(observation)
    fields = written if isinstance(written, dict) and "scope" in written else {"content": observation.text}
    at = _naive(observation.at)
    return MemoryRecord(id=str(observation.id), created_at=at, last_accessed=at, **fields)


def _naive(at: datetime) -> datetime:
    """Return a time as CrewAI writes it: UTC, without saying so."""
    return at if at.tzinfo is None else at.astimezone(UTC).replace(tzinfo=None)


def _of(record: MemoryRecord, categories: Sequence[str] | None) -> bool:
    return not categories or bool(set(categories) & set(record.categories))
