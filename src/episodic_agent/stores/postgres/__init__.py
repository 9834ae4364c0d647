"""The service's store: PostgreSQL with pgvector holds rows, text index, vectors and jobs."""

from episodic_agent.stores.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
