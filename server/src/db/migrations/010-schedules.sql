-- When the last day of a schedule is over in its own time zone; null for one without an end. Neither database could tell a
-- zone's midnight by itself in the same words, so it is worked out when a schedule is written. No version before this one
-- served schedules; those that a world file made have it when the file is applied again.
ALTER TABLE schedules ADD COLUMN expires_time BIGINT;
