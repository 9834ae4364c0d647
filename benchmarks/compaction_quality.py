"""What a paragraph of 500 tokens keeps: can what the messages answered still be answered from it?

Chats are cut into parts of so many messages, as compaction does. A question counts by the words of its answer
that stood in its evidence: which share of them still stands in the texts of the parts that hold the evidence?
Beside compaction: the first tokens of a part, an even sample of its messages, the sentences nearest to its
centre, and the summary that episodes are encoded with.

`--end-to-end` asks a memory instead, by words alone: what stands in a context of 500 tokens made of the
summaries that a question finds, those of event episodes (before compaction) or the texts of parts (after)?

    python -m benchmarks.compaction_quality --data FOLDER [--end-to-end]
"""

import argparse
import gzip
import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from benchmarks.users import mine
from episodic_agent.core.context.tokens import estimate
from episodic_agent.core.episodes.clauses import clauses
from episodic_agent.core.episodes.extractive import encode_extractive
from episodic_agent.core.episodes.selection import shortened, term_weights
from episodic_agent.core.language import sentences, tokens
from episodic_agent.core.sections.resolutions import resolutions
from episodic_agent.engine.evaluate.cases import unit_time
from episodic_agent.schemas import Observation
from episodic_agent.wiring import temporary_memory

FILES: Final = ("ret_realtalk", "ret_lifebench")
BUDGET: Final = 500
LONG: Final = 1_500
PARTS: Final = (50, 200)  # messages
START: Final = datetime(2000, 1, 1, tzinfo=UTC)
Summary = Callable[[Sequence[Observation]], str]


@dataclass(slots=True)
class Kept:
    """What one system kept: the share of answer words and of evidence words of each question."""

    answers: list[float] = field(default_factory=list)
    evidence: list[float] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)

    def as_json(self) -> dict[str, float]:
        """Return means; `whole` is the share of questions with every answer word kept."""
        count = max(len(self.answers), 1)
        return {
            "answer_words": round(math.fsum(self.answers) / count, 3),
            "whole": round(sum(a == 1.0 for a in self.answers) / count, 3),
            "evidence_words": round(math.fsum(self.evidence) / max(len(self.evidence), 1), 3),
            "tokens": round(math.fsum(self.tokens) / max(len(self.tokens), 1)),
        }


def lead(part: Sequence[Observation]) -> str:
    """Return what a part begins with."""
    return _until(f"{o.actor}: {o.text}" for o in part)


def even(part: Sequence[Observation], budget: int = BUDGET) -> str:
    """Return messages taken evenly: every second, then what lies between."""
    order = sorted(range(len(part)), key=lambda n: (f"{n:016b}"[::-1], n))
    return _until((f"{part[n].actor}: {part[n].text}" for n in order), budget)


def even_long(part: Sequence[Observation]) -> str:
    """Return messages taken evenly up to the tokens that meso and macro have together."""
    return even(part, LONG)


def centroid(part: Sequence[Observation]) -> str:
    """Return the sentences nearest to the centre of a part's words, repetitions left out."""
    matching_clauses = clauses(part, "en")
    weights = term_weights(matching_clauses)

    def near(place: int) -> float:
        clause = matching_clauses[place]
        return math.fsum(sorted(weights[t] for t in clause.terms)) / math.sqrt(len(clause.terms) + 1)

    texts = dict.fromkeys(
        f"{part[matching_clauses[n].place].actor}: {shortened(matching_clauses[n].text)}"
        for n in sorted(range(len(matching_clauses)), key=lambda n: (-near(n), n))
    )
    return _until(texts)


def _until(texts: "Iterator[str] | Mapping[str, None]", budget: int = BUDGET) -> str:
    remaining: list[str] = []
    used = 0
    for text in texts:
        size = estimate(text)
        if used + size <= budget:
            remaining.append(text)
            used += size
    return "\n".join(remaining)


def encoded(part: Sequence[Observation]) -> str:
    """Return the summary an episode is encoded with; it is shorter than the budget."""
    return encode_extractive(part, [None] * len(part)).summary


def meso(part: Sequence[Observation]) -> str:
    """Return compaction's paragraph."""
    return resolutions(part).meso


def both(part: Sequence[Observation]) -> str:
    """Return paragraph and distilled part, up to 1500 tokens."""
    matching_resolutions = resolutions(part)
    return f"{matching_resolutions.meso}\n{matching_resolutions.macro}"


SYSTEMS: Final[Mapping[str, Summary]] = {
    "lead": lead,
    "even": even,
    "centroid": centroid,
    "summary": encoded,
    "meso": meso,
    "even 1500": even_long,
    "meso+macro": both,
}


