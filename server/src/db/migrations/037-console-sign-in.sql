-- Signing in to the console by OpenID Connect, and in a store that has no app yet.

-- By which entries of OIDC_ALLOW, at which issuer, a session of the console was admitted; null: by none.
ALTER TABLE tokens ADD COLUMN session_grant TEXT;
CREATE INDEX tokens_by_session_grant ON tokens (session_grant) WHERE session_grant IS NOT NULL;

-- A session of the console acts by no app where there is none; every other token has one.
ALTER TABLE tokens ALTER COLUMN app_id DROP NOT NULL;
