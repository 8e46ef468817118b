-- Why the phone or the edge ended a call by itself: no_media (no sound came) or lost (the connection was lost); null: somebody ended it.
ALTER TABLE calls ADD COLUMN end_reason TEXT;
