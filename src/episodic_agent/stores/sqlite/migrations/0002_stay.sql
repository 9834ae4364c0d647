-- Where a thread was, and for how long (`core/places.py`). `place` is the 8-byte hash of the place's key as a
-- number; `label` is as first written in the stay, as JSON. What was stored before has none until `doctor --repair`.
CREATE TABLE stay (
    first_ref  INTEGER PRIMARY KEY,
    scope      INTEGER NOT NULL REFERENCES scope (number),
    last_ref   INTEGER NOT NULL,
    place      INTEGER NOT NULL,
    label      TEXT NOT NULL,
    start_at   INTEGER NOT NULL,
    end_at     INTEGER NOT NULL,
    steps      INTEGER NOT NULL
) STRICT;
CREATE INDEX stay_place ON stay (scope, place, start_at, first_ref);
