-- What makes a sandbox: its clock, its faults, its snapshots. Nothing of it is used where SANDBOX is off.

-- One row: by how many milliseconds the clock of the service is ahead of the real one; how often the store was replaced as a whole
-- (reset, restored); how often its fault rules were replaced; and when the store was last replaced, by the clock of the service, with the
-- greatest ids of events, deliveries and events of the users' stream by then. Every process reads it again and again.
CREATE TABLE sandbox (
  id TEXT PRIMARY KEY,
  clock_offset BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  faults_version BIGINT NOT NULL,
  replaced_time BIGINT NOT NULL,
  last_event BIGINT NOT NULL,
  last_delivery BIGINT NOT NULL,
  last_position BIGINT NOT NULL
);
INSERT INTO sandbox (id, clock_offset, generation, faults_version, replaced_time, last_event, last_delivery, last_position)
VALUES ('sandbox', 0, 0, 0, 0, 0, 0, 0);

-- A rule that makes requests or deliveries go wrong on purpose; the first that matches wins. `hits` counts how often it did.
CREATE TABLE fault_rules (
  position BIGINT PRIMARY KEY,
  rule JSONB NOT NULL,
  hits BIGINT NOT NULL
);

-- The whole store as it was, by name. `id` names its file or schema; `migration` is the newest one of the store that was saved.
CREATE TABLE snapshots (
  name TEXT PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  created_time BIGINT NOT NULL,
  migration TEXT NOT NULL,
  state TEXT NOT NULL
);
