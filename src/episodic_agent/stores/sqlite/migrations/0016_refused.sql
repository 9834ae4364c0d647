-- Of the calls of language models that failed: answers that could not be used, and those that came too late.
ALTER TABLE usage ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
ALTER TABLE usage ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
