-- What the work for a turn took (docs/tracing.md): for the observations `first_ref..last_ref` of one thread, when it
-- began and the packed span. Old rows are dropped by `at`. No reference to `scope` or `thread`: writers of one scope
-- share no row.
CREATE TABLE work (
    space      bigint NOT NULL,
    owner      bigint NOT NULL,
    first_ref  bigint NOT NULL,
    at         bigint NOT NULL,
    name       text NOT NULL,
    last_ref   bigint NOT NULL,
    body       text NOT NULL,
    PRIMARY KEY (space, owner, first_ref, at, name)
);
CREATE INDEX work_at ON work (space, owner, at);

ALTER TABLE work ENABLE ROW LEVEL SECURITY;
ALTER TABLE work FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON work TO episodic_app;
CREATE POLICY own ON work TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
