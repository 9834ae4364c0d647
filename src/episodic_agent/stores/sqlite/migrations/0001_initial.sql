-- The first schema. Times are int64 microseconds since 1970 UTC; ids are 16 bytes; JSON is text.
-- Every row belongs to one scope: by `scope`, or through its thread, stream or episode of that scope.

CREATE TABLE scope (
    number   INTEGER PRIMARY KEY AUTOINCREMENT,
    space    TEXT NOT NULL,
    user_id  TEXT NOT NULL,
    UNIQUE (space, user_id)
) STRICT;

-- `number` is never given twice, so that an index reference (number << 32 | seq) names one document for ever.
CREATE TABLE thread (
    number            INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number < 1 << 31),
    scope             INTEGER NOT NULL REFERENCES scope (number),
    id                BLOB NOT NULL,
    origin            TEXT NOT NULL,
    title             TEXT,
    status            TEXT NOT NULL,
    modality          TEXT NOT NULL,
    channels          TEXT NOT NULL,
    generation        INTEGER NOT NULL,
    created_at        INTEGER NOT NULL,
    last_activity_at  INTEGER NOT NULL,
    UNIQUE (scope, id),
    UNIQUE (scope, origin)
) STRICT;
CREATE INDEX thread_activity ON thread (scope, last_activity_at DESC, id);

CREATE TABLE frame (
    thread            INTEGER PRIMARY KEY REFERENCES thread (number),
    scope             INTEGER NOT NULL REFERENCES scope (number),
    policy            TEXT NOT NULL,
    embedder          TEXT NOT NULL,
    next_seq          INTEGER NOT NULL,
    first_seq         INTEGER NOT NULL,
    cursor            INTEGER NOT NULL,
    state             BLOB NOT NULL,
    question          BLOB,
    last_received_at  INTEGER,
    version           INTEGER NOT NULL
) STRICT;

-- ref = thread number << 32 | seq: a thread's observations lie side by side in the file.
-- `data` holds the rarer fields; `cues` the packed record of the boundary check.
CREATE TABLE observation (
    ref          INTEGER PRIMARY KEY,
    scope        INTEGER NOT NULL REFERENCES scope (number),
    id           BLOB NOT NULL,
    at           INTEGER NOT NULL,
    received_at  INTEGER NOT NULL,
    at_source    TEXT NOT NULL,
    utc_offset   INTEGER,
    kind         TEXT NOT NULL,
    actor        TEXT NOT NULL,
    channel      TEXT,
    external_id  TEXT,
    text         TEXT,
    data         TEXT,
    cues         BLOB,
    erased_at    INTEGER,
    UNIQUE (scope, id)
) STRICT;
CREATE INDEX observation_time ON observation (scope, at) WHERE erased_at IS NULL;

-- How often each speaker spoke: counting the observations of a large scope at every recall is too slow.
CREATE TABLE actor (
    scope  INTEGER NOT NULL REFERENCES scope (number),
    name   TEXT NOT NULL,
    spoke  INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE episode (
    scope              INTEGER NOT NULL REFERENCES scope (number),
    id                 BLOB NOT NULL,
    thread             INTEGER NOT NULL REFERENCES thread (number),
    kind               TEXT NOT NULL,
    state              TEXT NOT NULL,
    first_seq          INTEGER NOT NULL,
    last_seq           INTEGER NOT NULL,
    generation_from    INTEGER NOT NULL,
    generation_to      INTEGER,
    start_at           INTEGER NOT NULL,
    end_at             INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    reason             TEXT NOT NULL,
    surprise           REAL NOT NULL,
    stability          REAL NOT NULL,
    difficulty         REAL NOT NULL,
    last_reviewed_at   INTEGER NOT NULL,
    consolidated_at    INTEGER,
    decision_id        BLOB,
    parent_episode_id  BLOB,
    metadata           TEXT,
    encoding_version   INTEGER NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
-- Two current event episodes of a thread never begin at the same observation (invariant I1).
CREATE UNIQUE INDEX episode_cover ON episode (scope, thread, first_seq)
    WHERE kind = 'event' AND generation_to IS NULL;
CREATE INDEX episode_recent ON episode (scope, end_at DESC, id)
    WHERE kind = 'event' AND generation_to IS NULL;
CREATE INDEX episode_thread ON episode (scope, thread, generation_from, first_seq);

CREATE TABLE encoding (
    scope       INTEGER NOT NULL,
    episode     BLOB NOT NULL,
    version     INTEGER NOT NULL,
    title       TEXT NOT NULL,
    summary     TEXT NOT NULL,
    metadata    TEXT NOT NULL,
    encoded_by  TEXT NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (scope, episode, version),
    FOREIGN KEY (scope, episode) REFERENCES episode (scope, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE decision (
    scope    INTEGER NOT NULL REFERENCES scope (number),
    id       BLOB NOT NULL,
    type     TEXT NOT NULL,
    subject  BLOB NOT NULL,
    at       INTEGER NOT NULL,
    policy   TEXT NOT NULL,
    outcome  TEXT,
    body     TEXT NOT NULL,
    PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX decision_subject ON decision (scope, subject, at);

-- One stream of index rows for each (kind, embedder) of a scope; the words' stream has embedder ''.
-- `last` numbers the rows in commit order, `epoch` grows when rows are taken away: from the two a process
-- knows how to bring its copy in memory up to date.
CREATE TABLE stream (
    number    INTEGER PRIMARY KEY AUTOINCREMENT CHECK (number < 1 << 27),
    scope     INTEGER NOT NULL REFERENCES scope (number),
    kind      TEXT NOT NULL,
    embedder  TEXT NOT NULL,
    width     INTEGER NOT NULL,
    epoch     INTEGER NOT NULL,
    last      INTEGER NOT NULL,
    UNIQUE (scope, kind, embedder)
) STRICT;

-- n = stream number << 36 | place in the stream. A word is its 8-byte BLAKE2 hash: nothing of the text is kept twice.
CREATE TABLE document (
    n       INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL REFERENCES stream (number),
    ref     INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    terms   BLOB NOT NULL,
    counts  BLOB NOT NULL,
    UNIQUE (stream, ref)
) STRICT;

CREATE TABLE vector (
    n       INTEGER PRIMARY KEY,
    stream  INTEGER NOT NULL REFERENCES stream (number),
    ref     INTEGER NOT NULL,
    chunk   INTEGER NOT NULL,
    v       BLOB NOT NULL,
    UNIQUE (stream, ref, chunk)
) STRICT;

CREATE TABLE job (
    number       INTEGER PRIMARY KEY AUTOINCREMENT,
    scope        INTEGER NOT NULL REFERENCES scope (number),
    kind         TEXT NOT NULL,
    key          TEXT NOT NULL,
    serial       TEXT NOT NULL,
    state        TEXT NOT NULL CHECK (state IN ('waiting', 'leased', 'dead')),
    run_after    INTEGER NOT NULL,
    attempts     INTEGER NOT NULL,
    token        INTEGER NOT NULL,
    lease_owner  TEXT,
    lease_until  INTEGER,
    last_error   TEXT
) STRICT;
CREATE UNIQUE INDEX job_waiting ON job (scope, kind, key) WHERE state = 'waiting';
CREATE INDEX job_due ON job (run_after, number) WHERE state = 'waiting';
CREATE INDEX job_leased ON job (scope, serial) WHERE state = 'leased';
