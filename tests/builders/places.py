"""How end-to-end tests open the store at a URL they were given (fixture `url` of `tests/conftest.py`)."""

import pytest

from episodic_agent.protocols import Store
from episodic_agent.wiring import load_settings, make_store

# For a test of what no store decides, or of many processes: in the fast suite it runs on a file alone.
server_when_slow = pytest.mark.parametrize(
    "url", ["sqlite", pytest.param("postgres", marks=pytest.mark.slow)], indirect=True
)


def open_store(url: str) -> Store:
    return make_store(url, load_settings())