def cases(path: Path) -> Iterator[tuple[list[Observation], dict[str, int], list[dict[str, Any]]]]:
    """Yield the English cases of a file: observations, the place of each id, questions."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if row.get("lang") == "en":
                places = {str(m["id"]): n for n, m in enumerate(row["messages"])}
                yield [_observation(n, m) for n, m in enumerate(row["messages"])], places, row["questions"]


def _observation(number: int, message: Mapping[str, Any]) -> Observation:
    at = unit_time(message.get("time")) or START
    return Observation(
        UUID(int=number), UUID(int=1), number, at, at, str(message["speaker"]), str(message["text"])
    )


def measure(path: Path, size: int, systems: Mapping[str, Summary]) -> dict[str, Any]:
    """Return what each system keeps of one file, cut into parts of `size` messages."""
    remaining = {name: Kept() for name in systems}
    questions_asked = 0
    for observations, places, questions in cases(path):
        texts: dict[tuple[str, int], str] = {}
        for question in questions:
            evidence = [places[str(e)] for e in question.get("evidence", ()) if str(e) in places]
            terms = {term for place in evidence for term in tokens(observations[place].text)}
            requested_terms = terms.intersection(tokens(str(question["answer"])))
            if not requested_terms:
                continue
            questions_asked += 1
            parts = sorted({place // size for place in evidence})
            for name, summary in systems.items():
                for part in parts:
                    if (name, part) not in texts:
                        texts[name, part] = summary(observations[part * size : (part + 1) * size])
                        remaining[name].tokens.append(estimate(texts[name, part]))
                there = {term for part in parts for term in tokens(texts[name, part])}
                remaining[name].answers.append(len(requested_terms & there) / len(requested_terms))
                remaining[name].evidence.append(len(terms & there) / len(terms))
    return {"questions": questions_asked, **{name: found.as_json() for name, found in remaining.items()}}


def end_to_end(path: Path) -> dict[str, Any]:
    """Return what contexts made before and after compaction hold of the answers to a file's questions."""
    remaining = {"before": Kept(), "after": Kept()}
    for observations, places, questions in cases(path):
        with temporary_memory(None, language="en") as memory:
            mine(memory).add(
                [{"role": o.actor, "content": o.text, "timestamp": o.at.isoformat()} for o in observations],
                thread="chat",
            )
            mine(memory).flush()
            mine(memory).sections.compact()
            for question in questions:
                evidence = [places[str(e)] for e in question.get("evidence", ()) if str(e) in places]
                terms = {term for place in evidence for term in tokens(observations[place].text)}
                requested_terms = terms.intersection(tokens(str(question["answer"])))
                if not requested_terms:
                    continue
                asked = str(question["question"])
                hits = mine(memory).search(asked, policy="seed-003", limit=20).hits
                cards = mine(memory).sections.list(asked, limit=5)
                texts = {
                    "before": [hit.summary for hit in hits],
                    "after": [text for card in cards for text in (card.meso, card.macro)],
                }
                for name, results in texts.items():
                    context = _context(asked, results)
                    there = set(tokens(context))
                    remaining[name].answers.append(len(requested_terms & there) / len(requested_terms))
                    remaining[name].evidence.append(len(terms & there) / len(terms))
                    remaining[name].tokens.append(estimate(context))
    return {
        "questions": len(remaining["after"].answers),
        **{n: found.as_json() for n, found in remaining.items()},
    }


def _context(question: str, texts: Sequence[str]) -> str:
    """Return the sentences that share most with a question, from the best texts first, up to the budget."""
    asked = set(tokens(question))
    pieces = list(
        dict.fromkeys(piece for text in texts for line in text.split("\n") for piece in sentences(line))
    )
    common = Counter(term for piece in pieces for term in set(tokens(piece)))
    worth = [math.fsum(1 / common[t] for t in sorted(asked.intersection(tokens(p)))) for p in pieces]
    order = sorted(range(len(pieces)), key=lambda n: (-worth[n], n))
    return _until(pieces[n] for n in order)


def main() -> None:
    """Print a table for each file and size of part."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--only", nargs="*", default=list(SYSTEMS))
    parser.add_argument("--files", nargs="*", default=list(FILES))
    parser.add_argument("--end-to-end", action="store_true")
    options = parser.parse_args()
    if options.end_to_end:
        for stem in options.files:
            print(stem, json.dumps(end_to_end(options.data / f"{stem}.jsonl.gz")))
        return
    systems = {name: SYSTEMS[name] for name in options.only}
    for stem in options.files:
        for size in PARTS:
            results = measure(options.data / f"{stem}.jsonl.gz", size, systems)
            print(f"{stem}, parts of {size} messages, {results.pop('questions')} questions")
            for name, figures in results.items():
                print(f"  {name:12}" + "  ".join(f"{key} {value:<6}" for key, value in figures.items()))


if __name__ == "__main__":
    main()
