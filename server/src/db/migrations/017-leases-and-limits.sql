-- Leases and limits that go by the clock, also after that was set back.

-- When a timer was set, by the same clock as its due_time: what was set in the future of a clock that was set back waits no longer than before.
ALTER TABLE timers ADD COLUMN set_time BIGINT NOT NULL DEFAULT 0;

-- How many permits of a rate limit's window were taken by all processes together. It is in the place of rate_counts, which nothing uses any more.
CREATE TABLE rate_windows (
  key TEXT PRIMARY KEY,
  taken BIGINT NOT NULL,
  end_time BIGINT NOT NULL
);
CREATE INDEX rate_windows_by_end ON rate_windows (end_time);
