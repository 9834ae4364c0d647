"""How end-to-end tests open the store at a URL they were given (fixture `url` of `tests/conftest.py`)."""

from episodic_agent.core.interfaces import Store
from episodic_agent.wiring import load_settings, make_store


def open_store(url: str) -> Store:
    return make_store(url, load_settings())
