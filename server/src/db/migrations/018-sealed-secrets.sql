-- Secrets are sealed with a key that is not in the database. What a store of before holds in clear is sealed when the keys are known, at
-- the next start: SQL alone cannot do it.

-- The keys that values of this store are sealed with. One of them seals; others are here until a rotation has sealed their values anew.
-- has_remains: values from before this key may still be in the free space of the database's files.
CREATE TABLE sealing_keys (
  id TEXT PRIMARY KEY,
  in_use BOOLEAN NOT NULL,
  has_remains BOOLEAN NOT NULL,
  created_time BIGINT NOT NULL
);
CREATE UNIQUE INDEX sealing_key_in_use ON sealing_keys (in_use) WHERE in_use;

-- The keyed hash by which a verify token is found, now that its sealed form is another one each time.
ALTER TABLE app_subscriptions ADD COLUMN verify_token_hash TEXT;
CREATE INDEX app_subscriptions_by_verify_token ON app_subscriptions (verify_token_hash);

-- What a timer needs and its payload must not show, sealed: a verification code.
ALTER TABLE timers ADD COLUMN secret TEXT;
