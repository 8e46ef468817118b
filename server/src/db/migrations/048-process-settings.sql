-- What each process says of the settings on which all processes have to agree: a keyed hash of each value by its name, and a digest of all of these. It goes with its process.
CREATE TABLE process_settings (
  process_id TEXT PRIMARY KEY REFERENCES processes (id) ON DELETE CASCADE,
  digest TEXT NOT NULL,
  hashes JSONB NOT NULL
);
