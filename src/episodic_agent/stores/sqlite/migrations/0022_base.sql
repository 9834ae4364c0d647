-- Where a stream's rows begin (n = base + place): for streams of before as they were numbered, for later ones downwards.
ALTER TABLE stream ADD COLUMN base INTEGER NOT NULL DEFAULT 0;
UPDATE stream SET base = number << 36;
