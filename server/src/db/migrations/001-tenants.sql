-- Who is on the platform: businesses, their apps, the tokens that act for them, and the index of every id.

-- One row for every id that a path may name, whatever its kind, written in the transaction of the thing itself.
CREATE TABLE nodes (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  business_id TEXT NOT NULL,
  account_id TEXT
);

-- A business portfolio: the owner of accounts and apps.
CREATE TABLE businesses (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  name TEXT NOT NULL,
  timezone_id BIGINT NOT NULL,
  created_time BIGINT NOT NULL
);

-- A credit line that a business may spend from.
CREATE TABLE extended_credits (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  legal_entity_name TEXT NOT NULL
);
CREATE INDEX extended_credits_by_business ON extended_credits (business_id, id);

-- An application of a business: tokens act through it and webhooks go to it.
CREATE TABLE apps (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  name TEXT NOT NULL,
  secret TEXT NOT NULL,
  partner_kind TEXT,
  first_party BOOLEAN NOT NULL,
  created_time BIGINT NOT NULL
);

-- Where an app wants to hear of which fields.
CREATE TABLE app_subscriptions (
  app_id TEXT NOT NULL REFERENCES apps (id),
  object TEXT NOT NULL,
  callback_url TEXT NOT NULL,
  verify_token TEXT NOT NULL,
  fields JSONB NOT NULL,
  created_time BIGINT NOT NULL,
  PRIMARY KEY (app_id, object)
);

-- A system user token. The secret itself is never kept, only its SHA-256.
CREATE TABLE tokens (
  id TEXT PRIMARY KEY,
  hash TEXT NOT NULL UNIQUE,
  app_id TEXT NOT NULL REFERENCES apps (id),
  scopes JSONB NOT NULL,
  accounts JSONB,
  created_time BIGINT NOT NULL,
  expires_time BIGINT,
  revoked_time BIGINT
);

-- Secrets that the service makes for itself at its first start and shares between its processes.
CREATE TABLE service_secrets (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);
