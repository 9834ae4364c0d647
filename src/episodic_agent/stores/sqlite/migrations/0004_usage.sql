-- What language models cost a scope on a day (days since 1970, UTC), by stage and model.
CREATE TABLE usage (
    scope              INTEGER NOT NULL REFERENCES scope (number),
    day                INTEGER NOT NULL,
    stage              TEXT NOT NULL,
    model              TEXT NOT NULL,
    calls              INTEGER NOT NULL,
    failures           INTEGER NOT NULL,
    prompt_tokens      INTEGER NOT NULL,
    completion_tokens  INTEGER NOT NULL,
    microseconds       INTEGER NOT NULL,
    PRIMARY KEY (scope, day, stage, model)
) STRICT, WITHOUT ROWID;
