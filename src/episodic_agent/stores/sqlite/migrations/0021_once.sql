-- What a fact quotes is written once (stores/fact_rows.py); bodies of before stay as they are until they are written
-- again. Decisions are rows of a table with a rowid: the bodies are long, and in an index (which a table without one is)
-- what does not fit a quarter of a page takes a page of its own.
CREATE TABLE decided (
    scope    INTEGER NOT NULL REFERENCES scope (number),
    id       BLOB NOT NULL,
    type     TEXT NOT NULL,
    subject  BLOB NOT NULL,
    at       INTEGER NOT NULL,
    policy   TEXT NOT NULL,
    outcome  TEXT,
    body     TEXT NOT NULL,
    UNIQUE (scope, id)
) STRICT;
INSERT INTO decided SELECT * FROM decision;
DROP TABLE decision;
ALTER TABLE decided RENAME TO decision;
CREATE INDEX decision_subject ON decision (scope, subject, at, id);
CREATE INDEX decision_type ON decision (scope, type, at, id) WHERE type <> 'boundary';
