-- When a timer was set, by the same clock as its due_time: after that clock was set back, what was set in its future waits no longer than before.
ALTER TABLE timers ADD COLUMN set_time BIGINT NOT NULL DEFAULT 0;

-- Windows of the rate limits that are over are found by their end.
CREATE INDEX rate_counts_by_expire ON rate_counts (expire);
