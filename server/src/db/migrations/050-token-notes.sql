-- What is known of a token besides its rights: its name, who created it, and about when it was used last. It goes with its token.
CREATE TABLE token_notes (
  token_id TEXT PRIMARY KEY REFERENCES tokens (id) ON DELETE CASCADE,
  name TEXT,
  created_by TEXT,
  last_used_time BIGINT
);
