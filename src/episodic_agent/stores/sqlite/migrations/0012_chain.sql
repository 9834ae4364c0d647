-- Links of episodes that were taken back (docs/chains.md): neither the parent nor the rest of its chain is proposed
-- again. `at` is record time.
CREATE TABLE chain_refusal (
    scope   INTEGER NOT NULL REFERENCES scope (number),
    child   BLOB NOT NULL,
    parent  BLOB NOT NULL,
    at      INTEGER NOT NULL,
    by      TEXT NOT NULL,
    PRIMARY KEY (scope, child, parent)
) STRICT, WITHOUT ROWID;
CREATE INDEX chain_refusal_parent ON chain_refusal (scope, parent);

-- What episodes are about, inverted: written again with each encoding, never exported. `value` is folded.
CREATE TABLE metadata_term (
    scope    INTEGER NOT NULL REFERENCES scope (number),
    field    TEXT NOT NULL,
    value    TEXT NOT NULL,
    episode  BLOB NOT NULL,
    PRIMARY KEY (scope, field, value, episode)
) STRICT, WITHOUT ROWID;
CREATE INDEX metadata_term_episode ON metadata_term (scope, episode);

CREATE INDEX episode_parent ON episode (scope, parent_episode_id);
CREATE INDEX episode_primary ON episode (scope, end_at DESC, id) WHERE kind = 'primary';
