-- What thread resolution (seed 002, section 1.2) reads and leaves. `timeout` is the thread's own, in
-- microseconds; `selected_at` is when its user chose it last, in event time; `turns` counts user messages.

ALTER TABLE thread ADD COLUMN explicit boolean NOT NULL DEFAULT false;
ALTER TABLE thread ADD COLUMN timeout bigint;
ALTER TABLE thread ADD COLUMN closed_for text NOT NULL DEFAULT '';
ALTER TABLE thread ADD COLUMN selected_at bigint;
ALTER TABLE thread ADD COLUMN turns bigint NOT NULL DEFAULT 0;
CREATE INDEX thread_begun ON thread (space, owner, created_at);

-- Their owner may read and write all rows for a moment; the policies are only for the application.
ALTER TABLE thread NO FORCE ROW LEVEL SECURITY;
ALTER TABLE observation NO FORCE ROW LEVEL SECURITY;
UPDATE thread SET explicit = true WHERE origin NOT LIKE 'channel:%';
UPDATE thread SET turns = (
    SELECT count(*) FROM observation o
    WHERE o.space = thread.space AND o.owner = thread.owner
      AND o.ref BETWEEN thread.number::bigint << 32 AND (thread.number::bigint << 32) + 4294967295
      AND o.kind = 'message'
      AND lower(o.actor) NOT IN ('assistant', 'ai', 'bot', 'agent', 'model', 'system', 'tool', 'function', 'developer')
);
ALTER TABLE thread FORCE ROW LEVEL SECURITY;
ALTER TABLE observation FORCE ROW LEVEL SECURITY;

-- A user's own timeouts, by channel ('' for all); microseconds.
CREATE TABLE timeout (
    space    bigint NOT NULL,
    owner    bigint NOT NULL,
    channel  text NOT NULL,
    lasts    bigint NOT NULL,
    PRIMARY KEY (space, owner, channel)
);

ALTER TABLE timeout ENABLE ROW LEVEL SECURITY;
ALTER TABLE timeout FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON timeout TO episodic_app;
CREATE POLICY own ON timeout TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
