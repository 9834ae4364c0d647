-- Idempotency keys of a day (docs/http.md): SHA-256 of the key, and of the batch that came with it.
CREATE TABLE request (
    scope   INTEGER NOT NULL REFERENCES scope (number),
    key     BLOB NOT NULL,
    digest  BLOB NOT NULL,
    at      INTEGER NOT NULL,
    PRIMARY KEY (scope, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX request_at ON request (scope, at);
