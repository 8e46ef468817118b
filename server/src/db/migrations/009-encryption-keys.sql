-- The public keys that businesses encrypt with, and the keys by which the service vouches for them.

-- A signing key of the service. One is in use; an earlier one keeps its public half alone, for what was signed with it.
CREATE TABLE signing_keys (
  id TEXT PRIMARY KEY,
  public_key TEXT NOT NULL,
  private_key TEXT,
  created_time BIGINT NOT NULL,
  retired_time BIGINT
);
CREATE UNIQUE INDEX signing_key_in_use ON signing_keys ((retired_time IS NULL)) WHERE retired_time IS NULL;

-- The one public key of a phone number, signed together with the number and the registration that it was uploaded under.
CREATE TABLE business_public_keys (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  business_public_key TEXT NOT NULL,
  registration_epoch BIGINT NOT NULL,
  signing_key_id TEXT NOT NULL REFERENCES signing_keys (id),
  signature TEXT NOT NULL
);
CREATE INDEX business_public_keys_by_signing_key ON business_public_keys (signing_key_id, phone_number_id);
