-- The first schema. Times are int64 microseconds since 1970 UTC; ids are 16 bytes; JSON is text.
-- Every key begins with (space, owner), hashes of the names the table `scope` keeps; `owner` is what a
-- cluster distributes by. No sequences, no triggers, no reference from one owner's rows to another's.

CREATE TABLE scope (
    space     bigint NOT NULL,
    owner     bigint NOT NULL,
    name      text   NOT NULL,
    user_id   text   NOT NULL,
    threads   integer NOT NULL,  -- numbers given so far; updated only when a thread begins
    PRIMARY KEY (space, owner)
);

-- `number` is never given twice in a scope, so that an index reference (number << 32 | seq) names one
-- document for ever.
CREATE TABLE thread (
    space             bigint NOT NULL,
    owner             bigint NOT NULL,
    number            integer NOT NULL CHECK (number > 0),
    id                bytea NOT NULL,
    origin            text NOT NULL,
    title             text,
    status            text NOT NULL,
    modality          text NOT NULL,
    channels          text NOT NULL,
    generation        integer NOT NULL,
    created_at        bigint NOT NULL,
    last_activity_at  bigint NOT NULL,
    PRIMARY KEY (space, owner, number),
    UNIQUE (space, owner, id),
    UNIQUE (space, owner, origin),
    FOREIGN KEY (space, owner) REFERENCES scope (space, owner)
) WITH (fillfactor = 80);
CREATE INDEX thread_activity ON thread (space, owner, last_activity_at DESC, id);

-- One row a thread, rewritten by every append: room on its page lets the new version stay there.
CREATE TABLE frame (
    space             bigint NOT NULL,
    owner             bigint NOT NULL,
    thread            integer NOT NULL,
    policy            text NOT NULL,
    embedder          text NOT NULL,
    next_seq          bigint NOT NULL,
    first_seq         bigint NOT NULL,
    cursor            bigint NOT NULL,
    state             bytea NOT NULL,
    question          bytea,
    last_received_at  bigint,
    version           bigint NOT NULL,
    PRIMARY KEY (space, owner, thread),
    FOREIGN KEY (space, owner, thread) REFERENCES thread (space, owner, number)
) WITH (fillfactor = 50);

-- ref = thread number << 32 | seq. `data` holds the rarer fields.
-- No reference to `scope`: each append would lock its row, and writers of one scope share nothing else.
CREATE TABLE observation (
    space        bigint NOT NULL,
    owner        bigint NOT NULL,
    ref          bigint NOT NULL,
    id           bytea NOT NULL,
    at           bigint NOT NULL,
    received_at  bigint NOT NULL,
    at_source    text NOT NULL,
    utc_offset   integer,
    kind         text NOT NULL,
    actor        text NOT NULL,
    channel      text,
    external_id  text,
    text         text,
    data         text,
    erased_at    bigint,
    PRIMARY KEY (space, owner, ref),
    UNIQUE (space, owner, id)
);
CREATE INDEX observation_time ON observation (space, owner, at) WHERE erased_at IS NULL;

-- The packed record of the boundary check. Apart from the observation, which is never rewritten: an update
-- would copy the text.
CREATE TABLE verdict (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    ref    bigint NOT NULL,
    cues   bytea NOT NULL,
    PRIMARY KEY (space, owner, ref)
);

-- How often each speaker spoke, by thread: writers of different threads never wait for each other.
CREATE TABLE actor (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    thread  integer NOT NULL,
    name    text NOT NULL,
    spoke   bigint NOT NULL,
    PRIMARY KEY (space, owner, thread, name)
) WITH (fillfactor = 70);

