"""The `episodic` command: each command parses, makes one call and renders.

A module holds commands of one matter; `main.py` names them and loads a module when its command is asked for.
`app.py` opens the memory, shows progress and turns errors into one line and an exit code.

**Rules of the room.**
1. Exit codes: 0 done, 1 internal, 2 bad input or usage, 3 not found, 4 conflict, 5 the store, 6 an embedder
   or a model, 130 interrupted.
2. Every command that shows something has `--json`, whose fields stay; a person's view may change.
3. Only `saying.py` and `app.py` print: what was stored by others is shown, never obeyed.
4. What destroys asks first, has `--dry-run`, and without a terminal needs `--yes`.
5. Starting is cheap: nothing is imported that the command does not use.

**To add** a command, write it in the module of its matter, name it in `main.py`, in docs/configuration.md and
in the changelog (tests compare the lists), and give it a test as somebody at a terminal would try it.
"""
