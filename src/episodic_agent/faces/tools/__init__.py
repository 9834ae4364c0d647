"""The tools an agent calls: one table, for MCP and for the function formats of OpenAI and Anthropic alike.

**Rules of the room.**
1. One table (`table.py`): name, description, what it takes, what it answers, what it does. Faces read it, so
   a tool cannot differ between them.
2. No tool takes a user or a space: whose memory it is, says who starts the server.
3. Arguments are checked against their schema before anything runs; an error is an answer that names the
   remedy.
4. An answer is a text for the model and the same as data, held to a budget. What is recalled stands quoted,
   marked, and harmless on its line.
5. A tool says whether it only reads and whether once more changes anything.

**To add** a tool, add a row to the table with its schemas and one call of the memory; tests then ask that its
answer fits its schema and that nothing hostile comes through.
"""
