-- A migration of its own: whoever waits for two tables that others use may wait for somebody who waits for the first of them.

-- Whose token it is, where it belongs to a person; null: to nobody.
ALTER TABLE tokens ADD COLUMN user_id TEXT;
-- What it was given for, and ends with; null: it stands alone.
ALTER TABLE tokens ADD COLUMN connection_id TEXT;
-- Whether it is the app's own, made of its id and its secret; null: no.
ALTER TABLE tokens ADD COLUMN is_of_app BOOLEAN;
-- The token that an app exchanged for it, at first hand: it ends with that one; null: for none.
ALTER TABLE tokens ADD COLUMN exchanged_from TEXT;
