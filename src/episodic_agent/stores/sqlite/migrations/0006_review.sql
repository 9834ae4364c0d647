-- What was recalled for a thread and waits to be judged by what is said there next: `after` is the seq from which on.
-- `shown` are the ids of the episodes in the order they were shown, as JSON.
CREATE TABLE pending_review (
    scope   INTEGER NOT NULL REFERENCES scope (number),
    id      BLOB NOT NULL,
    thread  INTEGER NOT NULL REFERENCES thread (number),
    after   INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    query   TEXT NOT NULL,
    policy  TEXT NOT NULL,
    shown   TEXT NOT NULL,
    PRIMARY KEY (scope, thread, after, id)
) STRICT, WITHOUT ROWID;
