-- What was erased on request, without a word of it (docs/forgetting.md). `space` and `owner` are 63-bit hashes of the
-- names, and no reference: the receipt of an erased user outlives its scope. `subject` is a hash of the name of what
-- was erased; `counts` is JSON; `state` is 'pending' while something of it may still be readable.
CREATE TABLE erasure (
    space      INTEGER NOT NULL,
    owner      INTEGER NOT NULL,
    id         BLOB NOT NULL,
    at         INTEGER NOT NULL,
    what       TEXT NOT NULL,
    subject    TEXT NOT NULL,
    reason     TEXT NOT NULL,
    counts     TEXT NOT NULL,
    state      TEXT NOT NULL CHECK (state IN ('pending', 'done')),
    done_at    INTEGER,
    residue    INTEGER,
    waits_for  TEXT NOT NULL,
    PRIMARY KEY (space, owner, id)
) STRICT, WITHOUT ROWID;

-- What is marked, as spans of observation refs (docs/forgetting.md): marks outlive a resegmentation. Spans of one kind
-- never overlap; `last_ref` of a whole thread's is the last its number allows. `at` is record time.
CREATE TABLE span_mark (
    scope      INTEGER NOT NULL REFERENCES scope (number),
    kind       TEXT NOT NULL CHECK (kind IN ('pinned', 'suppressed', 'archived')),
    first_ref  INTEGER NOT NULL,
    last_ref   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    PRIMARY KEY (scope, kind, first_ref)
) STRICT, WITHOUT ROWID;

-- Words whose observations are not shown, as they were written; `folded` is what is compared.
CREATE TABLE suppressed_words (
    scope   INTEGER NOT NULL REFERENCES scope (number),
    folded  TEXT NOT NULL,
    words   TEXT NOT NULL,
    at      INTEGER NOT NULL,
    reason  TEXT NOT NULL,
    PRIMARY KEY (scope, folded)
) STRICT, WITHOUT ROWID;

-- Observations that are to be erased at a time.
CREATE TABLE expiry (
    scope  INTEGER NOT NULL REFERENCES scope (number),
    ref    INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (scope, ref)
) STRICT, WITHOUT ROWID;
CREATE INDEX expiry_due ON expiry (scope, at, ref);

-- A user's own retention policy (NULL: the setting's), and when it was last looked at.
CREATE TABLE retention (
    scope       INTEGER PRIMARY KEY REFERENCES scope (number),
    policy      TEXT,
    checked_at  INTEGER NOT NULL
) STRICT;
