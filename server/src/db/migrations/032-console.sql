-- Signing in to the console: a session is a token with a name, and a link becomes one session.

-- Whose session of the console a token is; null: it is none.
ALTER TABLE tokens ADD COLUMN session_name TEXT;

-- A link that signs somebody in, once: it is removed when it is used. Of its code the hash alone is kept.
CREATE TABLE console_links (
  hash TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  app_id TEXT NOT NULL,
  accounts JSONB,
  businesses JSONB,
  expires_time BIGINT NOT NULL
);

-- Calls in the order in which they began, whoever made them.
CREATE INDEX calls_by_time ON calls (created_time, id);
