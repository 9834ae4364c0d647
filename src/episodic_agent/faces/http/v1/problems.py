"""The errors that every route of `/v1` may answer with."""

from typing import Any, Final

from episodic_agent.faces.guard import PROBLEM
from episodic_agent.faces.http.bodies import Problem

# By its name, which `/health/ready` declares: a model is compiled anew for each answer of each route.
_SCHEMA: Final = {"schema": {"$ref": f"#/components/schemas/{Problem.__name__}"}}
PROBLEMS: Final[dict[int | str, dict[str, Any]]] = {
    status: {"description": words, "content": {PROBLEM: {}, "application/json": _SCHEMA}}
    for status, words in (
        (400, "Something in it cannot be used"),
        (401, "No key, or none that is known"),
        (403, "The key's role does not allow it, or a page of another site asks"),
        (404, "There is no such thing"),
        (408, "It takes too long to arrive"),
        (409, "Something else stands in its place, or another writer was faster"),
        (413, "The request is too large"),
        (421, "For another host than this machine"),
        (422, "Of the wrong form"),
        (429, "Too many requests of this key"),
        (502, "A model does not answer as it should"),
        (503, "Try again later"),
    )
}
