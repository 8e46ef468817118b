-- Counts of the rate limits, shared by every process; the layout is the one that rate-limiter-flexible works with.
CREATE TABLE rate_counts (
  key VARCHAR(255) PRIMARY KEY,
  points INTEGER NOT NULL DEFAULT 0,
  expire BIGINT
);
