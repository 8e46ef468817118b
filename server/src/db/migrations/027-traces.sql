-- What one request set off: its trace goes with its events, their deliveries and its timers.

-- The trace of the request that raised an event, or set a timer; null: of no request, or of before.
ALTER TABLE events ADD COLUMN trace TEXT;
CREATE INDEX events_by_trace ON events (trace) WHERE trace IS NOT NULL;
ALTER TABLE timers ADD COLUMN trace TEXT;
CREATE INDEX activities_by_trace ON activities (trace);

-- Tries in the order in which they were made, for whoever watches.
CREATE INDEX delivery_attempts_by_time ON delivery_attempts (time);
