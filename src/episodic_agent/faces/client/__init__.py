"""The handle over HTTP: `Client` and `AsyncClient`, made from the table that the service is made of.

**Rules of the room.**
1. A verb has the name, parameters, result and errors of the handle's: they are read from it, and a route that
   is added to `faces/verbs.py` is a verb here. Nothing is written twice.
2. `calls.py` says what is sent and how an answer is read, the values that the verbs return by their types,
   and sends nothing: both clients run the same calls.
3. What has no route says so, and what to do instead.
4. Only what cannot have been done is sent again: a connection that did not come about, 429 and 503.
"""
