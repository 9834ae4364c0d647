-- The words of documents in blocks (postgres/words/blocks.py) instead of a row and an index entry each: documents
-- that came last stand as rows of `document`, with their terms and counts, until they are packed into a segment of
-- blocks. A term's block is found by the first bits of its hash (`bucket`); 0 and 1 hold the segment's documents.
CREATE TABLE posting_block (
    space    bigint NOT NULL,
    owner    bigint NOT NULL,
    bucket   bigint NOT NULL,
    segment  bigint NOT NULL,
    kind     "char" NOT NULL,
    body     bytea NOT NULL,
    PRIMARY KEY (space, owner, kind, bucket, segment)
) WITH (toast_tuple_target = 4080, autovacuum_analyze_scale_factor = 0.02);
-- Hashes do not compress, and nobody asks for a block by what is in it.
ALTER TABLE posting_block ALTER body SET STORAGE EXTERNAL, ALTER body SET STATISTICS 0;
ALTER TABLE posting_block ENABLE ROW LEVEL SECURITY;
ALTER TABLE posting_block FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON posting_block TO episodic_app;
CREATE POLICY own ON posting_block TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

-- Whoever erases also sweeps it, from PostgreSQL 17 on.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON posting_block TO episodic_app';
    END IF;
END
$$;

-- How often each of a document's terms occurs, in their order: empty where each occurs once, else a byte each, or two.
ALTER TABLE document ADD counts bytea NOT NULL DEFAULT '', ALTER counts SET STATISTICS 0;
UPDATE document d SET counts = c.counts FROM (
    SELECT o.space, o.owner, o.kind, o.ref, string_agg(
        set_byte(set_byte('\x0000', 0, p.count & 255), 1, p.count >> 8), ''::bytea ORDER BY n
    ) AS counts
    FROM document o CROSS JOIN LATERAL generate_series(0, octet_length(o.terms) / 8 - 1) AS n
    JOIN posting p ON p.space = o.space AND p.owner = o.owner AND p.ref = o.ref AND p.term = (
        get_byte(o.terms, 8 * n + 7)::bit(8) || get_byte(o.terms, 8 * n + 6)::bit(8)
        || get_byte(o.terms, 8 * n + 5)::bit(8) || get_byte(o.terms, 8 * n + 4)::bit(8)
        || get_byte(o.terms, 8 * n + 3)::bit(8) || get_byte(o.terms, 8 * n + 2)::bit(8)
        || get_byte(o.terms, 8 * n + 1)::bit(8) || get_byte(o.terms, 8 * n)::bit(8)
    )::bit(64)::bigint
    GROUP BY o.space, o.owner, o.kind, o.ref HAVING max(p.count) > 1
) AS c WHERE d.space = c.space AND d.owner = c.owner AND d.kind = c.kind AND d.ref = c.ref;
DROP TABLE posting;
