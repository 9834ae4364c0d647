-- Who did what to a user's memory, a row for a call or a piece of work (docs/privacy.md): ids and numbers, no words.
-- `by` is [face, key, role, cause]; `number` tells rows of one moment apart.
CREATE TABLE audit (
    scope   INTEGER NOT NULL REFERENCES scope (number),
    at      INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    kind    TEXT NOT NULL,
    verb    TEXT NOT NULL,
    thing   TEXT NOT NULL,
    subject BLOB,
    counts  TEXT NOT NULL,
    note    TEXT NOT NULL,
    by      TEXT NOT NULL,
    PRIMARY KEY (scope, at, number)
) STRICT, WITHOUT ROWID;

-- Who erased: "" of what was erased before this was kept.
ALTER TABLE erasure ADD COLUMN by TEXT NOT NULL DEFAULT '';
