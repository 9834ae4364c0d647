-- What thread resolution (seed 002, section 1.2) reads and leaves. `timeout` is the thread's own, in
-- microseconds; `selected_at` is when its user chose it last, in event time; `turns` counts user messages.

ALTER TABLE thread ADD COLUMN explicit INTEGER NOT NULL DEFAULT 0;
ALTER TABLE thread ADD COLUMN timeout INTEGER;
ALTER TABLE thread ADD COLUMN closed_for TEXT NOT NULL DEFAULT '';
ALTER TABLE thread ADD COLUMN selected_at INTEGER;
ALTER TABLE thread ADD COLUMN turns INTEGER NOT NULL DEFAULT 0;
CREATE INDEX thread_begun ON thread (scope, created_at);

UPDATE thread SET explicit = 1 WHERE origin NOT LIKE 'channel:%';
UPDATE thread SET turns = (
    SELECT count(*) FROM observation o
    WHERE o.ref BETWEEN thread.number << 32 AND (thread.number << 32) + 4294967295
      AND o.kind = 'message'
      AND lower(o.actor) NOT IN ('assistant', 'ai', 'bot', 'agent', 'model', 'system', 'tool', 'function', 'developer')
);

-- A user's own timeouts, by channel ('' for all); microseconds.
CREATE TABLE timeout (
    scope    INTEGER NOT NULL REFERENCES scope (number),
    channel  TEXT NOT NULL,
    lasts    INTEGER NOT NULL,
    PRIMARY KEY (scope, channel)
) STRICT, WITHOUT ROWID;
