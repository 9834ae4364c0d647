-- Facts (`core/facts`). `number` is their reference in the index and is never given twice; `slot` and `matter` are
-- hashes of what a fact bears on (`group_of`); `invalid_at` is null while nothing has ended it; times are microseconds
-- since 1970 UTC. `body` holds what no question is asked by.
CREATE TABLE fact (
    space       bigint NOT NULL,
    owner       bigint NOT NULL,
    id          bytea NOT NULL,
    number      bigint NOT NULL,
    subject     text NOT NULL,
    attribute   text NOT NULL,
    value       text NOT NULL,
    slot        bytea NOT NULL,
    matter      bytea NOT NULL,
    valid_at    bigint NOT NULL,
    invalid_at  bigint,
    body        text NOT NULL,
    created_at  bigint NOT NULL,
    PRIMARY KEY (space, owner, id),
    UNIQUE (space, owner, number)
) WITH (fillfactor = 80);
CREATE INDEX fact_slot ON fact (space, owner, slot, matter);
CREATE INDEX fact_time ON fact (space, owner, valid_at, id);
CREATE INDEX fact_current ON fact (space, owner, valid_at, id) WHERE invalid_at IS NULL;

-- The last number given. Who writes facts of a scope holds its row, so that nobody else learns of the same slot
-- meanwhile; no row of `scope`, so that threads begin undisturbed.
CREATE TABLE fact_number (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    last   bigint NOT NULL,
    PRIMARY KEY (space, owner)
) WITH (fillfactor = 50);

-- The words a fact rests on, in the order of event time: where they were said, and what they were read as.
CREATE TABLE fact_evidence (
    space        bigint NOT NULL,
    owner        bigint NOT NULL,
    fact         bigint NOT NULL,
    place        bigint NOT NULL,
    observation  bytea NOT NULL,
    body         text NOT NULL,
    PRIMARY KEY (space, owner, fact, place),
    FOREIGN KEY (space, owner, fact) REFERENCES fact (space, owner, number)
) WITH (autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX fact_observation ON fact_evidence (space, owner, observation);

-- Ids of facts whose evidence others hold now: `now` is the holder's.
CREATE TABLE fact_move (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    id     bytea NOT NULL,
    now    bytea NOT NULL,
    PRIMARY KEY (space, owner, id)
);
CREATE INDEX fact_holder ON fact_move (space, owner, now);

-- What somebody deleted and the same words must not teach again: `mark` is a hash of what they were read as.
CREATE TABLE fact_tombstone (
    space        bigint NOT NULL,
    owner        bigint NOT NULL,
    observation  bytea NOT NULL,
    mark         text NOT NULL,
    deleted_at   bigint NOT NULL,
    PRIMARY KEY (space, owner, observation, mark)
);

-- Episodes that facts are still to be drawn from. Those that have been cost nothing here.
CREATE INDEX episode_pending ON episode (space, owner, created_at, id)
    WHERE kind = 'event' AND generation_to IS NULL AND consolidated_at IS NULL AND encoding_version > 0;

ALTER TABLE fact ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON fact TO episodic_app;
CREATE POLICY own ON fact TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE fact_number ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_number FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON fact_number TO episodic_app;
CREATE POLICY own ON fact_number TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE fact_evidence ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_evidence FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON fact_evidence TO episodic_app;
CREATE POLICY own ON fact_evidence TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE fact_move ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_move FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON fact_move TO episodic_app;
CREATE POLICY own ON fact_move TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE fact_tombstone ENABLE ROW LEVEL SECURITY;
ALTER TABLE fact_tombstone FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON fact_tombstone TO episodic_app;
CREATE POLICY own ON fact_tombstone TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
