-- A session of the console belongs to the service, not to its first app; and so does the record of what was done to a token that sees
-- more than one tenant, or to the service as a whole.
-- made_by: the session of the console by which a token was made, at first or second hand.
ALTER TABLE tokens ADD COLUMN made_by TEXT;
CREATE INDEX tokens_by_maker ON tokens (made_by) WHERE made_by IS NOT NULL;
UPDATE tokens SET app_id = NULL WHERE session_name IS NOT NULL;
UPDATE activities SET business_id = '' WHERE business_id <> '' AND (
  node_kind IN ('world', 'sandbox', 'snapshot')
  OR (node_kind = 'delivery' AND node_id IN ('by filter', 'several'))
  OR (node_kind = 'token' AND node_id IN (
    SELECT id FROM tokens WHERE session_name IS NOT NULL OR CAST(scopes AS TEXT) LIKE '%"operator"%'
      OR CAST(scopes AS TEXT) LIKE '%"gateway"%')));
