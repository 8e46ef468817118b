-- The message or call that an event is about, so that what became of its webhooks is found by its id; null: about neither, or raised by an earlier version.
ALTER TABLE events ADD COLUMN subject_id TEXT;
CREATE INDEX events_by_subject ON events (subject_id) WHERE subject_id IS NOT NULL;
