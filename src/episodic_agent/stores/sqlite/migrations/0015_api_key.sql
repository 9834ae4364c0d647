-- Keys of the service (docs/http.md): never the key itself, only the SHA-256 of its 256 random bits. They belong to a
-- space and to no user. `last_used_on` is a day (UTC) since 1970, which says no more than whether a key is in use.
CREATE TABLE api_key (
    id            TEXT PRIMARY KEY,
    digest        BLOB NOT NULL UNIQUE,
    space         TEXT NOT NULL,
    role          TEXT NOT NULL CHECK (role IN ('read', 'write', 'admin')),
    created_at    INTEGER NOT NULL,
    last_used_on  INTEGER,
    revoked_at    INTEGER
) STRICT, WITHOUT ROWID;
