-- What makes a sandbox: its clock, its faults, its snapshots. Nothing of it is used where SANDBOX is off.

-- One row: by how many milliseconds the clock of the service is ahead of the real one; how often the store was replaced as a whole
-- (reset, restored); and how often its fault rules were replaced. Every process reads it again and again.
CREATE TABLE sandbox (
  id TEXT PRIMARY KEY,
  clock_offset BIGINT NOT NULL,
  generation BIGINT NOT NULL,
  faults_version BIGINT NOT NULL
);
INSERT INTO sandbox (id, clock_offset, generation, faults_version) VALUES ('sandbox', 0, 0, 0);

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
