"""`/v1`: every verb of a user's memory as a route, made from the verbs themselves.

**Rules of the room.**
1. `faces/verbs.py` names each route's method, path, verb and role. What it takes is read from the verb's
   signature, what it answers from its return type (`nouns.py`), what it says of itself from its docstring:
   a route cannot drift from Python, and there is no second logic.
2. What no table can say has a file of its own: messages with their idempotency, files that stream.
3. A noun is shown as `showing.plain` shows it, as the command line's `--json` does; an answer of `search` is
   `faces/shapes.recall_json`.
4. A list is a page: `items` and `next`, an opaque cursor that only the same list takes.
5. The space comes from the key, the user from the path, and neither from a body.

**To add** a verb, add a row to the table; `tests/faces/test_parity.py` asks for it.
"""

from starlette.routing import BaseRoute

from episodic_agent.faces.http.v1.events import event_routes
from episodic_agent.faces.http.v1.files import file_routes
from episodic_agent.faces.http.v1.messages import message_routes
from episodic_agent.faces.http.v1.routes import verb_routes


def v1_routes(largest_file: int) -> list[BaseRoute]:
    """Return all routes of `/v1`, prefix included."""
    rooms = (message_routes(), file_routes(largest_file), event_routes(), verb_routes())
    return [route for room in rooms for route in room.routes]
