"""Serve a memory over HTTP: seed 003's routes, health, and one page that explains them.

**Rules of the room.**
1. The forms of `/api/v0` are seed 003's and do not change; what is ours (`where`, notes) comes beside them.
2. Every error is one problem document (RFC 9457) whose `detail` names the remedy.
3. Bodies are described once, in `bodies.py`; from them come validation and OpenAPI alike.
4. Requests must name this machine (`Host`, `Origin`), be of bounded size, number and time, before a route
   sees them (`faces/guard.py`).
5. A route makes one call of the memory. `add_message` answers when the message is durable; the rest follows.
6. Nothing is loaded from another host, the page of the routes included.

**To add** a route, describe what it takes and returns in `bodies.py`, call one verb, and let the tests send
it what no client would.
"""
