-- The store of bytes, resumable uploads, and the pictures of business profiles.

-- A content of the store of bytes, there once however many things use it; it is not removed before held_until.
CREATE TABLE files (
  sha256 TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  held_until BIGINT NOT NULL
);

-- What uses a content; the content goes when nothing does any more.
CREATE TABLE file_uses (
  sha256 TEXT NOT NULL REFERENCES files (sha256),
  used_by TEXT NOT NULL,
  PRIMARY KEY (sha256, used_by)
);

-- A resumable upload: how much of it has arrived and, when that is all, the handle that stands for it and its content.
CREATE TABLE uploads (
  id TEXT PRIMARY KEY REFERENCES nodes (id),
  business_id TEXT NOT NULL REFERENCES businesses (id),
  file_name TEXT,
  file_type TEXT NOT NULL,
  file_length BIGINT NOT NULL,
  file_offset BIGINT NOT NULL,
  handle TEXT UNIQUE,
  sha256 TEXT,
  expires_time BIGINT NOT NULL,
  used_time BIGINT
);

-- The picture of a number's business profile, under an id that nobody can guess and a new picture does not inherit.
CREATE TABLE profile_pictures (
  phone_number_id TEXT PRIMARY KEY REFERENCES phone_numbers (id),
  picture_id TEXT NOT NULL UNIQUE,
  sha256 TEXT NOT NULL REFERENCES files (sha256),
  mime_type TEXT NOT NULL
);
