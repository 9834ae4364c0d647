"""How people and programs reach the engine: thin layers that parse, make one call and render.

`cli` for terminals, `http` for programs (seed 003's routes), `mcp` and `tools` for agents, `plot` for eyes,
`year` for the demonstration of a year.

**Rules of the ring.**
1. A face decides nothing: what two faces need is a verb of the engine, or a shape beside them.
2. Whatever somebody wrote is data on the way out, too: it can neither act on a terminal, nor on a page, nor
   pass for an instruction to a model. One function each makes it harmless, and nobody prints around it.
3. Errors are those of the engine: `exit_code` for a terminal, `status_hint` for HTTP, an answer with the
   remedy for a model. A face adds no cause of its own.
4. Over a socket only this machine is served, or over HTTP whoever holds a key; sizes, numbers and times of
   requests are bounded before anything reads them.
5. What needs an extra package is imported when it is asked for.

**To add** a face, call the verbs of the memory, and run `tests/faces/test_hostile_answers.py` over what it
shows.
"""
