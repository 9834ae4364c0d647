"""What language models cost a whole space, by day, stage and model."""

from collections.abc import Sequence
from datetime import date
from typing import Final

from episodic_agent.schemas import ModelUse
from episodic_agent.stores.nouns import use_of
from episodic_agent.stores.postgres.server.session import Connection, key_of
from episodic_agent.stores.postgres.server.text import read_columns
from episodic_agent.stores.rows import to_day

_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(refused), sum(late),"
    " sum(prompt_tokens), sum(completion_tokens), sum(microseconds)"
    " FROM usage WHERE space = %s AND day BETWEEN %s AND %s"
    ' GROUP BY day, stage, model ORDER BY day, stage COLLATE "C", model COLLATE "C"'
)


def usage_of_space(db: Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    results = db.execute(_OF_SPACE, (key_of(space), to_day(first), to_day(last))).fetchall()
    return [use_of(read_columns(columns)) for columns in results]
