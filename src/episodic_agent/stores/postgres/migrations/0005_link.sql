-- Threads that belong together (seed 002, section 2): `later` goes on with `earlier`, both numbers of threads. A link
-- that was taken back stays as a tombstone.
CREATE TABLE link (
    space        bigint NOT NULL,
    owner        bigint NOT NULL,
    later        integer NOT NULL,
    earlier      integer NOT NULL,
    at           bigint NOT NULL,
    basis        text NOT NULL,
    label        text NOT NULL,
    decision     bytea,
    unlinked_at  bigint,
    PRIMARY KEY (space, owner, later, earlier)
);
CREATE INDEX link_earlier ON link (space, owner, earlier);

-- The cross-thread episode a thread is in: one at most, so that two never overlap.
CREATE TABLE joined (
    space    bigint NOT NULL,
    owner    bigint NOT NULL,
    thread   integer NOT NULL,
    episode  bytea NOT NULL,
    PRIMARY KEY (space, owner, thread)
);
CREATE INDEX joined_episode ON joined (space, owner, episode);

-- Boundaries, by far the most, are looked up by their subject; what is tuned is looked up by its type.
CREATE INDEX decision_type ON decision (space, owner, type, at, id) WHERE type <> 'boundary';

ALTER TABLE link ENABLE ROW LEVEL SECURITY;
ALTER TABLE link FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON link TO episodic_app;
CREATE POLICY own ON link TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
ALTER TABLE joined ENABLE ROW LEVEL SECURITY;
ALTER TABLE joined FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON joined TO episodic_app;
CREATE POLICY own ON joined TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
