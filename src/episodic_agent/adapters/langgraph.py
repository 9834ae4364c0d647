"""LangGraph: the store of a graph's long-term memory, its items searched as everything remembered is.

Written against langgraph 1.2.24 (langgraph-checkpoint 4.3.2): `BaseStore`, whichever checkpointer is used.
A namespace is a thread; an item is an observation of it, and a new value takes the place of the old one.
"""

import asyncio
import json
import operator
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from episodic_agent.adapters.history import ThreadHistory, item_for
from episodic_agent.adapters.needing import bound, needing
from episodic_agent.engine.user import UserMemory
from episodic_agent.errors import InvalidInput, NotFound
from episodic_agent.schemas import Observation

with needing("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        PutOp,
        SearchItem,
        SearchOp,
    )

PREFIX: Final = "langgraph:"  # of the threads that are namespaces
Namespace = tuple[str, ...]
_TESTS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


@dataclass(frozen=True, slots=True)
class StoredItem:
    """An item and the observation that holds its value."""

    item: Item
    observation: Observation


class EpisodicStore(BaseStore):
    """A store for `graph.compile(store=…)` in one user's memory.

    A query is answered by `search`; what it leaves out follows by recency, without a score, as far as `limit`
    goes. A value that is put again unchanged stays as it is; a new one, and a deletion, erase the old.
    Items live as long as their `ttl` (minutes) says; reading does not refresh it.
    """

    supports_ttl = True

    def __init__(self, memory: UserMemory) -> None:
        """Bind the store to a user's memory; InvalidInput for what is none."""
        self._memory = bound(memory)
        self._lock = threading.Lock()

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Do operations in order and return their results."""
        return [self._done(op) for op in ops]

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do operations in order, off the event loop."""
        return await asyncio.to_thread(self.batch, list(ops))

    def _done(self, op: Any) -> Any:
        if isinstance(op, GetOp):
            stored = self._items(op.namespace).get(op.key)
            return None if stored is None else stored.item
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, PutOp):
            with self._lock:
                return self._put(op)
        if isinstance(op, ListNamespacesOp):
            return self._list(op)
        raise InvalidInput(f"the store knows no operation {type(op).__name__}")

    # --- one namespace -----------------------------------------------------------------------------------

    def _history(self, namespace: Namespace) -> ThreadHistory:
        return ThreadHistory(self._memory, PREFIX + ".".join(namespace))

    def _items(self, namespace: Namespace) -> dict[str, StoredItem]:
        """Return the items of a namespace by key, each as it was put last, the oldest value first."""
        items: dict[str, StoredItem] = {}
        for written, observation in self._history(namespace).originals():
            if written is not None:
                items.pop(written["key"], None)
                items[written["key"]] = StoredItem(_item(namespace, written, observation), observation)
        return items

    def _put(self, op: PutOp) -> None:
        history = self._history(op.namespace)
        before = self._items(op.namespace).get(op.key)
        if op.value is not None:
            _check_put(op)
            if before is not None and before.item.value == op.value and op.ttl is None:
                return
            created = None if before is None else before.item.created_at.isoformat()
            written = {"key": op.key, "value": op.value, "created_at": created}
            fields: dict[str, Any] = {"role": "user", "content": words_of(op.value) or op.key}
            if op.ttl is not None:
                fields["ttl"] = op.ttl * 60
            history.append([item_for(fields, written)])
        standing = history.originals()
        # what stood under the key before; by then the new value is kept, so that nothing is lost between
        old = [o.id for w, o in standing if w is not None and w["key"] == op.key]
        old = old if op.value is None else old[:-1]
        if len(old) == len(standing) and old:
            history.clear()
            return
        for identity in old:
            self._memory.erase(observation=identity)

    # --- several -----------------------------------------------------------------------------------------

    def _namespaces(self) -> list[Namespace]:
        try:
            threads = self._memory.threads.list()
        except NotFound:
            return []
        names = (thread.origin.removeprefix(PREFIX) for thread in threads if thread.origin.startswith(PREFIX))
        return sorted(tuple(name.split(".")) for name in names)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        length = len(op.namespace_prefix)
        inside = [name for name in self._namespaces() if name[:length] == tuple(op.namespace_prefix)]
        stored = [one for name in inside for one in self._items(name).values()]
        fitting = [one for one in stored if _fits(one.item.value, op.filter or {})]
        fitting.sort(key=lambda one: one.item.updated_at, reverse=True)
        scores = self._scores(op, inside) if op.query and fitting else {}
        fitting.sort(key=lambda one: -scores.get(one.observation.id, -1.0))  # stable: the rest by recency
        return [
            SearchItem(
                namespace=one.item.namespace,
                key=one.item.key,
                value=one.item.value,
                created_at=one.item.created_at,
                updated_at=one.item.updated_at,
                score=scores.get(one.observation.id),
            )
            for one in fitting[op.offset : op.offset + op.limit]
        ]

    def _scores(self, op: SearchOp, inside: Sequence[Namespace]) -> dict[Any, float]:
        """Return the scores of the observations that answer a query; within one namespace where it is one."""
        thread = PREFIX + ".".join(inside[0]) if len(inside) == 1 else None
        most = op.limit + op.offset if thread else 10 * (op.limit + op.offset)
        found_at: dict[str, Any] = {} if thread is None else {"thread": thread}
        answer = self._memory.search(str(op.query), limit=most, observations=most, facts=0, **found_at)
        return {proof.observation.id: proof.score for proof in answer.observations}

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        conditions = op.match_conditions or ()
        matching = [name for name in self._namespaces() if all(_matches(name, one) for one in conditions)]
        shown = dict.fromkeys(name[: op.max_depth] if op.max_depth else name for name in matching)
        return list(shown)[op.offset : op.offset + op.limit]


