-- account_id: whose share of the fetches at once it takes; tries: how often it was claimed.
ALTER TABLE link_fetches ADD COLUMN account_id TEXT NOT NULL DEFAULT '';
ALTER TABLE link_fetches ADD COLUMN tries INTEGER NOT NULL DEFAULT 0;
UPDATE link_fetches SET account_id = COALESCE(
  (SELECT account_id FROM phone_numbers WHERE phone_numbers.id = link_fetches.phone_number_id), '');
