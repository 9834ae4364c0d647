"""Hooks of coding agents: what the agent tells of its work is kept, and what it should know is told.

**Rules of the room.**
1. An agent's turn is never broken: `running.py` answers with success whatever happens, and logs what did.
2. Nobody waits for memory but who asks it something: what an agent only tells is put down in a spool
   (`spool.py`), a file an event, and kept by a process of its own, in order. Until then nothing of the
   engine is loaded: what is told stands in `telling.py`, imported at its first use.
3. An event that comes twice is kept once: what waits carries its name, the agent's own or one given when it
   was put down, never its words (`events.py`). The same words said again are kept again.
4. A user's settings are theirs: entries of ours are added and taken out, all else stays to the byte
   (`settings_file.py`). What is damaged is refused, never mended.

**To add** an agent, give `agents.py` its settings file, its events and its limits, and record its JSON in
`tests/data/hooks`.
"""
