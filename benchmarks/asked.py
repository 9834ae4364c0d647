"""What recall's fusion sees for every labelled question, kept so that other fusions are tried in seconds.

Each case is ingested and asked by the engine; what `Gatherer` returns is kept with the labels, a file for
each set. Beside its own questions a case is asked some of other cases of its set (`sibling`) and of other
sets in its language (`foreign`): nothing in it answers them. `open` questions are those of LLQA without
their time window. Candidates do not depend on the fusion's weights: a file is good until other code, or the
data, change (`stamp`). The vectors outlive that, by the hash of their text.
"""

import hashlib
import pickle
import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from benchmarks.parts import parts_at
from benchmarks.provenance import ROOT
from benchmarks.retrieval import FILES, LIMIT, QUICK, first
from benchmarks.users import mine
from benchmarks.vectors import Lasting
from episodic_agent.core import recall as ranking
from episodic_agent.engine.deps import Deps
from episodic_agent.engine.evaluate.cases import digest, rows
from episodic_agent.engine.evaluate.retrieval import evaluate_file
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.recall.filtering import SearchBounds
from episodic_agent.engine.recall.gathering import Gathered, Gatherer
from episodic_agent.engine.results import Recall
from episodic_agent.protocols import OBSERVATIONS, Embedder, Transaction, ref_of
from episodic_agent.schemas import Receipt, Scope, Vector
from episodic_agent.wiring import load_settings

FOREIGN: Final = {  # questions of each of the two kinds asked of a case
    "ret_alfred": 4, "ret_beam100k": 40, "ret_lifebench": 120, "ret_llqa": 300, "ret_memdaily": 1,
    "ret_qmsum": 5, "ret_realtalk": 80,
}  # fmt: skip
FEW = 5  # of each kind in a trial
OPEN = 900  # questions of LLQA asked without their window
SEED = 11
FORM = 1  # of the files: another one makes them anew
AFTER = ("fusion", "weights", "diversity", "order")  # modules of ranking that come after
ASIDE = ("faces", "stores/postgres", "core/evaluation", "core/prompts")


class Label(NamedTuple):
    """A question as its set has it."""

    case: int
    language: str
    text: str
    type: str
    evidence: Sequence[str]


@dataclass(slots=True)
class Asked:
    """One question and what answers it in a case; `ranked` and `confidence` are what `search` returned."""

    text: str
    kind: str
    query: ranking.Query
    gathered: Gathered
    ranked: Sequence[str] = ()
    confidence: float = 0.0
    type: str = ""
    evidence: Sequence[str] = ()


@dataclass(slots=True)
class Case:
    """One ingested case: its observations by ref, and everything it was asked."""

    set: str
    name: str
    embedder: str
    refs: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    names: NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, np.str_))
    ids: Sequence[str] = ()
    vectors: Vector = field(default_factory=lambda: np.zeros((0, 0), np.float32))
    sessions: Mapping[str, str] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)


def asked_cases(data: Path, stem: str, embedder: Embedder, cache: Path, *, quick: bool) -> list[Case]:
    """Return the cases of a set with everything asked of them, from the cache where it is still good."""
    path = data / f"{stem}.jsonl.gz"
    file = cache / f"{stem}{'-quick' if quick else ''}-{stamp(path, embedder.name)}.pickle"
    if file.is_file():
        loads: list[Case] = pickle.loads(file.read_bytes())  # written below, in the caller's own folder
        return loads
    lasting = Lasting(embedder, cache / f"{stem}-vectors.npz")
    pool = {name: labels(data / f"{name}.jsonl.gz") for name in FILES}
    with first(path, QUICK.get(stem) if quick else None) as chosen:
        cases = _ask_all(chosen, stem, lasting, pool, quick=quick)
    lasting.save()
    cache.mkdir(parents=True, exist_ok=True)
    file.write_bytes(pickle.dumps(cases, protocol=5))
    return cases


def labels(path: Path) -> list[Label]:
    """Return the questions of a file, none where it is missing."""
    return [one for n, row in enumerate(rows(path)) for one in _labels(n, row)] if path.is_file() else []


def _labels(number: int, row: Mapping[str, Any]) -> list[Label]:
    language = str(row.get("lang") or "en")
    return [
        Label(
            number,
            language,
            str(q["question"]),
            str(q.get("type", "")),
            tuple(str(e) for e in q.get("evidence", ())),
        )
        for q in row["questions"]
    ]


def stamp(path: Path, embedder: str) -> str:
    """Name what the candidates depend on: the data, the embedder and the code up to the fusion."""
    answer = hashlib.sha256(f"{FORM} {SEED} {digest(path)} {embedder}".encode())
    source = ROOT / "src" / "episodic_agent"
    for file in sorted(source.rglob("*.py")):
        name = file.relative_to(source).as_posix()
        if not name.startswith(ASIDE) and not (name.startswith("core/ranking") and file.stem in AFTER):
            answer.update(name.encode() + file.read_bytes())
    return answer.hexdigest()[:12]


