"""The words of one stream in memory: an inverted index made from its document rows, and BM25 over it."""

from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

import apsw
import numpy as np
from numpy.typing import NDArray

from episodic_agent.protocols import Refs, Scores
from episodic_agent.stores.arrays import Integers, SortedRefs, best, grown
from episodic_agent.stores.scoring import term_scores
from episodic_agent.stores.sqlite.streams import StreamRow
from episodic_agent.stores.terms import term_hash, wide_counts

_BATCH: Final = 8192
_SMALL: Final = 4096  # segments below this many postings are always merged

Hashes = NDArray[np.uint64]
Counts = NDArray[np.uint16]


def _number(term: str) -> np.uint64:
    return np.uint64(int.from_bytes(term_hash(term), "little"))


class Segment:
    """Postings sorted by term; never changed."""

    def __init__(self, hashes: Hashes, rows: NDArray[np.int32], counts: Counts) -> None:
        order = np.argsort(hashes, kind="stable")
        in_order = hashes[order]
        first = np.ones(len(hashes), dtype=np.bool_)
        first[1:] = in_order[1:] != in_order[:-1]
        starts = np.flatnonzero(first)
        self.hashes = in_order[starts]
        self.offsets = np.append(starts, len(hashes))
        self.rows = rows[order]
        self.counts = counts[order]

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, term: np.uint64) -> slice:
        """Return where a term's postings lie."""
        place = int(self.hashes.searchsorted(term))
        if place == len(self.hashes) or self.hashes[place] != term:
            return slice(0, 0)
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))

    def joined(self, other: "Segment") -> "Segment":
        """Return one segment with the postings of both."""
        hashes = [np.repeat(part.hashes, np.diff(part.offsets)) for part in (self, other)]
        rows = np.concatenate((self.rows, other.rows))
        return Segment(np.concatenate(hashes), rows, np.concatenate((self.counts, other.counts)))

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take."""
        return self.hashes.nbytes + self.offsets.nbytes + self.rows.nbytes + self.counts.nbytes


class SqliteWords:
    """An inverted index that grows at the end: a few segments, each at least twice as large as the next."""

    def __init__(self) -> None:
        self.count = 0
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._refs: Integers = np.empty(0, dtype=np.int64)
        self._lengths: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._segments: tuple[Segment, ...] = ()
        self._sorted: tuple[int, SortedRefs] = (-1, SortedRefs(self._refs))

    def read(self, db: apsw.Connection, stream: StreamRow, after: int) -> None:
        """Append the documents with after < place <= stream.last."""
        base = stream.base
        sql = "SELECT n, ref, length, terms, counts FROM document WHERE n > ? AND n <= ?"
        cursor = iter(db.execute(sql, (base + after, base + stream.last)))
        hashes: list[Hashes] = []
        rows: list[NDArray[np.int32]] = []
        counts: list[Counts] = []
        while batch := list(islice(cursor, _BATCH)):
            start = self.count
            self._append(batch, base)
            hashes.append(np.frombuffer(b"".join([entry[3] for entry in batch]), dtype="<u8"))
            sizes = [len(entry[3]) // 8 for entry in batch]
            packed = [wide_counts(entry[4], size) for entry, size in zip(batch, sizes, strict=True)]
            counts.append(np.frombuffer(b"".join(packed), dtype="<u2"))
            rows.append(np.repeat(np.arange(start, self.count, dtype=np.int32), sizes))
        if hashes:
            self._add(Segment(np.concatenate(hashes), np.concatenate(rows), np.concatenate(counts)))

    def _append(self, batch: list[tuple[int, int, int, bytes, bytes]], base: int) -> None:
        start, end = self.count, self.count + len(batch)
        self._places = grown(self._places, start, end)
        self._refs = grown(self._refs, start, end)
        self._lengths = grown(self._lengths, start, end)
        self._places[start:end] = [entry[0] - base for entry in batch]
        self._refs[start:end] = [entry[1] for entry in batch]
        self._lengths[start:end] = [entry[2] for entry in batch]
        self.count = end

    def _add(self, segment: Segment) -> None:
        segments = [*self._segments, segment]
        while len(segments) > 1 and len(segments[-2]) < max(_SMALL, 2 * len(segments[-1])):
            last = segments.pop()
            segments[-1] = segments[-1].joined(last)
        self._segments = tuple(segments)

    @property
    def nbytes(self) -> int:
        """Return the bytes the arrays take."""
        own = self._places.nbytes + self._refs.nbytes + self._lengths.nbytes
        return own + sum(segment.nbytes for segment in self._segments)

    def view(self, last: int) -> "WordsView":
        """Return the documents a snapshot whose stream ends at `last` may see."""
        visible = int(np.searchsorted(self._places[: self.count], last, side="right"))
        count, ordered = self._sorted
        if count != visible:
            ordered = SortedRefs(self._refs[:visible])
            self._sorted = (visible, ordered)
        return WordsView(self._refs[:visible], self._lengths[:visible], self._segments, ordered)


class WordsView:
    """One snapshot's documents. Remembers the last query: recall asks for its best, then for given refs."""

    def __init__(
        self, refs: Integers, lengths: NDArray[np.int32], segments: tuple[Segment, ...], ordered: SortedRefs
    ) -> None:
        self._refs = refs
        self._lengths = lengths
        self._segments = segments
        self._ordered = ordered
        self._asked: object = None
        self._answer: Scores = np.empty(0, dtype=np.float32)

    @property
    def documents(self) -> int:
        """Count the documents."""
        return len(self._refs)

    @property
    def average_length(self) -> float:
        """Return the mean length in terms, 0 without documents."""
        return float(self._lengths.mean()) if len(self._lengths) else 0.0

    def frequencies(self, terms: Iterable[str]) -> dict[str, int]:
        """Count the documents that hold each term."""
        return {term: sum(len(rows) for rows, _ in self._postings(term)) for term in terms}

    def best(
        self, weights: Mapping[str, float], k1: float, b: float, average_length: float, limit: int
    ) -> tuple[Refs, Scores]:
        """Return the best documents with a score above 0, falling, ties by ref."""
        scores = self._scores(weights, k1, b, average_length)
        held = np.flatnonzero(scores > 0)
        return best(self._refs[held], scores[held], limit)

    def of(
        self, weights: Mapping[str, float], refs: Refs, k1: float, b: float, average_length: float
    ) -> Scores:
        """Return the scores of given refs, 0 where no term occurs."""
        places, there = self._ordered.find(refs)
        scores: NDArray[np.float32] = np.zeros(len(refs), dtype=np.float32)
        rows = self._ordered.order[places[there]]
        scores[there] = self._scores(weights, k1, b, average_length)[rows]
        return scores

    def _scores(self, weights: Mapping[str, float], k1: float, b: float, average_length: float) -> Scores:
        """Return BM25 of every document, in row order."""
        asked = (tuple(weights.items()), k1, b, average_length)
        if asked != self._asked:
            total = np.zeros(len(self._refs))
            for term, weight in weights.items():
                for rows, counts in self._postings(term):
                    # A term has one posting a document, so plain indexed addition is exact.
                    total[rows] += term_scores(
                        weight, counts, self._lengths[rows], k1=k1, b=b, average_length=average_length
                    )
            self._asked, self._answer = asked, total.astype(np.float32)
        return self._answer

    def _postings(self, term: str) -> Iterable[tuple[NDArray[np.int32], Counts]]:
        target = _number(term)
        for segment in self._segments:
            where = segment.find(target)
            rows, counts = segment.rows[where], segment.counts[where]
            if len(rows) and rows[-1] >= len(self._refs):  # a term's rows rise
                # Another thread has read further than this snapshot sees.
                seen = rows < len(self._refs)
                rows, counts = rows[seen], counts[seen]
            yield rows, counts
