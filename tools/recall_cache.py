"""Write what recall's fusion sees for every labelled question, so that other fusions can be tried in seconds.

    PYTHONPATH=. python tools/recall_cache.py --data DIR --cache FOLDER [--only ret_realtalk,…]

Each case is ingested and asked by the real engine; what `Gatherer` returns is kept with the labels, one
`<set>.pkl` a file. Beside a case's own questions it is asked some of other sets (`foreign`) and of other
cases of its set (`sibling`), which nothing here answers. Vectors of texts are kept in `<set>-vectors.npz`.
"""

import argparse
import gzip
import hashlib
import json
import os
import pickle
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from benchmarks.retrieval import FILES
from episodic_agent.core.interfaces import OBSERVATIONS, Transaction, ref_of
from episodic_agent.core.ranking import idf
from episodic_agent.engine.evaluate.retrieval import _last_time, _message, window
from episodic_agent.engine.gathering import Filter, Gathered, Gatherer
from episodic_agent.engine.memory import Memory
from episodic_agent.schemas import Vector
from episodic_agent.wiring import load_settings, make_embedder, temporary_memory

FOREIGN = {"ret_alfred": 4, "ret_beam100k": 40, "ret_lifebench": 120, "ret_llqa": 300, "ret_memdaily": 1}
FOREIGN |= {"ret_qmsum": 5, "ret_realtalk": 80}
OPEN = 900  # questions of LLQA asked without their window too
SEED = 11


