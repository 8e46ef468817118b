-- The pieces of unfinished uploads, each a file of its own.

-- A piece of an upload that counts: its bytes begin at file_offset, and they are in the file of that name.
CREATE TABLE upload_pieces (
  upload_id TEXT NOT NULL REFERENCES uploads (id),
  file_offset BIGINT NOT NULL,
  size BIGINT NOT NULL,
  name TEXT NOT NULL,
  PRIMARY KEY (upload_id, file_offset)
);

-- What has arrived of an upload so far is in one file, which is its first piece from now on.
INSERT INTO upload_pieces (upload_id, file_offset, size, name)
SELECT id, 0, file_offset, 'earlier' FROM uploads WHERE handle IS NULL AND file_offset > 0;
