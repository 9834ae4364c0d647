-- What language models cost a scope on a day (days since 1970, UTC), by stage and model. By owner, not only by
-- space: writers of different users never wait for each other, and a cluster keeps it beside their other rows.
CREATE TABLE usage (
    space              bigint NOT NULL,
    owner              bigint NOT NULL,
    day                integer NOT NULL,
    stage              text NOT NULL,
    model              text NOT NULL,
    calls              bigint NOT NULL,
    failures           bigint NOT NULL,
    prompt_tokens      bigint NOT NULL,
    completion_tokens  bigint NOT NULL,
    microseconds       bigint NOT NULL,
    PRIMARY KEY (space, owner, day, stage, model)
) WITH (fillfactor = 70);

-- As `scope` and `job` it may be looked at over a whole space, with `episodic.owner` set to '': a budget is the
-- space's.
ALTER TABLE usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE usage FORCE ROW LEVEL SECURITY;
GRANT SELECT, INSERT, UPDATE, DELETE ON usage TO episodic_app;
CREATE POLICY own ON usage TO episodic_app
    USING (space = current_setting('episodic.space')::bigint
        AND owner = coalesce(nullif(current_setting('episodic.owner'), '')::bigint, owner));
