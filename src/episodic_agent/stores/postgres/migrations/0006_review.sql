-- What was recalled for a thread and waits to be judged by what is said there next: `after` is the seq from which on.
-- `shown` are the ids of the episodes in the order they were shown, as JSON.
CREATE TABLE pending_review (
    space   bigint NOT NULL,
    owner   bigint NOT NULL,
    id      bytea NOT NULL,
    thread  integer NOT NULL,
    after   bigint NOT NULL,
    at      bigint NOT NULL,
    query   text NOT NULL,
    policy  text NOT NULL,
    shown   text NOT NULL,
    PRIMARY KEY (space, owner, thread, after, id)
);

ALTER TABLE pending_review ENABLE ROW LEVEL SECURITY;
ALTER TABLE pending_review FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON pending_review TO episodic_app;
CREATE POLICY own ON pending_review TO episodic_app USING (
    space = current_setting('episodic.space')::bigint AND owner = current_setting('episodic.owner')::bigint
);
