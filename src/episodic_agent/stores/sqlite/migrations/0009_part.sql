-- Parts of threads, which are compacted one by one (`core/compaction`); the span and the words of one are those of
-- its primary episode. Threads stored before have none until they go on, are compacted, or `doctor --repair`.
CREATE TABLE part (
    scope              INTEGER NOT NULL REFERENCES scope (number),
    thread             INTEGER NOT NULL REFERENCES thread (number),
    first_seq          INTEGER NOT NULL,
    episode            BLOB NOT NULL,
    first_at           INTEGER NOT NULL,
    turns_before       INTEGER NOT NULL,
    opened_for         TEXT NOT NULL,
    ended              INTEGER NOT NULL,
    grown              INTEGER NOT NULL,
    triggered_by       TEXT NOT NULL,
    compacted_through  INTEGER,
    compacted_at       INTEGER,
    PRIMARY KEY (scope, thread, first_seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX part_grown ON part (scope, first_at, thread) WHERE grown;
CREATE INDEX part_compacted ON part (scope, first_at) WHERE compacted_through IS NOT NULL;
