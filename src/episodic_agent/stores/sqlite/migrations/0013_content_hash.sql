-- What tells whether an observation still is what was stored: BLAKE2b, 16 bytes (`stores/hashing.py`). NULL of an erased
-- one, and of those stored before, which upkeep and `doctor --repair` hash; the index finds them.
ALTER TABLE observation ADD COLUMN content_hash BLOB;
CREATE INDEX observation_unhashed ON observation (scope) WHERE content_hash IS NULL AND erased_at IS NULL;
