-- How many bytes an owner has stored: an account its media files, a business its resumable uploads.
CREATE TABLE stored_bytes (
  owner_id TEXT PRIMARY KEY,
  bytes BIGINT NOT NULL
);
-- A media file is counted by the account of its node, wherever its number is by now.
INSERT INTO stored_bytes (owner_id, bytes)
  SELECT nodes.account_id, SUM(media.file_size) FROM media JOIN nodes ON nodes.id = media.id
  WHERE nodes.account_id IS NOT NULL GROUP BY nodes.account_id;
INSERT INTO stored_bytes (owner_id, bytes)
  SELECT business_id, SUM(file_length) FROM uploads GROUP BY business_id;
