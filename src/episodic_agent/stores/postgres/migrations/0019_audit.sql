-- Who did what to a user's memory, a row for a call or a piece of work (docs/privacy.md): ids and numbers, no words.
-- `by` is [face, key, role, cause]; `number` tells rows of one moment apart.
CREATE TABLE audit (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    at      bigint NOT NULL,
    number  bigint NOT NULL,
    kind    text NOT NULL,
    verb    text NOT NULL,
    thing   text NOT NULL,
    subject bytea,
    counts  text NOT NULL,
    note    text NOT NULL,
    by      text NOT NULL,
    PRIMARY KEY (space, owner, at, number)
);

ALTER TABLE audit ENABLE ROW LEVEL SECURITY;
ALTER TABLE audit FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON audit TO episodic_app;
CREATE POLICY own ON audit TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

-- Whoever erases also sweeps it, from PostgreSQL 17 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON audit TO episodic_app';
    END IF;
END
$$;

-- Who erased: '' of what was erased before this was kept.
ALTER TABLE erasure ADD COLUMN by text NOT NULL DEFAULT '';
