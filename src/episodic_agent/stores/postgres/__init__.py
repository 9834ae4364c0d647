"""The service's store: PostgreSQL with pgvector holds rows, text index, vectors and jobs.

**How it works.** Every transaction takes a role and names its scope; row-level security holds spaces apart.
Batches go over as arrays, in binary. Words are postings read a query at a time; vectors are searched by
the server and scored from their rows, exactly in small scopes and through HNSW in large ones. So both
stores give equal scores.

**Rules of the room.**
1. Keys begin with space and owner, as 63-bit hashes: an index that another tenant shares is still read for
   one scope alone, and Citus can route each statement to one node.
2. No row is shared by all writers of a scope, and a thread's frame is locked for one append at a time:
   writers run side by side.
3. Settings of a transaction end with it, so connections may be shared by a pooler in transaction mode.
4. No triggers, no sequences, no joins across users; ids come from the application.
5. What an administrator does (roles, indexes, scrubbing, a cluster) is not done by the application's login.
6. A claim of a job need not reach the disk; what the job does must.

**To add** a statement, give it the keys of its scope: the tenancy test removes each condition in turn, the
routing test asks whether a cluster would route it, the plan tests what it reads.
"""

from episodic_agent.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
