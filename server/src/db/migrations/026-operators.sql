-- What operators see and do: their tokens, the processes of the service, lanes that they stop, and every try in full.

-- The businesses that an operator's token is limited to; null: no such limit.
ALTER TABLE tokens ADD COLUMN businesses JSONB;

-- When an app's secret was made; null: before that was recorded.
ALTER TABLE apps ADD COLUMN secret_time BIGINT;

-- Until when an operator stopped a lane; 0: it is not stopped.
ALTER TABLE lanes ADD COLUMN stopped_until BIGINT NOT NULL DEFAULT 0;

-- Where a try went, with which headers (JSON), with which other deliveries in the same post (ids with commas), and the headers of
-- its response (JSON). Null for a try of before.
ALTER TABLE delivery_attempts ADD COLUMN sent_to TEXT;
ALTER TABLE delivery_attempts ADD COLUMN sent_headers TEXT;
ALTER TABLE delivery_attempts ADD COLUMN sent_with TEXT;
ALTER TABLE delivery_attempts ADD COLUMN answer_headers TEXT;

-- A process of the service, and when it was heard of last.
CREATE TABLE processes (
  id TEXT PRIMARY KEY,
  role TEXT NOT NULL,
  version TEXT NOT NULL,
  started_time BIGINT NOT NULL,
  heard_time BIGINT NOT NULL
);
CREATE INDEX processes_by_heard_time ON processes (heard_time);

-- What an operator reads in order, whatever the account: deliveries that wait, and those of an app.
CREATE INDEX deliveries_by_app ON deliveries (app_id, id);
