-- Replays of so many deliveries that they are sent again a batch at a time.

-- A replay: which deliveries (`filter`, ids up to last_id), where they go if not to their callbacks, and how far it has come: everything up
-- to reached_id was sent again or left out. Of first_id, last_id and reached_id its total is estimated. token_id: the operator's, whose limits
-- hold for every batch; null: a command on the store. business_id and account_id: whose all of the deliveries are; null: of several.
CREATE TABLE replays (
  id TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  filter JSONB NOT NULL,
  sent_to TEXT,
  token_id TEXT,
  business_id TEXT,
  account_id TEXT,
  first_id BIGINT NOT NULL,
  last_id BIGINT NOT NULL,
  reached_id BIGINT NOT NULL,
  replayed BIGINT NOT NULL,
  left_out BIGINT NOT NULL,
  total BIGINT NOT NULL,
  error TEXT,
  trace TEXT,
  created_time BIGINT NOT NULL,
  changed_time BIGINT NOT NULL,
  finished_time BIGINT
);
CREATE INDEX replays_by_time ON replays (created_time, id);
CREATE INDEX replays_by_changed_time ON replays (changed_time);
