-- Where a thread was, and for how long (`core/places.py`). `place` is the 8-byte hash of the place's key as a
-- number; `label` is as first written in the stay, as JSON. What was stored before has none until `doctor --repair`.
-- No reference to `scope` or `thread`: writers of one scope share no row.
CREATE TABLE stay (
    space      bigint NOT NULL,
    owner      bigint NOT NULL,
    first_ref  bigint NOT NULL,
    last_ref   bigint NOT NULL,
    place      bigint NOT NULL,
    label      text NOT NULL,
    start_at   bigint NOT NULL,
    end_at     bigint NOT NULL,
    steps      bigint NOT NULL,
    PRIMARY KEY (space, owner, first_ref)
) WITH (fillfactor = 80, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX stay_place ON stay (space, owner, place, start_at, first_ref);

ALTER TABLE stay ENABLE ROW LEVEL SECURITY;
ALTER TABLE stay FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON stay TO episodic_app;
CREATE POLICY own ON stay TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
