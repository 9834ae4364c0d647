-- Vectors lie where they are scanned: `coarse` takes those that come, wherever it has room, until they are packed with
-- their documents' words; `coarse_packed` is written a scope's hundreds at a time, so its rows of a scope lie side by
-- side, and need no second copy in an index that carries them. What is there is packed when its scope is next used.
DROP INDEX coarse_scan;
CREATE TABLE coarse_packed (
    space     bigint NOT NULL,
    owner     bigint NOT NULL,
    ref       bigint NOT NULL,
    embedder  smallint NOT NULL,
    chunk     smallint NOT NULL,
    kind      "char" NOT NULL,
    v         halfvec NOT NULL,
    PRIMARY KEY (space, owner, embedder, kind, ref, chunk)
) WITH (toast_tuple_target = 4080, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE coarse_packed ALTER v SET STATISTICS 0;
ALTER TABLE coarse_packed ENABLE ROW LEVEL SECURITY;
ALTER TABLE coarse_packed FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON coarse_packed TO episodic_app;
CREATE POLICY own ON coarse_packed TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

DO $$
DECLARE
    near regclass;
BEGIN
    -- Whoever erases also sweeps it, from PostgreSQL 17 on.
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON coarse_packed TO episodic_app';
    END IF;
    -- Indexes of large scopes belong on the packed rows: `episodic admin index` makes them again.
    FOR near IN SELECT indexrelid::regclass FROM pg_index JOIN pg_class ON oid = indexrelid
        WHERE indrelid = 'coarse'::regclass AND relname LIKE 'coarse\_near\_%'
    LOOP
        EXECUTE format('DROP INDEX %s', near);
    END LOOP;
END
$$;
