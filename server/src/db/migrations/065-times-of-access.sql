-- A migration of its own: whoever waits for two tables that others use may wait for somebody who waits for the first of them.

-- Since when a business has access to an account; 0: since before that was recorded.
ALTER TABLE account_access ADD COLUMN created_time BIGINT NOT NULL DEFAULT 0;