def _ask_all(
    path: Path, stem: str, embedder: Embedder, pool: Mapping[str, Sequence[Label]], *, quick: bool
) -> list[Case]:
    cases: list[Case] = []
    numbers = count()

    @contextmanager
    def fresh(now: datetime, language: str | None) -> Iterator[Memory]:
        number = next(numbers)
        with TemporaryDirectory(prefix="episodic-") as folder:
            settings = replace(load_settings(), synchronous="normal")
            deps = parts_at(str(Path(folder) / "asked.db"), embedder, now, language, settings)
            with Memory(deps) as memory:
                watched = Watched(memory, deps, Case(stem, str(number), embedder.name))
                yield cast(Memory, watched)
                watched.ask_strangers(stem, number, pool, quick=quick)
                watched.keep_observations()
        cases.append(watched.case)

    evaluate_file(path, fresh, limit=LIMIT)
    for number, (case, row) in enumerate(zip(cases, rows(path), strict=True)):
        messages = row["messages"]
        case.sessions = {str(m["id"]): str(m["session"]) for m in messages if m.get("session") is not None}
        own = [asked for asked in case.asked if asked.kind == "own"]
        for asked, label in zip(own, _labels(number, row), strict=True):
            asked.type, asked.evidence = label.type, label.evidence
    return cases


class Watched:
    """A memory that keeps what its recall gathers; stands in for one where a case is evaluated."""

    def __init__(self, memory: Memory, deps: Deps, case: Case) -> None:
        self.case = case
        self._memory, self._parts = memory, deps

    def user(self, name: str) -> "Watched":
        """Return the memory of the only user there is."""
        del name
        return self

    def add(self, messages: Sequence[Mapping[str, Any]], *, thread: str) -> list[Receipt]:
        """Tell the memory."""
        return mine(self._memory).add(messages, thread=thread)

    def search(self, text: str, **options: Any) -> Recall:
        """Ask a case's own question."""
        return self._ask(text, "own", **options)

    def ask_strangers(
        self, stem: str, number: int, pool: Mapping[str, Sequence[Label]], *, quick: bool
    ) -> None:
        """Ask what nothing here answers, the same questions for the same data."""
        lot = random.Random(f"{SEED}:{stem}:{number}")
        many = min(FOREIGN.get(stem, FEW), FEW) if quick else FOREIGN.get(stem, FEW)
        own = [one for one in pool[stem] if one.case == number]
        if stem == "ret_llqa":
            labels = [one for one in own if one.evidence]
            opened = lot.sample(labels, min(FEW if quick else OPEN, len(labels)))
            for label in [*opened, *(one for one in own if not one.evidence)]:
                self._ask(label.text, "open")
                self.case.asked[-1].type, self.case.asked[-1].evidence = label.type, label.evidence
        language = own[0].language if own else "en"
        sources = {
            name: [one for one in some if one.language == language and one.evidence]
            for name, some in pool.items()
        }
        siblings = [one for one in sources.pop(stem) if one.case != number]
        sources = {name: some for name, some in sources.items() if some}
        for _ in range(many if sources else 0):
            self._ask(lot.choice(sources[lot.choice(sorted(sources))]).text, "foreign")
        for label in lot.sample(siblings, min(many, len(siblings))):
            self._ask(label.text, "sibling")

    def _ask(self, text: str, kind: str, **options: Any) -> Recall:
        """Search, and gather once more what the search saw; `Recaller` reads the question this way."""
        recall = mine(self._memory).search(
            text, **{"limit": 10, "observations": LIMIT, **options, "policy": "recall-2026-12"}
        )
        now, scope = self._parts.clock(), Scope()
        with self._parts.store.begin(scope, write=False) as tx:
            speakers, last = list(tx.observations.actors()), tx.observations.last_at()
        query = ranking.analyse(text, speakers, now, language=self._parts.language)
        if last and query.time.ranges and not any(r.start <= last for r in query.time.ranges):
            query = ranking.analyse(text, speakers, last, language=self._parts.language)
        assert self._parts.embedder is not None
        vector = self._parts.embedder.embed([query.dense_text])[0]
        bounds = SearchBounds(options.get("since"), options.get("until"))
        with self._parts.store.begin(scope, write=False) as tx:
            gathered = Gatherer(tx, query, vector, self._parts.embedder_name).gather(bounds, now)
        slim = replace(gathered, cards=(), candidates=replace(gathered.candidates, ids=()))
        ranked = [e.id for e in recall.observations]
        self.case.asked.append(Asked(text, kind, query, slim, ranked, recall.confidence))
        return recall

    def keep_observations(self) -> None:
        """Keep the ids, vectors and names of all observations, once for the whole case."""
        with self._parts.store.begin(Scope(), write=False) as tx:
            self.case.refs = np.array(sorted(_refs(tx)), np.int64)
            refs = self.case.refs.tolist()
            stored, marks = tx.observations.get(refs), tx.index.observation_marks(self.case.refs)
            vectors = tx.index.vectors(OBSERVATIONS, self._parts.embedder_name, refs)
        self.case.names = np.array([mark.name for mark in marks])
        self.case.ids = [stored[ref].external_id or str(stored[ref].id) for ref in refs]
        width = max((len(vector) for vector in vectors.values()), default=1)
        nothing = np.zeros(width, np.float32)
        self.case.vectors = np.array([vectors.get(ref, nothing) for ref in refs], np.float32)


def _refs(tx: Transaction) -> Iterator[int]:
    for thread in tx.threads.list():
        number, frame = tx.threads.number(thread.id), tx.threads.frame(thread.id)
        yield from range(ref_of(number, 0), ref_of(number, frame.next_seq))
