-- Facts (`core/facts`). `number` is their reference in the index and is never given twice; `slot` and `matter` are
-- hashes of what a fact bears on (`group_of`); `invalid_at` is null while nothing has ended it; times are microseconds
-- since 1970 UTC. `body` holds what no question is asked by.
CREATE TABLE fact (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    scope       INTEGER NOT NULL REFERENCES scope (number),
    id          BLOB NOT NULL,
    subject     TEXT NOT NULL,
    attribute   TEXT NOT NULL,
    value       TEXT NOT NULL,
    slot        BLOB NOT NULL,
    matter      BLOB NOT NULL,
    valid_at    INTEGER NOT NULL,
    invalid_at  INTEGER,
    body        TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX fact_slot ON fact (scope, slot, matter);
CREATE INDEX fact_time ON fact (scope, valid_at, id);
CREATE INDEX fact_current ON fact (scope, valid_at, id) WHERE invalid_at IS NULL;

-- The words a fact rests on, in the order of event time: where they were said, and what they were read as.
CREATE TABLE fact_evidence (
    fact         INTEGER NOT NULL REFERENCES fact (number),
    place        INTEGER NOT NULL,
    scope        INTEGER NOT NULL REFERENCES scope (number),
    observation  BLOB NOT NULL,
    body         TEXT NOT NULL,
    PRIMARY KEY (fact, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_observation ON fact_evidence (scope, observation);

-- Ids of facts whose evidence others hold now: `now` is the holder's.
CREATE TABLE fact_move (
    scope  INTEGER NOT NULL REFERENCES scope (number),
    id     BLOB NOT NULL,
    now    BLOB NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_holder ON fact_move (scope, now);

-- What somebody deleted and the same words must not teach again: `mark` is a hash of what they were read as.
CREATE TABLE fact_tombstone (
    scope        INTEGER NOT NULL REFERENCES scope (number),
    observation  BLOB NOT NULL,
    mark         TEXT NOT NULL,
    deleted_at   INTEGER NOT NULL,
    PRIMARY KEY (scope, observation, mark)
) STRICT, WITHOUT ROWID;

-- Episodes that facts are still to be drawn from. Those that have been cost nothing here.
CREATE INDEX episode_pending ON episode (scope, created_at, id)
    WHERE kind = 'event' AND generation_to IS NULL AND consolidated_at IS NULL AND encoding_version > 0;
