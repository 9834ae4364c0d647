-- Whoever erases also sweeps what the migration before this one made, from PostgreSQL 17 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON request TO episodic_app';
    END IF;
END
$$;
