-- What was done about an erasure, and where bytes of it may still lie (docs/forgetting.md).
ALTER TABLE erasure ADD COLUMN measures text NOT NULL DEFAULT '';
ALTER TABLE erasure ADD COLUMN remains text NOT NULL DEFAULT '';
UPDATE erasure SET measures = 'rows deleted, tables vacuumed',
    remains = 'freed space in the files of tables and indexes until it is reused or `episodic admin scrub` rewrites them; in the write-ahead log, replicas and backups'
    WHERE state = 'done';
UPDATE erasure SET measures = 'rows deleted' WHERE state <> 'done';

-- The planner's samples of these columns would quote what was said, in a table that no erasure reaches: none are
-- taken, and those taken before go with the change of type (to the one it has: no row is rewritten).
DO $$
DECLARE
    quoting record;
BEGIN
    FOR quoting IN
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type,
            CASE WHEN l.collname IS NULL OR l.collname = 'default' THEN '' ELSE format('COLLATE %I', l.collname) END AS sorted
        FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid LEFT JOIN pg_collation l ON l.oid = a.attcollation
        WHERE c.relnamespace = 'episodic'::regnamespace AND a.attnum > 0 AND NOT a.attisdropped
            AND (c.relname, a.attname) IN (
                ('observation', 'actor'), ('observation', 'channel'), ('observation', 'external_id'),
                ('observation', 'text'), ('observation', 'data'), ('observation', 'content_hash'), ('verdict', 'cues'),
                ('encoding', 'title'), ('encoding', 'summary'), ('encoding', 'metadata'), ('episode', 'metadata'),
                ('metadata_term', 'value'), ('decision', 'body'), ('document', 'terms'), ('embedding', 'v'), ('coarse', 'v'),
                ('fact', 'subject'), ('fact', 'attribute'), ('fact', 'value'), ('fact', 'body'), ('fact_evidence', 'body'),
                ('frame', 'state'), ('frame', 'question'), ('job', 'last_error'), ('pending_review', 'query'),
                ('skill', 'pattern'), ('skill', 'name'), ('skill', 'body'), ('span_mark', 'reason'), ('stay', 'label'),
                ('suppressed_words', 'folded'), ('suppressed_words', 'words'), ('suppressed_words', 'reason'),
                ('thread', 'title'), ('work', 'body'))
    LOOP
        IF quoting.relname <> 'coarse' THEN  -- its indexes would be made anew
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE %s %s', quoting.relname, quoting.attname, quoting.type, quoting.sorted);
        END IF;
        EXECUTE format('ALTER TABLE %I ALTER COLUMN %I SET STATISTICS 0', quoting.relname, quoting.attname);
    END LOOP;
END
$$;

-- A cluster locks the copies of a shared table as for UPDATE when one row is added. The policies let nobody update.
GRANT UPDATE ON embedder TO episodic_app;
DROP POLICY everyone ON embedder;
CREATE POLICY everyone ON embedder FOR SELECT TO episodic_app USING (true);
CREATE POLICY naming ON embedder FOR INSERT TO episodic_app WITH CHECK (true);
