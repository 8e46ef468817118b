-- The tokens of a connection, which end with it.
CONCURRENTLY CREATE INDEX tokens_by_connection ON tokens (connection_id) WHERE connection_id IS NOT NULL;
-- What a token was exchanged for, which ends with it.
CONCURRENTLY CREATE INDEX tokens_by_exchange ON tokens (exchanged_from) WHERE exchanged_from IS NOT NULL;
