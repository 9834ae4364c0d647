"""Fixtures of the tests of a store on a server in trouble."""

from collections.abc import Iterator
from contextlib import closing

import pytest
from stores.postgres_server import Server, own_server
from stores.postgres_trouble import QUICK

from episodic_agent.stores.postgres import PostgresStore


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    """A store that gives up quickly."""
    with closing(PostgresStore(postgres_url, QUICK)) as opened:
        yield opened


@pytest.fixture
def server() -> Iterator[Server]:
    """Start a server that the test may break."""
    made = own_server()
    yield made
    made.remove()
