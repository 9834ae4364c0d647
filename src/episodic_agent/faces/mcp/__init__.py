"""Serve a memory over the Model Context Protocol; needs the extra `mcp`.

The tools are those of `faces/tools`; beside them episodes and threads are resources, and there is one prompt
that tells a model how to use them.

**Rules of the room.**
1. Whose memory it is comes from the configuration or, over HTTP, from a header: never from a model.
2. What is recalled is marked as such, so that it is known when it comes back (`core/echo`).
3. On standard input and output nothing but the protocol is written; logs go to standard error.
4. Over HTTP the same guard stands before it as before the routes.
5. An error is an answer the model can act on, not a broken connection.

**To add** a tool, add it to the table in `faces/tools`; it then appears here by itself. A resource needs a
URI, a list and a reader in `server.py`.
"""
