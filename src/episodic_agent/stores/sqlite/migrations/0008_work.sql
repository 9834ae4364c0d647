-- What the work for a turn took (docs/tracing.md): for the observations `first_ref..last_ref` of one thread, when it
-- began and the packed span. Old rows are dropped by `at`.
CREATE TABLE work (
    scope      INTEGER NOT NULL REFERENCES scope (number),
    first_ref  INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    name       TEXT NOT NULL,
    last_ref   INTEGER NOT NULL,
    body       TEXT NOT NULL,
    PRIMARY KEY (scope, first_ref, at, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX work_at ON work (scope, at);
