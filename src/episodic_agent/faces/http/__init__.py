"""Serve a memory over HTTP: `/v1` (a room of its own), seed 003's routes, health, and a page about them all.

**Rules of the room.**
1. The forms of `/api/v0` are seed 003's and do not change; what is ours (`where`, notes) comes beside them.
2. Every error is one problem document (RFC 9457) whose `detail` names the remedy.
3. Bodies are described once, in `bodies.py` or by the verbs; from them come validation and OpenAPI alike.
4. Requests must bring a key, or while there is none name this machine (`Host`, `Origin`), and be of bounded
   size, number and time, before a route sees them (`keyed.py`, `faces/guard.py`).
5. A route makes one call of the memory. `add_message` answers when the message is durable; the rest follows.
6. Nothing is loaded from another host, the page of the routes included.

**To add** a route, add a row to `faces/verbs.py`, call one verb, and let the tests send
it what no client would.
"""
