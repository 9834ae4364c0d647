"""Records of boundary checks as stores keep them: a quarter of their length, by what they have in common.

A record is compact JSON (`core/boundary/machine.py`), numbers by the names of cues, and the names are longer
than the numbers. The names stand once, here: DEFLATE looks into them as if each record followed them.
"""

import zlib
from typing import Final

from episodic_agent.errors import StoreDamaged

_SHORT: Final = b"\x01"  # what a shortened record begins with; JSON does not
# Never to be changed, for what is stored refers to it: what is common later gets a mark and words of its own.
_COMMON: Final = (
    b'["dual_threshold","size_cap",{"mismatch":0.{"topic":0.["cut",0.,0.4,["no_model",0.0,0.7,0.0,'
    b'["keep",0.000,0.1,0.2305,0.1,{"content":0.0,"novelty":0.,"words":0.9,"marker":0.0,"answers":0.0,'
    b'"continues":0.0,"speaker":1.0,"weight":0.5,"distance":0.,"depth":0.,"silence":0.0,"silence_unusual":0.5}]'
)
_WINDOW: Final = -10  # a kilobyte, without header or checksum: the small state is made in microseconds

_UNREADABLE: Final = "the record of a boundary check cannot be read: the database is damaged"


def shortened(record: bytes) -> bytes:
    """Return a record as it is kept.

    >>> restored(shortened(b'["keep",0.0004,0.2305,0.1696,{"content":0.0}]'))
    b'["keep",0.0004,0.2305,0.1696,{"content":0.0}]'
    """
    deflate = zlib.compressobj(wbits=_WINDOW, memLevel=2, zdict=_COMMON)
    short = _SHORT + deflate.compress(record) + deflate.flush()
    return short if len(short) < len(record) else record


def restored(stored: bytes) -> bytes:
    """Return the record that is kept so, or was kept as it is before records were shortened.

    Raises StoreDamaged for what no record was shortened to.
    """
    if stored[:1] != _SHORT:
        return stored
    inflate = zlib.decompressobj(_WINDOW, _COMMON)
    try:
        record = inflate.decompress(stored[1:])
    except zlib.error as error:
        raise StoreDamaged(f"{_UNREADABLE} ({error})") from error
    if not inflate.eof:
        raise StoreDamaged(f"{_UNREADABLE} (it is cut off)")
    return record
