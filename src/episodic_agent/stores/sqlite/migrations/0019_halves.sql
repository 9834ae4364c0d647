-- Vectors in half precision, two bytes a number, of length 1 (core/vectors.py; `in_halves` is lent by the migration).
-- The column has another name, so that a process of an earlier version that still runs fails rather than misreads it.
CREATE TABLE halved (
    n       INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL REFERENCES stream (number),
    ref     INTEGER NOT NULL,
    chunk   INTEGER NOT NULL,
    half    BLOB NOT NULL,
    UNIQUE (stream, ref, chunk)
) STRICT;
INSERT INTO halved SELECT n, stream, ref, chunk, in_halves(v) FROM vector ORDER BY n;
DROP TABLE vector;
ALTER TABLE halved RENAME TO vector;
