-- What the built-in carrier was given to send, kept for the gateway's outbox.
CREATE TABLE carrier_messages (
  id TEXT PRIMARY KEY,
  recipient TEXT NOT NULL,
  kind TEXT NOT NULL,
  code TEXT NOT NULL,
  language TEXT NOT NULL,
  sent_time BIGINT NOT NULL
);
CREATE INDEX carrier_messages_by_recipient ON carrier_messages (recipient, sent_time, id);
CREATE INDEX carrier_messages_by_time ON carrier_messages (sent_time);
