-- Sending templates and media by link: what a number has sent lately, and what it waits for.

-- The templates of a chat by time, for the limit of marketing messages to one user.
CREATE INDEX messages_templates ON messages (chat_id, created_time) WHERE type = 'template';

-- A message that was accepted and waits for the file behind its link. link_key: of number and link, which is too long for an index;
-- takes: the types that the message takes; claim and leased_until: who fetches it, and until when nobody else does;
-- earlier_template_time: what the chat's template_time was before, for when the message fails.
CREATE TABLE link_fetches (
  message_id TEXT PRIMARY KEY,
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  link TEXT NOT NULL,
  link_key TEXT NOT NULL,
  host TEXT NOT NULL,
  kind TEXT NOT NULL,
  takes JSONB NOT NULL,
  earlier_template_time BIGINT,
  created_time BIGINT NOT NULL,
  claim TEXT,
  leased_until BIGINT NOT NULL
);
CREATE INDEX link_fetches_by_time ON link_fetches (created_time);
CREATE INDEX link_fetches_by_link ON link_fetches (link_key, kind);

-- The media file that a link became, which is used again for a while.
CREATE TABLE fetched_links (
  link_key TEXT PRIMARY KEY,
  media_id TEXT NOT NULL,
  fetched_time BIGINT NOT NULL
);
CREATE INDEX fetched_links_by_time ON fetched_links (fetched_time);

-- To how many more users a number may send templates outside a window before its users are counted again, in a tier; full_until:
-- to none before then.
CREATE TABLE template_rooms (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  tier TEXT NOT NULL,
  room BIGINT NOT NULL,
  full_until BIGINT NOT NULL
);
