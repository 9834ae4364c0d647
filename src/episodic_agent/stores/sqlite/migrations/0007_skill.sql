-- Skills, and patterns that are none yet (`core/skills`). `pattern` is the hash of what was mined, whatever it is
-- called; `number` is the reference of its words and vectors in the index; times are microseconds since 1970 UTC.
CREATE TABLE skill (
    scope       INTEGER NOT NULL REFERENCES scope (number),
    id          BLOB NOT NULL,
    number      INTEGER NOT NULL,
    pattern     TEXT NOT NULL,
    state       TEXT NOT NULL CHECK (state IN ('candidate', 'active', 'dropped')),
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    body        TEXT NOT NULL,
    confidence  REAL NOT NULL,
    initial     REAL NOT NULL,
    frequency   INTEGER NOT NULL,
    uses        INTEGER NOT NULL,
    successes   INTEGER NOT NULL,
    last_used   INTEGER,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (scope, id),
    UNIQUE (scope, number),
    UNIQUE (scope, pattern)
) STRICT, WITHOUT ROWID;

-- The turns that show a skill, by the reference they begin at: what rests on the same turns is looked up here.
CREATE TABLE skill_turn (
    scope  INTEGER NOT NULL,
    ref    INTEGER NOT NULL,
    skill  BLOB NOT NULL,
    PRIMARY KEY (scope, ref, skill),
    FOREIGN KEY (scope, skill) REFERENCES skill (scope, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX skill_evidence ON skill_turn (scope, skill, ref);

-- Episodes that nobody has looked through for skills yet, by their first reference.
CREATE TABLE unmined (
    scope  INTEGER NOT NULL REFERENCES scope (number),
    ref    INTEGER NOT NULL,
    PRIMARY KEY (scope, ref)
) STRICT, WITHOUT ROWID;
