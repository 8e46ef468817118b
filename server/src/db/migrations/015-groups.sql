-- The way into a group, who is in it, and who asks to be.

-- The one live invite link of a group: a new one takes the place of the one before it.
CREATE TABLE group_invite_links (
  group_id TEXT PRIMARY KEY REFERENCES groups (id),
  code TEXT NOT NULL UNIQUE,
  created_time BIGINT NOT NULL
);

-- A user who is in a group.
CREATE TABLE group_participants (
  group_id TEXT NOT NULL REFERENCES groups (id),
  user_wa_id TEXT NOT NULL,
  name TEXT,
  joined_time BIGINT NOT NULL,
  PRIMARY KEY (group_id, user_wa_id)
);

-- A user who asks to be let into a group; the row goes when the business answers.
CREATE TABLE group_join_requests (
  id TEXT PRIMARY KEY,
  group_id TEXT NOT NULL REFERENCES groups (id),
  user_wa_id TEXT NOT NULL,
  name TEXT,
  created_time BIGINT NOT NULL,
  UNIQUE (group_id, user_wa_id)
);
CREATE INDEX group_join_requests_by_time ON group_join_requests (group_id, created_time, id);
