"""What language models cost a whole space, by day, stage and model."""

from collections.abc import Sequence
from datetime import date
from typing import Final

import apsw

from episodic_agent.schemas import ModelUse
from episodic_agent.stores.nouns import use_of
from episodic_agent.stores.rows import to_day
from episodic_agent.stores.sqlite.file.connection import rows

_OF_SPACE: Final = (
    "SELECT day, stage, model, sum(calls), sum(failures), sum(refused), sum(late),"
    " sum(prompt_tokens), sum(completion_tokens), sum(microseconds)"
    " FROM usage WHERE scope IN (SELECT number FROM scope WHERE space = ?)"
    " AND day BETWEEN ? AND ? GROUP BY day, stage, model ORDER BY day, stage, model"
)


def usage_of_space(db: apsw.Connection, space: str, first: date, last: date) -> Sequence[ModelUse]:
    """Return what all users of a space cost on each day of `first..last`."""
    return [use_of(found) for found in rows(db, _OF_SPACE, (space, to_day(first), to_day(last)))]