CREATE TABLE episode (
    space              bigint NOT NULL,
    owner              bigint NOT NULL,
    id                 bytea NOT NULL,
    thread             integer NOT NULL,
    kind               text NOT NULL,
    state              text NOT NULL,
    first_seq          bigint NOT NULL,
    last_seq           bigint NOT NULL,
    generation_from    integer NOT NULL,
    generation_to      integer,
    start_at           bigint NOT NULL,
    end_at             bigint NOT NULL,
    created_at         bigint NOT NULL,
    reason             text NOT NULL,
    surprise           double precision NOT NULL,
    stability          double precision NOT NULL,
    difficulty         double precision NOT NULL,
    last_reviewed_at   bigint NOT NULL,
    consolidated_at    bigint,
    decision_id        bytea,
    parent_episode_id  bytea,
    metadata           text,
    encoding_version   integer NOT NULL,
    PRIMARY KEY (space, owner, id),
    FOREIGN KEY (space, owner, thread) REFERENCES thread (space, owner, number)
) WITH (fillfactor = 80);
-- Two current event episodes of a thread never begin at the same observation (invariant I1).
CREATE UNIQUE INDEX episode_cover ON episode (space, owner, thread, first_seq)
    WHERE kind = 'event' AND generation_to IS NULL;
CREATE INDEX episode_recent ON episode (space, owner, end_at DESC, id)
    WHERE kind = 'event' AND generation_to IS NULL;
CREATE INDEX episode_thread ON episode (space, owner, thread, generation_from, first_seq);

CREATE TABLE encoding (
    space       bigint NOT NULL,
    owner       bigint NOT NULL,
    episode     bytea NOT NULL,
    version     integer NOT NULL,
    title       text NOT NULL,
    summary     text NOT NULL,
    metadata    text NOT NULL,
    encoded_by  text NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (space, owner, episode, version),
    FOREIGN KEY (space, owner, episode) REFERENCES episode (space, owner, id)
);

CREATE TABLE decision (
    space    bigint NOT NULL,
    owner    bigint NOT NULL,
    id       bytea NOT NULL,
    type     text NOT NULL,
    subject  bytea NOT NULL,
    at       bigint NOT NULL,
    policy   text NOT NULL,
    outcome  text,
    body     text NOT NULL,
    PRIMARY KEY (space, owner, id)
);
CREATE INDEX decision_subject ON decision (space, owner, subject, at);

-- Who makes vectors, small and shared by all: a cluster keeps a copy on every node.
CREATE TABLE embedder (
    number  smallint NOT NULL PRIMARY KEY,
    name    text NOT NULL,
    width   integer NOT NULL,
    UNIQUE (name, width)
);

-- A document's own list of its terms, each an 8-byte hash: what must be taken away with it.
CREATE TABLE document (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    kind    "char" NOT NULL,
    ref     bigint NOT NULL,
    length  integer NOT NULL,
    terms   bytea NOT NULL,
    PRIMARY KEY (space, owner, kind, ref)
);

-- How many documents there are and how long they are together, by thread (see `actor`).
CREATE TABLE total (
    space      bigint NOT NULL,
    owner      bigint NOT NULL,
    kind       "char" NOT NULL,
    thread     integer NOT NULL,
    documents  bigint NOT NULL,
    length     bigint NOT NULL,
    PRIMARY KEY (space, owner, kind, thread)
) WITH (fillfactor = 50);

-- The inverted index. `term` is the hash of kind and word. Everything a score needs stands in the index
-- itself, a term's postings side by side. Reading the index alone takes pages known to be visible to all, so
-- vacuum comes when a fiftieth of the table is new, not a fifth.
CREATE TABLE posting (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    term    bigint NOT NULL,
    ref     bigint NOT NULL,
    length  integer NOT NULL,
    count   integer NOT NULL,
    PRIMARY KEY (space, owner, term, ref) INCLUDE (length, count)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);

-- Vectors twice: float32 to score with, unit vectors as halfvec in a narrow table to scan. Vectors stay on
-- their row's page as long as it has room for two.
CREATE TABLE embedding (
    space     bigint NOT NULL,
    owner     bigint NOT NULL,
    embedder  smallint NOT NULL,
    kind      "char" NOT NULL,
    ref       bigint NOT NULL,
    chunk     smallint NOT NULL,
    v         bytea NOT NULL,
    PRIMARY KEY (space, owner, embedder, kind, ref, chunk)
) WITH (toast_tuple_target = 4080);
ALTER TABLE embedding ALTER v SET STORAGE EXTERNAL;
CREATE TABLE coarse (
    space     bigint NOT NULL,
    owner     bigint NOT NULL,
    embedder  smallint NOT NULL,
    kind      "char" NOT NULL,
    ref       bigint NOT NULL,
    chunk     smallint NOT NULL,
    v         halfvec NOT NULL,
    PRIMARY KEY (space, owner, embedder, kind, ref, chunk)
) WITH (toast_tuple_target = 4080, autovacuum_vacuum_insert_scale_factor = 0.02);
-- A scope's rows lie scattered among those of all others; in this index they lie side by side. An entry has
-- room for 1,300 dimensions; longer vectors are read from the rows.
CREATE INDEX coarse_scan ON coarse (space, owner, embedder, kind, ref) INCLUDE (chunk, v)
    WHERE vector_dims(v) <= 1300;

