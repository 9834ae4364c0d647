"""The same memory on both stores: episodes and hits compared one by one on the labelled cases."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from benchmarks.parts import parts_at
from benchmarks.retrieval import FILES, LIMIT, QUICK, first
from benchmarks.servers import server
from episodic_agent.engine.evaluate.retrieval import evaluate_file
from episodic_agent.engine.memory import Memory
from episodic_agent.engine.results import Recall
from episodic_agent.engine.user import UserMemory
from episodic_agent.protocols import Embedder
from episodic_agent.schemas import Receipt
from episodic_agent.wiring import load_settings

CASES = {"ret_realtalk": None, "ret_memdaily": 100, "ret_beam100k": 4, "ret_qmsum": 30, "ret_alfred": 30}


@dataclass(slots=True)
class Tally:
    """What was compared, and what was not the same."""

    messages: int = 0
    episodes: int = 0
    records: int = 0
    questions: int = 0
    hits: int = 0
    other_episodes: list[str] = field(default_factory=list)
    other_order: list[str] = field(default_factory=list)
    other_scores: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the counts."""
        return {
            "messages": self.messages,
            "episodes": self.episodes,
            "exported_records": self.records,
            "questions": self.questions,
            "hits": self.hits,
            "records_that_differ": len(self.other_episodes),
            "questions_with_another_order": len(self.other_order),
            "questions_with_another_score": len(self.other_scores),
        }


class Twins:
    """Two memories that are told and asked the same; stands in for one where a case is evaluated."""

    def __init__(self, memory: UserMemory, other: UserMemory, tally: Tally) -> None:
        self.both = memory, other
        self.tally = tally

    def user(self, name: str, *, new: bool = False) -> "Twins":
        """Return both memories of the user they were made for."""
        del name, new
        return self

    def add(self, messages: Iterable[Mapping[str, Any]], *, thread: str) -> list[Receipt]:
        """Tell both."""
        answers = list(messages)
        self.tally.messages += len(answers)
        receipts = [memory.add(answers, thread=thread) for memory in self.both]
        return receipts[0]

    def search(self, query: str, **options: Any) -> Recall:
        """Ask both, and compare order and scores of every hit and observation."""
        answers = [memory.search(query, **options) for memory in self.both]
        orders = [_order(answer) for answer in answers]
        self.tally.questions += 1
        self.tally.hits += len(orders[0])
        if orders[0] != orders[1]:
            self.tally.other_order.append(query)
        if answers[0] != answers[1]:
            self.tally.other_scores.append(query)
        return answers[0]

    def compare(self) -> None:
        """Compare everything an export holds: observations, verdicts, episodes, words, open frames."""
        texts, other = (list(memory.export())[1:] for memory in self.both)
        self.tally.records += len(texts)
        self.tally.episodes += sum(
            '"type": "episode"' in line or '"type":"episode"' in line for line in texts
        )
        self.tally.other_episodes += [a for a, b in zip(texts, other, strict=False) if a != b]
        self.tally.other_episodes += (texts if len(texts) > len(other) else other)[
            min(len(texts), len(other)) :
        ]


def _order(answer: Recall) -> list[str]:
    return [*(str(hit.episode_id) for hit in answer.hits), *(e.id for e in answer.observations)]


def measure(data: Path, embedder: Embedder, *, quick: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (file, counts) of each file there is."""
    with server() as own:
        url = own.create("bench")
        for stem in FILES:
            path = data / f"{stem}.jsonl.gz"
            if path.is_file() and stem in CASES:
                tally = Tally()
                with first(path, QUICK.get(stem, 1) if quick else CASES[stem]) as chosen:
                    evaluate_file(
                        chosen, lambda now, lang, t=tally: twins(url, embedder, t, now, lang), limit=LIMIT
                    )  # type: ignore[misc]
                yield stem, tally.as_json()


_cases = count()


@contextmanager
def twins(
    url: str, embedder: Embedder, tally: Tally, now: datetime, language: str | None
) -> Iterator[Memory]:
    """Open a fresh memory of the same user on each store."""
    user = f"case {next(_cases)}"  # ids are made of it
    with TemporaryDirectory(prefix="episodic-") as folder, ExitStack() as stack:
        memories = [
            stack.enter_context(Memory(parts_at(place, embedder, now, language, load_settings())))
            for place in (str(Path(folder) / "twin.db"), url)
        ]
        both = Twins(memories[0].user(user, new=True), memories[1].user(user, new=True), tally)
        yield cast(Memory, both)
        both.compare()
