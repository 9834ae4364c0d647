"""The dashboard at `/` of `episodic serve`: what a memory holds, why it thinks so, and how to correct it.

**Rules of the room.**
1. A page is made on the server and works without its script, but for what moves: the timeline, the plot's
   slider, news as it comes. Nothing is loaded from elsewhere, and the policy of each page (CSP) allows no
   script and no style but the two files of `static/`.
2. It asks the handle (`memory.user(name)`) as every face does. No page reads a store.
3. Whatever is written by others stands escaped in it: jinja2 escapes markup, `pages.Shown` what acts unseen.
4. What changes something is a POST with the page's token, from the same origin (`forms.py`); `actions.py` is
   the table of it, with the role each needs. What can be undone offers it at once.
5. With keys, `door.py` turns the session's cookie into the key it holds: `faces/http/keyed.py` alone decides.

**To add** a page, write `routes` beside the others and its template; the browser tests visit every page.
"""

from collections.abc import Callable
from datetime import datetime

from starlette.routing import BaseRoute

from episodic_agent.faces.dashboard import (
    actions,
    audit,
    episodes,
    facts,
    links,
    login,
    operations,
    people,
    places,
    strength,
)
from episodic_agent.faces.dashboard.pages import Pages


def dashboard_routes(clock: Callable[[], datetime], entropy: Callable[[int], int]) -> list[BaseRoute]:
    """Return all pages; `entropy(bits)` gives the random bits of a visitor's token."""
    pages = Pages(clock, entropy)
    rooms = (
        login,
        people,
        episodes,
        links,
        facts,
        places,
        strength,
        audit,
        operations,
        actions,
    )
    return [page for room in rooms for page in room.routes(pages).routes]
