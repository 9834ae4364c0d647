-- What was erased on request, without a word of it (docs/forgetting.md). `space` and `owner` are 63-bit hashes of the
-- names, and no reference: the receipt of an erased user outlives its scope. `subject` is a hash of the name of what
-- was erased; `counts` is JSON; `state` is 'pending' while something of it may still be readable.
CREATE TABLE erasure (
    space      bigint NOT NULL,
    owner      bigint NOT NULL,
    id         bytea NOT NULL,
    at         bigint NOT NULL,
    what       text NOT NULL,
    subject    text NOT NULL,
    reason     text NOT NULL,
    counts     text NOT NULL,
    state      text NOT NULL CHECK (state IN ('pending', 'done')),
    done_at    bigint,
    residue    bigint,
    waits_for  text NOT NULL,
    PRIMARY KEY (space, owner, id)
);

-- What is marked, as spans of observation refs (docs/forgetting.md): marks outlive a resegmentation. Spans of one kind
-- never overlap; `last_ref` of a whole thread's is the last its number allows. `at` is record time.
CREATE TABLE span_mark (
    space      bigint NOT NULL,
    owner      bigint NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('pinned', 'suppressed', 'archived')),
    first_ref  bigint NOT NULL,
    last_ref   bigint NOT NULL,
    at         bigint NOT NULL,
    reason     text NOT NULL,
    PRIMARY KEY (space, owner, kind, first_ref)
);

-- Words whose observations are not shown, as they were written; `folded` is what is compared.
CREATE TABLE suppressed_words (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    folded  text NOT NULL,
    words   text NOT NULL,
    at      bigint NOT NULL,
    reason  text NOT NULL,
    PRIMARY KEY (space, owner, folded)
);

-- Observations that are to be erased at a time.
CREATE TABLE expiry (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    ref    bigint NOT NULL,
    at     bigint NOT NULL,
    PRIMARY KEY (space, owner, ref)
);
CREATE INDEX expiry_due ON expiry (space, owner, at, ref);

-- A user's own retention policy (NULL: the setting's), and when it was last looked at.
CREATE TABLE retention (
    space       bigint NOT NULL,
    owner       bigint NOT NULL,
    policy      text,
    checked_at  bigint NOT NULL,
    PRIMARY KEY (space, owner)
) WITH (fillfactor = 70);

-- Receipts may be looked at over a whole space, as `scope` and `job` may.
ALTER TABLE erasure ENABLE ROW LEVEL SECURITY;
ALTER TABLE erasure FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON erasure TO episodic_app;
CREATE POLICY own ON erasure TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = coalesce(nullif(current_setting('episodic.owner'), '')::bigint, owner)
);

ALTER TABLE span_mark ENABLE ROW LEVEL SECURITY;
ALTER TABLE span_mark FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON span_mark TO episodic_app;
CREATE POLICY own ON span_mark TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE suppressed_words ENABLE ROW LEVEL SECURITY;
ALTER TABLE suppressed_words FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON suppressed_words TO episodic_app;
CREATE POLICY own ON suppressed_words TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE expiry ENABLE ROW LEVEL SECURITY;
ALTER TABLE expiry FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON expiry TO episodic_app;
CREATE POLICY own ON expiry TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE retention ENABLE ROW LEVEL SECURITY;
ALTER TABLE retention FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON retention TO episodic_app;
CREATE POLICY own ON retention TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

-- Whoever erases also sweeps: from PostgreSQL 17 on that right can be given.
DO $$
BEGIN
    IF current_setting('server_version_num')::int >= 170000 THEN
        EXECUTE 'GRANT MAINTAIN ON ALL TABLES IN SCHEMA episodic TO episodic_app';
    END IF;
END
$$;
