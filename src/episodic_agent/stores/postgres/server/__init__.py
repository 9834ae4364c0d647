"""The server behind the PostgreSQL store: connections, sessions, schema, and what its administrator does.

A session is one scope's work in one transaction; everything above it speaks tables. What changes a database
as a whole (roles, migrations, indexes of large scopes, a cluster's shards, rewriting after erasure) yields
its steps as it does them, and runs with an administrator's login alone.
"""
