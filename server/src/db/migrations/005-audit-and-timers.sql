-- What was done by whom, and what is due when.

-- One record of every write that was answered with 200: who did what to which node, when, from where.
CREATE TABLE activities (
  id ORDERED_ID,
  time BIGINT NOT NULL,
  operation TEXT NOT NULL,
  node_id TEXT NOT NULL,
  node_kind TEXT NOT NULL,
  business_id TEXT NOT NULL,
  account_id TEXT,
  actor_app_id TEXT NOT NULL,
  actor_business_id TEXT NOT NULL,
  actor_token_id TEXT NOT NULL,
  remote_address TEXT NOT NULL,
  trace TEXT NOT NULL
);
CREATE INDEX activities_by_account ON activities (account_id, time, id);
CREATE INDEX activities_by_time ON activities (time, id);

-- Something that is to happen later, set in the transaction of what caused it; the row goes when it has happened.
CREATE TABLE timers (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  due_time BIGINT NOT NULL,
  payload JSONB NOT NULL,
  attempts INTEGER NOT NULL,
  leased_until BIGINT NOT NULL
);
CREATE INDEX timers_by_due_time ON timers (due_time);
