"""Errors in terms of HTTP: where the engine names a command line or a setting, the request that does it."""

import re
from collections.abc import Mapping
from typing import Final

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
_OPTION: Final = re.compile(r"\bpass --(encoding|dates|timezone|source|began|speaker|me)(?: (\w+))?")
_SETTING: Final = re.compile(r"\b(raise|lower|set) (?=EPISODIC_)")


def for_http(problem: str) -> str:
    """Return an error for who calls over HTTP; other users are not named, but where they are listed.

    >>> for_http("no fact begins with 'x'; `episodic facts list` shows the ids")
    "no fact begins with 'x'; `GET /v1/users/{user}/facts` lists them"
    >>> for_http("no user 'bo' in this memory; known users: ana")
    "no user 'bo' in this memory; `GET /v1/users` lists those there are"
    >>> for_http("if they are day first, pass --dates dmy"), for_http("convert it or pass --encoding")
    ('if they are day first, give ?dates=dmy', 'convert it or give ?encoding=')
    >>> for_http("send it in parts, or raise EPISODIC_MESSAGE_BYTES")
    'send it in parts, or ask whoever runs the service to raise EPISODIC_MESSAGE_BYTES'
    """
    problem = _USERS.sub("; `GET /v1/users` lists those there are", for_no_terminal(problem, REMEDIES))
    problem = _OPTION.sub(lambda option: f"give ?{option[1]}={option[2] or ''}", problem)
    return _SETTING.sub(r"ask whoever runs the service to \1 ", problem)
