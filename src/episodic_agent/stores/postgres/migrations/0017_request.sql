-- Idempotency keys of a day (docs/http.md): SHA-256 of the key, and of the batch that came with it.
CREATE TABLE request (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    key     bytea NOT NULL,
    digest  bytea NOT NULL,
    at      bigint NOT NULL,
    PRIMARY KEY (space, owner, key)
);
CREATE INDEX request_at ON request (space, owner, at);

ALTER TABLE request ENABLE ROW LEVEL SECURITY;
ALTER TABLE request FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON request TO episodic_app;
CREATE POLICY own ON request TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
