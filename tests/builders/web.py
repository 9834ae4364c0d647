"""A client of a web application in this process, which asks as a program on this machine does."""

from functools import partial

from starlette.testclient import TestClient

LocalClient = partial(TestClient, base_url="http://127.0.0.1:8765")