def words_of(value: object) -> str:
    """Return what a value says in words: a text as it is, of several fields each with its name.

    An object that holds one text alone is that text.
    """
    if isinstance(value, Mapping):
        parts = [(key, words_of(inner)) for key, inner in value.items()]
        parts = [(key, text) for key, text in parts if text]
        if len(parts) == 1 and isinstance(value[parts[0][0]], str):
            return parts[0][1]
        return "; ".join(f"{key}: {text}" for key, text in parts)
    if isinstance(value, list | tuple):
        return ", ".join(filter(None, map(words_of, value)))
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _check_put(op: PutOp) -> None:
    """Raise for what would not come back as it was put, and for what must not be searched."""
    if op.index is False:
        raise InvalidInput(
            f"put(…, {op.key!r}, index=False): all that is kept here is searched and told; leave `index` "
            "out, or keep what must not be found in another store, such as langgraph's InMemoryStore"
        )
    _check_json(op.value, f"value of {op.key!r}")


def _check_json(value: object, place: str) -> None:
    """Raise TypeError, naming where it stands and what it is, for what JSON would change or cannot hold."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the {place} has the key {key!r}, a {type(key).__name__}; give it as a text")
            _check_json(inner, f"{place}, at {key!r}")
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            _check_json(inner, f"{place}, at {number}")
    elif value is not None and not isinstance(value, str | int | float | bool):
        raise TypeError(f"the {place} is a {type(value).__name__}, which JSON cannot hold; give its text")


def _item(namespace: Namespace, written: Mapping[str, Any], observation: Observation) -> Item:
    created = written.get("created_at")
    return Item(
        value=written["value"],
        key=written["key"],
        namespace=namespace,
        created_at=datetime.fromisoformat(created) if created else observation.at,
        updated_at=observation.at,
    )


def _fits(value: Any, condition: Any) -> bool:
    """Tell whether a value is as a filter says: equal, in an operator's order, or field by field."""
    if not isinstance(condition, Mapping):
        return bool(value == condition)
    if any(str(key).startswith("$") for key in condition):
        return all(_compares(value, str(key), wanted_value) for key, wanted_value in condition.items())
    return isinstance(value, Mapping) and all(_fits(value.get(key), c) for key, c in condition.items())


def _compares(value: Any, name: str, other: Any) -> bool:
    if name not in _TESTS:
        raise InvalidInput(f"no operator {name!r} in a filter; there are {', '.join(_TESTS)}")
    with suppress(TypeError):  # what has no order is not in the one asked for
        return _TESTS[name](value, other)
    return False


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(path) > len(namespace):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return all(wildcard in ("*", label) for wildcard, label in zip(path, part, strict=True))
