-- A medium that was uploaded for a phone number, until its time is over; its bytes are a content of the store of bytes.
CREATE TABLE media (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  phone_number_id TEXT NOT NULL REFERENCES phone_numbers (id),
  sha256 TEXT NOT NULL REFERENCES files (sha256),
  mime_type TEXT NOT NULL,
  file_size BIGINT NOT NULL,
  expires_time BIGINT NOT NULL
);
