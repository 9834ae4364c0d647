"""The file behind the SQLite store: connections, sessions, schema, and what keeps the file whole.

A session is one scope's work in one transaction; everything above it speaks tables. A file that vanished,
was replaced or is damaged is noticed here, before a write is acknowledged; what can be read is saved in a
new file.
"""
