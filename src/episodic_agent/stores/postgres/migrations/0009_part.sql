-- Parts of threads, which are compacted one by one (`core/compaction`); the span and the words of one are those of
-- its primary episode. Threads stored before have none until they go on, are compacted, or `doctor --repair`.
CREATE TABLE part (
    space              bigint NOT NULL,
    owner              bigint NOT NULL,
    thread             integer NOT NULL,
    first_seq          bigint NOT NULL,
    episode            bytea NOT NULL,
    first_at           bigint NOT NULL,
    turns_before       bigint NOT NULL,
    opened_for         text NOT NULL,
    ended              boolean NOT NULL,
    grown              boolean NOT NULL,
    triggered_by       text NOT NULL,
    compacted_through  bigint,
    compacted_at       bigint,
    PRIMARY KEY (space, owner, thread, first_seq)
) WITH (fillfactor = 80);
CREATE INDEX part_grown ON part (space, owner, first_at, thread) WHERE grown;
CREATE INDEX part_compacted ON part (space, owner, first_at) WHERE compacted_through IS NOT NULL;

ALTER TABLE part ENABLE ROW LEVEL SECURITY;
ALTER TABLE part FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON part TO episodic_app;
CREATE POLICY own ON part TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
