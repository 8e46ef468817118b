-- Message templates: what a business may send to users who have not written to it.

-- A template of an account in one language, as its last edit left it.
CREATE TABLE message_templates (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  language TEXT NOT NULL,
  category TEXT NOT NULL,
  previous_category TEXT,
  status TEXT NOT NULL,
  rejected_reason TEXT,
  parameter_format TEXT NOT NULL,
  components JSONB NOT NULL,
  -- Name and body in lower case, for the search.
  content TEXT NOT NULL,
  message_send_ttl_seconds BIGINT NOT NULL,
  quality_score TEXT NOT NULL,
  quality_time BIGINT NOT NULL,
  -- The sample file of an image, video or document header; null in a template of a world file, and where the header has none.
  header_sha256 TEXT REFERENCES files (sha256),
  header_type TEXT,
  created_time BIGINT NOT NULL,
  last_updated_time BIGINT NOT NULL,
  UNIQUE (account_id, name, language)
);
CREATE INDEX message_templates_by_time ON message_templates (account_id, created_time, id);
CREATE INDEX message_templates_by_status ON message_templates (status, created_time, id);

-- A name that templates of an account have; it outlives them for a while when one of them was approved.
CREATE TABLE template_names (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  was_approved BOOLEAN NOT NULL,
  -- When the last template of the name was deleted; null while there is one.
  deleted_time BIGINT,
  PRIMARY KEY (account_id, name)
);

-- An edit of an approved template that counts towards the limits of edits.
CREATE TABLE template_edits (
  id TEXT PRIMARY KEY,
  template_id TEXT NOT NULL REFERENCES message_templates (id),
  edited_time BIGINT NOT NULL
);
CREATE INDEX template_edits_by_time ON template_edits (template_id, edited_time);
