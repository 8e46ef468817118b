-- How many bytes an owner has stored: an account its media files, a business its resumable uploads.
CREATE TABLE stored_bytes (
  owner_id TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL
);
-- account_id: by whose bytes it is counted, wherever its number is by now. Null: by nobody's.
ALTER TABLE media ADD COLUMN account_id TEXT;
UPDATE media SET account_id = (SELECT account_id FROM phone_numbers WHERE phone_numbers.id = media.phone_number_id);
INSERT INTO stored_bytes (owner_id, bytes)
  SELECT account_id, SUM(file_size) FROM media WHERE account_id IS NOT NULL GROUP BY account_id;
INSERT INTO stored_bytes (owner_id, bytes)
  SELECT business_id, SUM(file_length) FROM uploads GROUP BY business_id;
