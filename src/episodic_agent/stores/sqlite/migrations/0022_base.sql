-- Where a stream's rows begin (n = base + place): for streams of before as they were numbered, for later ones downwards.
-- The place given last has another name, so that a process of an earlier version that still runs fails.
ALTER TABLE stream ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
UPDATE stream SET base = number << 36;
ALTER TABLE stream RENAME COLUMN last TO places;
