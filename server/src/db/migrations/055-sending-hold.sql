-- Whether processes keep back what they would send to others: an operator decided it for a store that was restored. held_time: since when; released_time: when
-- it ended, null while it is so; last_delivery: the newest delivery when it began, so that what a copy brought along is told from what came since. One row.
CREATE TABLE sending_hold (
  id TEXT PRIMARY KEY,
  held_time BIGINT NOT NULL,
  released_time BIGINT,
  last_delivery BIGINT NOT NULL
);
