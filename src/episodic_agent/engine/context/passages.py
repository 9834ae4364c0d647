"""Which sentences of a long text bear on a message: by their meaning, beside the words they share with it.

Somebody who dictates tells of six matters in one entry, and what a message needs may share no word with it.
A message's vector tells what all of it is about, and none tells what one sentence is. So the sentences of the
few long texts that are likely to be told are embedded when they are asked for, by an embedder that runs in
this process, and the context is read once more: nothing is embedded in a transaction. What was embedded is
kept for the next message, which is told much of the same.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from threading import Lock
from typing import Final

import numpy as np

from episodic_agent.core.context.quoting import one_line
from episodic_agent.core.context.telling import TOOL, Block, QuotedText, is_long
from episodic_agent.core.language import pieces
from episodic_agent.core.recall.due import nearness
from episodic_agent.engine.context.gathering import Situation
from episodic_agent.engine.deps import Deps
from episodic_agent.errors import ProviderError
from episodic_agent.schemas import Vector

MOST_TEXTS: Final = 16  # the likeliest to be told
MOST_PIECES: Final = 96  # embedded for one message
MOST_VECTORS: Final = 4_096  # of pieces, that are kept


class PieceVectors:
    """Vectors of pieces of texts, by a digest of their words: what is erased stands in none of them."""

    def __init__(self, deps: Deps) -> None:
        """Keep which embedder to ask, where one runs here."""
        self._deps = deps
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()
        self._lock = Lock()

    @property
    def are_to_be_had(self) -> bool:
        """Tell whether an embedder runs here: a server would be asked for dozens at each message."""
        return self._deps.embeds_here

    def known(self, names: Iterable[bytes]) -> dict[bytes, Vector]:
        """Return the vectors that are kept of some pieces."""
        with self._lock:
            return {name: self._vectors[name] for name in names if name in self._vectors}

    def embed(self, texts: Mapping[bytes, str]) -> bool:
        """Embed pieces and keep their vectors; return whether there are any."""
        embedder = self._deps.embedder
        if embedder is None or not texts:
            return False
        try:
            rows = embedder.embed(list(texts.values()))
        except ProviderError:
            return False  # the words they share with the message tell which are shown
        with self._lock:
            self._vectors.update(zip(texts, rows, strict=True))
            while len(self._vectors) > MOST_VECTORS:
                self._vectors.popitem(last=False)
        return True


@dataclass(slots=True)
class PieceReading:
    """One context's look at the vectors of pieces; `missing` are those it would have needed besides."""

    pieces: PieceVectors
    missing: dict[bytes, str] = field(default_factory=dict)

    def cosines(self, texts: Sequence[Sequence[str]], vector: Vector | None) -> list[tuple[float, ...]]:
        """Return how near the pieces of each text are to a vector; () where one of them has none yet."""
        if vector is None or not self.pieces.are_to_be_had:
            return [() for _ in texts]
        asked, result = np.asarray(vector, np.float64), []
        for row in texts:
            names = [_digest(piece) for piece in row]
            known = self.pieces.known(names)
            fresh = {name: piece for name, piece in zip(names, row, strict=True) if name not in known}
            if fresh and len(self.missing) + len(fresh) <= MOST_PIECES:
                self.missing |= fresh
            near = [] if fresh else [float(asked @ np.asarray(known[name], np.float64)) for name in names]
            result.append(tuple(near))
        return result


def with_nearness(lines: Sequence[QuotedText], now: Situation, reading: PieceReading) -> list[QuotedText]:
    """Return lines, the long ones with how near each of their pieces is to what a message asks.

    Where it asks for days to come, a piece that names one of them, from when it was said, stands first.
    """
    asked = now.when.query.ahead if now.when is not None and now.when.due else None
    spoken = [
        (place, line)
        for place, line in enumerate(lines)
        if line.block in (Block.HERE, Block.BEFORE)
        and is_long(line.text)
        # the lines of an output are no sentences
        and not (line.reply and line.speaker == TOOL)
    ]
    spoken = sorted(spoken, key=lambda row: (-row[1].worth, row[0]))[:MOST_TEXTS]
    texts = [pieces(one_line(line.text)) for _, line in spoken]
    result = list(lines)
    for (place, line), parts, cosines in zip(spoken, texts, reading.cosines(texts, now.vector), strict=True):
        near = cosines or (0.0,) * len(parts)
        if asked is not None:
            named = nearness(parts, line.at, line.at.utcoffset(), asked)
            near = tuple(value + more for value, more in zip(near, named, strict=True))
        result[place] = replace(line, nearness=near)
    return result


def _digest(piece: str) -> bytes:
    return blake2b(piece.encode("utf-8", "surrogatepass"), digest_size=16).digest()
