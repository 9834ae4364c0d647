-- A message that was edited since has a kind of mark of its own: it hides that message and nothing around it, where
-- a suppression hides an episode as a whole. Imports of before suppressed such messages, by this reason.
CREATE TABLE marked (
    scope      INTEGER NOT NULL REFERENCES scope (number),
    kind       TEXT NOT NULL CHECK (kind IN ('pinned', 'suppressed', 'archived', 'edited')),
    first_ref  INTEGER NOT NULL,
    last_ref   INTEGER NOT NULL,
    at         INTEGER NOT NULL,
    reason     TEXT NOT NULL,
    PRIMARY KEY (scope, kind, first_ref)
) STRICT, WITHOUT ROWID;
INSERT INTO marked SELECT * FROM span_mark;
UPDATE marked SET kind = 'edited', reason = ''
WHERE kind = 'suppressed' AND first_ref = last_ref AND reason = 'edited since';
DROP TABLE span_mark;
ALTER TABLE marked RENAME TO span_mark;
