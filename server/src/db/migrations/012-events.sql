-- What happened, who is to hear of it, and how telling them went.

-- Something that happened on an account, as it is told: the value of one change of a webhook.
CREATE TABLE events (
  id ORDERED_ID,
  account_id TEXT NOT NULL,
  phone_number_id TEXT,
  field TEXT NOT NULL,
  value TEXT NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE INDEX events_by_time ON events (created_time);

-- One subscriber's line: an app at one address. What goes down it goes one at a time and in order; a process that works on it
-- holds it under a lease.
CREATE TABLE lanes (
  id TEXT PRIMARY KEY,
  app_id TEXT NOT NULL,
  callback_url TEXT NOT NULL,
  leased_until BIGINT NOT NULL,
  lease_owner TEXT,
  paused_until BIGINT NOT NULL,
  failures INTEGER NOT NULL,
  UNIQUE (app_id, callback_url)
);

-- An event on its way to one subscriber: waiting, delivered, or given up (failed). Its tries began at started_time: when it was
-- created, or when it was sent again, after earlier_attempts of before.
CREATE TABLE deliveries (
  id ORDERED_ID,
  event_id BIGINT NOT NULL REFERENCES events (id),
  lane_id TEXT NOT NULL REFERENCES lanes (id),
  account_id TEXT NOT NULL,
  app_id TEXT NOT NULL,
  field TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  earlier_attempts INTEGER NOT NULL,
  due_time BIGINT NOT NULL,
  created_time BIGINT NOT NULL,
  started_time BIGINT NOT NULL,
  finished_time BIGINT
);
CREATE INDEX deliveries_waiting ON deliveries (lane_id, id) WHERE state = 'waiting';
CREATE INDEX deliveries_oldest_waiting ON deliveries (started_time) WHERE state = 'waiting';
CREATE INDEX deliveries_by_account ON deliveries (account_id, id);
CREATE INDEX deliveries_by_event ON deliveries (event_id);
CREATE INDEX deliveries_failed ON deliveries (id) WHERE state = 'failed';
CREATE INDEX deliveries_by_finished_time ON deliveries (finished_time) WHERE finished_time IS NOT NULL;

-- One try at a delivery, with what came of it.
CREATE TABLE delivery_attempts (
  delivery_id BIGINT NOT NULL REFERENCES deliveries (id),
  number INTEGER NOT NULL,
  time BIGINT NOT NULL,
  duration BIGINT NOT NULL,
  status INTEGER,
  problem TEXT,
  answer TEXT,
  PRIMARY KEY (delivery_id, number)
);

-- Messages that were handed in before, so that one that comes twice is passed on once.
CREATE TABLE received_messages (
  phone_number_id TEXT NOT NULL,
  message_id TEXT NOT NULL,
  received_time BIGINT NOT NULL,
  PRIMARY KEY (phone_number_id, message_id)
);
CREATE INDEX received_messages_by_time ON received_messages (received_time);

-- The secret before the current one, good until the overlap of a rotation ends.
ALTER TABLE apps ADD COLUMN previous_secret TEXT;
ALTER TABLE apps ADD COLUMN previous_secret_until BIGINT;
