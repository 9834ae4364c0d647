-- Keys of the service (docs/http.md): never the key itself, only the SHA-256 of its 256 random bits. They belong to a
-- space and to no user. `last_used_on` is a day (UTC) since 1970, which says no more than whether a key is in use.
-- Which space a request may see is read from it, so the application, which acts in one space, cannot.
CREATE TABLE api_key (
    id            text PRIMARY KEY,
    digest        bytea NOT NULL UNIQUE,
    space         text NOT NULL,
    role          text NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    created_at    bigint NOT NULL,
    last_used_on  integer,
    revoked_at    bigint
);
ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
ALTER TABLE api_key FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE ON api_key TO episodic_worker;
CREATE POLICY serving ON api_key TO episodic_worker USING (true);
