"""Pack the record of a check beside its observation, and read it back (I6)."""

import json
from typing import Final

from episodic_agent.core.boundary.contract import Record

_JSON: Final = json.JSONEncoder(separators=(",", ":"))  # json.dumps would build one for each record


def pack_record(record: Record) -> bytes:
    """Return the record as compact JSON; numbers were rounded before deciding, so nothing is lost.

    >>> unpack_record(7, pack_record(Record(7, "keep", 0.25, 0.5, 0.1, {"gap": 0.5}))).cues["gap"]
    0.5
    """
    body = [record.action, record.probability, record.threshold, record.surprise, dict(record.cues)]
    return _JSON.encode(body).encode()


def unpack_record(seq: int, packed: bytes) -> Record:
    """Undo `pack_record` for the observation at `seq`."""
    action, probability, threshold, surprise, cues = json.loads(packed)
    return Record(seq, action, probability, threshold, surprise, cues)
