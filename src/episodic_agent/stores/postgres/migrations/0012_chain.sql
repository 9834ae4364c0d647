-- Links of episodes that were taken back (docs/chains.md): neither the parent nor the rest of its chain is proposed
-- again. `at` is record time.
CREATE TABLE chain_refusal (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    child   bytea NOT NULL,
    parent  bytea NOT NULL,
    at      bigint NOT NULL,
    by      text NOT NULL,
    PRIMARY KEY (space, owner, child, parent)
);
CREATE INDEX chain_refusal_parent ON chain_refusal (space, owner, parent);

-- What episodes are about, inverted: written again with each encoding, never exported. `value` is folded; in bytes'
-- order, so that the answer is that of a file.
CREATE TABLE metadata_term (
    space    bigint NOT NULL,
    owner    bigint NOT NULL,
    field    text COLLATE "C" NOT NULL,
    value    text COLLATE "C" NOT NULL,
    episode  bytea NOT NULL,
    PRIMARY KEY (space, owner, field, value, episode)
);
CREATE INDEX metadata_term_episode ON metadata_term (space, owner, episode);

CREATE INDEX episode_parent ON episode (space, owner, parent_episode_id) WHERE parent_episode_id IS NOT NULL;
CREATE INDEX episode_primary ON episode (space, owner, end_at DESC, id) WHERE kind = 'primary';

ALTER TABLE chain_refusal ENABLE ROW LEVEL SECURITY;
ALTER TABLE chain_refusal FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON chain_refusal TO episodic_app;
CREATE POLICY own ON chain_refusal TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE metadata_term ENABLE ROW LEVEL SECURITY;
ALTER TABLE metadata_term FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON metadata_term TO episodic_app;
CREATE POLICY own ON metadata_term TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

-- Whoever erases also sweeps, from PostgreSQL 17 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON chain_refusal, metadata_term TO episodic_app';
    END IF;
END
$$;
