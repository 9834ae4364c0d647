-- Threads that belong together (seed 002, section 2): `later` goes on with `earlier`, both numbers of threads. A link
-- that was taken back stays as a tombstone.
CREATE TABLE link (
    scope        INTEGER NOT NULL REFERENCES scope (number),
    later        INTEGER NOT NULL REFERENCES thread (number),
    earlier      INTEGER NOT NULL REFERENCES thread (number),
    at           INTEGER NOT NULL,
    basis        TEXT NOT NULL,
    label        TEXT NOT NULL,
    decision     BLOB,
    unlinked_at  INTEGER,
    PRIMARY KEY (scope, later, earlier)
) STRICT, WITHOUT ROWID;
CREATE INDEX link_earlier ON link (scope, earlier);

-- The cross-thread episode a thread is in: one at most, so that two never overlap.
CREATE TABLE joined (
    scope    INTEGER NOT NULL REFERENCES scope (number),
    thread   INTEGER NOT NULL REFERENCES thread (number),
    episode  BLOB NOT NULL,
    PRIMARY KEY (scope, thread)
) STRICT, WITHOUT ROWID;
CREATE INDEX joined_episode ON joined (scope, episode);

-- Boundaries, by far the most, are looked up by their subject; what is tuned is looked up by its type.
CREATE INDEX decision_type ON decision (scope, type, at, id) WHERE type <> 'boundary';
