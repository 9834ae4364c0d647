"""Errors in terms of HTTP: where the engine names a command line or a setting, the request that does it."""

import re
import shlex
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import quote

from episodic_agent.faces.wording import for_no_terminal

USER: Final = "/v1/users/{user}"
_LISTED: Final[Mapping[str, str]] = {  # the path that lists what a command does
    "episodes": "episodes",
    "show": "episodes/{episode_id}/messages",
    "facts list": "facts",
    "summaries": "sessions",
    "session list": "sessions",
    "chain": "chains/{episode}",
    "link list": "links",
    "link explain": "threads/{thread}/links",
    "places": "places",
    "threads": "threads",
    "jobs list": "jobs",
    "forget receipts": "erasures",
    "tune history": "tuning",
}
REMEDIES: Final[Mapping[str, str]] = {
    **{command: f"`GET {USER}/{path}` lists them" for command, path in _LISTED.items()},
    "tune outcome": f"`POST {USER}/decisions/{{decision}}/outcome` labels any type",
}
_USERS: Final = re.compile(r"; known users: .*$")
_OPTION: Final = r"--(encoding|dates|timezone|source|began|speaker|me)\b"
_PASSED: Final = re.compile(rf"\bpass((?: {_OPTION}(?: (?:'[^']*'|\"[^\"]*\"|[^\s;,'\"])+)?)+)")
_SETTING: Final = re.compile(r"\b(raise|lower|set) (?=EPISODIC_)")


def _query(words: Iterable[str]) -> str:
    """Write options of a command line as a query."""
    query = "".join(f"&{word[2:]}=" if word.startswith("--") else quote(word) for word in words)
    return f"?{query[1:]}"


def for_http(problem: str) -> str:
    """Return an error for who calls over HTTP; other users are not named, but where they are listed.

    >>> for_http("no fact begins with 'x'; `episodic facts list` shows the ids")
    "no fact begins with 'x'; `GET /v1/users/{user}/facts` lists them"
    >>> for_http("no user 'bo' in this memory; known users: ana")
    "no user 'bo' in this memory; `GET /v1/users` lists those there are"
    >>> for_http("if they are day first, pass --dates dmy"), for_http("convert it or pass --encoding")
    ('if they are day first, give ?dates=dmy', 'convert it or give ?encoding=')
    >>> for_http("nobody is 'Al', as --me says; pass --me 'Bo M.' --me Bo")
    "nobody is 'Al', as ?me= says; give ?me=Bo%20M.&me=Bo"
    >>> for_http("send it in parts, or raise EPISODIC_MESSAGE_BYTES")
    'send it in parts, or ask whoever runs the service to raise EPISODIC_MESSAGE_BYTES'
    """
    problem = _USERS.sub("; `GET /v1/users` lists those there are", for_no_terminal(problem, REMEDIES))
    problem = _PASSED.sub(lambda passed: f"give {_query(shlex.split(passed[1]))}", problem)
    problem = re.sub(_OPTION, r"?\1=", problem)
    return _SETTING.sub(r"ask whoever runs the service to \1 ", problem)
