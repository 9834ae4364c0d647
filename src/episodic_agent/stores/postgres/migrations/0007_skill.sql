-- Skills, and patterns that are none yet (`core/skills`). `pattern` is the hash of what was mined, whatever it is
-- called; `number` is the reference of its words and vectors in the index; times are microseconds since 1970 UTC.
CREATE TABLE skill (
    space       bigint NOT NULL,
    owner       bigint NOT NULL,
    id          bytea NOT NULL,
    number      bigint NOT NULL,
    pattern     text NOT NULL,
    state       text NOT NULL CHECK (state IN ('candidate', 'active', 'dropped')),
    name        text NOT NULL,
    kind        text NOT NULL,
    body        text NOT NULL,
    confidence  double precision NOT NULL,
    initial     double precision NOT NULL,
    frequency   bigint NOT NULL,
    uses        bigint NOT NULL,
    successes   bigint NOT NULL,
    last_used   bigint,
    created_at  bigint NOT NULL,
    PRIMARY KEY (space, owner, id),
    UNIQUE (space, owner, number),
    UNIQUE (space, owner, pattern)
) WITH (fillfactor = 70);

-- The turns that show a skill, by the reference they begin at: what rests on the same turns is looked up here.
CREATE TABLE skill_turn (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    ref    bigint NOT NULL,
    skill  bytea NOT NULL,
    PRIMARY KEY (space, owner, ref, skill),
    FOREIGN KEY (space, owner, skill) REFERENCES skill (space, owner, id)
) WITH (autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX skill_evidence ON skill_turn (space, owner, skill, ref);

-- Episodes that nobody has looked through for skills yet, by their first reference. No reference to `scope`:
-- writers of one scope share no row.
CREATE TABLE unmined (
    space  bigint NOT NULL,
    owner  bigint NOT NULL,
    ref    bigint NOT NULL,
    PRIMARY KEY (space, owner, ref)
);

ALTER TABLE skill ENABLE ROW LEVEL SECURITY;
ALTER TABLE skill FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON skill TO episodic_app;
CREATE POLICY own ON skill TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE skill_turn ENABLE ROW LEVEL SECURITY;
ALTER TABLE skill_turn FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON skill_turn TO episodic_app;
CREATE POLICY own ON skill_turn TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);

ALTER TABLE unmined ENABLE ROW LEVEL SECURITY;
ALTER TABLE unmined FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON unmined TO episodic_app;
CREATE POLICY own ON unmined TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