-- Later work. Names itself whose it is, so that a claim over all spaces reads no other table.
CREATE TABLE job (
    space        bigint NOT NULL,
    owner        bigint NOT NULL,
    id           bytea NOT NULL,
    name         text NOT NULL,
    user_id      text NOT NULL,
    kind         text NOT NULL,
    key          text NOT NULL,
    serial       text NOT NULL,
    state        text NOT NULL CHECK (state IN ('waiting', 'leased', 'dead')),
    run_after    bigint NOT NULL,
    asked_at     bigint NOT NULL,
    attempts     integer NOT NULL,
    token        bigint NOT NULL,
    lease_owner  text,
    lease_until  bigint,
    last_error   text,
    PRIMARY KEY (space, owner, id)
) WITH (fillfactor = 70);
CREATE UNIQUE INDEX job_waiting ON job (space, owner, kind, key) WHERE state = 'waiting';
-- Nothing of a serial is done by two workers at once, whatever they believe.
CREATE UNIQUE INDEX job_leased ON job (space, owner, serial) WHERE state = 'leased';
CREATE INDEX job_due ON job (run_after, asked_at) WHERE state = 'waiting';
CREATE INDEX job_turn ON job (space, owner, run_after, asked_at) WHERE state = 'waiting';

-- Row-level security, on the owner of the tables too. Plain equations: the planner checks them once a
-- statement where the WHERE names the same keys, and finds the index where a WHERE was forgotten. A
-- transaction that named no space or owner gets an error, not an empty answer. Only `scope` and `job` may be
-- looked at over a whole space, with `episodic.owner` set to ''.
DO $$
DECLARE
    name text;
BEGIN
    FOR name IN
        SELECT tablename FROM pg_tables WHERE schemaname = current_schema() AND tablename <> 'embedder'
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        CONTINUE WHEN name = 'migration';
        -- A scope the statistics do not know yet is read from end to end where a key would do.
        EXECUTE format('ALTER TABLE %I SET (autovacuum_analyze_scale_factor = 0.02)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO episodic_app', name);
        EXECUTE format(
            'CREATE POLICY own ON %I TO episodic_app'
            ' USING (space = current_setting(''episodic.space'')::bigint AND %s)',
            name,
            CASE WHEN name IN ('scope', 'job')
                THEN 'owner = coalesce(nullif(current_setting(''episodic.owner''), '''')::bigint, owner)'
                ELSE 'owner = current_setting(''episodic.owner'')::bigint'
            END
        );
    END LOOP;
END
$$;
GRANT USAGE ON SCHEMA episodic TO episodic_app, episodic_worker;
GRANT SELECT ON migration TO episodic_app, episodic_worker;
CREATE POLICY everyone ON migration FOR SELECT USING (true);
GRANT SELECT, INSERT ON embedder TO episodic_app;
ALTER TABLE embedder ENABLE ROW LEVEL SECURITY;
ALTER TABLE embedder FORCE ROW LEVEL SECURITY;
CREATE POLICY everyone ON embedder TO episodic_app USING (true);

-- A worker finds and leases the jobs of every space; what it does for them it does as their own `episodic_app`.
GRANT SELECT, INSERT, UPDATE, DELETE ON job TO episodic_worker;
CREATE POLICY work ON job TO episodic_worker USING (true);
GRANT SELECT ON scope TO episodic_worker;
CREATE POLICY work ON scope FOR SELECT TO episodic_worker USING (true);
