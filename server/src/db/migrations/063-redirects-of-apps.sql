-- A migration of its own: whoever waits for two tables that others use may wait for somebody who waits for the first of them.

-- Where a browser may be sent back to with a code; null: nowhere.
ALTER TABLE apps ADD COLUMN redirect_uris JSONB;
-- Whether requests with a token of the app must prove that they know its secret; null: no.
ALTER TABLE apps ADD COLUMN require_appsecret_proof BOOLEAN;