class Kept:
    """An embedder whose vectors outlive the run."""

    def __init__(self, inner: Any, file: Path) -> None:
        self.inner, self.file, self.known = inner, file, {}
        self.name, self.dimensions = inner.name, inner.dimensions
        if file.is_file():
            with np.load(file) as saved:
                self.known = dict(zip(saved["keys"].tolist(), saved["vectors"], strict=True))

    def embed(self, texts: Sequence[str]) -> Vector:
        """Return vectors, embedding only what was never seen."""
        keys = [
            hashlib.blake2b(t.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest() for t in texts
        ]
        missing = {k: t for k, t in zip(keys, texts, strict=True) if k not in self.known}
        if missing:
            self.known.update(zip(missing, self.inner.embed(list(missing.values())), strict=True))
        return np.stack([self.known[k] for k in keys]) if keys else np.zeros((0, self.dimensions), np.float32)

    def save(self) -> None:
        """Write the vectors."""
        np.savez(self.file, keys=np.array(list(self.known)), vectors=np.stack(list(self.known.values())))


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the cases of a file."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def main() -> None:
    """Write the caches."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--only", default=",".join(FILES))
    parser.add_argument("--every", type=int, default=1, help="take every n-th case only")
    options = parser.parse_args()
    options.cache.mkdir(parents=True, exist_ok=True)
    inner = make_embedder("minilm", load_settings(), print)
    pool = {stem: questions(options.data / f"{stem}.jsonl.gz") for stem in FILES}
    for stem in options.only.split(","):
        started = time.perf_counter()
        embedder = Kept(inner, options.cache / f"{stem}-vectors.npz")
        cases = [
            case_of(stem, n, case, embedder, pool)
            for n, case in enumerate(rows(options.data / f"{stem}.jsonl.gz"))
            if n % options.every == 0
        ]
        embedder.save()
        with (options.cache / f"{stem}.pkl").open("wb") as target:
            pickle.dump(cases, target, protocol=5)
        print(
            stem,
            len(cases),
            sum(len(c["asked"]) for c in cases),
            f"{time.perf_counter() - started:.0f} s",
            flush=True,
        )


def questions(path: Path) -> list[tuple[int, str, str]]:
    """Return (case, language, question) of a file's answerable questions."""
    return [
        (n, str(case.get("lang") or "en"), str(q["question"]))
        for n, case in enumerate(rows(path))
        for q in case["questions"]
        if q["evidence"]
    ]


def case_of(
    stem: str, n: int, case: Mapping[str, Any], embedder: Kept, pool: Mapping[str, Any]
) -> dict[str, Any]:
    """Ingest one case and ask everything."""
    messages = case["messages"]
    language = str(case["lang"]) if case.get("lang") else None
    sessions = {str(m["id"]): str(m["session"]) for m in messages if m.get("session") is not None}
    numbers = {name: k for k, name in enumerate(dict.fromkeys(sessions.values()))}
    with temporary_memory(embedder, now=_last_time(messages), language=language) as memory:
        memory.add([_message(m) for m in messages], thread=str(case.get("id", n)))
        asked = list(ask_all(memory, stem, n, case, pool))
        names, vectors = stored(memory)
    refs = np.array(sorted(names), np.int64)
    ids = [names[r] for r in refs.tolist()]
    return {
        "set": stem, "case": str(case.get("id", n)), "language": language, "refs": refs, "ids": ids,
        "vectors": np.stack([vectors.get(r, np.zeros(384, np.float32)) for r in refs.tolist()]),
        "session": np.array([numbers.get(sessions.get(i, ""), -1) for i in ids]),
        "length": np.array([len(str(m.get("text", ""))) for m in messages]),
        "asked": asked,
    }  # fmt: skip


def stored(memory: Memory) -> tuple[dict[int, str], Mapping[int, Vector]]:
    """Return the id and the vector of every observation, by ref."""
    parts, scope = memory._parts, memory._scope(None)
    with parts.store.begin(scope, write=False) as tx:
        refs = all_refs(tx)
        found = tx.threads.by_refs(refs)
        return {r: o.external_id or str(o.id) for r, o in found.items()}, tx.index.vectors(
            OBSERVATIONS, parts.embedder_name, refs
        )


def all_refs(tx: Transaction) -> list[int]:
    """Return the refs of everything stored (one thread a case)."""
    refs: list[int] = []
    for thread in tx.threads.list():
        number, frame = tx.threads.number(thread.id), tx.threads.frame(thread.id)
        refs.extend(range(ref_of(number, 0), ref_of(number, frame.next_seq)))
    return refs


def ask_all(
    memory: Memory, stem: str, n: int, case: Mapping[str, Any], pool: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    """Ask a case's own questions, then foreign ones."""
    for q in case["questions"]:
        yield ask(
            memory,
            str(q["question"]),
            window(q),
            "own",
            [str(e) for e in q["evidence"]],
            str(q.get("type", "")),
        )
    lot = random.Random(f"{SEED}:{stem}:{n}")
    if stem == "ret_llqa":
        for q in lot.sample([q for q in case["questions"] if q["evidence"]], OPEN) + [
            q for q in case["questions"] if not q["evidence"]
        ]:
            yield ask(
                memory,
                str(q["question"]),
                (None, None),
                "open",
                [str(e) for e in q["evidence"]],
                str(q.get("type", "")),
            )
    language = str(case.get("lang") or "en")
    others = [s for s in pool if s != stem and any(one == language for _, one, _ in pool[s])]
    for _ in range(FOREIGN[stem]):
        source = lot.choice(others)
        _, _, text = lot.choice([row for row in pool[source] if row[1] == language])
        yield ask(memory, text, (None, None), "foreign", [], source)
    siblings = [text for k, one, text in pool[stem] if k != n and one == language]
    for text in lot.sample(siblings, min(FOREIGN[stem], len(siblings))):
        yield ask(memory, text, (None, None), "sibling", [], stem)


def ask(memory: Memory, text: str, span: Any, kind: str, evidence: list[str], type_: str) -> dict[str, Any]:
    """Gather for one question as `Recaller.run` does."""
    recaller, parts, scope = memory._recaller, memory._parts, memory._scope(None)
    now = parts.clock()
    query = recaller._read(scope, text, now)
    vector, _ = recaller._embed(query.dense_text)
    with parts.store.begin(scope, write=False) as tx:
        gatherer = Gatherer(tx, query, vector, parts.embedder_name)
        wanted = Filter(*span)
        gathered = gatherer.gather(wanted, now)
        statistics = tx.index.statistics(OBSERVATIONS, query.terms)
        by_term = np.array(
            [gatherer.text(OBSERVATIONS, gathered.refs, only=[t]) for t in query.terms], np.float32
        )
    return {
        "text": text, "query": query, "kind": kind, "type": type_, "evidence": evidence,
        "refs": gathered.refs, "found": slim(gathered), "episodes": replace(gathered.episodes, ids=()),
        "ceiling": gathered.ceiling, "documents": statistics.documents,
        "df": [statistics.frequencies.get(t, 0) for t in query.terms], "by_term": by_term,
        "idf": [idf(statistics.frequencies.get(t, 0), statistics.documents) for t in query.terms],
    }  # fmt: skip


def slim(gathered: Gathered) -> Any:
    """Return the candidates at half the size, without ids (their refs order them the same)."""
    found = gathered.found
    names = ("bm25", "cosine", "bm25_before", "bm25_after", "cosine_before", "cosine_after")
    return replace(found, ids=(), **{name: getattr(found, name).astype(np.float32) for name in names})


if __name__ == "__main__":
    main()
