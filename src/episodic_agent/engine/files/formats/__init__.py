"""Formats that others define: a reader each, behind one table (`table.FOREIGN`).

A reader is two functions: `fits` tells its format by a `Glimpse` of the file's beginning, and `read` yields
an `Item` per message and an `Unreadable` per record that cannot be one, in the order of the file.

**Rules of the room.**
1. Memory is flat: a line, or an element of a list, is held at a time (`walking`).
2. Names of people and of the chat are kept as the file has them. An id is the format's own, and a chat is
   named by the format's own id, so that a later export of the same chat adds what is new.
3. What nobody said is left out and counted in `notes`: system prompts, thoughts, notices of joins and calls.
   Attachments become a short note in brackets.
4. A record that ought to be a message and cannot be is reported with its place.
5. Each reader says in its docstring after what it was written, and whether it was tried on real files.

**To add** a format, write its reader, put a row into the table (before any row that it could be taken for), a
sample with what is expected of it into tests/data/imports, and a line into docs/importing.md.
"""
