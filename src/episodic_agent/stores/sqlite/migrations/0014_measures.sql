-- What was done about an erasure, and where bytes of it may still lie (docs/forgetting.md).
ALTER TABLE erasure ADD COLUMN measures TEXT NOT NULL DEFAULT '';
ALTER TABLE erasure ADD COLUMN remains TEXT NOT NULL DEFAULT '';
UPDATE erasure SET measures = CASE state WHEN 'done' THEN 'rows deleted, file rewritten, log emptied' ELSE 'rows deleted' END;
