-- A message that was edited since has a kind of mark of its own: it hides that message and nothing around it, where
-- a suppression hides an episode as a whole. Imports of before suppressed such messages, by this reason.
ALTER TABLE span_mark DROP CONSTRAINT span_mark_kind_check;
ALTER TABLE span_mark ADD CONSTRAINT span_mark_kind_check
    CHECK (kind IN ('pinned', 'suppressed', 'archived', 'edited'));
ALTER TABLE span_mark NO FORCE ROW LEVEL SECURITY;
UPDATE span_mark SET kind = 'edited', reason = ''
WHERE kind = 'suppressed' AND first_ref = last_ref AND reason = 'edited since';
ALTER TABLE span_mark FORCE ROW LEVEL SECURITY;
